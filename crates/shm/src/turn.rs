// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose turn it is, of two that take turns: a rank in virtual time and its simulator.
//!
//! Whoever has the turn may read and write what belongs to both; the other one touches nothing but this
//! word, and sleeps on it.
//!
//! All of them run on one processor as a rule, where a hand-over costs as much as its system calls. A wake
//! lets the rank run at once most of the time, and its answer is here before the simulator runs again; so
//! the simulator hands the processor over a few times before it says that it sleeps, and is not woken if
//! it does not. Sleeps have no end, since a timer would have to be set and taken back for each.
//!
//! ```text
//! | times that all were told to look ......... | who waits sleeps | whose turn |
//! ```
#![cfg_attr(not(test), forbid(unsafe_code))]

use crate::sync::{AtomicU32, Ordering};
use crate::wait;

/// Who can have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Side {
    /// The rank, as it is in a fresh page.
    Rank,
    /// Its simulator.
    Simulator,
}

/// The bit that says whose turn it is.
const SIDE: u32 = 1;
/// The bit that says that the other one sleeps, or is about to.
const ASLEEP: u32 = 2;
/// One call to look whether all is over.
const CALL: u32 = 4;

impl Side {
    /// How often it hands the processor over before it sleeps. A rank does not: beside the simulator and
    /// the one rank that runs there may be others with nothing to do.
    fn patience(self) -> u32 {
        match self {
            Self::Rank => 0,
            Self::Simulator => 4,
        }
    }
}

/// See the module's documentation.
#[repr(transparent)]
pub struct Turn(AtomicU32);

impl Turn {
    /// Hands the turn over: the other one sees what was written before.
    pub fn pass_to(&self, other: Side) {
        let before = self.0.swap(other as u32, Ordering::Release);
        if before & ASLEEP != 0 {
            wait::wake_one(&self.0);
        }
    }

    /// Whether it is somebody's.
    pub fn is_of(&self, somebody: Side) -> bool {
        self.0.load(Ordering::Acquire) & SIDE == somebody as u32
    }

    /// Waits until it is `mine`; false if `is_over` says so before, which it does for ever after the next
    /// [`Turn::wake`].
    pub fn wait(&self, mine: Side, is_over: impl Fn() -> bool) -> bool {
        let mut patience = mine.patience();
        loop {
            let word = self.0.load(Ordering::Acquire);
            if word & SIDE == mine as u32 {
                return true;
            }
            if is_over() {
                return false;
            }
            if patience > 0 {
                patience -= 1;
                wait::hand_over();
                continue;
            }
            let asleep = word | ASLEEP;
            let said = self
                .0
                .compare_exchange(word, asleep, Ordering::Relaxed, Ordering::Relaxed);
            if said.is_ok() {
                wait::wait_while(&self.0, asleep);
            }
        }
    }

    /// Lets whoever waits look whether all is over: who has looked before and is about to sleep finds
    /// another word than it knows, and does not.
    pub fn wake(&self) {
        self.0.fetch_add(CALL, Ordering::Release);
        wait::wake_one(&self.0);
    }
}

#[cfg(test)]
impl Turn {
    /// As it is in a fresh page.
    pub fn new() -> Self {
        Self(AtomicU32::new(Side::Rank as u32))
    }
}

#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::sync::Arc;

    use super::*;
    use crate::sync::UnsafeCell;

    struct Shared {
        turn: Turn,
        word: UnsafeCell<u32>,
    }

    // SAFETY: whoever has no turn does not touch the word, which is what the model is about.
    unsafe impl Sync for Shared {}

    impl Shared {
        /// In its turn: finds what the other one left, leaves the next number, and hands over.
        fn take(&self, mine: Side, other: Side, expected: u32) {
            assert!(self.turn.wait(mine, || false));
            self.word.with_mut(|word| {
                // SAFETY: it is this one's turn.
                let word = unsafe { &mut *word };
                assert_eq!(*word, expected);
                *word += 1;
            });
            self.turn.pass_to(other);
        }
    }

    #[test]
    fn each_finds_what_the_other_left() {
        loom::model(|| {
            let shared = Arc::new(Shared {
                turn: Turn::new(),
                word: UnsafeCell::new(0),
            });
            let rank = Arc::clone(&shared);
            let thread = loom::thread::spawn(move || {
                rank.take(Side::Rank, Side::Simulator, 0);
                rank.take(Side::Rank, Side::Simulator, 2);
            });
            shared.take(Side::Simulator, Side::Rank, 1);
            shared.take(Side::Simulator, Side::Rank, 3);
            thread.join().expect("no panic");
        });
    }

    #[test]
    fn the_end_reaches_who_is_about_to_sleep() {
        for mine in [Side::Rank, Side::Simulator] {
            loom::model(move || {
                let other = match mine {
                    Side::Rank => Side::Simulator,
                    Side::Simulator => Side::Rank,
                };
                let turn = Turn(AtomicU32::new(other as u32));
                let shared = Arc::new((turn, AtomicU32::new(0)));
                let ending = Arc::clone(&shared);
                let thread = loom::thread::spawn(move || {
                    let (turn, end) = &*ending;
                    end.store(1, Ordering::Relaxed);
                    turn.wake();
                });
                let (turn, end) = &*shared;
                assert!(!turn.wait(mine, || end.load(Ordering::Relaxed) == 1));
                thread.join().expect("no panic");
            });
        }
    }
}
