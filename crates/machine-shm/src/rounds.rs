// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often a run is carried out, and from when on it counts.

use corecast_core::{Schedule, Time};
use corecast_machine::Report;

/// Rounds before the one that counts, of runs that move no more bytes than this.
const WARM_UPS: u32 = 5;
const SHORT_BYTES: u64 = 16 << 20;

/// What the pools of two ranks hold: after so many bytes all of their memory has been touched.
const POOLS_BYTES: u64 = 8 << 20;

/// Rounds one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rounds {
    /// Those before the ones that count.
    pub warm_ups: u32,
    /// Those that count.
    pub counted: u32,
}

impl Rounds {
    /// One that counts. A long run finds its memory untouched for a small part of its time only.
    pub(crate) fn one(schedule: &Schedule) -> Self {
        let bytes: u64 = schedule
            .sends()
            .map(|(_, _, half)| schedule.message_bytes(half.chunks))
            .sum();
        Self {
            warm_ups: if bytes <= SHORT_BYTES { WARM_UPS } else { 0 },
            counted: 1,
        }
    }

    /// This many that count, after so many that they find the memory as a program does that has made
    /// the call often. Where ranks share cores rounds take long, and most of it is not the memory.
    pub(crate) fn steady(ranks: u32, bytes: u64, counted: u32) -> Self {
        let touching = POOLS_BYTES / bytes.max(1) + 1;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = if ranks as usize <= cores { 2000 } else { 20 };
        Self {
            warm_ups: touching.clamp(u64::from(WARM_UPS), most) as u32,
            counted,
        }
    }

    pub(crate) fn all(self) -> u32 {
        self.warm_ups + self.counted
    }

    pub(crate) fn counts(self, round: u32) -> bool {
        round >= self.warm_ups
    }
}

/// Several rounds of one collective, one after the other.
#[derive(Clone, Debug)]
pub struct Trial {
    /// How long each took, from the moment in which all ranks were there to the end of the last.
    pub makespans: Vec<Time>,
    /// The last of them, as a run.
    pub report: Report,
}

/// Makespans out of when each rank was through with each round.
pub(crate) fn makespans(laps: &[Vec<Time>]) -> Vec<Time> {
    let rounds = laps.iter().map(Vec::len).min().unwrap_or(0);
    let last = |round: usize| laps.iter().map(|laps| laps[round]).max();
    (0..rounds).filter_map(last).collect()
}

/// The way in which ranks carry a collective out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The plan of the schedule, over messages.
    Messages,
    /// What the MPI library does where all ranks read each other's memory. Of the schedule only the
    /// collective counts, with its ranks, root and size.
    Boards,
}
