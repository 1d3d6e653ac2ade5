// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose turn it is, of two that take turns: a rank in virtual time and its simulator.
//!
//! Whoever has the turn may read and write what belongs to both; the other one touches nothing but this
//! word, and sleeps on it.
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

/// See the module's documentation.
#[repr(transparent)]
pub struct Turn(AtomicU32);

impl Turn {
    /// Hands the turn over: the other one sees what was written before.
    pub fn pass_to(&self, other: Side) {
        self.0.store(other as u32, Ordering::Release);
        wait::wake_one(&self.0);
    }

    /// Whether it is somebody's.
    pub fn is_of(&self, somebody: Side) -> bool {
        self.0.load(Ordering::Acquire) == somebody as u32
    }

    /// Waits until it is `mine`; false if `is_over` says so before.
    pub fn wait(&self, mine: Side, is_over: impl Fn() -> bool) -> bool {
        loop {
            let turn = self.0.load(Ordering::Acquire);
            if turn == mine as u32 {
                return true;
            }
            if is_over() {
                return false;
            }
            wait::wait_while(&self.0, turn);
        }
    }

    /// Lets whoever sleeps look whether all is over.
    pub fn wake(&self) {
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
}
