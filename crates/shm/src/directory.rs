// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directory of worlds that have joined a job: the launcher writes it, all ranks read it.
//!
//! An entry is there once the count of worlds has it, and never changes.
#![cfg_attr(not(test), forbid(unsafe_code))]

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// What the first page says of the directory.
#[repr(C)]
pub struct Directory {
    worlds: AtomicU32,
    /// Where its entries begin; 0 as long as there are none.
    start: AtomicU64,
}

impl Directory {
    /// Where its entries begin, and how many there are.
    pub fn get(&self) -> (u64, u32) {
        let worlds = self.worlds.load(Ordering::Acquire);
        (self.start.load(Ordering::Relaxed), worlds)
    }

    /// Says so, after they were written.
    pub fn set(&self, start: u64, worlds: u32) {
        self.start.store(start, Ordering::Relaxed);
        self.worlds.store(worlds, Ordering::Release);
    }
}

/// An entry of the directory.
#[repr(C)]
pub struct Entry {
    first: AtomicU32,
    ranks: AtomicU32,
    start: AtomicU64,
}

/// Where a world lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct World {
    /// The number of its first rank.
    pub first: u32,
    /// How many there are.
    pub ranks: u32,
    /// Where its layout begins in the file.
    pub start: u64,
}

impl Entry {
    pub fn set(&self, world: World) {
        self.first.store(world.first, Ordering::Relaxed);
        self.ranks.store(world.ranks, Ordering::Relaxed);
        self.start.store(world.start, Ordering::Relaxed);
    }

    pub fn get(&self) -> World {
        World {
            first: self.first.load(Ordering::Relaxed),
            ranks: self.ranks.load(Ordering::Relaxed),
            start: self.start.load(Ordering::Relaxed),
        }
    }
}

impl World {
    pub fn has(&self, rank: u32) -> bool {
        rank.wrapping_sub(self.first) < self.ranks
    }
}

/// Every order in which a world can join while a rank looks (`cargo xtask loom`).
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    struct Shared {
        directory: Directory,
        entries: [Entry; 2],
    }

    impl Shared {
        fn join(&self, number: u32) {
            self.entries[number as usize].set(world(number));
            self.directory.set(START, number + 1);
        }
    }

    const START: u64 = 4096;

    fn world(number: u32) -> World {
        World {
            first: 3 + number,
            ranks: 1 + number,
            start: 8192 + u64::from(number),
        }
    }

    #[test]
    fn worlds_that_are_counted_are_known_whole() {
        loom::model(|| {
            let entry = || Entry {
                first: AtomicU32::new(0),
                ranks: AtomicU32::new(0),
                start: AtomicU64::new(0),
            };
            let shared = Arc::new(Shared {
                directory: Directory {
                    worlds: AtomicU32::new(0),
                    start: AtomicU64::new(0),
                },
                entries: [entry(), entry()],
            });
            let launcher = Arc::clone(&shared);
            let launcher = thread::spawn(move || [0, 1].map(|number| launcher.join(number)));
            let (start, worlds) = shared.directory.get();
            assert!(worlds == 0 || start == START);
            for number in 0..worlds {
                assert_eq!(shared.entries[number as usize].get(), world(number));
            }
            launcher.join().expect("no panic");
            assert_eq!(shared.directory.get(), (START, 2));
        });
    }
}
