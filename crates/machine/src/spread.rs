// SPDX-License-Identifier: MIT OR Apache-2.0
//! What many runs show together.
//!
//! ```
//! use corecast_machine::{Spread, Time};
//! let spread = Spread::of(&[1, 2, 3, 6].map(Time::from_ps)).unwrap();
//! assert_eq!((spread.mean_ns, spread.max.ps()), (0.003, 6));
//! ```

use corecast_core::Time;

/// The times of many runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Number of runs, at least 1.
    pub runs: usize,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
    /// The median; of an even number the later of the two in the middle.
    pub median: Time,
    /// Sample variance in square nanoseconds: the sum of squares over `runs - 1`; 0 for one run.
    pub variance_ns2: f64,
    /// The time that 99 % of the runs do not exceed (the nearest rank).
    pub p99: Time,
    /// The longest.
    pub max: Time,
}

impl Spread {
    /// Of some times; none of none.
    #[must_use]
    pub fn of(times: &[Time]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let (max, runs) = (*sorted.last()?, sorted.len());
        let ns = || sorted.iter().map(|time| time.ns());
        let mean_ns = ns().sum::<f64>() / runs as f64;
        let squares: f64 = ns().map(|time| (time - mean_ns).powi(2)).sum();
        Some(Self {
            runs,
            mean_ns,
            median: sorted[runs / 2],
            variance_ns2: squares / (runs.max(2) - 1) as f64,
            p99: sorted[(runs * 99).div_ceil(100) - 1],
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_those_of_the_textbook() {
        assert_eq!(Spread::of(&[]), None);
        let one = Spread::of(&[Time::from_ps(5000)]).expect("a run");
        assert_eq!(
            (one.mean_ns, one.variance_ns2, one.p99.ps()),
            (5.0, 0.0, 5000)
        );
        let times: Vec<Time> = (1..=200).map(|ns| Time::from_ps(ns * 1000)).collect();
        let spread = Spread::of(&times).expect("runs");
        assert_eq!(
            (spread.mean_ns, spread.p99.ns(), spread.max.ns()),
            (100.5, 198.0, 200.0)
        );
        assert_eq!(spread.median.ns(), 101.0);
        assert!((spread.variance_ns2 - 3350.0).abs() < 1e-9);
    }
}
