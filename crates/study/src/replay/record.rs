// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a replayed program has shown, as values that serialise.

use serde::Serialize;

use super::{ReplayRun, ReplayStudy};
use crate::calls::{CallsExplanation, CallsRecord};

/// What a program has shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplayRecord {
    /// The file.
    pub program: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Calls of all ranks.
    pub calls_total: usize,
    /// Which algorithms collectives took.
    pub algorithms: Vec<TakenRecord>,
    /// When, where, and in which calls.
    #[serde(flatten)]
    pub calls: CallsRecord,
}

/// Which algorithm a collective took.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TakenRecord {
    /// The collective.
    pub collective: &'static str,
    /// Ranks of its group.
    pub group_ranks: u32,
    /// Its bytes; null where blocks have several sizes.
    pub block_bytes: Option<u64>,
    /// The algorithm.
    pub algorithm: String,
}

impl ReplayStudy {
    /// A run as a record.
    #[must_use]
    pub fn record(&self, run: &ReplayRun, explained: &CallsExplanation) -> ReplayRecord {
        let clock = self.plan.on.chip.chip.reference_clock();
        let taken = run.taken.iter().map(|taken| TakenRecord {
            collective: taken.collective,
            group_ranks: taken.ranks,
            block_bytes: taken.bytes,
            algorithm: taken.algorithm.clone(),
        });
        ReplayRecord {
            program: self.graph.name.clone(),
            ranks: self.graph.size(),
            calls_total: self.graph.calls_total(),
            algorithms: taken.collect(),
            calls: run.calls.record(clock, explained),
        }
    }
}
