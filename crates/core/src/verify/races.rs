// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether something decides the order of what streams of one rank do with the same place.
//!
//! Two steps of different streams that touch a place, at least one of them to write it, must be
//! ordered: by the streams' own orders and the waits between them, or by messages through other
//! ranks. A message that a send or a forward puts on its way carries all that came before it and the
//! step itself, because the data had been read; one of an exchange only what came before it, because
//! its receive may end later.
//!
//! Places are looked at in the order of one execution, with the last step that wrote each and those
//! that have read it since, as race detectors do (Flanagan and Freund 2009); so every place with a
//! race is found, though not every pair of steps. What happened before what is kept as vectors with
//! an entry per stream (Mattern 1989): first only of the streams of the rank, and, where that leaves
//! a pair without order, of all streams.
//!
//! ```text
//! stream 0    receives x from rank 3
//! stream 1    sends x to rank 5                      refused
//! stream 1    waits for that receive, sends x        accepted
//! ```

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::matching::{Matching, NONE};
use super::violation::{At, Collector, Violation};
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Lanes, Op, Schedule, Step};

/// Most entries of all vectors together: 256 MiB. Where they would be more, messages are taken for
/// no order: a schedule may be refused, and none with a race is accepted.
const ENTRIES_MAX: u64 = 1 << 26;

/// Reports places whose steps have no order; `order` is one in which the steps of all ranks complete.
pub(super) fn check(
    schedule: &Schedule,
    matching: &Matching,
    order: &[u32],
    found: &mut Collector,
) {
    let lanes = schedule.lanes();
    let everywhere = OnceCell::new();
    let firsts = schedule.first_steps();
    let mut of_ranks: BTreeMap<Rank, Vec<u32>> = BTreeMap::new();
    for &number in order {
        let rank = Rank(firsts.partition_point(|&first| first <= number) as u32 - 1);
        if lanes.of(rank).len() > 1 {
            of_ranks.entry(rank).or_default().push(number);
        }
    }
    for (rank, numbers) in of_ranks {
        let local = Clocks::local(lanes, rank, &numbers);
        let happens_before = |before: u32, after: u32| {
            let at = |number| lanes.at(rank, number);
            if at(before) == at(after) || local.has_seen(rank, after, before) {
                return true;
            }
            let global = everywhere.get_or_init(|| Clocks::global(schedule, matching));
            let global: &Option<Clocks<'_>> = global;
            let clocks = global.as_ref();
            clocks.is_some_and(|clocks| clocks.has_seen(rank, after, before))
        };
        check_rank(schedule, rank, &numbers, happens_before, found);
    }
}

/// What has been done with a place.
#[derive(Default)]
struct Touched {
    written: Option<u32>,
    /// Since then.
    read: Vec<u32>,
}

fn check_rank(
    schedule: &Schedule,
    rank: Rank,
    numbers: &[u32],
    happens_before: impl Fn(u32, u32) -> bool,
    found: &mut Collector,
) {
    let first = schedule.first_steps()[rank.index()];
    let mut places: BTreeMap<ChunkId, Touched> = BTreeMap::new();
    let mut report = |number: u32, writes: bool, other: u32, other_writes: bool, chunk| {
        let [index, other] = [number, other].map(|number| (number - first) as usize);
        found.push(Violation::Race {
            at: At {
                rank,
                step: schedule.position(rank, index),
                round: schedule.steps(rank)[index].round,
            },
            chunk,
            writes,
            other: schedule.position(rank, other),
            other_writes,
        });
    };
    for &number in numbers {
        let step = &schedule.steps(rank)[(number - first) as usize];
        for &chunk in schedule.chunks(step.read()) {
            let touched = places.entry(chunk).or_default();
            let written = touched.written;
            if let Some(other) = written.filter(|&before| !happens_before(before, number)) {
                report(number, false, other, true, chunk);
            }
            touched.read.push(number);
        }
        for &chunk in schedule.chunks(step.written()) {
            let touched = places.entry(chunk).or_default();
            let written = touched.written.replace(number);
            let before = written.map(|other| (other, true)).into_iter();
            let before = before.chain(touched.read.drain(..).map(|other| (other, false)));
            let mut before = before.filter(|&(other, _)| other != number);
            if let Some((other, writes)) = before.find(|&(other, _)| !happens_before(other, number))
            {
                report(number, true, other, writes, chunk);
            }
        }
    }
}

/// Per step, how many steps of every stream are done when it does what it does: when it has received,
/// and, as an exchange may send before that, when it begins.
struct Clocks<'a> {
    lanes: Lanes<'a>,
    /// The lanes that have entries.
    first_lane: u32,
    width: usize,
    /// Where the entries of a step begin, if it has any.
    rows: BTreeMap<Moment, usize>,
    entries: Vec<u32>,
}

/// A moment in the life of a step; of exchanges also the end is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    number: u32,
    is_end: bool,
}

impl<'a> Clocks<'a> {
    fn new(lanes: Lanes<'a>, range: std::ops::Range<u32>) -> Self {
        Self {
            lanes,
            first_lane: range.start,
            width: range.len(),
            rows: BTreeMap::new(),
            entries: Vec::new(),
        }
    }

    /// Whether the step `before` is done when the step `after` of the same rank acts.
    fn has_seen(&self, rank: Rank, after: u32, before: u32) -> bool {
        let lane = self.lanes.at(rank, before);
        let moment = Moment {
            number: after,
            is_end: false,
        };
        let Some(&row) = self.rows.get(&moment) else {
            return false;
        };
        let done = self.entries[row + (lane - self.first_lane) as usize];
        self.lanes.first_step[lane as usize] + done > before
    }

    /// What has happened by streams' orders and waits alone.
    fn local(lanes: Lanes<'a>, rank: Rank, numbers: &[u32]) -> Self {
        let mut clocks = Self::new(lanes, lanes.of(rank));
        for &number in numbers {
            let sources = before(lanes, rank, number).map(|number| Source {
                rank,
                number,
                is_done: true,
                is_end: false,
            });
            let sources: Vec<Source> = sources.collect();
            clocks.add(number, false, &sources);
        }
        clocks
    }

    /// The same with messages; none if there would be too many entries.
    fn global(schedule: &'a Schedule, matching: &Matching) -> Option<Self> {
        let lanes = schedule.lanes();
        if schedule.steps_total() as u64 * lanes.count() as u64 > ENTRIES_MAX {
            return None;
        }
        let mut clocks = Self::new(lanes, 0..lanes.count() as u32);
        let mut next = lanes.first_step[..lanes.count()].to_vec();
        let mut waiting: BTreeMap<Moment, Vec<u32>> = BTreeMap::new();
        let mut work: Vec<u32> = (0..lanes.count() as u32).collect();
        while let Some(lane) = work.pop() {
            let rank = lanes.rank(lane);
            while next[lane as usize] < lanes.first_step[lane as usize + 1] {
                let number = next[lane as usize];
                let missing = clocks.reach(schedule, matching, rank, number, |moment| {
                    work.extend(waiting.remove(&moment).unwrap_or_default());
                });
                if let Some(missing) = missing {
                    waiting.entry(missing).or_default().push(lane);
                    break;
                }
                next[lane as usize] += 1;
            }
        }
        Some(clocks)
    }

    /// Makes the rows of a step, or says which one is missing; tells `made` of every new one.
    fn reach(
        &mut self,
        schedule: &Schedule,
        matching: &Matching,
        rank: Rank,
        number: u32,
        mut made: impl FnMut(Moment),
    ) -> Option<Moment> {
        let is_exchange = is_exchange(schedule, rank, number);
        let message = sender(schedule, matching, rank, number);
        for is_end in [false, true] {
            let moment = Moment { number, is_end };
            if self.rows.contains_key(&moment) || (is_end && !is_exchange) {
                continue;
            }
            let mut sources: Vec<Source> = Vec::new();
            if is_end {
                sources.push(Source {
                    rank,
                    number,
                    is_done: true,
                    is_end: false,
                });
            } else {
                sources.extend(before(self.lanes, rank, number).map(|number| Source {
                    rank,
                    number,
                    is_done: true,
                    is_end: self::is_exchange(schedule, rank, number),
                }));
            }
            sources.extend(message.filter(|_| is_end == is_exchange));
            let missing = sources.iter().map(Source::moment);
            let missing = missing
                .into_iter()
                .find(|moment| !self.rows.contains_key(moment));
            if missing.is_some() {
                return missing;
            }
            self.add(number, is_end, &sources);
            made(moment);
        }
        None
    }

    /// Makes a row of what its sources know.
    fn add(&mut self, number: u32, is_end: bool, sources: &[Source]) {
        let row = self.entries.len();
        self.entries.resize(row + self.width, 0);
        for source in sources {
            let from = self.rows[&source.moment()];
            for index in 0..self.width {
                let known = self.entries[from + index];
                let entry = &mut self.entries[row + index];
                *entry = (*entry).max(known);
            }
            if source.is_done {
                let lane = self.lanes.at(source.rank, source.number);
                let done = source.number - self.lanes.first_step[lane as usize] + 1;
                let entry = &mut self.entries[row + (lane - self.first_lane) as usize];
                *entry = (*entry).max(done);
            }
        }
        self.rows.insert(Moment { number, is_end }, row);
    }
}

/// A step that must have come to some point before another does something.
#[derive(Clone, Copy)]
struct Source {
    rank: Rank,
    number: u32,
    /// Whether the step itself is done then.
    is_done: bool,
    is_end: bool,
}

impl Source {
    fn moment(&self) -> Moment {
        Moment {
            number: self.number,
            is_end: self.is_end,
        }
    }
}

/// The steps of its rank that must be done before a step begins: the one before it in its stream,
/// and those that it waits for.
fn before(lanes: Lanes<'_>, rank: Rank, number: u32) -> impl Iterator<Item = u32> {
    let lane = lanes.at(rank, number);
    let previous = (number > lanes.first_step[lane as usize]).then(|| number - 1);
    previous.into_iter().chain(lanes.waits(number))
}

/// What the message that a step receives says about its sender: that it has sent, and an exchange no
/// more than that it had begun.
fn sender(schedule: &Schedule, matching: &Matching, rank: Rank, number: u32) -> Option<Source> {
    let sender = matching.sender_of[number as usize];
    let from = step(schedule, rank, number).recv_half()?.from;
    (sender != NONE).then(|| Source {
        rank: from,
        number: sender,
        is_done: !is_exchange(schedule, from, sender),
        is_end: false,
    })
}

fn is_exchange(schedule: &Schedule, rank: Rank, number: u32) -> bool {
    matches!(step(schedule, rank, number).op, Op::Exchange { .. })
}

fn step(schedule: &Schedule, rank: Rank, number: u32) -> &Step {
    let first = schedule.first_steps()[rank.index()];
    &schedule.steps(rank)[(number - first) as usize]
}
