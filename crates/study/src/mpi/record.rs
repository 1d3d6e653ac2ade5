//! What a program has shown, as values that serialise.

use std::collections::BTreeMap;

use corecast_machine::{Activity, Cause, Time};
use corecast_mpi::calls;
use corecast_shm::Compute;
use serde::Serialize;

use super::explain::{LateRank, MpiExplanation, PathStretch, percent};
use super::spent::{CallTime, by_call};
use super::{MpiRun, MpiStudy};
use crate::number::{Cycles, thousandths};

/// Time by cause, in nanoseconds; causes that have none are left out.
pub type Causes = BTreeMap<&'static str, f64>;

/// What a program has shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MpiRecord {
    /// Number of ranks.
    pub ranks: u32,
    /// What computing counted as: `stated`, or `measured:FACTOR`.
    pub compute: String,
    /// Longest message that was sent without asking, in bytes.
    pub eager_bytes: usize,
    /// Who came late.
    pub skew: Vec<String>,
    /// Other traffic.
    pub background: Option<String>,
    /// First rank's start to last rank's finish, in cycles of the chip's reference clock.
    pub makespan_cycles: Cycles,
    /// The same in nanoseconds.
    pub makespan_ns: f64,
    /// Messages that the chip carried: the library's packets, those of its protocols among them.
    pub messages: usize,
    /// Their bytes, heads included.
    pub bytes: u64,
    /// Hand-overs between the ranks' processes and the simulator, there and back.
    pub hand_overs: u64,
    /// Simulated events.
    pub events: u64,
    /// Time by cause, all ranks together.
    pub causes_ns: Causes,
    /// What to look at first, in one sentence.
    pub advice: String,
    /// Where the time of all ranks went until they finished, what took longest first.
    pub calls: Vec<MpiCallRecord>,
    /// The critical path by call, what takes most of it first.
    pub critical_path_calls: Vec<MpiPathCallRecord>,
    /// The critical path, from time zero to the makespan.
    pub critical_path: Vec<MpiStretchRecord>,
    /// Ranks for which others have waited, the longest first.
    pub late_ranks: Vec<MpiLateRecord>,
    /// How long ranks have waited for what was on its way.
    pub on_its_way_ns: f64,
    /// Each rank.
    pub per_rank: Vec<MpiRankRecord>,
    /// Pairs of ranks that had messages for each other.
    pub pairs: Vec<MpiPairRecord>,
}

/// One rank.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MpiRankRecord {
    /// Which.
    pub rank: u32,
    /// When it finished.
    pub finish_ns: f64,
    /// Where its time went.
    pub causes_ns: Causes,
    /// Its calls, those that took longest first.
    pub calls: Vec<MpiCallRecord>,
}

/// All calls of one function by one rank.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MpiCallRecord {
    /// Its name.
    pub call: &'static str,
    /// How often it was made.
    pub count: u64,
    /// How long all of them took.
    pub ns: f64,
    /// Where that time went.
    pub causes_ns: Causes,
}

/// Calls of one function on the critical path.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MpiPathCallRecord {
    /// Their time on the path.
    #[serde(flatten)]
    pub of: MpiCallRecord,
    /// How much shorter the program would be at most if they took no time, in percent.
    pub saved_percent_max: f64,
}

/// A stretch of the critical path on one rank and in one call.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MpiStretchRecord {
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
pub struct MpiLateRecord {
    /// Which.
    pub rank: u32,
    /// How long all others together have waited because of what it did.
    pub waited_ns: f64,
    /// What it did meanwhile.
    pub calls: Vec<MpiCallRecord>,
}

/// Messages of one rank for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MpiPairRecord {
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

impl From<CallTime> for MpiCallRecord {
    fn from(of: CallTime) -> Self {
        Self {
            call: calls::name(of.call),
            count: of.count,
            ns: of.total().ns(),
            causes_ns: kinds(of.causes),
        }
    }
}

impl MpiRun {
    /// Messages of each rank for each other, where there were some, in order of rank.
    #[must_use]
    pub fn pairs(&self) -> Vec<MpiPairRecord> {
        let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
        for message in &self.report.messages {
            let pair = pairs.entry((message.from.0, message.to.0)).or_default();
            *pair = (pair.0 + 1, pair.1 + message.bytes);
        }
        let record = |((from, to), (messages, bytes))| MpiPairRecord {
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
        by_call(&self.logs[rank], &self.report.activity[rank])
    }
}

impl MpiStudy {
    /// A run as a record; `advice` is what to look at first in the words of the face.
    #[must_use]
    pub fn record(&self, run: &MpiRun, explained: &MpiExplanation, advice: String) -> MpiRecord {
        let report = &run.report;
        let per_rank = report.activity.iter().enumerate();
        let per_rank = per_rank.map(|(rank, activity)| MpiRankRecord {
            rank: rank as u32,
            finish_ns: report.finish[rank].ns(),
            causes_ns: of_activity(activity),
            calls: run.calls_of(rank).into_iter().map(Into::into).collect(),
        });
        let around = &self.plan.surroundings;
        let records = |calls: &[CallTime]| calls.iter().cloned().map(Into::into).collect();
        let stretch = |stretch: &PathStretch| MpiStretchRecord {
            rank: stretch.rank,
            call: calls::name(stretch.call),
            from_ns: stretch.start.ns(),
            to_ns: stretch.end.ns(),
            causes_ns: kinds(stretch.causes),
        };
        let on_path = |of: &CallTime| MpiPathCallRecord {
            saved_percent_max: percent(of.total(), report.makespan),
            of: of.clone().into(),
        };
        let late = |late: &LateRank| MpiLateRecord {
            rank: late.rank,
            waited_ns: late.waited.ns(),
            calls: records(&late.calls),
        };
        MpiRecord {
            ranks: self.plan.ranks,
            compute: self.compute_word(),
            eager_bytes: self.terms().eager_max,
            skew: around.arrivals.iter().map(ToString::to_string).collect(),
            background: around.background.map(|traffic| traffic.to_string()),
            makespan_cycles: Cycles(self.cycles(report.makespan)),
            makespan_ns: report.makespan.ns(),
            messages: report.messages.len(),
            bytes: run.bytes(),
            hand_overs: run.logs.iter().map(|log| log.hand_overs).sum(),
            events: report.events,
            causes_ns: causes(report.causes()),
            advice,
            calls: records(&explained.calls),
            critical_path_calls: explained.path_calls.iter().map(on_path).collect(),
            critical_path: explained.path.iter().map(stretch).collect(),
            late_ranks: explained.late.iter().map(late).collect(),
            on_its_way_ns: explained.on_its_way.ns(),
            per_rank: per_rank.collect(),
            pairs: run.pairs(),
        }
    }

    /// A time in cycles of the chip's reference clock, to a thousandth.
    #[must_use]
    pub fn cycles(&self, time: Time) -> f64 {
        let clock = self.plan.chip.chip.reference_clock();
        thousandths(clock.cycles_f64(time.ps()))
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
