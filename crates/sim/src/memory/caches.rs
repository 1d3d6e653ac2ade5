// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two levels of cache in front of a core's private memory.

use corecast_core::random::{GAMMA, mixed};

use super::cache::{Access, Cache};

/// Sizes of a core's caches, in bytes. All powers of two, but for the ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CachesSpec {
    /// Of a line.
    pub line_bytes: u64,
    /// Of a page.
    pub page_bytes: u64,
    /// Capacity and ways of the first level.
    pub l1: (u64, u64),
    /// Capacity and ways of the second level.
    pub l2: (u64, u64),
}

/// Lines touched, by the level that served them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Touched {
    /// By the first level.
    pub l1: u64,
    /// By the second.
    pub l2: u64,
    /// By memory.
    pub memory: u64,
    /// Other lines that had to be written to memory, because they were dirty and their place was
    /// needed.
    pub written_back: u64,
}

impl Touched {
    /// Lines touched in all.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.l1 + self.l2 + self.memory
    }

    /// Lines that go between caches and memory, in either direction.
    #[must_use]
    pub fn memory_lines(&self) -> u64 {
        self.memory + self.written_back
    }
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Caches {
    l1: Cache,
    l2: Cache,
    line_shift: u32,
    page_shift: u32,
    seed: u64,
}

impl Caches {
    /// Empty caches. `seed` decides where in memory the core's pages lie.
    ///
    /// # Panics
    /// If the sizes are not as [`CachesSpec`] says.
    #[must_use]
    pub fn new(spec: CachesSpec, seed: u64) -> Self {
        let cache = |(bytes, ways): (u64, u64)| {
            Cache::new((bytes / spec.line_bytes) as usize, ways as usize)
        };
        assert!(spec.line_bytes.is_power_of_two() && spec.page_bytes.is_power_of_two());
        Self {
            l1: cache(spec.l1),
            l2: cache(spec.l2),
            line_shift: spec.line_bytes.trailing_zeros(),
            page_shift: spec.page_bytes.trailing_zeros(),
            seed,
        }
    }

    /// Where the lines of some bytes lie in memory.
    ///
    /// A page's number there is its own with random low bits: no two pages share one, and their
    /// colours are as random as an operating system hands them out.
    fn physical(&self, address: u64, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let first = address >> self.line_shift;
        let last = (address + bytes).saturating_sub(1) >> self.line_shift;
        let end = if bytes == 0 { first } else { last + 1 };
        let (seed, in_page) = (self.seed, self.page_shift - self.line_shift);
        let mut place = (u64::MAX, 0);
        (first..end).map(move |line| {
            let page = line >> in_page;
            if place.0 != page {
                place = (
                    page,
                    page << COLOUR_BITS | mix(seed, page) >> (64 - COLOUR_BITS),
                );
            }
            place.1 << in_page | line & ((1 << in_page) - 1)
        })
    }

    /// Reads some bytes; the lines are then in both levels.
    pub fn read(&mut self, address: u64, bytes: u64) -> Touched {
        self.bring_in(address, bytes, Access::Read)
    }

    /// Reads some bytes and overwrites them line by line, so that the stores hit the first level.
    pub fn update(&mut self, address: u64, bytes: u64) -> Touched {
        self.bring_in(address, bytes, Access::Write)
    }

    fn bring_in(&mut self, address: u64, bytes: u64, access: Access) -> Touched {
        let mut touched = Touched::default();
        for line in self.physical(address, bytes) {
            if self.l1.touch(line, access) {
                touched.l1 += 1;
                continue;
            }
            if self.l2.touch(line, Access::Read) {
                touched.l2 += 1;
            } else {
                touched.memory += 1;
                let old = self.l2.fill(line, Access::Read);
                touched.written_back += u64::from(old.is_some());
            }
            // A dirty line of the first level goes to the second, or past it if it has left that.
            if let Some(old) = self.l1.fill(line, access)
                && !self.l2.touch(old, Access::Write)
            {
                touched.written_back += 1;
            }
        }
        touched
    }

    /// Writes some bytes; lines that are in no level go to memory and do not come in.
    pub fn write(&mut self, address: u64, bytes: u64) -> Touched {
        let mut touched = Touched::default();
        for line in self.physical(address, bytes) {
            if self.l1.touch(line, Access::Write) {
                touched.l1 += 1;
            } else if self.l2.touch(line, Access::Write) {
                touched.l2 += 1;
            } else {
                touched.memory += 1;
            }
        }
        touched
    }
}

/// More bits than the number of colours of any cache has.
const COLOUR_BITS: u32 = 16;

/// A random number per page.
fn mix(seed: u64, page: u64) -> u64 {
    mixed(seed ^ page.wrapping_mul(GAMMA))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of the SCC.
    const SPEC: CachesSpec = CachesSpec {
        line_bytes: 32,
        page_bytes: 4096,
        l1: (16384, 4),
        l2: (262_144, 4),
    };

    #[test]
    fn lines_touched_are_those_that_the_bytes_lie_in() {
        let mut caches = Caches::new(SPEC, 1);
        assert_eq!(caches.read(0, 0).lines(), 0);
        assert_eq!(caches.read(31, 1).lines(), 1);
        assert_eq!(caches.read(31, 2).lines(), 2);
        assert_eq!(caches.read(4064, 64).lines(), 2);
    }

    #[test]
    fn only_reads_fill() {
        let mut caches = Caches::new(SPEC, 1);
        let all = |l1, l2, memory| Touched {
            l1,
            l2,
            memory,
            written_back: 0,
        };
        assert_eq!(caches.write(0, 1024), all(0, 0, 32));
        assert_eq!(caches.write(0, 1024), all(0, 0, 32));
        assert_eq!(caches.read(0, 1024), all(0, 0, 32));
        assert_eq!(caches.write(0, 1024), all(32, 0, 0));
        // Four times the first level: it holds none of the first 1024 bytes any more.
        caches.read(1 << 20, 65_536);
        assert_eq!(caches.write(0, 1024), all(0, 32, 0));
        assert_eq!(caches.read(0, 1024), all(0, 32, 0));
    }

    /// What is read in order and fits stays; of twice as much nothing does.
    #[test]
    fn capacity() {
        let mut caches = Caches::new(SPEC, 7);
        for _ in 0..2 {
            caches.read(0, 8192);
        }
        assert_eq!(caches.read(0, 8192).l1, 256);
        let mut caches = Caches::new(SPEC, 7);
        for _ in 0..2 {
            caches.read(0, 32_768);
        }
        assert_eq!(caches.read(0, 32_768).l1, 0, "least recently used");
    }

    /// A line that was overwritten in a cache goes to memory when its place is needed, once; what was
    /// only read, and what was stored past both caches, does not.
    #[test]
    fn dirty_lines_are_written_back_once() {
        let lines = |bytes: u64| bytes / 32;
        let far = |times: u64| times << 24;
        for (bytes, stays) in [(8192, true), (1 << 20, false)] {
            let mut caches = Caches::new(SPEC, 3);
            let first = caches.update(0, bytes);
            assert_eq!((first.memory, first.lines()), (lines(bytes), lines(bytes)));
            let own = first.written_back;
            assert_eq!(
                own == 0,
                stays,
                "{bytes} bytes: {own} lines left while the rest came"
            );
            // Twice both levels, so that everything older leaves.
            let rest = caches.read(far(1), 1 << 20).written_back;
            assert_eq!(own + rest, lines(bytes), "each of {bytes} bytes once");
            assert_eq!(caches.read(far(2), 1 << 20).written_back, 0, "only read");
        }
        let mut caches = Caches::new(SPEC, 3);
        caches.write(0, 8192);
        assert_eq!(caches.read(0, 1 << 20).written_back, 0, "stored past them");
        let mut caches = Caches::new(SPEC, 3);
        caches.read(0, 8192);
        caches.write(0, 8192);
        assert_eq!(
            caches.read(far(1), 1 << 20).written_back,
            256,
            "stored to them"
        );
    }

    /// Random colours: a buffer of three quarters of the second level does not quite fit.
    #[test]
    fn pages_have_colours() {
        let misses = |seed, bytes| {
            let mut caches = Caches::new(SPEC, seed);
            caches.read(0, bytes);
            caches.read(0, bytes).memory
        };
        for seed in 0..20 {
            assert_eq!(misses(seed, 16_384), 0, "five pages of one colour are rare");
            let some = misses(seed, 196_608);
            assert!(some > 0 && some < 196_608 / 32, "{seed}: {some}");
        }
        assert_ne!(misses(1, 196_608), misses(2, 196_608));
    }
}
