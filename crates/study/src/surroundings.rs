// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes on around a run: transfers under way, ranks that come late, other traffic.
//!
//! ```
//! use corecast_study::{ArrivalPattern, OtherTraffic};
//! assert_eq!(ArrivalPattern::Random { cycles: 5000 }.to_string(), "random:5000");
//! let traffic = OtherTraffic { rate: 0.05, packet_flits: 8 };
//! assert_eq!(traffic.to_string(), "0.05:8");
//! ```

use std::fmt;

use corecast_chip::Clock;
use corecast_core::Rank;
use corecast_core::hash::Fnv1a;
use corecast_machine::{Background, Limits, Ongoing, RunOptions, Skew, Time, Watch};
use thiserror::Error;

use crate::number::TOTAL_BYTES_MAX;

/// Latest arrival in cycles; beyond it they might not fit into picoseconds.
pub const ARRIVAL_CYCLES_MAX: u64 = 1_000_000_000;
/// Most flits of a packet of other traffic.
pub const PACKET_FLITS_MAX: u32 = 4096;
/// Flits of a packet of other traffic unless said otherwise.
pub const PACKET_FLITS: u32 = 4;

/// Who comes late, in cycles of the chip's reference clock. Shown as the command line writes it, and
/// lists with a hash of their numbers, as a file can have others by now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArrivalPattern {
    /// Nobody.
    OnTime,
    /// Evenly spread in the order of the ranks, the last by this.
    Even {
        /// The last rank's lateness.
        cycles: u64,
    },
    /// Every rank by a random time of at most this.
    Random {
        /// The most.
        cycles: u64,
    },
    /// One rank.
    One {
        /// Who.
        rank: u32,
        /// By how much.
        cycles: u64,
    },
    /// Each rank by its own entry; those without one are on time.
    Each {
        /// Where the numbers are from.
        file: String,
        /// One per rank, from rank 0 on.
        cycles: Vec<u64>,
    },
}

impl fmt::Display for ArrivalPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnTime => write!(f, "none"),
            Self::Even { cycles } => write!(f, "uniform:{cycles}"),
            Self::Random { cycles } => write!(f, "random:{cycles}"),
            Self::One { rank, cycles } => write!(f, "{rank}={cycles}"),
            Self::Each { file, cycles } => {
                let mut hash = Fnv1a::new();
                for &cycles in cycles {
                    hash.bytes(&cycles.to_le_bytes());
                }
                write!(f, "file:{file}#{:016x}", hash.value())
            }
        }
    }
}

impl ArrivalPattern {
    /// Every rank named, the latest arrival.
    fn extent(&self) -> (u32, u64) {
        match self {
            Self::OnTime => (0, 0),
            Self::Even { cycles } | Self::Random { cycles } => (0, *cycles),
            Self::One { rank, cycles } => (rank.saturating_add(1), *cycles),
            Self::Each { cycles, .. } => {
                let ranks = u32::try_from(cycles.len()).unwrap_or(u32::MAX);
                (ranks, cycles.iter().copied().max().unwrap_or(0))
            }
        }
    }

    fn skew(&self, clock: &Clock) -> Skew {
        let time = |cycles: u64| Time::from_ps(clock.to_ps(cycles));
        match self {
            Self::OnTime => Skew::Each(Vec::new()),
            Self::Even { cycles } => Skew::Even(time(*cycles)),
            Self::Random { cycles } => Skew::Random(time(*cycles)),
            Self::One { rank, cycles } => Skew::One(Rank(*rank), time(*cycles)),
            Self::Each { cycles, .. } => Skew::Each(cycles.iter().map(|&c| time(c)).collect()),
        }
    }
}

/// Random traffic between all cores of a mesh. Shown as the command line writes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OtherTraffic {
    /// Flits per core and cycle, 0 to 1.
    pub rate: f64,
    /// Flits per packet, 1 to [`PACKET_FLITS_MAX`].
    pub packet_flits: u32,
}

impl fmt::Display for OtherTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.packet_flits {
            PACKET_FLITS => write!(f, "{}", self.rate),
            flits => write!(f, "{}:{flits}", self.rate),
        }
    }
}

/// A transfer under way as the command line writes it.
#[must_use]
pub fn ongoing_words(ongoing: &Ongoing) -> String {
    let Ongoing { src, dst, bytes } = ongoing;
    match dst {
        Some(dst) => format!("{src}:{dst}={bytes}"),
        None => format!("{src}={bytes}"),
    }
}

/// What goes on around every run of a study.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Surroundings {
    /// Transfers under way.
    pub ongoing: Vec<Ongoing>,
    /// Who comes late: one after the other, each replacing what it speaks of.
    pub arrivals: Vec<ArrivalPattern>,
    /// Other traffic on the mesh.
    pub background: Option<OtherTraffic>,
    /// Whether caches are empty at the start; otherwise every rank has just read its data.
    pub is_cold: bool,
}

/// What cannot go on around a run.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum SurroundingsError {
    /// A rank that comes late does not exist.
    #[error("`{arrival}` names no rank of this run")]
    LateRank {
        /// Who comes late.
        arrival: ArrivalPattern,
        /// Number of ranks.
        ranks: u32,
    },
    /// An arrival is later than [`ARRIVAL_CYCLES_MAX`].
    #[error("`{arrival}` has no valid number of cycles")]
    TooLate {
        /// Who comes late.
        arrival: ArrivalPattern,
        /// Number of ranks.
        ranks: u32,
    },
    /// A rank of a transfer does not exist.
    #[error("`{}` names no rank of this run", ongoing_words(ongoing))]
    OngoingRank {
        /// The transfer.
        ongoing: Ongoing,
        /// Number of ranks.
        ranks: u32,
    },
    /// A transfer has one end only.
    #[error("`{}` goes from a rank to itself", ongoing_words(ongoing))]
    OngoingItself {
        /// The transfer.
        ongoing: Ongoing,
        /// Number of ranks.
        ranks: u32,
    },
    /// A transfer is longer than [`TOTAL_BYTES_MAX`].
    #[error("`{}` is longer than 1 GiB", ongoing_words(ongoing))]
    OngoingBytes {
        /// The transfer.
        ongoing: Ongoing,
        /// Number of ranks.
        ranks: u32,
    },
    /// A core cannot send so much.
    #[error("`{traffic}` has no valid rate")]
    Rate {
        /// The traffic.
        traffic: OtherTraffic,
    },
    /// A packet cannot be so long.
    #[error("`{traffic}` has no valid number of flits")]
    PacketFlits {
        /// The traffic.
        traffic: OtherTraffic,
    },
}

impl Surroundings {
    /// Refuses what cannot be around a run of `ranks` ranks, whatever the machine.
    pub(crate) fn check(&self, ranks: u32) -> Result<(), SurroundingsError> {
        for ongoing in &self.ongoing {
            self.check_ongoing(*ongoing, ranks)?;
        }
        for arrival in &self.arrivals {
            let (named, cycles) = arrival.extent();
            let arrival = || arrival.clone();
            if named > ranks {
                let arrival = arrival();
                return Err(SurroundingsError::LateRank { arrival, ranks });
            }
            if cycles > ARRIVAL_CYCLES_MAX {
                let arrival = arrival();
                return Err(SurroundingsError::TooLate { arrival, ranks });
            }
        }
        let Some(traffic) = self.background else {
            return Ok(());
        };
        if !(0.0..=1.0).contains(&traffic.rate) {
            return Err(SurroundingsError::Rate { traffic });
        }
        if !(1..=PACKET_FLITS_MAX).contains(&traffic.packet_flits) {
            return Err(SurroundingsError::PacketFlits { traffic });
        }
        Ok(())
    }

    fn check_ongoing(&self, ongoing: Ongoing, ranks: u32) -> Result<(), SurroundingsError> {
        let mut named = [Some(ongoing.src), ongoing.dst].into_iter().flatten();
        if named.any(|rank| rank.0 >= ranks) {
            return Err(SurroundingsError::OngoingRank { ongoing, ranks });
        }
        if ongoing.dst == Some(ongoing.src) {
            return Err(SurroundingsError::OngoingItself { ongoing, ranks });
        }
        if ongoing.bytes > TOTAL_BYTES_MAX {
            return Err(SurroundingsError::OngoingBytes { ongoing, ranks });
        }
        Ok(())
    }

    /// Those of a run with this seed, in times of this clock.
    ///
    /// # Panics
    /// If they name ranks that there are not.
    #[must_use]
    pub fn options(&self, ranks: u32, seed: u64, clock: &Clock, limits: Limits) -> RunOptions {
        let len = if self.arrivals.is_empty() { 0 } else { ranks };
        let mut late = vec![Time::ZERO; len as usize];
        for arrival in &self.arrivals {
            let skew = arrival.skew(clock);
            skew.delay(&mut late, seed).expect("its ranks were checked");
        }
        RunOptions {
            limits,
            ongoing: self.ongoing.clone(),
            late,
            background: self.background.map(|traffic| Background {
                rate: traffic.rate,
                packet_flits: traffic.packet_flits,
                seed,
            }),
            is_cold: self.is_cold,
            seed,
            watch: Watch::default(),
        }
    }

    /// Whether nothing but the run uses links and ports.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.ongoing.is_empty() && self.background.is_none()
    }

    /// Whether ranks come late or anything else goes on.
    #[must_use]
    pub fn disturb(&self) -> bool {
        !self.is_quiet() || !self.arrivals.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_patterns_replace_what_they_speak_of() {
        let clock = Clock {
            name: "core".to_owned(),
            period_ps: 1,
        };
        let late = |arrivals: &[ArrivalPattern]| {
            let surroundings = Surroundings {
                arrivals: arrivals.to_vec(),
                ..Surroundings::default()
            };
            let options = surroundings.options(3, 0, &clock, Limits::default());
            options.late.into_iter().map(Time::ps).collect::<Vec<_>>()
        };
        let (even, one) = (
            ArrivalPattern::Even { cycles: 10 },
            ArrivalPattern::One {
                rank: 1,
                cycles: 90,
            },
        );
        assert_eq!(late(&[even, one.clone()]), [0, 90, 10]);
        assert_eq!(late(&[one, ArrivalPattern::OnTime]), [0, 0, 0]);
        assert!(late(&[]).is_empty());
        let random = late(&[ArrivalPattern::Random { cycles: 5 }]);
        assert!(random.iter().all(|&late| late <= 5));
    }

    #[test]
    fn lists_are_told_apart_by_their_numbers() {
        let each = |cycles: &[u64]| {
            let (file, cycles) = ("late.txt".to_owned(), cycles.to_vec());
            ArrivalPattern::Each { file, cycles }.to_string()
        };
        assert!(each(&[1, 2]).starts_with("file:late.txt#"));
        assert_eq!(each(&[1, 2]), each(&[1, 2]));
        assert_ne!(each(&[1, 2]), each(&[2, 1]));
        assert_ne!(each(&[1]), each(&[1, 0]));
    }
}
