// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose turn it is on a core: written once, so that all programs whose ranks share cores take turns alike.
//!
//! ```
//! use corecast_machine::Residents;
//! let mut residents = Residents::new(0..2);
//! assert_eq!(residents.next(|_| false), Some(0));
//! residents.wait(0);
//! assert_eq!(residents.next(|_| false), Some(1));
//! residents.go_on(1);
//! // What has come for one that waits lets it go on behind those that can already.
//! assert_eq!(residents.next(|&rank| rank == 0), Some(1));
//! assert_eq!(residents.next(|_| false), Some(0));
//! assert!(residents.next(|_| true).is_none() && !residents.is_anybody_waiting());
//! ```

use std::collections::VecDeque;

/// The ranks of a core between their turns.
#[derive(Clone, Debug)]
pub struct Residents<R> {
    /// Those that can go on, the next one first.
    ready: VecDeque<R>,
    /// Those that wait, the one that has waited longest first.
    waiting: Vec<R>,
}

impl<R> Residents<R> {
    /// All can go on, in this order.
    pub fn new(all: impl IntoIterator<Item = R>) -> Self {
        Self {
            ready: all.into_iter().collect(),
            waiting: Vec::new(),
        }
    }

    /// The one whose turn it is, if any can go on; `has_come` says of those that wait whether what they wait
    /// for is there.
    pub fn next(&mut self, mut has_come: impl FnMut(&R) -> bool) -> Option<R> {
        let woken = self.waiting.extract_if(.., |one| has_come(one));
        self.ready.extend(woken);
        self.ready.pop_front()
    }

    /// After its turn one can go on, when it is its turn again.
    pub fn go_on(&mut self, one: R) {
        self.ready.push_back(one);
    }

    /// After its turn one waits.
    pub fn wait(&mut self, one: R) {
        self.waiting.push(one);
    }

    /// Whether there are some that wait.
    #[must_use]
    pub fn is_anybody_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}
