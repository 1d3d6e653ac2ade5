// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers that are the same on every machine and for ever: SplitMix64 (Steele, Lea and Flood
//! 2014, "Fast splittable pseudorandom number generators", doi 10.1145/2714064.2660195).
//!
//! The one generator of input data, shuffles, arrivals, pictures and searches; only synthetic traffic
//! has another one (`corecast-sim`), of which long streams are taken side by side.
//!
//! ```
//! use corecast_core::random::{SplitMix64, drawn};
//! let mut random = SplitMix64::new(7);
//! assert_eq!(random.next(), drawn(7));
//! assert!((0..100).all(|_| random.below(6) < 6));
//! ```

/// What the state grows by with every number: the golden ratio, as an odd number of 64 bits.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator. See the module's documentation.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
    gamma: u64,
}

impl SplitMix64 {
    /// The generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self::with_gamma(seed, GAMMA)
    }

    /// A generator whose state grows by `gamma` instead of [`GAMMA`]; even ones leave out states.
    #[must_use]
    pub const fn with_gamma(seed: u64, gamma: u64) -> Self {
        Self { state: seed, gamma }
    }

    /// The next 64 bits.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(self.gamma);
        mixed(self.state)
    }

    /// A number of `0..end`; its bias is that of 64 bits, which nothing sees.
    #[inline]
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from 0 to below 1, a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.next())
    }

    /// Brings a list into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Mixes the bits of a number: different ones have different results, of which every bit depends on
/// every bit.
#[must_use]
#[inline]
pub const fn mixed(bits: u64) -> u64 {
    let mut z = bits;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The first number of the generator with this seed: random numbers without a state.
#[must_use]
#[inline]
pub const fn drawn(seed: u64) -> u64 {
    mixed(seed.wrapping_add(GAMMA))
}

/// The upper 53 bits as a number from 0 to below 1, so that every one is exact.
#[must_use]
#[inline]
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_published_ones() {
        // Of the authors' reference code (prng.di.unimi.it/splitmix64.c), for the seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let numbers = [(); 3].map(|()| random.next());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(numbers, published);
    }

    #[test]
    fn a_shuffle_keeps_what_it_moves() {
        let mut list: Vec<u32> = (0..50).collect();
        SplitMix64::new(1).shuffle(&mut list);
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn units_are_below_one() {
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }
}
