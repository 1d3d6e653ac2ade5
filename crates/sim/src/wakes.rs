// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wake-ups in order of time, those of one time in order of request.
//!
//! Most are asked for shortly before they come, and tasks in lockstep share a time, so that there are fewer
//! times than tasks. The next times lie in a short vector in descending order, where a search and a move of some
//! places take less than a way through a tree; all later ones in a tree, from which they come in numbers. Tasks of
//! one time are a list in memory that all of them share.

use std::collections::BTreeMap;

use corecast_core::Time;

use super::executor::TaskIdx;

/// Most times in the vector. When there are more, the later half goes to the tree; from there comes half as
/// many at a time.
const NEAR: usize = 64;

const NONE: u32 = u32::MAX;

/// Tasks of one time, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    pub const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
    };

    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// A task in a queue, or a place that is free, and the next one of these.
#[derive(Clone, Copy, Debug)]
struct Place {
    task: TaskIdx,
    next: u32,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Wakes {
    /// Later times first. There are none only if there are none in `far` either.
    near: Vec<(Time, Queue)>,
    /// Times after all of `near`.
    far: BTreeMap<Time, Queue>,
    /// The first of them.
    far_from: Option<Time>,
    places: Vec<Place>,
    free: u32,
}

impl Default for Wakes {
    fn default() -> Self {
        Self {
            near: Vec::with_capacity(NEAR + 1),
            far: BTreeMap::new(),
            far_from: None,
            places: Vec::new(),
            free: NONE,
        }
    }
}

impl Wakes {
    /// The first time, if there is one.
    pub fn first(&self) -> Option<Time> {
        self.near.last().map(|&(time, _)| time)
    }

    /// Asks for a wake-up.
    pub fn push(&mut self, time: Time, task: TaskIdx) {
        let place = self.place(task);
        if self.far_from.is_some_and(|from| time >= from) {
            let queue = self.far.entry(time).or_insert(Queue::EMPTY);
            append(&mut self.places, queue, place);
            return;
        }
        let at = self.near.partition_point(|&(other, _)| other > time);
        match self.near.get_mut(at) {
            Some((other, queue)) if *other == time => append(&mut self.places, queue, place),
            _ => {
                let mut queue = Queue::EMPTY;
                append(&mut self.places, &mut queue, place);
                self.near.insert(at, (time, queue));
                if self.near.len() > NEAR {
                    self.far.extend(self.near.drain(..NEAR / 2));
                    self.note_far();
                }
            }
        }
    }

    /// Takes the tasks of the first time.
    pub fn pop(&mut self) -> Option<(Time, Queue)> {
        let first = self.near.pop()?;
        if self.near.is_empty() && !self.far.is_empty() {
            let next = std::iter::from_fn(|| self.far.pop_first());
            self.near.extend(next.take(NEAR / 2));
            self.near.reverse();
            self.note_far();
        }
        Some(first)
    }

    /// Takes the first task of a queue.
    pub fn pop_from(&mut self, queue: &mut Queue) -> Option<TaskIdx> {
        let index = queue.first;
        let place = self.places.get_mut(index as usize)?;
        let Place { task, next } = *place;
        place.next = self.free;
        self.free = index;
        queue.first = next;
        Some(task)
    }

    fn note_far(&mut self) {
        self.far_from = self.far.first_key_value().map(|(&time, _)| time);
    }

    /// A place for a task.
    fn place(&mut self, task: TaskIdx) -> u32 {
        let free = self.free;
        match self.places.get_mut(free as usize) {
            Some(place) => {
                self.free = place.next;
                *place = Place { task, next: NONE };
                free
            }
            None => {
                let index = u32::try_from(self.places.len()).expect("as many as tasks");
                self.places.push(Place { task, next: NONE });
                index
            }
        }
    }
}

fn append(places: &mut [Place], queue: &mut Queue, place: u32) {
    match queue.is_empty() {
        true => queue.first = place,
        false => places[queue.last as usize].next = place,
    }
    queue.last = place;
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Wake-ups at these distances from the time that it is then, a time taken after some of them.
        #[test]
        fn all_come_in_order_of_time_and_then_of_request(
            steps in prop::collection::vec((1_u64..400, 0_usize..4), 0..1500),
        ) {
            let mut wakes = Wakes::default();
            let mut model: BTreeMap<Time, VecDeque<TaskIdx>> = BTreeMap::new();
            let mut now = Time::ZERO;
            let take = |wakes: &mut Wakes, model: &mut BTreeMap<Time, VecDeque<TaskIdx>>| {
                prop_assert_eq!(wakes.first(), model.keys().next().copied());
                let Some((time, mut queue)) = wakes.pop() else {
                    return Ok(None);
                };
                let (expected, tasks) = model.pop_first().expect("as many times");
                prop_assert_eq!(time, expected);
                for task in tasks {
                    prop_assert_eq!(wakes.pop_from(&mut queue), Some(task));
                }
                prop_assert!(queue.is_empty());
                prop_assert_eq!(wakes.pop_from(&mut queue), None);
                Ok(Some(time))
            };
            for (task, (after, pause)) in (0..).zip(steps) {
                let time = now + Time::from_ps(after);
                wakes.push(time, task);
                model.entry(time).or_default().push_back(task);
                if pause == 0 && let Some(time) = take(&mut wakes, &mut model)? {
                    now = time;
                }
            }
            while take(&mut wakes, &mut model)?.is_some() {}
            prop_assert!(model.is_empty());
        }
    }

    #[test]
    fn the_last_time_comes_last() {
        let mut wakes = Wakes::default();
        let times = (0..200).map(|step| Time::from_ps((step * 77) % 200));
        for time in [Time::MAX].into_iter().chain(times) {
            wakes.push(time, 0);
        }
        let all: Vec<Time> = std::iter::from_fn(|| wakes.pop())
            .map(|(time, _)| time)
            .collect();
        assert_eq!(all.len(), 201);
        assert!(all.is_sorted() && all.last() == Some(&Time::MAX));
    }
}
