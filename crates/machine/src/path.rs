// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chain of causes that made a run as long as it was.

use corecast_core::{Rank, Time};

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

/// What made a run as long as it was: shares of its critical path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shares {
    /// Percent of the path in which words move or are held up on their way ([`Cause::is_network`]).
    pub network_percent: f64,
    /// Percent of the path in which the message layer computes ([`Cause::Software`]).
    pub software_percent: f64,
}

impl Shares {
    /// Of a critical path; none of a path without length.
    ///
    /// ```
    /// use corecast_core::Rank;
    /// use corecast_machine::{Cause, PathSegment, Shares, Time};
    /// let segment = |cause, start, end| PathSegment {
    ///     rank: Rank(0),
    ///     cause,
    ///     start: Time::from_ps(start),
    ///     end: Time::from_ps(end),
    /// };
    /// let path = [segment(Cause::Software, 0, 30), segment(Cause::Transfer, 30, 40)];
    /// let shares = Shares::of(&path).unwrap();
    /// assert_eq!((shares.network_percent, shares.software_percent), (25.0, 75.0));
    /// ```
    #[must_use]
    pub fn of(path: &[PathSegment]) -> Option<Self> {
        let total = |keep: fn(Cause) -> bool| {
            let kept = path.iter().filter(|segment| keep(segment.cause));
            let times = kept.map(|segment| (segment.end - segment.start).ps());
            times.sum::<u64>() as f64
        };
        let whole = total(|_| true);
        let network = total(Cause::is_network);
        let software = total(|cause| cause == Cause::Software);
        (whole > 0.0).then(|| Self {
            network_percent: 100.0 * network / whole,
            software_percent: 100.0 * software / whole,
        })
    }
}

/// The critical path of a run, from time zero to the makespan without gaps.
///
/// Walks back from the rank that finished last: a stretch spent waiting for a peer is replaced by what the
/// peer did meanwhile. A peer that waits itself when a wait for it ends, and goes on doing so, or has
/// finished, sends nothing then: what came from it was sent before. That stretch is one in which words move,
/// and the path goes on with what the peer did before it. Two ranks that wait for each other and go on at
/// the same instant end the jumping, and the wait itself is shown.
///
/// ```
/// use corecast_core::Rank;
/// use corecast_machine::{Activity, Cause, Report, Time, critical_path};
/// let at = Time::from_ps;
/// let mut activity = vec![Activity::default(); 3];
/// activity[0].fill(at(30), Cause::WaitPeer(Rank(1)));
/// activity[1].fill(at(20), Cause::Compute);
/// activity[1].fill(at(40), Cause::WaitPeer(Rank(2)));
/// activity[0].fill(at(40), Cause::Software);
/// activity[2].fill(at(40), Cause::Compute);
/// let finish = vec![at(40), at(39), at(39)];
/// let report = Report {
///     machine: "sim",
///     makespan: at(40),
///     finish,
///     activity,
///     messages: vec![],
///     links: vec![],
///     holds: vec![],
///     background: Default::default(),
///     wrong: vec![],
///     outputs: vec![],
///     events: 0,
///     trace_hash: 0,
/// };
/// let path = critical_path(&report);
/// let parts: Vec<_> = path.iter().map(|part| (part.rank.0, part.end.ps(), part.cause)).collect();
/// let expected = [(1, 20, Cause::Compute), (1, 30, Cause::Transfer), (0, 40, Cause::Software)];
/// assert_eq!(parts, expected);
/// ```
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
    // Of every rank the first span that ends no earlier than the path has come: it only goes back.
    let ends = report
        .activity
        .iter()
        .map(|activity| activity.spans().len());
    let mut first: Vec<usize> = ends.collect();
    // Ranks that a wait has led away from since the last segment have its number.
    let mut left = vec![0; report.activity.len()];
    let (mut segment, mut is_led) = (1_u64, false);
    while time > Time::ZERO {
        let activity = &report.activity[rank.index()];
        let first = &mut first[rank.index()];
        while *first > 0
            && activity
                .span(*first - 1)
                .is_some_and(|span| span.end >= time)
        {
            *first -= 1;
        }
        let Some(span) = activity.span(*first) else {
            break;
        };
        if let Some(peer) = span.cause.peer().filter(|&peer| peer != rank)
            && left[peer.index()] != segment
            && (!is_led || span.end == time)
        {
            left[rank.index()] = segment;
            is_led = true;
            rank = peer;
            continue;
        }
        let cause = match span.cause {
            // Of words that it had sent before.
            Cause::Idle => Cause::Transfer,
            Cause::WaitPeer(_) if span.end > time => Cause::Transfer,
            cause => cause,
        };
        (segment, is_led) = (segment + 1, false);
        path.push(PathSegment {
            rank,
            cause,
            start: span.start,
            end: time,
        });
        time = span.start;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Activity;

    /// Rank 1 sends its last words and has finished: until they are there, words move.
    #[test]
    fn the_last_words_of_who_has_finished_move() {
        let at = Time::from_ps;
        let mut activity = vec![Activity::default(); 2];
        activity[0].fill(at(30), Cause::WaitPeer(Rank(1)));
        activity[1].fill(at(20), Cause::Compute);
        activity[1].fill(at(30), Cause::Idle);
        let report = Report {
            machine: "sim",
            makespan: at(30),
            finish: vec![at(30), at(20)],
            activity,
            messages: vec![],
            links: vec![],
            holds: vec![],
            background: Default::default(),
            wrong: vec![],
            outputs: vec![],
            events: 0,
            trace_hash: 0,
        };
        let path = critical_path(&report);
        let parts: Vec<_> = path
            .iter()
            .map(|part| (part.end.ps(), part.cause))
            .collect();
        assert_eq!(parts, [(20, Cause::Compute), (30, Cause::Transfer)]);
        let shares = Shares::of(&path).expect("it takes time");
        assert!((shares.network_percent - 100.0 / 3.0).abs() < 1e-9);
    }
}
