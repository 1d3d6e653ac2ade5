// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program's run has shown, as values that serialise.

use std::collections::BTreeMap;

use corecast_chip::Clock;
use corecast_machine::{Activity, Cause, Time};
use serde::Serialize;

use super::CallRun;
use super::explain::{CallsExplanation, LateRank, PathStretch, percent};
use super::spent::CallTime;
use crate::number::{Cycles, thousandths};

/// Time by cause, in nanoseconds; causes that have none are left out.
pub type Causes = BTreeMap<&'static str, f64>;

/// What a program's run has shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CallsRecord {
    /// First rank's start to last rank's finish, in cycles of the chip's reference clock.
    pub makespan_cycles: Cycles,
    /// The same in nanoseconds.
    pub makespan_ns: f64,
    /// Messages that the chip carried, or that ranks of one core copied for each other: those of
    /// protocols and collectives among them.
    pub messages: usize,
    /// Their bytes, heads included.
    pub bytes: u64,
    /// Simulated events.
    pub events: u64,
    /// Time by cause, all ranks together.
    pub causes_ns: Causes,
    /// What to look at first, in one sentence.
    pub advice: String,
    /// Where the time of all ranks went until they finished, what took longest first.
    pub calls: Vec<CallRecord>,
    /// The critical path by call, what takes most of it first.
    pub critical_path_calls: Vec<PathCallRecord>,
    /// The critical path, from time zero to the makespan.
    pub critical_path: Vec<StretchRecord>,
    /// Ranks for which others have waited, the longest first.
    pub late_ranks: Vec<LateRecord>,
    /// How long ranks have waited for what was on its way.
    pub on_its_way_ns: f64,
    /// Each rank.
    pub per_rank: Vec<RankCallsRecord>,
    /// Pairs of ranks that had messages for each other.
    pub pairs: Vec<PairRecord>,
}

/// One rank.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RankCallsRecord {
    /// Which.
    pub rank: u32,
    /// When it finished.
    pub finish_ns: f64,
    /// Where its time went.
    pub causes_ns: Causes,
    /// Its calls, those that took longest first.
    pub calls: Vec<CallRecord>,
}

/// All calls of one kind by one rank.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CallRecord {
    /// Its name.
    pub call: &'static str,
    /// How often it was made.
    pub count: u64,
    /// How long all of them took.
    pub ns: f64,
    /// Where that time went.
    pub causes_ns: Causes,
}

/// Calls of one kind on the critical path.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PathCallRecord {
    /// Their time on the path.
    #[serde(flatten)]
    pub of: CallRecord,
    /// How much shorter the program would be at most if they took no time, in percent.
    pub saved_percent_max: f64,
}

/// A stretch of the critical path on one rank and in one call.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StretchRecord {
    /// Which rank.
    pub rank: u32,
    /// The call.
    pub call: &'static str,
    /// Begin.
    pub from_ns: f64,
    /// End.
    pub to_ns: f64,
    /// Where its time went.
    pub causes_ns: Causes,
}

/// A rank for which others have waited.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LateRecord {
    /// Which.
    pub rank: u32,
    /// How long all others together have waited because of what it did.
    pub waited_ns: f64,
    /// What it did meanwhile.
    pub calls: Vec<CallRecord>,
}

/// Messages of one rank for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PairRecord {
    /// Who sent them.
    pub from: u32,
    /// Who received them.
    pub to: u32,
    /// How many.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

fn causes(times: impl IntoIterator<Item = (&'static str, Time)>) -> Causes {
    let times = times.into_iter().filter(|(_, time)| time.ps() > 0);
    times.map(|(kind, time)| (kind, time.ns())).collect()
}

fn of_activity(activity: &Activity) -> Causes {
    let mut times = Cause::KINDS.map(|kind| (kind, Time::ZERO));
    for span in activity.spans() {
        times[span.cause.index()].1 += span.end - span.start;
    }
    causes(times)
}

fn kinds(times: [Time; Cause::KINDS.len()]) -> Causes {
    causes(Cause::KINDS.into_iter().zip(times))
}

impl CallRun {
    fn recorded_name(&self, call: u16) -> &'static str {
        self.call_name(call).unwrap_or("no call")
    }

    fn call_record(&self, of: &CallTime) -> CallRecord {
        CallRecord {
            call: self.recorded_name(of.call),
            count: of.count,
            ns: of.total().ns(),
            causes_ns: kinds(of.causes),
        }
    }

    fn call_records(&self, calls: &[CallTime]) -> Vec<CallRecord> {
        calls.iter().map(|call| self.call_record(call)).collect()
    }

    /// The run as a record; `clock` is the chip's reference clock.
    #[must_use]
    pub fn record(&self, clock: &Clock, explained: &CallsExplanation) -> CallsRecord {
        let report = &self.report;
        let per_rank = report.activity.iter().enumerate();
        let per_rank = per_rank.map(|(rank, activity)| RankCallsRecord {
            rank: rank as u32,
            finish_ns: report.finish[rank].ns(),
            causes_ns: of_activity(activity),
            calls: self.call_records(&self.calls_of(rank)),
        });
        let stretch = |stretch: &PathStretch| StretchRecord {
            rank: stretch.rank,
            call: self.recorded_name(stretch.call),
            from_ns: stretch.start.ns(),
            to_ns: stretch.end.ns(),
            causes_ns: kinds(stretch.causes),
        };
        let on_path = |of: &CallTime| PathCallRecord {
            saved_percent_max: percent(of.total(), report.makespan),
            of: self.call_record(of),
        };
        let late = |late: &LateRank| LateRecord {
            rank: late.rank,
            waited_ns: late.waited.ns(),
            calls: self.call_records(&late.calls),
        };
        CallsRecord {
            makespan_cycles: Cycles(self.cycles(clock)),
            makespan_ns: report.makespan.ns(),
            messages: report.messages.len(),
            bytes: self.bytes(),
            events: report.events,
            causes_ns: causes(report.causes()),
            advice: self.advice(&explained.first),
            calls: self.call_records(&explained.calls),
            critical_path_calls: explained.path_calls.iter().map(on_path).collect(),
            critical_path: explained.path.iter().map(stretch).collect(),
            late_ranks: explained.late.iter().map(late).collect(),
            on_its_way_ns: explained.on_its_way.ns(),
            per_rank: per_rank.collect(),
            pairs: self.pairs(),
        }
    }

    /// The makespan in cycles of a clock, to a thousandth.
    #[must_use]
    pub fn cycles(&self, clock: &Clock) -> f64 {
        thousandths(clock.cycles_f64(self.report.makespan.ps()))
    }
}
