//! The chain of causes that made a run as long as it was.

use corecast_core::Rank;
use corecast_sim::Time;

use crate::activity::Cause;
use crate::report::Report;

/// A stretch of the critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathSegment {
    /// On which rank.
    pub rank: Rank,
    /// What it did.
    pub cause: Cause,
    /// Begin.
    pub start: Time,
    /// End.
    pub end: Time,
}

/// The critical path of a run, from time zero to the makespan without gaps.
///
/// Walks back from the rank that finished last: a stretch spent waiting for a peer is replaced by
/// what the peer did meanwhile. Two ranks that wait for each other at the same instant end the
/// jumping, and the wait itself is shown.
#[must_use]
pub fn critical_path(report: &Report) -> Vec<PathSegment> {
    let last = report
        .finish
        .iter()
        .enumerate()
        .max_by_key(|&(rank, finish)| (finish, rank));
    let Some((last, _)) = last else {
        return Vec::new();
    };
    let (mut rank, mut time) = (Rank(last as u32), report.makespan);
    let mut path: Vec<PathSegment> = Vec::new();
    let mut visited: Vec<Rank> = Vec::new();
    while time > Time::ZERO {
        let spans = report.activity[rank.index()].spans();
        let index = spans.partition_point(|span| span.end < time);
        let Some(span) = spans.get(index) else { break };
        if let Some(peer) = span.cause.peer().filter(|&peer| peer != rank)
            && !visited.contains(&peer)
        {
            visited.push(rank);
            rank = peer;
            continue;
        }
        visited.clear();
        path.push(PathSegment {
            rank,
            cause: span.cause,
            start: span.start,
            end: time,
        });
        time = span.start;
    }
    path.reverse();
    path
}
