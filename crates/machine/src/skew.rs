// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrival patterns: how late each rank enters a run.
//!
//! ```
//! use corecast_machine::{Skew, Time};
//! let late = Skew::Even(Time::from_ps(300)).late(4, 0);
//! assert_eq!(late.map_or(0, |late| late[1].ps()), 100);
//! ```

use corecast_core::{Rank, Time};

use corecast_core::random::SplitMix64;

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
        let mut late = vec![Time::ZERO; ranks as usize];
        self.delay(&mut late, seed)?;
        Some(late)
    }

    /// Replaces how late the ranks are of which the skew speaks: for [`Skew::One`] that one,
    /// otherwise all. None, and no change, if it names a rank that there is not.
    pub fn delay(&self, late: &mut [Time], seed: u64) -> Option<()> {
        match self {
            Self::Even(most) => {
                let gaps = (late.len().max(2) - 1) as u128;
                for (rank, late) in (0_u128..).zip(late) {
                    // At most `most`.
                    *late = Time::from_ps((u128::from(most.ps()) * rank / gaps) as u64);
                }
            }
            Self::Random(most) => {
                let (mut mix, below) = (SplitMix64::new(seed), most.ps().saturating_add(1));
                late.fill_with(|| Time::from_ps(mix.next() % below));
            }
            Self::One(rank, by) => *late.get_mut(rank.index())? = *by,
            Self::Each(each) => {
                let (named, others) = late.split_at_mut_checked(each.len())?;
                named.copy_from_slice(each);
                others.fill(Time::ZERO);
            }
        }
        Some(())
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
        let mut late = [time; 3];
        let delayed = Skew::One(Rank(1), Time::ZERO).delay(&mut late, 0);
        assert_eq!((delayed, late), (Some(()), [time, Time::ZERO, time]));
    }
}
