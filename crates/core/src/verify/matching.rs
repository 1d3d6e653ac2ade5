// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which send meets which receive.
//!
//! A *connection* is a sender, a receiver and a channel: its k-th message is what its k-th send sends
//! and its k-th receive takes. A multicast is a message on one connection to each receiver.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::connections::{Connections, Expected, Numbered};
use super::violation::{At, Collector, Violation};
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Op, Schedule, Step};

/// "No partner" in [`Matching`].
pub(super) const NONE: u32 = u32::MAX;

/// Partners of all halves. Steps are numbered through all ranks, in rank order.
pub(super) struct Matching {
    /// For every step that sends one message: the step that receives it.
    receiver_of: Vec<u32>,
    /// For every multicast: the steps that receive it.
    branches: BTreeMap<u32, Vec<u32>>,
    /// For every step that receives: the step that sends its message.
    pub sender_of: Vec<u32>,
    /// For every step that receives: which connection its message comes over.
    pub connection_of: Vec<u32>,
    /// Messages of every connection.
    pub messages: Vec<u32>,
    /// Messages that are received in a later round than they are sent in.
    pub late: Collector,
    /// Messages that go from the place of one chunk into that of another. Whether what they carry ends where
    /// it should turns out when the schedule is carried out.
    pub renamed: Collector,
    /// Whether a chunk may lie anywhere but in its own place.
    pub are_anywhere: bool,
    /// Whether every send has a receive, and every receive a send.
    pub is_whole: bool,
}

/// The rank and the index of a step that sends, and of the step that receives what it sends.
pub type MessageEnds = [(Rank, usize); 2];

/// Both ends of every message, in order of the receiving steps: the k-th send of a connection with
/// its k-th receive. What is left over in a schedule that is not correct is left out.
///
/// ```
/// use corecast_core::{Collective, Rank, Request, algorithm, verify};
/// let chain = algorithm::find(Collective::Bcast, "chain").unwrap();
/// let schedule = chain.schedule(&Request::new(Collective::Bcast, 3, 8));
/// let ends = verify::messages(&schedule);
/// assert_eq!(ends, [[(Rank(0), 0), (Rank(1), 0)], [(Rank(1), 1), (Rank(2), 0)]]);
/// ```
#[must_use]
pub fn messages(schedule: &Schedule) -> Vec<MessageEnds> {
    let matching = Matching::new(schedule, &mut Collector::default());
    let steps = |rank| (0..schedule.steps(rank).len()).map(move |index| (rank, index));
    let places: Vec<(Rank, usize)> = schedule.all_ranks().flat_map(steps).collect();
    let senders = places.iter().zip(&matching.sender_of);
    let matched = senders.filter(|(_, sender)| **sender != NONE);
    let ends = matched.map(|(&receiver, &sender)| [places[sender as usize], receiver]);
    ends.collect()
}

impl Matching {
    /// Matches the k-th send of every connection with its k-th receive; reports what is left over and
    /// what disagrees. Receives from ranks that do not exist are passed over.
    ///
    /// # Cost
    /// Time and memory proportional to the ranks and the halves of messages: where ranks have one
    /// stream each nothing is sorted but what is wrong.
    pub(super) fn new(schedule: &Schedule, found: &mut Collector) -> Self {
        if schedule.has_streams() {
            check_streams(schedule, found);
        }
        let total = schedule.steps_total();
        let mut matching = Self {
            receiver_of: vec![NONE; total],
            branches: BTreeMap::new(),
            sender_of: vec![NONE; total],
            connection_of: vec![NONE; total],
            messages: Vec::new(),
            late: Collector::default(),
            renamed: Collector::default(),
            are_anywhere: false,
            is_whole: true,
        };
        let expected = Expected::new(schedule);
        let mut connections = Connections::new(schedule);
        let mut wrong = Vec::new();
        for from in schedule.all_ranks() {
            let count = connections.open(schedule, expected.from(from));
            matching.pair_up(schedule, from, count, &mut connections, &mut wrong);
            wrong.extend(connections.left().map(|(channel, (rank, number))| {
                matching.is_whole = false;
                let at = at(schedule, (rank, number), false);
                let key = (rank, channel, true, number);
                (key, Violation::UnmatchedRecv { at, from })
            }));
            wrong.sort_by_key(|&(key, _)| key);
            wrong.drain(..).for_each(|(_, wrong)| found.push(wrong));
        }
        matching.are_anywhere = !matching.renamed.is_empty() || has_places(schedule);
        matching
    }

    /// The steps that receive what a step sends; [`NONE`] for one that never receives it.
    pub(super) fn receivers(&self, number: u32) -> &[u32] {
        match self.branches.get(&number) {
            Some(branches) => branches,
            None => std::slice::from_ref(&self.receiver_of[number as usize]),
        }
    }

    /// Gives every message that a rank sends over these connections to the next receive there.
    fn pair_up(
        &mut self,
        schedule: &Schedule,
        from: Rank,
        count: usize,
        connections: &mut Connections<'_>,
        wrong: &mut Vec<(Key, Violation)>,
    ) {
        let before = self.messages.len();
        self.messages.resize(before + count, 0);
        let lanes = schedule.lanes();
        for lane in lanes.of(from) {
            let channel = lanes.channel(lane);
            for (number, step) in lanes.numbers(lane).zip(schedule.steps_of(lane)) {
                for half in step.send_half().into_iter().chain(schedule.branches(step)) {
                    let key = (half.to, channel, false, number);
                    let Some((connection, receiver)) = connections.take(half.to, channel) else {
                        let at = at(schedule, (from, number), true);
                        self.is_whole = false;
                        wrong.push((key, Violation::UnmatchedSend { at, to: half.to }));
                        continue;
                    };
                    if matches!(step.op, Op::Multicast { .. }) {
                        self.branches.entry(number).or_default().push(receiver);
                    } else {
                        self.receiver_of[number as usize] = receiver;
                    }
                    self.sender_of[receiver as usize] = number;
                    self.connection_of[receiver as usize] = (before + connection) as u32;
                    self.messages[before + connection] += 1;
                    let ends = [(from, number), (half.to, receiver)];
                    self.compare(schedule, ends, key, wrong);
                    self.compare_rounds(schedule, ends, key, wrong);
                }
            }
        }
    }

    /// Sender and receiver must name as many chunks, of the same sizes, and the same multicast.
    fn compare(
        &mut self,
        schedule: &Schedule,
        ends: [Numbered; 2],
        key: Key,
        wrong: &mut Vec<(Key, Violation)>,
    ) {
        let [sender, receiver] = ends.map(|end| locate(schedule, end).1);
        let received = receiver.recv_half().expect("a half of this step");
        let at = || at(schedule, ends[0], true);
        let to = ends[1].0;
        let [sent, expected] = [sender, receiver].map(|step| match step.op {
            Op::Multicast { number, .. } | Op::RecvMulticast { number, .. } => Some(number),
            _ => None,
        });
        if sent != expected {
            let mismatch = Violation::MulticastMismatch {
                at: at(),
                to,
                sent,
                received: expected,
            };
            wrong.push((key, mismatch));
        }
        let sent = sender.sent();
        let (ours, theirs) = (schedule.chunks(sent), schedule.chunks(received.chunks));
        if sent == received.chunks || ours == theirs {
            return;
        }
        let mismatch = || Violation::ChunkMismatch {
            at: at(),
            to,
            chunk: ours.iter().copied().find(|chunk| !theirs.contains(chunk)),
        };
        let is_renamed = is_renamed(schedule, ours, theirs);
        match misfit(schedule, ours, theirs) {
            _ if ours.len() != theirs.len() => wrong.push((key, mismatch())),
            None if is_renamed => self.renamed.push(mismatch()),
            None => {}
            Some(_) if is_renamed => wrong.push((key, mismatch())),
            Some((chunk, target)) => {
                let misfit = Violation::WrongSize {
                    at: at(),
                    chunk,
                    bytes: schedule.chunk_bytes(chunk),
                    target,
                    target_bytes: schedule.chunk_bytes(target),
                };
                wrong.push((key, misfit));
            }
        }
    }

    /// Nothing is received in an earlier round than it is sent in. Whether it may be in a later one
    /// turns out when the schedule is carried out: only if messages have to wait in slots.
    fn compare_rounds(
        &mut self,
        schedule: &Schedule,
        ends: [Numbered; 2],
        key: Key,
        wrong: &mut Vec<(Key, Violation)>,
    ) {
        let [sender, receiver] = ends.map(|end| locate(schedule, end).1);
        let mismatch = || Violation::RoundMismatch {
            at: at(schedule, ends[0], true),
            to: ends[1].0,
            receives_in: receiver.round,
        };
        match receiver.round.cmp(&sender.last_round()) {
            Ordering::Less => wrong.push((key, mismatch())),
            Ordering::Equal => {}
            Ordering::Greater => self.late.push(mismatch()),
        }
    }
}

/// What violations at the connections of one sender are sorted by: the receiver, the channel, whether
/// a receive was left over, the number of the step.
type Key = (Rank, u32, bool, u32);

/// One half of a message, sortable by (from, to, channel) and then by program order.
type Half = (Rank, Rank, u32, u32);

/// Every end of a connection must be in one stream.
fn check_streams(schedule: &Schedule, found: &mut Collector) {
    let lanes = schedule.lanes();
    let (mut sends, mut recvs): (Vec<Half>, Vec<Half>) = (Vec::new(), Vec::new());
    for lane in 0..lanes.count() as u32 {
        let (rank, channel) = (lanes.rank(lane), lanes.channel(lane));
        for (number, step) in lanes.numbers(lane).zip(schedule.steps_of(lane)) {
            let halves = step.send_half().into_iter().chain(schedule.branches(step));
            sends.extend(halves.map(|half| (rank, half.to, channel, number)));
            let half = step.recv_half();
            recvs.extend(half.map(|half| (half.from, rank, channel, number)));
        }
    }
    for (mut halves, is_send) in [(sends, true), (recvs, false)] {
        halves.sort_unstable();
        for pair in halves.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            if (before.0, before.1, before.2) != (after.0, after.1, after.2) {
                continue;
            }
            let (rank, peer) = match is_send {
                true => (after.0, after.1),
                false => (after.1, after.0),
            };
            if lanes.at(rank, before.3) != lanes.at(rank, after.3) {
                found.push(Violation::SharedConnection {
                    at: at(schedule, (rank, after.3), is_send),
                    peer,
                    channel: after.2,
                    other: at(schedule, (rank, before.3), is_send).step,
                    sends: is_send,
                });
            }
        }
    }
}

/// A step as violations name it: with the round of what it sends, or of what it receives.
fn at(schedule: &Schedule, (rank, number): Numbered, sends: bool) -> At {
    let (index, step) = locate(schedule, (rank, number));
    At {
        rank,
        step: schedule.position(rank, index),
        round: if sends { step.last_round() } else { step.round },
    }
}

/// Rank-local index and definition of a numbered step.
fn locate(schedule: &Schedule, (rank, number): Numbered) -> (usize, &Step) {
    let index = (number - schedule.first_steps()[rank.index()]) as usize;
    (index, &schedule.steps(rank)[index])
}

/// Whether a chunk may lie anywhere but in its own place by other ways than messages between places of
/// chunks.
fn has_places(schedule: &Schedule) -> bool {
    let mut steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
    let has_more = !schedule.places().is_empty() || !schedule.moved().is_empty();
    has_more || steps.any(|step| matches!(step.op, Op::Local { .. }))
}

/// Whether a pair of two lists has two different chunks. What goes into an added place, or comes out of one,
/// may be any chunk, and so may anything where chunks end in the places of others.
fn is_renamed(schedule: &Schedule, ours: &[ChunkId], theirs: &[ChunkId]) -> bool {
    let chunks = schedule.spec().chunks();
    let mut pairs = ours.iter().zip(theirs);
    schedule.moved().is_empty()
        && pairs.any(|(our, their)| our != their && our.0.max(their.0) < chunks)
}

/// The first chunk that goes into a place of another size.
pub(super) fn misfit(
    schedule: &Schedule,
    sources: &[ChunkId],
    targets: &[ChunkId],
) -> Option<(ChunkId, ChunkId)> {
    let pairs = sources.iter().copied().zip(targets.iter().copied());
    let bytes = |chunk| schedule.chunk_bytes(chunk);
    let mut pairs = pairs.filter(|&(source, target)| source != target);
    pairs.find(|&(source, target)| bytes(source) != bytes(target))
}
