// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which calls of a rank can begin, as others begin and end.

use crate::graph::{Call, Event};

/// What is left to happen.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Events that every call still waits for.
    missing: Vec<u32>,
    /// Where the followers of an event begin in the list: start of call 0, its end, start of call 1, ...
    first: Vec<u32>,
    followers: Vec<u32>,
    /// Calls that have not ended.
    left: usize,
}

fn index(event: Event) -> usize {
    match event {
        Event::Start(call) => 2 * call as usize,
        Event::End(call) => 2 * call as usize + 1,
    }
}

impl Progress {
    /// Nothing has happened.
    pub(crate) fn new(calls: &[Call]) -> Self {
        let mut first = vec![0_u32; 2 * calls.len() + 1];
        for event in calls.iter().flat_map(|call| &call.after) {
            first[index(*event)] += 1;
        }
        // Each is where its followers end, and moves to the front as they are filled in.
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        let mut followers = vec![0; sum as usize];
        for (call, of) in calls.iter().enumerate().rev() {
            for event in of.after.iter().rev() {
                let place = &mut first[index(*event)];
                *place -= 1;
                followers[*place as usize] = call as u32;
            }
        }
        Self {
            missing: calls.iter().map(|call| call.after.len() as u32).collect(),
            first,
            followers,
            left: calls.len(),
        }
    }

    /// Calls that wait for nothing, in order.
    pub(crate) fn free(&self) -> impl Iterator<Item = u32> {
        let calls = (0..).zip(&self.missing);
        calls
            .filter(|(_, missing)| **missing == 0)
            .map(|(call, _)| call)
    }

    /// Whether a call waits for this one's end.
    pub(crate) fn is_awaited(&self, call: u32) -> bool {
        let at = index(Event::End(call));
        self.first[at] < self.first[at + 1]
    }

    /// Something has happened: tells the calls that can begin now, in order.
    pub(crate) fn happened(&mut self, event: Event, mut ready: impl FnMut(u32)) {
        let at = index(event);
        if let Event::End(_) = event {
            self.left -= 1;
        }
        for &call in &self.followers[self.first[at] as usize..self.first[at + 1] as usize] {
            let missing = &mut self.missing[call as usize];
            *missing -= 1;
            if *missing == 0 {
                ready(call);
            }
        }
    }

    /// Whether every call has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Origin, WORLD, What};

    #[test]
    fn calls_become_ready_when_all_that_they_wait_for_has_happened() {
        let call = |after: &[Event]| Call {
            what: What::Wait,
            group: WORLD,
            after: after.iter().copied().collect(),
            at: Origin::default(),
        };
        let calls = [
            call(&[]),
            call(&[Event::Start(0)]),
            call(&[Event::End(0), Event::End(1)]),
            call(&[Event::End(0)]),
        ];
        let mut progress = Progress::new(&calls);
        assert_eq!(progress.free().collect::<Vec<_>>(), [0]);
        let mut happen = |event| {
            let mut ready = Vec::new();
            progress.happened(event, |call| ready.push(call));
            (ready, progress.is_over())
        };
        assert_eq!(happen(Event::Start(0)), (vec![1], false));
        assert_eq!(happen(Event::End(0)), (vec![3], false));
        assert_eq!(happen(Event::End(1)), (vec![2], false));
        assert_eq!(happen(Event::End(3)), (vec![], false));
        assert_eq!(happen(Event::End(2)), (vec![], true));
    }
}
