// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a task computes, drawn without any state: the k-th firing of a flow always takes the
//! same number of cycles, on every machine and in every order.
//!
//! ```
//! use corecast_flow::Cost;
//! let cost = Cost::Uniform { min: 10, max: 20, seed: 1 };
//! assert_eq!(cost.cycles(0, 7), cost.cycles(0, 7));
//! assert!((0..100).all(|firing| (10..=20).contains(&cost.cycles(0, firing))));
//! ```

use corecast_core::random::{drawn, unit};

/// Most cycles of a firing.
pub const CYCLES_MAX: u64 = 1_000_000_000;

/// Cycles of a firing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cost {
    /// Always the same.
    Fixed(u64),
    /// Whole numbers from `min` to `max`, equally often.
    Uniform {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
        /// Seed.
        seed: u64,
    },
    /// Nearly normal: the sum of twelve uniform numbers, so at most six deviations from the mean.
    Normal {
        /// Mean.
        mean: u64,
        /// Standard deviation.
        deviation: u64,
        /// Seed.
        seed: u64,
    },
    /// Exponential, at most [`CYCLES_MAX`].
    Exponential {
        /// Mean.
        mean: u64,
        /// Seed.
        seed: u64,
    },
}

impl Cost {
    /// Cycles of the firing number `firing` of a flow; at most [`CYCLES_MAX`].
    #[must_use]
    pub fn cycles(&self, flow: u32, firing: u64) -> u64 {
        let draw = |seed: u64, index: u64| {
            let stream = drawn(seed ^ drawn(u64::from(flow)));
            drawn(stream.wrapping_add(drawn(firing.wrapping_mul(16).wrapping_add(index))))
        };
        match *self {
            Self::Fixed(cycles) => cycles,
            Self::Uniform { min, max, seed } => {
                let width = u128::from(max.saturating_sub(min)) + 1;
                min + ((u128::from(draw(seed, 0)) * width) >> 64) as u64
            }
            Self::Normal {
                mean,
                deviation,
                seed,
            } => {
                let sum: f64 = (0..12).map(|index| unit(draw(seed, index))).sum();
                let cycles = mean as f64 + (sum - 6.0) * deviation as f64;
                (cycles.round().max(0.0) as u64).min(CYCLES_MAX)
            }
            Self::Exponential { mean, seed } => {
                let cycles = -(1.0 - unit(draw(seed, 0))).ln() * mean as f64;
                (cycles.round() as u64).min(CYCLES_MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_as_asked_for() {
        let seed = 3;
        let costs = [
            Cost::Uniform {
                min: 500,
                max: 1500,
                seed,
            },
            Cost::Normal {
                mean: 1000,
                deviation: 100,
                seed,
            },
            Cost::Exponential { mean: 1000, seed },
        ];
        for cost in costs {
            let sum: u64 = (0..10_000).map(|firing| cost.cycles(0, firing)).sum();
            let mean = sum / 10_000;
            // The exponential's standard error is 10 cycles here.
            assert!((960..=1040).contains(&mean), "{cost:?}: {mean}");
        }
    }

    #[test]
    fn flows_and_seeds_draw_their_own() {
        let of = |seed, flow| -> Vec<u64> {
            let cost = Cost::Uniform {
                min: 0,
                max: CYCLES_MAX,
                seed,
            };
            (0..4).map(|firing| cost.cycles(flow, firing)).collect()
        };
        assert_ne!(of(1, 0), of(1, 1));
        assert_ne!(of(1, 0), of(2, 0));
    }
}
