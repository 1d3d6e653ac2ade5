// SPDX-License-Identifier: MIT OR Apache-2.0
//! What made a program as long as it was: its critical path by calls, and who made others wait.
//!
//! Nothing here runs a program again. What a call or a cause takes of the critical path is the most that
//! can be saved by making it faster: with the rest of the path the program would still take the rest of
//! the time, unless messages then came in another order.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::Rank;
use corecast_machine::{Cause, Time, critical_path};

use super::CallRun;
use super::spent::{CallTime, NO_CALL, Piece, Spent, pieces};

/// What made a program as long as it was.
#[derive(Clone, PartialEq, Debug)]
pub struct CallsExplanation {
    /// Where the time of all ranks went until they finished, the call that took longest first.
    pub calls: Vec<CallTime>,
    /// The critical path, from time zero to the makespan without gaps.
    pub path: Vec<PathStretch>,
    /// Its time by call, that with most of it first; of each how many of its calls are on the path.
    pub path_calls: Vec<CallTime>,
    /// Ranks for which others have waited, those that were waited for longest first.
    pub late: Vec<LateRank>,
    /// How long ranks have waited while what they waited for was on its way.
    pub on_its_way: Time,
    /// What to look at first.
    pub first: CallsMeasure,
}

/// What one rank did in one call, or between two, while the critical path was there.
#[derive(Clone, PartialEq, Debug)]
pub struct PathStretch {
    /// Which rank.
    pub rank: u32,
    /// The kind of call.
    pub call: u16,
    /// Which of the rank's calls.
    serial: u32,
    /// Begin.
    pub start: Time,
    /// End.
    pub end: Time,
    /// Its time by cause ([`Cause::KINDS`]).
    pub causes: [Time; Cause::KINDS.len()],
}

/// A rank for which others have waited.
#[derive(Clone, PartialEq, Debug)]
pub struct LateRank {
    /// Which.
    pub rank: u32,
    /// How long all others together have waited because of what it did; what it waited for itself
    /// counts for whom it waited for.
    pub waited: Time,
    /// What it did meanwhile, what took longest first.
    pub calls: Vec<CallTime>,
}

/// What to look at first, by the critical path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CallsMeasure {
    /// The program takes no time.
    Nothing,
    /// What ranks compute between their calls.
    Compute {
        /// Its percentage of the critical path.
        percent: f64,
        /// The rank that has most of it.
        rank: u32,
        /// The percentage of it that this rank has.
        rank_percent: f64,
    },
    /// A call.
    Call {
        /// Which kind.
        call: u16,
        /// Its percentage of the critical path.
        percent: f64,
        /// The rank that has most of it.
        rank: u32,
        /// The percentage of it that this rank has.
        rank_percent: f64,
        /// The kind of cause that takes most of that ([`Cause::KINDS`]).
        cause: &'static str,
        /// The percentage of it that this kind takes.
        cause_percent: f64,
    },
}

/// How many hundredths of the whole a part is.
pub(super) fn percent(part: Time, whole: Time) -> f64 {
    100.0 * part.ps() as f64 / whole.ps().max(1) as f64
}

impl CallRun {
    /// What made the run as long as it was.
    #[must_use]
    pub fn explain(&self) -> CallsExplanation {
        let ranks = self.logs.iter().zip(&self.report.activity);
        let ranks: Vec<Vec<Piece>> = ranks.map(|(log, of)| pieces(log, of)).collect();
        let path = self.path(&ranks);
        let (late, on_its_way) = Blame::of(&ranks);
        CallsExplanation {
            calls: self.calls(),
            path_calls: path_calls(&path),
            first: first(&path),
            path,
            late,
            on_its_way,
        }
    }

    /// The critical path by calls.
    fn path(&self, ranks: &[Vec<Piece>]) -> Vec<PathStretch> {
        let mut path: Vec<PathStretch> = Vec::new();
        for segment in critical_path(&self.report) {
            let rank = segment.rank;
            for piece in within(&ranks[rank.index()], segment.start, segment.end) {
                let time = piece.end - piece.start;
                match path.last_mut() {
                    Some(last)
                        if (last.rank, last.call, last.serial)
                            == (rank.0, piece.call, piece.serial) =>
                    {
                        last.end = piece.end;
                        last.causes[piece.cause.index()] += time;
                    }
                    _ => {
                        let mut causes = [Time::ZERO; Cause::KINDS.len()];
                        causes[piece.cause.index()] = time;
                        path.push(PathStretch {
                            rank: rank.0,
                            call: piece.call,
                            serial: piece.serial,
                            start: piece.start,
                            end: piece.end,
                            causes,
                        });
                    }
                }
            }
        }
        path
    }
}

impl PathStretch {
    /// How long it is.
    #[must_use]
    pub fn time(&self) -> Time {
        self.end - self.start
    }
}

/// The time of a path by call.
fn path_calls(path: &[PathStretch]) -> Vec<CallTime> {
    let mut spent = Spent::default();
    let mut counted = BTreeSet::new();
    for stretch in path {
        // The path may leave a call and come back to it.
        let is_new = counted.insert((stretch.rank, stretch.call, stretch.serial));
        spent.add(&CallTime {
            call: stretch.call,
            count: u64::from(is_new && stretch.call != NO_CALL),
            causes: stretch.causes,
        });
    }
    spent.longest_first()
}

/// What takes most of a path.
fn first(path: &[PathStretch]) -> CallsMeasure {
    let whole = path.last().map_or(Time::ZERO, |last| last.end);
    let calls = path_calls(path);
    let Some(most) = calls.first().filter(|most| most.total() > Time::ZERO) else {
        return CallsMeasure::Nothing;
    };
    let mut ranks: BTreeMap<u32, Time> = BTreeMap::new();
    for stretch in path.iter().filter(|stretch| stretch.call == most.call) {
        *ranks.entry(stretch.rank).or_default() += stretch.time();
    }
    let ranks = ranks.into_iter().rev(); // of equal ones the first
    let (rank, of_rank) = ranks.max_by_key(|&(_, time)| time).unwrap_or_default();
    let time = most.total();
    let (percent_of_path, rank_percent) = (percent(time, whole), percent(of_rank, time));
    match most.call {
        NO_CALL => CallsMeasure::Compute {
            percent: percent_of_path,
            rank,
            rank_percent,
        },
        call => {
            let (kind, of_cause) = most.main_cause();
            CallsMeasure::Call {
                call,
                percent: percent_of_path,
                rank,
                rank_percent,
                cause: Cause::KINDS[kind],
                cause_percent: percent(of_cause, time),
            }
        }
    }
}

/// The pieces of a rank's time between two moments, those at the ends cut.
fn within(pieces: &[Piece], start: Time, end: Time) -> impl Iterator<Item = Piece> {
    let first = pieces.partition_point(|piece| piece.end <= start);
    let pieces = pieces[first..].iter();
    let pieces = pieces.take_while(move |piece| piece.start < end);
    pieces.map(move |piece| Piece {
        start: piece.start.max(start),
        end: piece.end.min(end),
        ..*piece
    })
}

/// For what ranks have waited.
struct Blame<'a> {
    ranks: &'a [Vec<Piece>],
    late: Vec<Spent>,
    on_its_way: Time,
    /// Of every rank the piece that was looked at last: time goes on, so the next one is close by.
    near: Vec<usize>,
    /// Ranks that wait for each other, the last for the one that is looked at.
    is_in_chain: Vec<bool>,
    /// The same as what is looked at; a list, as a chain may be longer than a thread's stack allows.
    looks: Vec<Look>,
}

/// What a rank did while another one waited for it.
struct Look {
    /// Who waits.
    waits: Rank,
    /// For whom, and the piece of its time that is next.
    rank: Rank,
    next: usize,
    /// What is looked at of that time.
    start: Time,
    end: Time,
    /// When the wait ends, of which that is a part or all.
    until: Time,
}

impl Blame<'_> {
    fn of(ranks: &[Vec<Piece>]) -> (Vec<LateRank>, Time) {
        let mut blame = Blame {
            ranks,
            late: ranks.iter().map(|_| Spent::default()).collect(),
            on_its_way: Time::ZERO,
            near: vec![0; ranks.len()],
            is_in_chain: vec![false; ranks.len()],
            looks: Vec::new(),
        };
        for (rank, pieces) in (0..).map(Rank).zip(ranks) {
            for piece in pieces {
                if let Some(peer) = awaited(rank, piece) {
                    blame.look((rank, peer), (piece.start, piece.end), piece.end);
                    blame.explain();
                }
            }
        }
        let late = (0..).zip(blame.late).map(|(rank, spent)| {
            let calls = spent.longest_first();
            let times = calls.iter().map(CallTime::total);
            LateRank {
                rank,
                waited: times.fold(Time::ZERO, |sum, time| sum + time),
                calls,
            }
        });
        let mut late: Vec<LateRank> = late.filter(|late| late.waited > Time::ZERO).collect();
        late.sort_by_key(|late| std::cmp::Reverse(late.waited)); // stable: by rank among equals
        (late, blame.on_its_way)
    }

    /// One rank waits for another from `start` to `end`, in a wait that ends at `until`.
    fn look(&mut self, (waits, rank): (Rank, Rank), (start, end): (Time, Time), until: Time) {
        let near = &mut self.near[rank.index()];
        *near = first_after(&self.ranks[rank.index()], start, *near);
        let next = *near;
        self.is_in_chain[waits.index()] = true;
        self.looks.push(Look {
            waits,
            rank,
            next,
            start,
            end,
            until,
        });
    }

    /// Says who is late. While the rank that is waited for waits itself, and goes on because of that
    /// before the wait for it ends, it is who it waits for that is late.
    fn explain(&mut self) {
        while let Some(look) = self.looks.last_mut() {
            let pieces = self.ranks[look.rank.index()].get(look.next);
            let Some(piece) = pieces.filter(|piece| piece.start < look.end) else {
                self.is_in_chain[look.waits.index()] = false;
                self.looks.pop();
                continue;
            };
            look.next += 1;
            let (rank, until) = (look.rank, look.until);
            let (start, end) = (piece.start.max(look.start), piece.end.min(look.end));
            match awaited(rank, piece) {
                None if piece.cause == Cause::Idle => self.on_its_way += end - start,
                None => self.late[rank.index()].spend(piece.call, piece.cause, end - start),
                Some(peer) if piece.end <= until && !self.is_in_chain[peer.index()] => {
                    self.look((rank, peer), (start, end), piece.end);
                }
                // It has sent what is waited for before it began to wait.
                Some(_) => self.on_its_way += end - start,
            }
        }
    }
}

/// The first of some pieces that ends after `start`, looked for around the one with the index `near`.
fn first_after(pieces: &[Piece], start: Time, near: usize) -> usize {
    // Those before `low` end earlier, those from `high` on later.
    let (mut low, mut high) = (near, near);
    let mut step = 1;
    while pieces.get(high).is_some_and(|piece| piece.end <= start) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    step = 1;
    while low > 0 && pieces[low - 1].end > start {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    let high = high.min(pieces.len());
    low + pieces[low..high].partition_point(|piece| piece.end <= start)
}

/// The other rank that this one waits for.
fn awaited(rank: Rank, piece: &Piece) -> Option<Rank> {
    piece.cause.peer().filter(|&peer| peer != rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_machine::{Activity, BackgroundUse, CallLog, CallSpan, Report};
    use proptest::prelude::*;

    const SEND: u16 = 7;
    const RECV: u16 = 9;

    /// A run of these ranks: of each the end of every span with its cause and call.
    fn run(ranks: &[&[(u64, Cause, u16)]]) -> CallRun {
        let at = Time::from_ps;
        let mut run = CallRun {
            logs: Vec::new(),
            report: Report {
                machine: "sim",
                makespan: Time::ZERO,
                finish: Vec::new(),
                activity: Vec::new(),
                messages: Vec::new(),
                links: Vec::new(),
                holds: Vec::new(),
                background: BackgroundUse::default(),
                wrong: Vec::new(),
                outputs: Vec::new(),
                events: 0,
                trace_hash: 0,
            },
            name: |_| "call",
        };
        let report = &mut run.report;
        for spans in ranks {
            let mut activity = Activity::default();
            let mut log = CallLog::default();
            for (serial, &(end, cause, call)) in (0..).zip(*spans) {
                let start = activity.end();
                activity.fill(at(end), cause);
                log.spans.push(CallSpan {
                    call,
                    serial,
                    start,
                    end: at(end),
                });
            }
            report.finish.push(activity.end());
            report.activity.push(activity);
            run.logs.push(log);
        }
        report.makespan = report.finish.iter().copied().max().unwrap_or_default();
        for activity in &mut report.activity {
            activity.fill(report.makespan, Cause::Idle);
        }
        run
    }

    const fn wait(peer: u32) -> Cause {
        Cause::WaitPeer(Rank(peer))
    }

    fn told(path: &[PathStretch]) -> Vec<(u32, u16, u64, u64)> {
        let told = path.iter();
        told.map(|one| (one.rank, one.call, one.start.ps(), one.end.ps()))
            .collect()
    }

    /// Rank 2 computes for long, rank 1 waits for it and then sends to rank 0, which waits for rank 1.
    fn three() -> CallRun {
        run(&[
            &[
                (5, Cause::Compute, NO_CALL),
                (90, wait(1), RECV),
                (100, Cause::Transfer, RECV),
            ],
            &[
                (70, wait(2), RECV),
                (80, Cause::Transfer, RECV),
                (95, Cause::Handshake, SEND),
            ],
            &[(60, Cause::Compute, NO_CALL), (75, Cause::Handshake, SEND)],
        ])
    }

    #[test]
    fn the_path_goes_back_through_waits_to_who_was_late() {
        let explained = three().explain();
        let expected = [
            (2, NO_CALL, 0, 60),
            (2, SEND, 60, 70),
            (1, RECV, 70, 80),
            (1, SEND, 80, 90),
            (0, RECV, 90, 100),
        ];
        assert_eq!(told(&explained.path), expected);
        let calls = explained.path_calls.iter();
        let calls: Vec<_> = calls
            .map(|of| (of.call, of.count, of.total().ps()))
            .collect();
        assert_eq!(calls, [(NO_CALL, 0, 60), (SEND, 2, 20), (RECV, 2, 20)]);
        let expected = CallsMeasure::Compute {
            percent: 60.0,
            rank: 2,
            rank_percent: 100.0,
        };
        assert_eq!(explained.first, expected);
    }

    #[test]
    fn waits_count_for_who_is_late_and_not_for_who_waits_itself() {
        let explained = three().explain();
        let late = explained.late.iter();
        let late: Vec<_> = late.map(|late| (late.rank, late.waited.ps())).collect();
        // Rank 1 waits 70 for rank 2, and rank 0 of its 85 from 5 to 70; the rest is for rank 1.
        assert_eq!(late, [(2, 70 + 65), (1, 20)]);
        assert_eq!(explained.on_its_way, Time::ZERO);
        let meanwhile = &explained.late[0].calls;
        let meanwhile: Vec<_> = meanwhile
            .iter()
            .map(|of| (of.call, of.total().ps()))
            .collect();
        assert_eq!(meanwhile, [(NO_CALL, 60 + 55), (SEND, 10 + 10)]);
    }

    /// Rank 1 has sent at 20 what is there at 50, and waits for rank 2, which computes.
    #[test]
    fn who_has_sent_before_it_waits_is_not_late() {
        let explained = run(&[
            &[(50, wait(1), RECV), (60, Cause::Transfer, RECV)],
            &[(20, Cause::Transfer, SEND), (55, wait(2), RECV)],
            &[(58, Cause::Compute, NO_CALL)],
        ])
        .explain();
        let expected = [(1, SEND, 0, 20), (1, RECV, 20, 50), (0, RECV, 50, 60)];
        assert_eq!(told(&explained.path), expected);
        // Rank 0 for rank 1 until 20, then the message is on its way; rank 1 for rank 2.
        let late: Vec<_> = explained
            .late
            .iter()
            .map(|of| (of.rank, of.waited.ps()))
            .collect();
        assert_eq!(late, [(2, 35), (1, 20)]);
        assert_eq!(explained.on_its_way.ps(), 30);
    }

    #[test]
    fn a_program_without_time_needs_nothing() {
        let explained = run(&[&[], &[]]).explain();
        assert_eq!(
            (explained.first, explained.path.len()),
            (CallsMeasure::Nothing, 0)
        );
    }

    fn a_span() -> impl Strategy<Value = (u64, u8, u32)> {
        (1_u64..20, 0_u8..6, 0_u32..4)
    }

    /// Who is late and for how long, as one would say it: rank by rank and wait by wait.
    fn plainly_late(run: &CallRun) -> Vec<(u32, u64)> {
        fn look(ranks: &[Vec<Piece>], chain: &mut Vec<Rank>, wait: Piece, late: &mut [u64]) {
            let waits = *chain.last().expect("somebody waits");
            let peer = awaited(waits, &wait).expect("for somebody");
            let until = ranks[waits.index()].iter().map(|piece| piece.end);
            let until = until.filter(|&end| end >= wait.end).min();
            for piece in within(&ranks[peer.index()], wait.start, wait.end) {
                let ends = ranks[peer.index()].iter().map(|piece| piece.end);
                let ends = ends.filter(|&end| end >= piece.end).min();
                match awaited(peer, &piece) {
                    None if piece.cause == Cause::Idle => {}
                    None => late[peer.index()] += (piece.end - piece.start).ps(),
                    Some(next) if ends <= until && !chain.contains(&next) => {
                        chain.push(peer);
                        look(ranks, chain, piece, late);
                        chain.pop();
                    }
                    Some(_) => {}
                }
            }
        }
        let ranks = run.logs.iter().zip(&run.report.activity);
        let ranks: Vec<Vec<Piece>> = ranks.map(|(log, of)| pieces(log, of)).collect();
        let mut late = vec![0; ranks.len()];
        for (rank, of) in (0..).map(Rank).zip(&ranks) {
            let waits = of.iter().filter(|piece| awaited(rank, piece).is_some());
            waits.for_each(|wait| look(&ranks, &mut vec![rank], *wait, &mut late));
        }
        let late = (0..).zip(late).filter(|&(_, waited)| waited > 0);
        let mut late: Vec<(u32, u64)> = late.collect();
        late.sort_by_key(|&(_, waited)| std::cmp::Reverse(waited));
        late
    }

    proptest! {
        #[test]
        fn every_picosecond_has_its_place(
            ranks in prop::collection::vec(prop::collection::vec(a_span(), 0..12), 1..5),
        ) {
            let count = ranks.len() as u32;
            let ranks: Vec<Vec<(u64, Cause, u16)>> = ranks.iter().map(|spans| {
                let mut end = 0;
                spans.iter().map(|&(time, kind, peer)| {
                    end += time;
                    let cause = match kind {
                        0 => Cause::Compute,
                        1 => Cause::Transfer,
                        2 => Cause::Handshake,
                        _ => wait(peer % count),
                    };
                    (end, cause, [SEND, RECV, NO_CALL][kind as usize % 3])
                }).collect()
            }).collect();
            let ranks: Vec<&[(u64, Cause, u16)]> = ranks.iter().map(Vec::as_slice).collect();
            let run = run(&ranks);
            let explained = run.explain();
            // The path has no gaps, and its calls have all of its time.
            let path = &explained.path;
            let makespan = run.report.makespan.ps();
            prop_assert!(path.windows(2).all(|two| two[0].end == two[1].start));
            prop_assert_eq!(path.iter().map(|one| one.time().ps()).sum::<u64>(), makespan);
            let calls = explained.path_calls.iter();
            prop_assert_eq!(calls.map(|of| of.total().ps()).sum::<u64>(), makespan);
            let calls = explained.calls.iter();
            let finish: u64 = run.report.finish.iter().map(|finish| finish.ps()).sum();
            prop_assert_eq!(calls.map(|of| of.total().ps()).sum::<u64>(), finish);
            // Every wait is for somebody, or for what is on its way.
            let waited: u64 = (0..).zip(&run.report.activity).map(|(rank, activity)| {
                activity.total(|cause| cause.peer().is_some_and(|peer| peer != Rank(rank))).ps()
            }).sum();
            let late = explained.late.iter();
            let blamed: u64 = late.map(|late| late.waited.ps()).sum();
            prop_assert_eq!(blamed + explained.on_its_way.ps(), waited);
            let late: Vec<(u32, u64)> = explained.late.iter().map(|late| (late.rank, late.waited.ps())).collect();
            prop_assert_eq!(late, plainly_late(&run));
        }
    }
}
