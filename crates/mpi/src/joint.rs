// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long messages that both ends copy: who copies which piece.
//!
//! Where the receiver of a message can read its sender's memory, and the sender can write the receiver's,
//! each of them copies what the other has not taken yet, from the first piece to the last. Nobody waits for
//! an end that does something else: then the other copies all. Whoever copies the last piece tells the
//! other that the message is complete.
//!
//! Both look at a [`Joint`], which lies in memory that both see. A copy has a number there: an end that
//! comes when its copy is over, and perhaps the next one has begun, gets no piece.
#![cfg_attr(not(loom), forbid(unsafe_code))]

#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// So many copies from one rank to another may be under way at a time: while one end has the last piece
/// of a message, the other begins with the next one.
pub const JOINTS: usize = 4;

/// What the two ends of a copy agree on; all zero at first.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Joint {
    /// The number of the copy above, the next piece that nobody has taken below.
    next: AtomicU64,
    /// Pieces that are not copied.
    left: AtomicU32,
}

impl Joint {
    /// Begins a copy of so many pieces, if the one before is over; its number. For the receiver alone.
    pub fn begin(&self, pieces: u32) -> Option<u32> {
        if self.left.load(Ordering::Acquire) != 0 {
            return None;
        }
        let last = (self.next.load(Ordering::Relaxed) >> 32) as u32;
        let number = last.wrapping_add(1);
        self.left.store(pieces, Ordering::Relaxed);
        self.next.store(u64::from(number) << 32, Ordering::Release);
        Some(number)
    }

    /// Takes a piece of the copy of this number, which has so many; none if there is none left.
    pub fn take(&self, number: u32, pieces: u32) -> Option<u32> {
        let taken = |next: u64| {
            let is_there = (next >> 32) as u32 == number && (next as u32) < pieces;
            is_there.then_some(next + 1)
        };
        let next = self
            .next
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, taken);
        next.ok().map(|next| next as u32)
    }

    /// Says that an end has copied so many pieces, all that it has taken; whether those of the other end are
    /// copied as well, so that the message is complete, and this end is the one to say so.
    pub fn has_copied(&self, pieces: u32) -> bool {
        pieces > 0 && self.left.fetch_sub(pieces, Ordering::AcqRel) == pieces
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn who_comes_late_gets_nothing_of_the_next_copy() {
        let joint = Joint::default();
        let first = joint.begin(2).expect("nothing is under way");
        assert_eq!(
            [(); 3].map(|()| joint.take(first, 2)),
            [Some(0), Some(1), None]
        );
        assert_eq!(joint.begin(2), None, "the first is not over");
        assert!(!joint.has_copied(0) && !joint.has_copied(1) && joint.has_copied(1));
        let second = joint.begin(3).expect("the first is over");
        assert_eq!(
            (joint.take(first, 2), joint.take(second, 3)),
            (None, Some(0))
        );
    }
}

/// Every order in which the ends can take pieces (`cargo xtask loom`).
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    const PIECES: u32 = 2;

    struct Copy {
        joint: Joint,
        pieces: [UnsafeCell<u32>; PIECES as usize],
    }

    // SAFETY: who takes a piece writes it, and it is read when all are copied; the model is about that.
    unsafe impl Sync for Copy {}

    impl Copy {
        /// What an end does; whether it is to say that the message is complete.
        fn copies(&self, number: u32, value: u32) -> bool {
            let mut copied = 0;
            while let Some(piece) = self.joint.take(number, PIECES) {
                // SAFETY: the piece was taken.
                self.pieces[piece as usize].with_mut(|it| unsafe { *it = value });
                copied += 1;
            }
            self.joint.has_copied(copied)
        }

        /// What was copied.
        fn contents(&self) -> [u32; PIECES as usize] {
            // SAFETY: the message is complete.
            let read = |it: &UnsafeCell<u32>| it.with(|it| unsafe { *it });
            self.pieces.each_ref().map(read)
        }
    }

    #[test]
    fn one_end_sees_a_message_complete_and_all_of_it_copied_once() {
        loom::model(|| {
            let copy = Arc::new(Copy {
                joint: Joint::default(),
                pieces: [UnsafeCell::new(0), UnsafeCell::new(0)],
            });
            let number = copy.joint.begin(PIECES).expect("nothing is under way");
            let other = Arc::clone(&copy);
            let sender = thread::spawn(move || {
                let is_last = other.copies(number, 7);
                if is_last {
                    assert_eq!(other.contents().map(|it| it == 0), [false; 2]);
                }
                is_last
            });
            let is_last = copy.copies(number, 8);
            if is_last {
                assert_eq!(copy.contents().map(|it| it == 0), [false; 2]);
                // The sender may come late: it gets nothing of this one.
                let next = copy.joint.begin(PIECES).expect("the first is over");
                assert!(copy.copies(next, 9));
                assert_eq!(copy.contents(), [9; 2]);
            }
            let is_sender = sender.join().expect("no panic");
            assert!(is_last != is_sender, "one of them says so");
        });
    }
}
