// SPDX-License-Identifier: MIT OR Apache-2.0
//! One cache: which lines it holds, and which of them memory does not have as they are.

/// What is done with a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It stays as it is.
    Read,
    /// It is dirty from then on.
    Write,
}

/// A set-associative write-back cache with least-recently-used replacement. Lines are numbered by
/// their physical address.
///
/// ```
/// use corecast_sim::memory::{Access, Cache};
/// let mut cache = Cache::new(4, 2); // 2 sets of 2 lines
/// assert!(!cache.touch(0, Access::Read));
/// assert_eq!(cache.fill(0, Access::Read), None);
/// assert_eq!(cache.fill(2, Access::Write), None);
/// assert!(cache.touch(0, Access::Read)); // now 2 is the least recent of set 0
/// assert_eq!(cache.fill(4, Access::Read), Some(2)); // and has to be written back
/// assert_eq!(cache.fill(6, Access::Read), None, "0 was only read");
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    ways: usize,
    /// Number of sets less one.
    mask: u64,
    /// Per set its lines, the most recent first, each shifted by a bit that is set if it is dirty;
    /// [`EMPTY`] where there is none.
    lines: Vec<u64>,
}

/// A clean line with a number that no line has.
const EMPTY: u64 = u64::MAX - 1;
const DIRTY: u64 = 1;

impl Cache {
    /// An empty cache of so many lines.
    ///
    /// # Panics
    /// If they are not `ways` times a power of two.
    #[must_use]
    pub fn new(lines: usize, ways: usize) -> Self {
        let sets = lines / ways;
        assert!(
            sets.is_power_of_two() && sets * ways == lines,
            "{lines} lines in sets of {ways}"
        );
        Self {
            ways,
            mask: sets as u64 - 1,
            lines: vec![EMPTY; lines],
        }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let first = (line & self.mask) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// Whether it holds the line, which becomes the most recent of its set.
    pub fn touch(&mut self, line: u64, access: Access) -> bool {
        let set = self.set(line);
        let Some(way) = set.iter().position(|&held| held >> 1 == line) else {
            return false;
        };
        if way > 0 {
            set[..=way].rotate_right(1);
        }
        set[0] |= access.bit();
        true
    }

    /// Takes a line in that it does not hold, in the place of the least recent of its set. Returns
    /// that one if it is dirty: it has to be written back.
    pub fn fill(&mut self, line: u64, access: Access) -> Option<u64> {
        let set = self.set(line);
        set.rotate_right(1);
        let old = std::mem::replace(&mut set[0], line << 1 | access.bit());
        (old & DIRTY != 0).then_some(old >> 1)
    }
}

impl Access {
    const fn bit(self) -> u64 {
        match self {
            Self::Read => 0,
            Self::Write => DIRTY,
        }
    }
}
