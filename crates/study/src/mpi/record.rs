// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an MPI program has shown, as values that serialise.

use corecast_shm::Compute;
use serde::Serialize;

use super::{MpiRun, MpiStudy};
use crate::calls::{CallsExplanation, CallsRecord};

/// What a program has shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MpiRecord {
    /// Number of ranks.
    pub ranks: u32,
    /// Longest message that was sent without asking, in bytes.
    pub eager_bytes: usize,
    /// Hand-overs between the ranks' processes and the simulator, there and back.
    pub hand_overs: u64,
    /// When, where, and in which calls.
    #[serde(flatten)]
    pub calls: CallsRecord,
}

impl MpiStudy {
    /// A run as a record.
    #[must_use]
    pub fn record(&self, run: &MpiRun, explained: &CallsExplanation) -> MpiRecord {
        let clock = self.plan.on.chip.chip.reference_clock();
        MpiRecord {
            ranks: self.plan.ranks,
            eager_bytes: self.terms().eager_max,
            hand_overs: run.hand_overs,
            calls: run.calls.record(clock, explained),
        }
    }

    /// What computing counts as, in the word of the option.
    #[must_use]
    pub fn compute_word(&self) -> String {
        match self.plan.compute {
            Compute::Stated => "stated".to_owned(),
            Compute::Measured(factor) => format!("measured:{factor}"),
        }
    }
}
