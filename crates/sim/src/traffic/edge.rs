// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic between two edges of an array, as cache misses and write-backs would cause it.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::pattern::unit;

/// One injector: which request it sends next, and when.
///
/// A request is a cache miss (an address, one word) or a write-back (a line), with equal
/// probability. An injector that the mesh holds up creates nothing meanwhile.
///
/// ```
/// use corecast_sim::traffic::EdgeSource;
/// let mut full = EdgeSource::new(1.0, 16, 1, 2, 7);
/// assert!((0..100).all(|_| full.next_request().gap_cycles == 0));
/// ```
#[derive(Clone, Debug)]
pub struct EdgeSource {
    random: Xoshiro256PlusPlus,
    rate: f64,
    line_words: u32,
    header_flits: u32,
    flit_cycles: u32,
    /// Flits of the request before.
    before: u32,
}

/// A request of an injector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeRequest {
    /// Cycles from the end of the request before to its creation.
    pub gap_cycles: u64,
    /// Its length with header.
    pub flits: u32,
}

/// A gap no run will reach the end of; small enough to be added up.
const GAP_MAX: f64 = (1_u64 << 50) as f64;

impl EdgeSource {
    /// `rate` is the share of its time in which the injector sends while the mesh takes a flit every
    /// `flit_cycles` cycles.
    ///
    /// # Panics
    /// If the rate is not above 0 and at most 1.
    #[must_use]
    pub fn new(rate: f64, line_words: u32, header_flits: u32, flit_cycles: u32, seed: u64) -> Self {
        assert!(rate > 0.0 && rate <= 1.0, "rate {rate}");
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            rate,
            line_words,
            header_flits,
            flit_cycles,
            before: header_flits + line_words,
        }
    }

    /// The next request. The gap before it is geometrically distributed around what the rate leaves
    /// free after the request before.
    pub fn next_request(&mut self) -> EdgeRequest {
        let busy = f64::from(self.before * self.flit_cycles);
        let mean = busy * (1.0 - self.rate) / self.rate;
        let gap_cycles = if mean > 0.0 {
            let uniform = 1.0 - unit(&mut self.random); // (0, 1]
            let log_none = (-1.0 / (1.0 + mean)).ln_1p();
            (uniform.ln() / log_none).floor().min(GAP_MAX) as u64
        } else {
            0
        };
        let is_miss = self.random.next_u64() >> 63 == 0;
        let words = if is_miss { 1 } else { self.line_words };
        self.before = self.header_flits + words;
        EdgeRequest {
            gap_cycles,
            flits: self.before,
        }
    }

    /// One of `places`, all with equal probability.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick(&mut self, places: u32) -> u32 {
        assert!(places > 0, "a place to go to");
        // Below 2^32 places the bias is below 2^-21.
        (unit(&mut self.random) * f64::from(places)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_share_of_time_spent_sending() {
        for rate in [0.05, 0.3, 0.9, 1.0] {
            let mut source = EdgeSource::new(rate, 16, 1, 2, 11);
            let (mut busy, mut all) = (0, 0);
            for _ in 0..20_000 {
                let request = source.next_request();
                busy += u64::from(request.flits) * 2;
                all += request.gap_cycles + u64::from(request.flits) * 2;
            }
            let share = busy as f64 / all as f64;
            assert!((share / rate - 1.0).abs() < 0.03, "{share} for {rate}");
        }
    }

    #[test]
    fn misses_are_as_frequent_as_write_backs() {
        let mut source = EdgeSource::new(0.5, 8, 1, 1, 3);
        let flits: Vec<u32> = (0..10_000).map(|_| source.next_request().flits).collect();
        let misses = flits.iter().filter(|&&flits| flits == 2).count();
        assert!(flits.iter().all(|&flits| flits == 2 || flits == 9));
        assert!((4_800..5_200).contains(&misses), "{misses}");
    }

    #[test]
    fn equal_seeds_give_equal_traffic() {
        let requests = |seed| {
            let mut source = EdgeSource::new(0.4, 16, 1, 2, seed);
            (0..50).map(|_| source.next_request()).collect::<Vec<_>>()
        };
        assert_eq!(requests(5), requests(5));
        assert_ne!(requests(5), requests(6));
    }
}
