// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the run of a program on a chip has shown, by the calls of its ranks: of an MPI program, or of
//! one that is replayed.

mod advice;
mod explain;
mod plan;
mod record;
mod spent;
mod stopped;
mod vary;

use std::collections::BTreeMap;

use corecast_machine::{CallLog, Cause, ProgramRun, Report, Time};

use spent::{NO_CALL, Spent};

pub use explain::{CallsExplanation, CallsMeasure, LateRank, PathStretch};
pub use plan::ProgramPlan;
pub use record::{
    CallRecord, CallsRecord, LateRecord, PairRecord, PathCallRecord, RankCallsRecord, StretchRecord,
};
pub use spent::CallTime;
pub(crate) use stopped::{first_line, lines};
pub use vary::{
    Changes, Shown, VARIED_MAX, VariedRun, VaryError, Varying, change_words, combinations,
    varied_chips,
};

/// A program's run.
#[derive(Clone, Debug)]
pub struct CallRun {
    /// When and why; without data.
    pub report: Report,
    /// Each rank's calls.
    pub logs: Vec<CallLog>,
    /// The name of a kind of call.
    pub(crate) name: fn(u16) -> &'static str,
}

impl CallRun {
    /// Of what a simulated machine gave; `name` knows the numbers of calls.
    pub(crate) fn new<T>(
        run: ProgramRun<T>,
        log: impl Fn(T) -> CallLog,
        name: fn(u16) -> &'static str,
    ) -> Self {
        let makespan = run.finish.iter().copied().max().unwrap_or(Time::ZERO);
        let mut activity = run.activity;
        for of_rank in &mut activity {
            of_rank.fill(makespan, Cause::Idle);
        }
        Self {
            logs: run.outputs.into_iter().map(log).collect(),
            report: Report {
                machine: "sim",
                makespan,
                finish: run.finish,
                activity,
                messages: run.messages,
                links: run.links,
                holds: run.holds,
                background: run.background,
                wrong: Vec::new(),
                outputs: Vec::new(),
                events: run.events,
                trace_hash: run.trace_hash,
            },
            name,
        }
    }

    /// Messages of each rank for each other, where there were some, in order of rank.
    #[must_use]
    pub fn pairs(&self) -> Vec<PairRecord> {
        let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
        for message in &self.report.messages {
            let pair = pairs.entry((message.from.0, message.to.0)).or_default();
            *pair = (pair.0 + 1, pair.1 + message.bytes);
        }
        let record = |((from, to), (messages, bytes))| PairRecord {
            from,
            to,
            messages,
            bytes,
        };
        pairs.into_iter().map(record).collect()
    }

    /// Bytes of all messages.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let messages = self.report.messages.iter();
        messages.map(|message| message.bytes).sum()
    }

    /// Where the time of a rank's calls went, those that took longest first.
    #[must_use]
    pub fn calls_of(&self, rank: usize) -> Vec<CallTime> {
        spent::by_call(&self.logs[rank], &self.report.activity[rank])
    }

    /// Where the time of all ranks together went, the kind of call that took longest first.
    #[must_use]
    pub fn calls(&self) -> Vec<CallTime> {
        let mut spent = Spent::default();
        for of in (0..self.logs.len()).flat_map(|rank| self.calls_of(rank)) {
            spent.add(&of);
        }
        spent.longest_first()
    }

    /// The name of a kind of call; none of what is part of none.
    #[must_use]
    pub fn call_name(&self, call: u16) -> Option<&'static str> {
        (call != NO_CALL).then(|| (self.name)(call))
    }
}
