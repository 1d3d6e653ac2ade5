//! What the run of a program on a chip has shown, by the calls of its ranks: of an MPI program, or of
//! one that is replayed.

mod record;
mod spent;
mod stopped;

use std::collections::BTreeMap;

use corecast_machine::{CallLog, Cause, ProgramRun, Report, Time};

pub use record::{CallRecord, CallsRecord, PairRecord, RankCallsRecord};
pub use spent::CallTime;
pub(crate) use stopped::{first_line, lines};

/// A program's run.
#[derive(Clone, Debug)]
pub struct CallRun {
    /// When and why; without data.
    pub report: Report,
    /// Each rank's calls.
    pub logs: Vec<CallLog>,
    /// The name of a kind of call.
    pub name: fn(u16) -> &'static str,
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

    /// Where the time of all ranks' calls went, by kind, those that took longest first.
    #[must_use]
    pub fn calls(&self) -> Vec<CallTime> {
        let mut all: BTreeMap<u16, CallTime> = BTreeMap::new();
        for of_rank in (0..self.logs.len()).flat_map(|rank| self.calls_of(rank)) {
            match all.get_mut(&of_rank.call) {
                Some(sum) => sum.add(&of_rank),
                None => {
                    all.insert(of_rank.call, of_rank);
                }
            }
        }
        let mut all: Vec<CallTime> = all.into_values().collect();
        all.sort_by_key(|call| std::cmp::Reverse(call.total()));
        all
    }
}
