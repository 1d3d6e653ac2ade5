//! What a program's run has shown, as values that serialise.

use std::collections::BTreeMap;

use corecast_chip::Clock;
use corecast_machine::{Activity, Cause, Time};
use serde::Serialize;

use super::CallRun;
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
    /// Messages that the chip carried: those of protocols and collectives among them.
    pub messages: usize,
    /// Their bytes, heads included.
    pub bytes: u64,
    /// Simulated events.
    pub events: u64,
    /// Time by cause, all ranks together.
    pub causes_ns: Causes,
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

impl CallRun {
    /// All calls of one kind as a record.
    #[must_use]
    pub fn call_record(&self, of: &CallTime) -> CallRecord {
        CallRecord {
            call: (self.name)(of.call),
            count: of.count,
            ns: of.total().ns(),
            causes_ns: causes(Cause::KINDS.into_iter().zip(of.causes)),
        }
    }

    /// The run as a record; `clock` is the chip's reference clock.
    #[must_use]
    pub fn record(&self, clock: &Clock) -> CallsRecord {
        let report = &self.report;
        let per_rank = report.activity.iter().enumerate();
        let per_rank = per_rank.map(|(rank, activity)| RankCallsRecord {
            rank: rank as u32,
            finish_ns: report.finish[rank].ns(),
            causes_ns: of_activity(activity),
            calls: self
                .calls_of(rank)
                .iter()
                .map(|call| self.call_record(call))
                .collect(),
        });
        CallsRecord {
            makespan_cycles: Cycles(self.cycles(clock)),
            makespan_ns: report.makespan.ns(),
            messages: report.messages.len(),
            bytes: self.bytes(),
            events: report.events,
            causes_ns: causes(report.causes()),
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
