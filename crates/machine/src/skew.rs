//! Arrival patterns: how late each rank enters a run, and what many runs show together.
//!
//! ```
//! use corecast_machine::{Skew, Spread, Time};
//! let late = Skew::Even(Time::from_ps(300)).late(4, 0);
//! assert_eq!(late.map_or(0, |late| late[1].ps()), 100);
//! let times = [1, 2, 3, 6].map(Time::from_ps);
//! let spread = Spread::of(&times).unwrap();
//! assert_eq!((spread.mean_ns, spread.max.ps()), (0.003, 6));
//! ```

use corecast_core::Rank;
use corecast_sim::Time;

use crate::data::Mix;

/// How late each rank enters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Skew {
    /// Evenly spread in the order of the ranks: rank `r` of `p` by `r / (p - 1)` of this.
    Even(Time),
    /// By a random time below or equal to this, independent for every rank and seed.
    Random(Time),
    /// Only this rank, by this.
    One(Rank, Time),
    /// Each rank by its own entry; those without one are on time.
    Each(Vec<Time>),
}

impl Skew {
    /// How late each of `ranks` ranks is; none if the skew names a rank that there is not.
    #[must_use]
    pub fn late(&self, ranks: u32, seed: u64) -> Option<Vec<Time>> {
        let all = 0..u64::from(ranks);
        let late: Vec<Time> = match self {
            Self::Even(most) => {
                let part = |rank| u128::from(most.ps()) * u128::from(rank);
                let gaps = u128::from(ranks.max(2)) - 1;
                all.map(|rank| Time::from_ps((part(rank) / gaps) as u64)) // at most `most`
                    .collect()
            }
            Self::Random(most) => {
                let (mut mix, below) = (Mix::new(seed), most.ps().saturating_add(1));
                all.map(|_| Time::from_ps(mix.next() % below)).collect()
            }
            Self::One(rank, by) => {
                let mut late = vec![Time::ZERO; ranks as usize];
                *late.get_mut(rank.index())? = *by;
                late
            }
            Self::Each(late) if late.len() > ranks as usize => return None,
            Self::Each(late) => {
                let mut late = late.clone();
                late.resize(ranks as usize, Time::ZERO);
                late
            }
        };
        Some(late)
    }
}

/// The times of many runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Number of runs, at least 1.
    pub runs: usize,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
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
            variance_ns2: squares / (runs.max(2) - 1) as f64,
            p99: sorted[(runs * 99).div_ceil(100) - 1],
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ps(late: Option<Vec<Time>>) -> Vec<u64> {
        let late = late.expect("all ranks exist");
        late.into_iter().map(Time::ps).collect()
    }

    #[test]
    fn every_pattern_has_one_entry_per_rank() {
        let time = Time::from_ps(900);
        assert_eq!(ps(Skew::Even(time).late(4, 0)), [0, 300, 600, 900]);
        assert_eq!(ps(Skew::Even(time).late(1, 0)), [0]);
        assert_eq!(ps(Skew::One(Rank(2), time).late(3, 0)), [0, 0, 900]);
        assert_eq!(ps(Skew::Each(vec![time]).late(3, 0)), [900, 0, 0]);
        assert!(Skew::One(Rank(3), time).late(3, 0).is_none());
        assert!(Skew::Each(vec![time; 4]).late(3, 0).is_none());
        let random = |seed| ps(Skew::Random(time).late(64, seed));
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        assert!(random(1).iter().all(|&late| late <= 900));
        assert_eq!(ps(Skew::Random(Time::MAX).late(2, 0)).len(), 2);
    }

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
        assert!((spread.variance_ns2 - 3350.0).abs() < 1e-9);
    }
}
