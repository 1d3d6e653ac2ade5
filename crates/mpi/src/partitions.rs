// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a partitioned message, which the sender and the message itself see.
#![cfg_attr(not(test), forbid(unsafe_code))]

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::error::{Class, Error, Result};

/// Parts per block of marks, which there is once one of them is ready: there may be 2^31 parts.
const BLOCK: usize = 1 << 16;
/// Marks per word.
const WORD: usize = u64::BITS as usize;

/// The parts of a message, since it was started.
#[derive(Debug)]
pub struct Partitions {
    pub(crate) is_send: bool,
    is_started: AtomicBool,
    count: usize,
    /// A bit per part that is ready; only of what is sent.
    ready: Box<[OnceLock<Box<[AtomicU64]>>]>,
    left: AtomicUsize,
    has_arrived: AtomicBool,
}

impl Partitions {
    pub(crate) fn new(count: usize, is_send: bool) -> Arc<Self> {
        let blocks = if is_send { count.div_ceil(BLOCK) } else { 0 };
        Arc::new(Self {
            is_send,
            is_started: AtomicBool::new(false),
            count,
            ready: (0..blocks).map(|_| OnceLock::new()).collect(),
            left: AtomicUsize::new(count),
            has_arrived: AtomicBool::new(false),
        })
    }

    pub(crate) fn start(&self) {
        for word in self.ready.iter().filter_map(OnceLock::get).flatten() {
            word.store(0, Ordering::Relaxed);
        }
        self.left.store(self.count, Ordering::Relaxed);
        self.has_arrived.store(false, Ordering::Relaxed);
        self.is_started.store(true, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.has_arrived.store(true, Ordering::Release);
        self.is_started.store(false, Ordering::Release);
    }

    /// The number of a part.
    fn part(&self, part: i32) -> Result<usize> {
        let found = usize::try_from(part).ok().filter(|&part| part < self.count);
        found.ok_or_else(|| {
            let last = self.count as i64 - 1;
            let what = format!("there is no partition {part}; partitions are 0 to {last}");
            Error::new(Class::Arg, what)
        })
    }

    /// Marks a part as ready; whether it was so already.
    fn mark(&self, part: usize) -> bool {
        let words = self.ready[part / BLOCK].get_or_init(|| {
            let parts = BLOCK.min(self.count - part / BLOCK * BLOCK);
            (0..parts.div_ceil(WORD))
                .map(|_| AtomicU64::new(0))
                .collect()
        });
        let bit = 1 << (part % WORD);
        words[part % BLOCK / WORD].fetch_or(bit, Ordering::AcqRel) & bit != 0
    }

    /// Whether parts are not ready.
    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire) > 0
    }

    /// A part is ready to be sent.
    ///
    /// # Errors
    /// [`Class::Request`] for what is not sent, or not started; [`Class::Arg`] if there is no such part,
    /// or it is ready already.
    pub fn set_ready(&self, part: i32) -> Result<()> {
        let refuse = |class, what: String| Err(Error::new(class, what));
        if !self.is_send || !self.is_started.load(Ordering::Acquire) {
            let what = "the request is of no partitioned send that is started";
            return refuse(Class::Request, what.to_owned());
        }
        if self.mark(self.part(part)?) {
            return refuse(Class::Arg, format!("partition {part} is ready already"));
        }
        self.left.fetch_sub(1, Ordering::AcqRel);
        Ok(())
    }

    /// Whether a part has arrived.
    ///
    /// # Errors
    /// [`Class::Request`] for what is not received, [`Class::Arg`] if there is no such part.
    pub fn has_arrived(&self, part: i32) -> Result<bool> {
        if self.is_send {
            let what = "the request is of no partitioned receive";
            return Err(Error::new(Class::Request, what));
        }
        self.part(part)?;
        Ok(self.has_arrived.load(Ordering::Acquire))
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_ready_once_in_every_start() {
        for count in [1, 64, 65, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 70] {
            let parts = Partitions::new(count, true);
            let last = count as i32 - 1;
            for _ in 0..2 {
                parts.start();
                for part in (0..=last).rev() {
                    assert!(parts.has_left());
                    parts.set_ready(part).expect("once");
                }
                assert!(!parts.has_left());
                for part in [0, last] {
                    let again = parts.set_ready(part).expect_err("twice");
                    assert_eq!(again.class, Class::Arg);
                }
                let beyond = parts.set_ready(last + 1).expect_err("there is none");
                assert_eq!(beyond.class, Class::Arg);
                parts.end();
            }
        }
    }

    /// The marks of 2^31 parts take room as they are used.
    #[test]
    fn parts_that_nobody_has_named_take_no_room() {
        let parts = Partitions::new(i32::MAX as usize, true);
        parts.start();
        parts.set_ready(i32::MAX - 1).expect("the last");
        assert_eq!(parts.ready.iter().filter_map(OnceLock::get).count(), 1);
        let received = Partitions::new(i32::MAX as usize, false);
        assert!(received.ready.is_empty() && !received.has_arrived(7).expect("a part"));
    }
}

/// Every order in which threads can make parts ready while the message looks (`cargo xtask loom`).
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::cell::UnsafeCell;
    use loom::thread;

    use super::*;

    struct Message {
        parts: Arc<Partitions>,
        contents: [UnsafeCell<u32>; 2],
    }

    // SAFETY: a part is written before it is ready, and read when all are; the model is about that.
    unsafe impl Sync for Message {}

    impl Message {
        fn make_ready(&self, part: usize) {
            // SAFETY: the part is not ready.
            self.contents[part].with_mut(|it| unsafe { *it = 7 });
            self.parts.set_ready(part as i32).expect("the first time");
        }
    }

    #[test]
    fn what_is_sent_when_all_parts_are_ready_is_what_threads_wrote() {
        loom::model(|| {
            let parts = Partitions::new(2, true);
            // Marks are made by the first part of all, behind a lock of which loom knows nothing.
            parts.start();
            for part in [0, 1] {
                parts.set_ready(part).expect("the first time");
            }
            parts.end();
            parts.start();
            let message = Arc::new(Message {
                parts,
                contents: [UnsafeCell::new(0), UnsafeCell::new(0)],
            });
            let other = Arc::clone(&message);
            let other = thread::spawn(move || other.make_ready(0));
            message.make_ready(1);
            if !message.parts.has_left() {
                let read = |it: &UnsafeCell<u32>| {
                    // SAFETY: all parts are ready.
                    it.with(|it| unsafe { *it })
                };
                assert_eq!(message.contents.each_ref().map(read), [7, 7]);
            }
            other.join().expect("no panic");
            assert!(!message.parts.has_left());
            assert!(message.parts.set_ready(0).is_err(), "ready already");
        });
    }
}
