// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the time of a run went, and what made it as long as it was.

use std::collections::BTreeMap;

use corecast_core::Rank;
use corecast_machine::{Cause, LinkHold, PathSegment, Report, Time};
use serde::Serialize;

use crate::number::Cycles;
use crate::rank::{Run, RunRecord};
use crate::remedy::Remedy;
use crate::study::Study;

/// A run with what explains its time.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The run.
    pub run: Run,
    /// Its critical path; adjacent segments of one rank and cause are one.
    pub path: Vec<PathSegment>,
    /// What to do.
    pub remedy: Remedy,
}

/// Waits of one rank for one link and holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkWait {
    /// Who waited.
    pub rank: usize,
    /// For what.
    pub hold: LinkHold,
    /// How long in all.
    pub time: Time,
}

impl Study {
    /// Explains the runs of a ranking.
    #[must_use]
    pub fn explain_runs(&self, runs: Vec<Run>) -> Vec<Explanation> {
        let fastest = self.fastest(&runs);
        let explained = runs.into_iter().map(|run| {
            let path = merged(run.critical_path());
            Explanation {
                remedy: self.remedy(&run, &path, &fastest),
                path,
                run,
            }
        });
        explained.collect()
    }

    /// For every rank its time per kind of cause ([`Cause::KINDS`]) in [`Study::unit`], and the sum.
    #[must_use]
    pub fn rank_causes(&self, report: &Report) -> Vec<Vec<f64>> {
        let rows = report.activity.iter().map(|activity| {
            let kinds = Cause::KINDS.iter();
            let of = |kind: &&str| self.told(activity.total(|cause| cause.kind() == *kind));
            kinds
                .map(of)
                .chain([self.told(activity.total(|_| true))])
                .collect()
        });
        rows.collect()
    }

    /// An explanation as a record; `advice` is its remedy in the words of the face.
    #[must_use]
    pub fn explanation_record(
        &self,
        explanation: &Explanation,
        advice: String,
    ) -> ExplanationRecord {
        let Explanation { run, path, .. } = explanation;
        let (unit, cycles) = (self.unit(), |time| self.cycles(time).map(Cycles));
        let segment = |segment: &PathSegment| SegmentRecord {
            rank: segment.rank.0,
            from_cycles: cycles(segment.start),
            to_cycles: cycles(segment.end),
            from_ns: segment.start.ns(),
            to_ns: segment.end.ns(),
            cause: segment.cause.kind(),
            peer: segment.cause.peer().map(|peer| peer.0),
            link: match segment.cause {
                Cause::LinkBusy(index) => Some(HoldRecord::of(&run.report.holds[index as usize])),
                _ => None,
            },
        };
        let wait = |wait: LinkWait| WaitRecord {
            hold: HoldRecord::of(&wait.hold),
            rank: wait.rank,
            wait_cycles: cycles(wait.time),
            wait_ns: wait.time.ns(),
        };
        let row = |row: Vec<f64>| {
            let named = Cause::KINDS.iter().chain(&["sum"]).zip(row);
            let named = named.map(|(kind, value)| (format!("{kind}_{unit}"), Cycles(value)));
            named.collect()
        };
        ExplanationRecord {
            run: self.record(run),
            advice,
            critical_path: path.iter().map(segment).collect(),
            link_waits: link_waits(&run.report).into_iter().map(wait).collect(),
            rank_causes: self.rank_causes(&run.report).into_iter().map(row).collect(),
        }
    }
}

/// Adjacent segments of one rank and cause become one.
fn merged(path: &[PathSegment]) -> Vec<PathSegment> {
    let mut merged: Vec<PathSegment> = Vec::new();
    for &segment in path {
        match merged.last_mut() {
            Some(last) if (last.rank, last.cause) == (segment.rank, segment.cause) => {
                last.end = segment.end;
            }
            _ => merged.push(segment),
        }
    }
    merged
}

/// Every wait for a link, those alike together, the longest first.
#[must_use]
pub fn link_waits(report: &Report) -> Vec<LinkWait> {
    let mut waits: Vec<LinkWait> = Vec::new();
    for (rank, activity) in report.activity.iter().enumerate() {
        let of_rank = waits.len();
        for span in activity.spans() {
            let Cause::LinkBusy(index) = span.cause else {
                continue;
            };
            let hold = report.holds[index as usize];
            let time = span.end - span.start;
            match waits[of_rank..].iter_mut().find(|wait| wait.hold == hold) {
                Some(wait) => wait.time += time,
                None => waits.push(LinkWait { rank, hold, time }),
            }
        }
    }
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.time)); // stable: by rank among equals
    waits
}

/// An explained run as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExplanationRecord {
    /// The run.
    #[serde(flatten)]
    pub run: RunRecord,
    /// What to do, in one sentence.
    pub advice: String,
    /// The critical path, from time zero to the makespan.
    pub critical_path: Vec<SegmentRecord>,
    /// Waits for links, the longest first.
    pub link_waits: Vec<WaitRecord>,
    /// For every rank its time per kind of cause, and the sum; the unit is in the names.
    pub rank_causes: Vec<BTreeMap<String, Cycles>>,
}

/// A stretch of the critical path as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SegmentRecord {
    /// On which rank.
    pub rank: u32,
    /// Begin; none where times are those of a wall clock.
    pub from_cycles: Option<Cycles>,
    /// End.
    pub to_cycles: Option<Cycles>,
    /// Begin in nanoseconds.
    pub from_ns: f64,
    /// End in nanoseconds.
    pub to_ns: f64,
    /// What the rank did.
    pub cause: &'static str,
    /// For whom it waited.
    pub peer: Option<u32>,
    /// For which link it waited.
    pub link: Option<HoldRecord>,
}

/// Waits for a link as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WaitRecord {
    /// The link.
    #[serde(flatten)]
    pub hold: HoldRecord,
    /// Who waited.
    pub rank: usize,
    /// How long in all; none where times are those of a wall clock.
    pub wait_cycles: Option<Cycles>,
    /// The same in nanoseconds.
    pub wait_ns: f64,
}

/// A link and who waited there for whom: ranks, and coordinates of routers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HoldRecord {
    /// The router that the link leaves.
    pub link_from: (u32, u32),
    /// The router that it enters; the same = the port of a core there.
    pub link_to: (u32, u32),
    /// Sender and receiver of the message that waited.
    pub message: (u32, u32),
    /// Those of the one that used the link; none = background traffic.
    pub held_by: Option<(u32, u32)>,
}

impl HoldRecord {
    fn of(hold: &LinkHold) -> Self {
        let pair = |(from, to): (Rank, Rank)| (from.0, to.0);
        Self {
            link_from: hold.from,
            link_to: hold.to,
            message: pair(hold.message),
            held_by: hold.holder.map(pair),
        }
    }
}
