//! The places of all buffers, eight to a line of the processor's cache.

use std::ops::{Index, IndexMut};

/// A vector of words whose every eighth begins a line of the cache, so that a buffer of eight
/// flits or fewer lies in one line.
#[derive(Clone, Debug)]
pub(super) struct Places {
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; 8]);

impl Places {
    pub(super) fn new(len: usize, value: u64) -> Self {
        Self {
            lines: vec![Line([value; 8]); len.div_ceil(8)],
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &u64> {
        self.lines.iter().flat_map(|line| &line.0)
    }
}

impl Index<usize> for Places {
    type Output = u64;

    #[inline]
    fn index(&self, place: usize) -> &u64 {
        &self.lines[place / 8].0[place % 8]
    }
}

impl IndexMut<usize> for Places {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut u64 {
        &mut self.lines[place / 8].0[place % 8]
    }
}
