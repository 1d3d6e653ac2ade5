// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labels of rounds for a schedule that comes without any.
//!
//! Every step gets the earliest round that the rules of labels allow (`labels`): rounds never fall
//! along a stream nor from a step to one that waits for it, what has arrived is sent on in a later
//! round, both ends of a message are in one, and a stream sends once and receives once in a round,
//! unless the others cannot be kept then. The rules are applied to the steps in an order in
//! which they can happen, again and again until nothing changes: a receiver that comes late moves the
//! send, and all that follows the send, to its own round. Where that never ends it does not, and the
//! message waits in a slot.
//!
//! ```
//! use corecast_core::{ChunkId, Collective, Rank, Request, ScheduleBuilder, Spec, Split, verify};
//! let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(1));
//! let mut builder = ScheduleBuilder::new("chain", spec);
//! builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
//! builder.message(0, Rank(1), Rank(2), &[ChunkId(0)]);
//! let schedule = verify::with_rounds(builder.finish());
//! assert_eq!(schedule.steps(Rank(2))[0].round.0, 1);
//! ```

use std::collections::BTreeMap;

use super::matching::{Matching, NONE};
use super::violation::Collector;
use crate::ids::Rank;
use crate::schedule::{Arrival, Lanes, Op, Schedule, Step};

/// The same schedule with the earliest labels that follow from what depends on what, whatever its
/// labels were. Steps that never happen get the label of the step before them, or that of the other end
/// of their message, or of what they wait for, if it is later.
///
/// Where a schedule completes only with slots there may be no labels of which both ends of every message
/// have the same; then messages are received in the rounds in which their receivers come to them, which
/// may be later ones.
///
/// # Panics
/// If a step names a rank or a place that does not exist.
///
/// # Cost
/// Memory of ranks times places, or of what the steps name if that is very much, and time proportional to
/// the steps for every turn; mostly there are two or three.
#[must_use]
pub fn with_rounds(mut schedule: Schedule) -> Schedule {
    let matching = Matching::new(&schedule, &mut Collector::default());
    let order = order(&schedule, &matching);
    let mut labels = Labels {
        schedule: &schedule,
        matching: &matching,
        rank_of: schedule
            .all_ranks()
            .flat_map(|rank| vec![rank; schedule.steps(rank).len()])
            .collect(),
        is_one_ported: true,
        has_slots: false,
        round: Vec::new(),
        sent: Vec::new(),
        received: Vec::new(),
        arrived: Arrived::default(),
    };
    for (is_one_ported, has_slots) in [(true, false), (false, false), (true, true)] {
        (labels.is_one_ported, labels.has_slots) = (is_one_ported, has_slots);
        if labels.settle(&order) {
            break;
        }
    }
    labels.rest(&order);
    let rounds = labels.round;
    schedule.set_rounds(&rounds);
    schedule
}

/// Most turns: where labels move on for ever there are none that keep the rules.
const TURNS_MAX: usize = 256;

/// Nothing has arrived.
const NEVER: u32 = u32::MAX;

/// The steps in an order in which they end if connections hold any number of messages.
fn order(schedule: &Schedule, matching: &Matching) -> Vec<u32> {
    let lanes = schedule.lanes();
    let mut next = lanes.first_step[..lanes.count()].to_vec();
    let mut sent = vec![false; schedule.steps_total()];
    let mut order = Vec::with_capacity(schedule.steps_total());
    let mut work: Vec<u32> = (0..lanes.count() as u32).rev().collect();
    while let Some(lane) = work.pop() {
        let rank = lanes.rank(lane);
        while next[lane as usize] < lanes.first_step[lane as usize + 1] {
            let number = next[lane as usize];
            let is_done = |on| next[lanes.at(rank, on) as usize] > on;
            if !lanes.waits(number).all(is_done) {
                break;
            }
            let step = step(schedule, rank, number);
            let sender = matching.sender_of[number as usize];
            let has_come = step.recv_half().is_none() || sender == NONE || sent[sender as usize];
            let forwards = matches!(step.op, Op::Forward { .. });
            if sends(step) && (has_come || !forwards) && !sent[number as usize] {
                sent[number as usize] = true;
                let receivers = matching.receivers(number).iter();
                let receivers = receivers.filter(|&&receiver| receiver != NONE);
                work.extend(receivers.map(|&receiver| {
                    let to = schedule.rank_of(receiver);
                    lanes.at(to, receiver)
                }));
            }
            if !has_come {
                break;
            }
            order.push(number);
            next[lane as usize] += 1;
            work.extend(lanes.waiters(number).map(|waiter| lanes.at(rank, waiter)));
        }
    }
    order
}

fn step(schedule: &Schedule, rank: Rank, number: u32) -> &Step {
    let first = schedule.first_steps()[rank.index()];
    &schedule.steps(rank)[(number - first) as usize]
}

fn sends(step: &Step) -> bool {
    step.send_half().is_some() || matches!(step.op, Op::Multicast { .. })
}

/// By how much the round of what a step sends is later than its label.
fn delay(step: &Step) -> u32 {
    u32::from(matches!(step.op, Op::Forward { .. }))
}

struct Labels<'a> {
    schedule: &'a Schedule,
    matching: &'a Matching,
    rank_of: Vec<Rank>,
    round: Vec<u32>,
    /// Whether a stream sends and receives once in a round.
    is_one_ported: bool,
    /// Whether a message may be received in a later round than it is sent in.
    has_slots: bool,
    /// One more than the latest round of a send in the stream of each step, up to that step.
    sent: Vec<u32>,
    /// The same of receives.
    received: Vec<u32>,
    /// Per rank and place, the round in which what lies there arrived.
    arrived: Arrived,
}

/// Above this many pairs of a rank and a place a word for each is wasteful, and a tree is used.
const DENSE_PAIRS_MAX: u64 = 1 << 25;

/// When what lies somewhere arrived.
#[derive(Default)]
struct Arrived {
    /// [`NEVER`] where nothing has; empty if there are too many pairs.
    dense: Vec<u32>,
    sparse: BTreeMap<u64, u32>,
}

impl Arrived {
    /// Forgets all, of so many pairs.
    fn clear(&mut self, pairs: u64) {
        self.dense.clear();
        self.sparse.clear();
        if pairs <= DENSE_PAIRS_MAX {
            self.dense.resize(pairs as usize, NEVER);
        }
    }

    fn get(&self, slot: u64) -> u32 {
        match self.dense.is_empty() {
            false => self.dense[slot as usize],
            true => self.sparse.get(&slot).copied().unwrap_or(NEVER),
        }
    }

    fn set(&mut self, slot: u64, round: u32) {
        match self.dense.is_empty() {
            false => self.dense[slot as usize] = round,
            true => {
                self.sparse.insert(slot, round);
            }
        }
    }
}

impl Labels<'_> {
    /// Applies the rules until nothing changes; returns whether that was reached.
    fn settle(&mut self, order: &[u32]) -> bool {
        let steps = self.schedule.steps_total();
        for table in [&mut self.round, &mut self.sent, &mut self.received] {
            table.clear();
            table.resize(steps, 0);
        }
        (0..TURNS_MAX).any(|_| !self.turn(order))
    }

    /// Applies the rules to every step once; returns whether a label has changed.
    fn turn(&mut self, order: &[u32]) -> bool {
        let pairs = self.schedule.places_total() * u64::from(self.schedule.ranks());
        self.arrived.clear(pairs);
        let mut has_changed = false;
        for &number in order {
            let rank = self.rank_of[number as usize];
            let label = self.label(rank, number);
            has_changed |= self.round[number as usize] != label;
            self.round[number as usize] = label;
            let this = step(self.schedule, rank, number);
            let previous = previous(self.schedule.lanes(), rank, number);
            let last = |table: &[u32]| previous.map_or(0, |before| table[before as usize]);
            let (sent, received) = (last(&self.sent), last(&self.received));
            self.sent[number as usize] = match sends(this) {
                true => sent.max(label + delay(this) + 1),
                false => sent,
            };
            self.received[number as usize] = match this.recv_half() {
                Some(_) => received.max(label + 1),
                None => received,
            };
            self.arrive(rank, number, label);
        }
        has_changed
    }

    /// The earliest round of a step, with the labels that there are.
    fn label(&self, rank: Rank, number: u32) -> u32 {
        let schedule = self.schedule;
        let (this, lanes) = (step(schedule, rank, number), schedule.lanes());
        let mut label = self.round[number as usize];
        let mut of_send = 0;
        let apart = u32::from(!self.is_one_ported);
        if let Some(before) = previous(lanes, rank, number) {
            label = label.max(self.round[before as usize]);
            of_send = self.sent[before as usize].saturating_sub(apart);
            if this.recv_half().is_some() {
                label = label.max(self.received[before as usize].saturating_sub(apart));
            }
        }
        for on in lanes.waits(number) {
            label = label.max(self.round[on as usize]);
            of_send = of_send.max(self.sent[on as usize].saturating_sub(1));
        }
        if sends(this) {
            let later = 1 - delay(this);
            label = label.max(of_send.saturating_sub(delay(this)));
            for &place in schedule.chunks(this.sent()) {
                let arrived = self.arrived.get(self.slot(rank, place.index()));
                if arrived != NEVER {
                    label = label.max(arrived + later);
                }
            }
        }
        label.max(self.of_ends(rank, number))
    }

    fn slot(&self, rank: Rank, place: usize) -> u64 {
        u64::from(rank.0) * self.schedule.places_total() + place as u64
    }

    /// Notes what a step with this label leaves at its rank.
    fn arrive(&mut self, rank: Rank, number: u32, label: u32) {
        let schedule = self.schedule;
        let this = step(schedule, rank, number);
        let later = |a: u32, b: u32| match (a, b) {
            (NEVER, other) | (other, NEVER) => other,
            (a, b) => a.max(b),
        };
        if let Op::Local {
            source,
            target,
            arrival,
        } = this.op
        {
            let read = schedule.chunks(source).iter();
            let read: Vec<u32> = read
                .map(|place| self.arrived.get(self.slot(rank, place.index())))
                .collect();
            for (place, read) in schedule.chunks(target).iter().zip(read) {
                let slot = self.slot(rank, place.index());
                let round = match arrival {
                    Arrival::Store => read,
                    Arrival::Reduce | Arrival::PassOn => later(self.arrived.get(slot), read),
                };
                self.arrived.set(slot, round);
            }
        }
        let half = this.recv_half();
        if let Some(half) = half.filter(|half| half.arrival != Arrival::PassOn) {
            for place in schedule.chunks(half.chunks) {
                let slot = self.slot(rank, place.index());
                self.arrived.set(slot, later(self.arrived.get(slot), label));
            }
        }
    }

    /// Labels the steps that never end.
    fn rest(&mut self, order: &[u32]) {
        let mut happens = vec![false; self.round.len()];
        for &number in order {
            happens[number as usize] = true;
        }
        // Both ends of a message that never arrives have one label all the same, and a step that
        // waits no earlier one than what it waits for.
        for _ in 0..TURNS_MAX {
            let mut has_changed = false;
            for number in 0..self.round.len() as u32 {
                if happens[number as usize] {
                    continue;
                }
                let rank = self.rank_of[number as usize];
                let before = previous(self.schedule.lanes(), rank, number);
                let before = before.map_or(0, |before| self.round[before as usize]);
                let label = self.round[number as usize].max(before);
                let waits = self.schedule.lanes().waits(number);
                let label = waits.fold(label, |label, on| label.max(self.round[on as usize]));
                let label = label.max(self.of_ends(rank, number));
                has_changed |= self.round[number as usize] != label;
                self.round[number as usize] = label;
            }
            if !has_changed {
                break;
            }
        }
    }

    /// The latest label that the other ends of its messages ask for.
    fn of_ends(&self, rank: Rank, number: u32) -> u32 {
        let this = step(self.schedule, rank, number);
        let receivers = self.matching.receivers(number).iter();
        let receivers = receivers.filter(|&&receiver| receiver != NONE && !self.has_slots);
        let of_receivers =
            receivers.map(|&receiver| self.round[receiver as usize].saturating_sub(delay(this)));
        let latest = of_receivers.max().unwrap_or(0);
        let sender = self.matching.sender_of[number as usize];
        if sender == NONE {
            return latest;
        }
        let from = step(self.schedule, self.rank_of[sender as usize], sender);
        latest.max(self.round[sender as usize] + delay(from))
    }
}

/// The step before a step in its stream.
fn previous(lanes: Lanes<'_>, rank: Rank, number: u32) -> Option<u32> {
    let lane = lanes.at(rank, number);
    (number > lanes.first_step[lane as usize]).then(|| number - 1)
}
