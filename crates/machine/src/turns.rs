// SPDX-License-Identifier: MIT OR Apache-2.0
//! Futures without time, polled by turns: how the oracle runs its ranks.
//!
//! A task that waits is resumed when another one wakes it, in the order of the wake-ups; nothing
//! else decides about the order, so equal runs have equal hashes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use corecast_core::{EventHash, Time};

/// How the turns of all tasks ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Every task has finished.
    Complete,
    /// Some wait, and nobody is left who could wake them.
    Stuck,
    /// So many resumptions as were allowed have happened.
    EventLimit,
}

/// Whose turn it is, and who comes next. Tasks are numbered from 0.
#[derive(Default)]
pub(crate) struct Turns {
    ready: RefCell<VecDeque<u32>>,
    events: Cell<EventHash>,
}

impl Turns {
    /// Resumes `task`, which waits, after those that are to be resumed already.
    pub(crate) fn wake(&self, task: u32) {
        self.ready.borrow_mut().push_back(task);
    }

    /// Waits until somebody wakes this task.
    pub(crate) async fn wait(&self) {
        let mut is_waiting = false;
        poll_fn(|_| {
            if std::mem::replace(&mut is_waiting, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// What has happened so far.
    pub(crate) fn events(&self) -> EventHash {
        self.events.get()
    }

    /// Polls every task in order, and then whoever is woken, `limit` times at most.
    pub(crate) fn run<'a>(
        &self,
        tasks: impl IntoIterator<Item = Pin<Box<dyn Future<Output = ()> + 'a>>>,
        limit: u64,
    ) -> Ended {
        let mut tasks: Vec<_> = tasks.into_iter().map(Some).collect();
        let mut unfinished = tasks.len();
        *self.ready.borrow_mut() = (0..).take(unfinished).collect();
        let mut context = Context::from_waker(Waker::noop());
        while unfinished > 0 {
            let next = self.ready.borrow_mut().pop_front();
            let Some(index) = next else {
                return Ended::Stuck;
            };
            let Some(task) = &mut tasks[index as usize] else {
                continue;
            };
            let mut events = self.events.get();
            if events.events() >= limit {
                return Ended::EventLimit;
            }
            events.record(Time::ZERO, index);
            self.events.set(events);
            if task.as_mut().poll(&mut context).is_ready() {
                tasks[index as usize] = None;
                unfinished -= 1;
            }
        }
        Ended::Complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_go_on_in_the_order_of_their_wake_ups() {
        let (turns, log) = (Turns::default(), RefCell::new(Vec::new()));
        let task = |index: u32| {
            let (turns, log) = (&turns, &log);
            let task = async move {
                if index < 2 {
                    turns.wait().await;
                } else {
                    turns.wake(1);
                    turns.wake(0);
                }
                log.borrow_mut().push(index);
            };
            Box::pin(task) as Pin<Box<dyn Future<Output = ()> + '_>>
        };
        assert_eq!(turns.run((0..3).map(task), 100), Ended::Complete);
        assert_eq!(*log.borrow(), [2, 1, 0]);
        assert_eq!(turns.events().events(), 5);
    }

    #[test]
    fn a_task_that_nobody_wakes_and_too_many_turns_are_told() {
        let turns = Turns::default();
        let stuck = Box::pin(turns.wait()) as Pin<Box<dyn Future<Output = ()> + '_>>;
        assert_eq!(turns.run([stuck], 100), Ended::Stuck);
        let restless = Box::pin(async {
            for _ in 0..100 {
                turns.wake(0);
                turns.wait().await;
            }
        });
        assert_eq!(
            turns.run([restless as Pin<Box<dyn Future<Output = ()> + '_>>], 7),
            Ended::EventLimit
        );
    }
}
