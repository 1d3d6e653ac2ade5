// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a message takes between two ranks, there and back. A placement says on which cores these are.
//!
//! ```
//! use corecast_study::{ChipChoice, Pingpong};
//! let plan = Pingpong {
//!     sizes: vec![4, 64],
//!     to: Some(vec![1]),
//!     ..Pingpong::new(ChipChoice::find("tilepro64", &[]).expect("built in"))
//! };
//! let played = plan.play(&())?;
//! assert_eq!((played.points.len(), played.points[0].hops), (2, Some(1)));
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

use std::sync::Arc;

use corecast_core::Rank;
use corecast_machine::{Limits, Time};
use serde::Serialize;

use crate::chips::ChipChoice;
use crate::error::StudyError;
use crate::machines::{MACHINES, MachineKind, StudyMachine};
use crate::number::{Cycles, TOTAL_BYTES_MAX};
use crate::progress::Progress;
use crate::settings::Settings;

/// Ranks that answer unless they are named.
const TARGETS: u64 = 5;

/// Which messages between which ranks.
#[derive(Clone, Debug)]
pub struct Pingpong {
    /// The chip.
    pub chip: ChipChoice,
    /// On what to play.
    pub machine: &'static dyn MachineKind,
    /// The rank that begins.
    pub from: u32,
    /// The ranks that answer; none = five from near to far.
    pub to: Option<Vec<u32>>,
    /// Sizes in bytes.
    pub sizes: Vec<u64>,
    /// When a round trip, with those that are repeated for it, ends at the latest.
    pub limits: Limits,
}

/// Half a round trip of one size between one pair of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PingpongPoint {
    /// The rank that answers.
    pub to: u32,
    /// Hops between the two, on a mesh.
    pub hops: Option<u32>,
    /// The size.
    pub bytes: u64,
    /// Half of there and back.
    pub one_way: Time,
}

impl PingpongPoint {
    /// Bytes per nanosecond.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        match self.one_way.ns() {
            0.0 => 0.0,
            ns => self.bytes as f64 / ns,
        }
    }
}

/// A line through the points of one pair: LogGP, by least squares over the sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    /// L + 2 o.
    pub start_ns: f64,
    /// G.
    pub ns_per_byte: f64,
}

/// What was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// The machine.
    pub machine: Arc<dyn StudyMachine>,
    /// What the times depend on.
    pub settings: Settings,
    /// The rank that begins.
    pub from: u32,
    /// The ranks that answer.
    pub targets: Vec<u32>,
    /// Every size with every rank.
    pub points: Vec<PingpongPoint>,
}

/// A point as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PingpongRecord {
    /// The rank that begins.
    pub from: u32,
    /// The rank that answers.
    pub to: u32,
    /// Hops between the two, on a mesh.
    pub hops: Option<u32>,
    /// The size.
    pub bytes: u64,
    /// Half a round trip in cycles of the chip's reference clock.
    pub latency_cycles: Option<Cycles>,
    /// The same in nanoseconds.
    pub latency_ns: f64,
    /// Bytes per nanosecond.
    pub bytes_per_ns: f64,
    /// L + 2 o of the line through all sizes.
    pub start_ns: Option<f64>,
    /// G of the line through all sizes.
    pub ns_per_byte: Option<f64>,
}

impl Pingpong {
    /// From rank 0 to five others of a simulated chip, with 4 bytes to 8 KiB.
    #[must_use]
    pub fn new(chip: ChipChoice) -> Self {
        Self {
            chip,
            machine: MACHINES[0],
            from: 0,
            to: None,
            sizes: (2..=13).map(|exponent| 1 << exponent).collect(),
            limits: Limits::default(),
        }
    }

    /// Plays.
    ///
    /// # Errors
    /// Ranks that there are not, sizes beyond [`TOTAL_BYTES_MAX`], whatever ended a run.
    pub fn play(&self, progress: &dyn Progress) -> Result<Played, StudyError> {
        let (chip, ranks) = (&self.chip.chip, self.chip.chip.ranks_max());
        let too_long = self.sizes.iter().find(|&&bytes| bytes > TOTAL_BYTES_MAX);
        if let Some(&bytes) = too_long {
            return Err(StudyError::MessageBytes { bytes });
        }
        let targets = self.targets()?;
        let machine = self.machine.on(chip, None)?;
        let seats = machine.mesh().map(|mesh| mesh.place(ranks));
        let mut points = Vec::new();
        for &to in &targets {
            for &bytes in &self.sizes {
                if progress.is_stopped() {
                    return Err(StudyError::Stopped);
                }
                let pair = [Rank(self.from), Rank(to)];
                let there_and_back = machine.round_trip(pair, bytes, self.limits);
                let there_and_back = there_and_back.map_err(StudyError::RoundTrip)?;
                progress.done();
                points.push(PingpongPoint {
                    to,
                    hops: seats.as_ref().map(|seats| seats.hops(pair[0], pair[1])),
                    bytes,
                    one_way: Time::from_ps(there_and_back.ps() / 2),
                });
            }
        }
        Ok(Played {
            settings: Settings::new(&self.chip, &*machine),
            machine,
            from: self.from,
            targets,
            points,
        })
    }

    /// How many points there will be.
    ///
    /// # Errors
    /// Ranks that there are not.
    pub fn point_count(&self) -> Result<usize, StudyError> {
        Ok(self.targets()?.len() * self.sizes.len())
    }

    /// The ranks to play with: those given, or some from near to far.
    fn targets(&self) -> Result<Vec<u32>, StudyError> {
        let (from, ranks) = (self.from, self.chip.chip.ranks_max());
        let known = |end: &'static str, rank: u32| match rank < ranks {
            true => Ok(rank),
            false => Err(StudyError::Rank { end, rank, ranks }),
        };
        known("from", from)?;
        let Some(to) = &self.to else {
            let others = u64::from(ranks - 1);
            let mut targets: Vec<u32> = (1..=TARGETS)
                .map(|n| (others * n / TARGETS) as u32)
                .filter(|&rank| rank != from)
                .collect();
            targets.dedup();
            return match targets.is_empty() {
                true => Err(StudyError::OneCore),
                false => Ok(targets),
            };
        };
        let target = |&rank: &u32| match known("to", rank)? {
            rank if rank == from => Err(StudyError::PlaysWithItself { rank }),
            rank => Ok(rank),
        };
        to.iter().map(target).collect()
    }
}

impl Played {
    /// The line through the points of one pair; none with fewer than two sizes.
    #[must_use]
    pub fn fit(&self, to: u32) -> Option<Fit> {
        fit(&self.points, to)
    }

    /// A point as a record.
    #[must_use]
    pub fn record(&self, point: &PingpongPoint) -> PingpongRecord {
        let fit = self.fit(point.to);
        let clock = self.machine.clock();
        let cycles = clock.map(|clock| clock.cycles_f64(point.one_way.ps()));
        PingpongRecord {
            from: self.from,
            to: point.to,
            hops: point.hops,
            bytes: point.bytes,
            latency_cycles: cycles.map(Cycles),
            latency_ns: point.one_way.ns(),
            bytes_per_ns: point.bandwidth(),
            start_ns: fit.map(|fit| fit.start_ns),
            ns_per_byte: fit.map(|fit| fit.ns_per_byte),
        }
    }
}

fn fit(points: &[PingpongPoint], to: u32) -> Option<Fit> {
    let of_pair = || {
        let points = points.iter().filter(move |point| point.to == to);
        points.map(|point| (point.bytes as f64, point.one_way.ns()))
    };
    let count = of_pair().count() as f64;
    let (sum_x, sum_y) = of_pair().fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (xy, xx) = of_pair().fold((0.0, 0.0), |(xy, xx), (x, y)| {
        let dx = x - mean_x;
        (xy + dx * (y - mean_y), xx + dx * dx)
    });
    (xx > 0.0).then(|| Fit {
        start_ns: mean_y - xy / xx * mean_x,
        ns_per_byte: xy / xx,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_points_on_a_line_is_that_line() {
        let point = |bytes: u64| PingpongPoint {
            to: 3,
            hops: None,
            bytes,
            one_way: Time::from_ps(100_000 + 250 * bytes),
        };
        let fit = fit(&[point(0), point(64), point(4096)], 3).expect("several sizes");
        assert!((fit.start_ns - 100.0).abs() < 1e-9);
        assert!((fit.ns_per_byte - 0.25).abs() < 1e-12);
        assert!(super::fit(&[point(64)], 3).is_none());
    }

    #[test]
    fn ranks_that_there_are_not_are_refused() {
        let chip = || ChipChoice::find("park2019-bus", &[]).expect("built in");
        let refused = |from: u32, to: Option<Vec<u32>>| {
            let plan = Pingpong {
                from,
                to,
                ..Pingpong::new(chip())
            };
            plan.point_count().expect_err("refused")
        };
        let ranks = chip().chip.cores_max();
        let rank = |end, rank| StudyError::Rank { end, rank, ranks };
        assert_eq!(refused(ranks, None), rank("from", ranks));
        assert_eq!(refused(0, Some(vec![1, ranks])), rank("to", ranks));
        let itself = StudyError::PlaysWithItself { rank: 3 };
        assert_eq!(refused(3, Some(vec![3])), itself);
    }
}
