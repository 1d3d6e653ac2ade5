//! One cache: which lines it holds.

/// A set-associative cache with least-recently-used replacement. Lines are numbered by their
/// physical address.
///
/// ```
/// use corecast_sim::memory::Cache;
/// let mut cache = Cache::new(4, 2); // 2 sets of 2 lines
/// assert!(!cache.touch(0));
/// cache.fill(0);
/// cache.fill(2);
/// assert!(cache.touch(0)); // now 2 is the least recent of set 0
/// cache.fill(4);
/// assert!(cache.touch(0) && !cache.touch(2) && cache.touch(4));
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    ways: usize,
    /// Number of sets less one.
    mask: u64,
    /// Per set its lines, the most recent first; [`EMPTY`] where there is none.
    lines: Vec<u64>,
}

const EMPTY: u64 = u64::MAX;

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
    pub fn touch(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let Some(way) = set.iter().position(|&held| held == line) else {
            return false;
        };
        set[..=way].rotate_right(1);
        true
    }

    /// Takes a line in that it does not hold, in the place of the least recent of its set.
    pub fn fill(&mut self, line: u64) {
        let set = self.set(line);
        set.rotate_right(1);
        set[0] = line;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.lines.fill(EMPTY);
    }
}
