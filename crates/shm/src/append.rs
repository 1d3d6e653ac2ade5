// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is only ever added to, by one rank at a time, and read by all.
//!
//! Who finds another one adding adds nothing, so that nobody ever waits, not even for a rank that has died
//! there.
#![cfg_attr(not(test), forbid(unsafe_code))]

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// How much is in use, and whether somebody adds to it.
#[repr(C, align(64))]
pub struct Append {
    used: AtomicU64,
    is_busy: AtomicU32,
}

/// The only one that adds, as long as this is there.
pub struct Adder<'a>(&'a Append);

impl Append {
    /// What is in use, and does not change any more: it may be read.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    /// The right to add, unless somebody else has it.
    pub fn adder(&self) -> Option<Adder<'_>> {
        let was_busy = self.is_busy.swap(1, Ordering::Acquire) != 0;
        (!was_busy).then_some(Adder(self))
    }
}

impl Adder<'_> {
    /// What is behind `used` was written: so much is in use now.
    pub fn publish(&self, used: u64) {
        self.0.used.store(used, Ordering::Release);
    }
}

impl Drop for Adder<'_> {
    fn drop(&mut self) {
        self.0.is_busy.store(0, Ordering::Release);
    }
}

#[cfg(test)]
#[cfg(not(loom))]
impl Append {
    /// As whatever wrote there may leave it.
    pub fn damage(&self, used: u64, is_busy: bool) {
        self.used.store(used, Ordering::Relaxed);
        self.is_busy.store(u32::from(is_busy), Ordering::Relaxed);
    }
}

/// Every order in which ranks can come to it (`cargo xtask loom`).
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::sync::UnsafeCell;

    struct Shared {
        append: Append,
        places: [UnsafeCell<u32>; 2],
    }

    // SAFETY: places are written by who may add, and read once they are in use; the model is about that.
    unsafe impl Sync for Shared {}

    impl Shared {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                append: Append {
                    used: AtomicU64::new(0),
                    is_busy: AtomicU32::new(0),
                },
                places: [UnsafeCell::new(0), UnsafeCell::new(0)],
            })
        }

        /// Adds a value, unless another one does; whether it was added.
        fn add(&self, value: u32) -> bool {
            let adder = self.append.adder();
            let adds = |adder| self.add_behind(self.append.used(), &adder, value);
            adder.map(adds).is_some()
        }

        fn add_behind(&self, used: u64, adder: &Adder<'_>, value: u32) {
            // SAFETY: nobody reads what is not in use, and nobody else adds.
            self.places[used as usize].with_mut(|place| unsafe { *place = value });
            adder.publish(used + 1);
        }

        /// All that is in use.
        fn all(&self) -> Vec<u32> {
            let used = self.append.used() as usize;
            let read = |place: &UnsafeCell<u32>| {
                // SAFETY: what is in use does not change.
                place.with(|place| unsafe { *place })
            };
            self.places[..used].iter().map(read).collect()
        }
    }

    #[test]
    fn what_two_add_is_there_once_and_nothing_is_lost() {
        loom::model(|| {
            let shared = Shared::new();
            let other = Arc::clone(&shared);
            let other = thread::spawn(move || other.add(1));
            let mut added = [shared.add(2), false];
            added[1] = other.join().expect("no panic");
            let mut all = shared.all();
            all.sort_unstable();
            let expected = [(added[1], 1), (added[0], 2)];
            let expected = expected.into_iter().filter(|it| it.0).map(|it| it.1);
            assert_eq!(all, expected.collect::<Vec<_>>());
            assert!(!all.is_empty(), "nobody waits, but one of them adds");
        });
    }

    #[test]
    fn who_reads_sees_all_of_what_is_in_use() {
        loom::model(|| {
            let shared = Shared::new();
            let other = Arc::clone(&shared);
            // It knows how much is in use: of a load and a store of the same word that follow each other
            // loom tries no order between them and a load before.
            let other = thread::spawn(move || {
                let adder = other.append.adder().expect("nobody else adds");
                other.add_behind(0, &adder, 1);
                other.add_behind(1, &adder, 2);
            });
            let (first, then) = (shared.all(), shared.all());
            assert!(then.starts_with(&first));
            assert!([1, 2].starts_with(&then));
            other.join().expect("no panic");
        });
    }
}
