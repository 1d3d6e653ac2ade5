// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same schedule with one stream per rank, for machines that do one thing at a time per rank.
//!
//! What machines carry out are sends, receives, exchanges, forwards that keep what passes, multicasts
//! and local steps, one after the other. [`in_one_stream`] makes of any schedule one that has only
//! these, means the same and cannot deadlock where the schedule cannot:
//!
//! An execution under rendezvous is a sequence of events, each of them a message from one rank to
//! another (or to all) or a local step. Every rank takes its part in these events in their order; so
//! when the first event that has not happened yet is a message, both its ranks have nothing else to
//! do before it, and it happens. Waits need no more mention: the order obeys them. Messages between
//! two ranks are in one order at both, so that one channel is enough.
//!
//! A schedule that needs slots is executed with as many as it needs. A message is an event when it is
//! *sent*; a receiver that is not there yet takes it into a place of its own, its slot, and copies or
//! combines it from there when it comes to the receive. So machines without any buffers run it, too.
//!
//! Both halves of an exchange or of a forward stay one step where nothing else of the rank lies
//! between them. If that leads into a deadlock, as it can where a message passes a rank twice, all
//! of them are taken apart, and the argument above holds without exception.
//!
//! Labels of rounds are those of the schedule; along the one stream they may fall.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::execute::{self, Event};
use super::matching::Matching;
use super::structure;
use super::violation::{Collector, Violation};
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Arrival, ChunkList, Op, RecvHalf, Schedule, ScheduleBuilder, Step};

/// `schedule` itself if machines can carry it out as it is, or else one that means the same.
///
/// # Errors
/// What is wrong with a schedule of several streams whose messages do not match or which never
/// completes.
///
/// # Cost
/// Nothing for a schedule that has one stream per rank, claims no slots and forwards only what it
/// keeps; else that of executing it as the verifier does.
pub fn in_one_stream(schedule: &Schedule) -> Result<Cow<'_, Schedule>, Violation> {
    if schedule.is_plain() {
        return Ok(Cow::Borrowed(schedule));
    }
    let matching = matched(schedule)?;
    let events = execute::events(schedule, &matching)?;
    let merged = Linear::new(schedule, true).run(&matching, &events);
    let of_merged = Matching::new(&merged, &mut Collector::default());
    if execute::completes(&merged, &of_merged) {
        return Ok(Cow::Owned(merged));
    }
    Ok(Cow::Owned(
        Linear::new(schedule, false).run(&matching, &events),
    ))
}

/// The fewest messages that every connection of `schedule` must be able to hold so that it completes;
/// the number that its certificate names.
///
/// # Errors
/// What is wrong with a schedule whose messages do not match or which never completes.
///
/// # Cost
/// That of executing it as the verifier does.
pub fn slots_needed(schedule: &Schedule) -> Result<u32, Violation> {
    execute::slots_needed(schedule, &matched(schedule)?)
}

/// Which send meets which receive, where all of them do.
fn matched(schedule: &Schedule) -> Result<Matching, Violation> {
    let mut found = Collector::default();
    if !structure::check(schedule, &mut found) {
        return Err(found.into_list().swap_remove(0));
    }
    let matching = Matching::new(schedule, &mut found);
    match found.into_list().into_iter().next() {
        Some(violation) => Err(violation),
        None => Ok(matching),
    }
}

/// What a rank does in an event; steps are numbered through all ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The message of this step leaves.
    Send(u32),
    /// The message for this step comes.
    Arrive(u32),
    /// The step takes its message.
    Take(u32),
    Local(u32),
}

struct Linear<'a> {
    schedule: &'a Schedule,
    builder: ScheduleBuilder,
    /// Whether halves that follow each other stay one step.
    merges: bool,
    pool: Pool,
    /// Where a message lies that has come and was not taken yet.
    slots: BTreeMap<u32, Vec<ChunkId>>,
    /// The steps whose message has left.
    sent: BTreeSet<u32>,
    /// What a step will send, where that is not what its places hold by then.
    staged: BTreeMap<u32, Vec<ChunkId>>,
}

/// The rank, the number and the definition of a step.
#[derive(Clone, Copy)]
struct Numbered {
    rank: Rank,
    number: u32,
    step: Step,
}

impl<'a> Linear<'a> {
    fn new(schedule: &'a Schedule, merges: bool) -> Self {
        Self {
            schedule,
            builder: ScheduleBuilder::without_steps(schedule),
            merges,
            pool: Pool::default(),
            slots: BTreeMap::new(),
            sent: BTreeSet::new(),
            staged: BTreeMap::new(),
        }
    }

    fn run(mut self, matching: &Matching, events: &[Event]) -> Schedule {
        let mut parts = vec![Vec::new(); self.schedule.ranks() as usize];
        let mut part = |rank: Rank, part| parts[rank.index()].push(part);
        for event in events {
            match *event {
                Event::Put(number) => {
                    part(self.schedule.rank_of(number), Part::Send(number));
                    for &receiver in matching.receivers(number) {
                        part(self.schedule.rank_of(receiver), Part::Arrive(receiver));
                    }
                }
                Event::Take(number) => part(self.schedule.rank_of(number), Part::Take(number)),
                Event::Local(number) => part(self.schedule.rank_of(number), Part::Local(number)),
            }
        }
        for (rank, parts) in self.schedule.all_ranks().zip(parts) {
            let first = self.schedule.first_steps()[rank.index()];
            let mut rest = &parts[..];
            while let Some(&next) = rest.first() {
                let (Part::Send(number)
                | Part::Arrive(number)
                | Part::Take(number)
                | Part::Local(number)) = next;
                let step = self.schedule.steps(rank)[(number - first) as usize];
                let used = self.append(Numbered { rank, number, step }, rest);
                rest = &rest[used..];
            }
        }
        self.builder.finish()
    }

    /// Appends what the first of these parts is; returns how many of them that took.
    fn append(&mut self, at: Numbered, parts: &[Part]) -> usize {
        use Part::{Arrive, Send, Take};
        let number = at.number;
        let is_one = |pattern: &[Part]| self.merges && parts.starts_with(pattern);
        let stays_whole = match at.step.op {
            Op::Exchange { .. } => {
                is_one(&[Arrive(number), Take(number), Send(number)])
                    || is_one(&[Send(number), Arrive(number), Take(number)])
            }
            Op::Forward { arrival, .. } => {
                arrival == Arrival::Store && is_one(&[Arrive(number), Take(number), Send(number)])
            }
            _ => false,
        };
        if stays_whole {
            self.builder.push(at.step.round.0, at.rank, at.step.op);
            return 3;
        }
        match parts[0] {
            Part::Local(_) => self.builder.push(at.step.round.0, at.rank, at.step.op),
            Send(_) => self.send(at),
            Arrive(_) if parts.get(1) == Some(&Take(number)) => {
                self.take(at, true);
                return 2;
            }
            Arrive(_) => {
                let half = half(at);
                let slot = self.allocate(at.rank, half.chunks);
                let list = self.builder.list(&slot);
                self.slots.insert(number, slot);
                self.receive(at, list, Arrival::Store);
            }
            Take(_) => self.take(at, false),
        }
        1
    }

    fn send(&mut self, at: Numbered) {
        self.sent.insert(at.number);
        let staged = self.staged.remove(&at.number);
        let chunks = match &staged {
            Some(staged) => self.builder.list(staged),
            None => at.step.sent(),
        };
        let op = match at.step.op {
            Op::Multicast { number, .. } => Op::Multicast { number, chunks },
            _ => {
                let to = at.step.send_half().expect("a step that sends").to;
                Op::Send { to, chunks }
            }
        };
        self.builder.push(at.step.last_round().0, at.rank, op);
        self.release(at.rank, staged);
    }

    /// The message comes into these places.
    fn receive(&mut self, at: Numbered, chunks: ChunkList, arrival: Arrival) {
        let from = half(at).from;
        let op = match at.step.op {
            Op::RecvMulticast { number, .. } => Op::RecvMulticast {
                from,
                number,
                chunks,
            },
            _ => Op::Recv {
                from,
                chunks,
                arrival,
            },
        };
        self.builder.push(at.step.round.0, at.rank, op);
    }

    /// The step does with its message what it says: with one that comes now, or that lies in a slot.
    fn take(&mut self, at: Numbered, is_direct: bool) {
        let half = half(at);
        let (mut target, mut arrival) = (half.chunks, half.arrival);
        match at.step.op {
            // What is sent is what was held before.
            Op::Exchange { send, .. } if !self.sent.contains(&at.number) => {
                let chunks = |list| self.schedule.chunks(list);
                if chunks(send)
                    .iter()
                    .any(|chunk| chunks(target).contains(chunk))
                {
                    self.stage(at, send);
                }
            }
            Op::Forward { .. } if arrival == Arrival::PassOn => {
                target = self.stage(at, target);
                arrival = Arrival::Reduce;
            }
            _ => {}
        }
        if is_direct {
            self.receive(at, target, arrival);
            return;
        }
        let slot = self.slots.remove(&at.number);
        let source = self.builder.list(slot.as_deref().expect("it has come"));
        self.push_local(at, source, target, arrival);
        self.release(at.rank, slot);
    }

    /// Copies what a step is going to send.
    fn stage(&mut self, at: Numbered, list: ChunkList) -> ChunkList {
        let copies = self.allocate(at.rank, list);
        let target = self.builder.list(&copies);
        self.push_local(at, list, target, Arrival::Store);
        self.staged.insert(at.number, copies);
        target
    }

    fn push_local(&mut self, at: Numbered, source: ChunkList, target: ChunkList, arrival: Arrival) {
        let op = Op::Local {
            source,
            target,
            arrival,
        };
        self.builder.push(at.step.round.0, at.rank, op);
    }

    fn allocate(&mut self, rank: Rank, list: ChunkList) -> Vec<ChunkId> {
        let chunks = self.schedule.chunks(list).iter();
        let sizes: Vec<u64> = chunks
            .map(|&chunk| self.schedule.chunk_bytes(chunk))
            .collect();
        let builder = &mut self.builder;
        let places = sizes.into_iter();
        places
            .map(|bytes| self.pool.take(builder, rank, bytes))
            .collect()
    }

    fn release(&mut self, rank: Rank, places: Option<Vec<ChunkId>>) {
        for place in places.into_iter().flatten() {
            self.pool.give_back(rank, place);
        }
    }
}

fn half(at: Numbered) -> RecvHalf {
    at.step.recv_half().expect("a step that receives")
}

/// Places that a rank uses for a while; every rank has all of them, so ranks share their names.
#[derive(Default)]
struct Pool {
    /// By size.
    places: BTreeMap<u64, Vec<ChunkId>>,
    bytes: BTreeMap<ChunkId, u64>,
    /// How many of a size a rank has used, and which of them are free again.
    used: BTreeMap<(Rank, u64), usize>,
    free: BTreeMap<(Rank, u64), Vec<ChunkId>>,
}

impl Pool {
    fn take(&mut self, builder: &mut ScheduleBuilder, rank: Rank, bytes: u64) -> ChunkId {
        if let Some(place) = self.free.get_mut(&(rank, bytes)).and_then(Vec::pop) {
            return place;
        }
        let used = self.used.entry((rank, bytes)).or_default();
        let places = self.places.entry(bytes).or_default();
        if *used == places.len() {
            let place = builder.add_place(bytes);
            self.bytes.insert(place, bytes);
            places.push(place);
        }
        *used += 1;
        places[*used - 1]
    }

    fn give_back(&mut self, rank: Rank, place: ChunkId) {
        let bytes = self.bytes[&place];
        self.free.entry((rank, bytes)).or_default().push(place);
    }
}
