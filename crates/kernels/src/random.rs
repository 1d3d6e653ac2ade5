// SPDX-License-Identifier: MIT OR Apache-2.0
//! The generator behind generated pictures and signals.

use corecast_core::random::SplitMix64;

/// Numbers of a seed.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number in `-most..=most`.
    pub(crate) fn within(&mut self, most: u32) -> i32 {
        let values = 2 * u64::from(most) + 1;
        let value = i64::try_from(self.next() % values).expect("below 2^33");
        i32::try_from(value - i64::from(most)).expect("at most `most`")
    }
}
