//! Random numbers.

use crate::graph::mixed;

/// Random numbers of a seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        ((u128::from(mixed(self.0)) * bound as u128) >> 64) as usize
    }

    /// A number from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn shuffle(&mut self, list: &mut [u32]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}
