// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which message lies where in which buffer, when messages go through shared buffers.
//!
//! A rank puts a message into its own buffer once, however many ranks read it, and keeps it there
//! until the room is needed. What it receives and will send on goes into its buffer as soon as it has
//! come. All of that follows from the schedule, so every rank knows it beforehand: where to read, and
//! whose word to await before it overwrites something.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::verify::MessageEnds;
use corecast_core::{Arrival, ChunkId, ChunkList, Op, Rank, Schedule};

/// A message, or a piece of one, in its sender's buffer.
#[derive(Debug)]
pub(crate) struct Content {
    /// Where in the payload.
    pub offset: usize,
    pub bytes: usize,
    /// Who reads it, as which of this sender's messages for it, counted from 1.
    pub readers: Vec<(Rank, u64)>,
    /// Contents that lie where this one goes: older ones of the same rank.
    pub replaces: Vec<usize>,
}

/// A piece that a step receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    /// Index of the sender's content.
    pub content: usize,
    /// Which of the sender's messages for this rank.
    pub number: u64,
}

/// What a step does.
#[derive(Clone, Default, Debug)]
pub(crate) struct SharedStep {
    /// Contents of this rank that are announced, and as which of the messages for the receiver.
    pub announces: Vec<(usize, u64)>,
    /// Whether they have to be put first.
    pub puts: bool,
    pub arrives: Vec<Arriving>,
    /// Contents of this rank that arrive here.
    pub keeps: Vec<usize>,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Per rank everything that is ever in its buffer, in order.
    pub contents: Vec<Vec<Content>>,
    /// Per step of all ranks.
    pub steps: Vec<SharedStep>,
    /// Per multicast, by its step, and receiver: what goes to that one.
    pub branches: BTreeMap<(usize, Rank), SharedStep>,
}

/// Most messages in a buffer. The flags that count them are bytes, of which half tells ahead from
/// behind; small messages would be more than that.
const LIVE_MAX: usize = 64;

/// A list of chunks by what is in it.
type Key = Vec<ChunkId>;

/// The buffer of a rank while the plan is made.
#[derive(Default)]
struct Ring {
    next: usize,
    /// Contents that are still there, oldest first.
    live: VecDeque<usize>,
    resident: BTreeMap<Key, Vec<usize>>,
}

impl Shared {
    /// `first` is the index of each rank's first step, `pairs` the sending and the receiving step of
    /// every message. Buffers hold `room` bytes in lines of `line`.
    pub(crate) fn new(
        schedule: &Schedule,
        first: &[usize],
        pairs: &[MessageEnds],
        room: usize,
        line: usize,
    ) -> Self {
        let total = schedule.steps_total();
        let mut plan = Self {
            contents: Vec::new(),
            steps: vec![SharedStep::default(); total],
            branches: BTreeMap::new(),
        };
        for rank in schedule.all_ranks() {
            plan.contents.push(Vec::new());
            plan.lay_out(
                schedule,
                rank,
                first[rank.index()],
                room / line * line,
                line,
            );
        }
        let index = |(rank, step): (Rank, usize)| first[rank.index()] + step;
        for &[send, recv] in pairs {
            let branch = plan.branches.get(&(index(send), recv.0));
            let announced = self::arriving(branch.unwrap_or(&plan.steps[index(send)]));
            plan.steps[index(recv)].arrives = announced;
        }
        plan
    }

    fn lay_out(&mut self, schedule: &Schedule, rank: Rank, first: usize, room: usize, line: usize) {
        let steps = schedule.steps(rank);
        let key = |list: ChunkList| schedule.chunks(list).to_vec();
        // Last step that sends these chunks.
        let mut sent_last: BTreeMap<Key, usize> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let is_multicast = matches!(step.op, Op::Multicast { .. });
            if is_multicast || step.send_half().is_some() {
                sent_last.insert(key(step.sent()), index);
            }
        }
        let mut ring = Ring::default();
        let mut numbers: BTreeMap<Rank, u64> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let send = step.send_half().map(|half| (half.to, key(half.chunks)));
            let branches = schedule.branches(step);
            let branches: Vec<_> = branches.map(|half| (half.to, key(half.chunks))).collect();
            let recv = step.recv_half().map(|half| key(half.chunks));
            let is_passed_on =
                |(recv, send): (&Key, &(Rank, Key))| recv == &send.1 && send_is_later(step);
            let recv_first = recv.as_ref().zip(send.as_ref()).is_some_and(is_passed_on);
            let size = |key: &Key| {
                let sizes = key.iter().map(|&chunk| schedule.chunk_bytes(chunk));
                sizes.sum::<u64>() as usize
            };
            let receive = |plan: &mut Self, ring: &mut Ring| {
                let Some(recv) = &recv else { return };
                // What is held changes, and with it what lies in the buffer.
                ring.resident
                    .retain(|key, _| !key.iter().any(|chunk| recv.contains(chunk)));
                let is_sent = sent_last.get(recv).is_some_and(|&last| last > index) || recv_first;
                let is_kept = step
                    .recv_half()
                    .is_some_and(|half| half.arrival == Arrival::Store);
                // Longer ones would drive out their own beginning.
                let is_short = |key: &Key| size(key) <= piece_max(room, line);
                let fits = is_short(recv) && send.as_ref().is_none_or(|(_, sent)| is_short(sent));
                if is_sent && is_kept && (fits || recv_first) {
                    let kept = plan.allocate(rank, ring, recv, size(recv), room, line);
                    plan.steps[first + index].keeps = kept;
                }
            };
            if recv_first {
                receive(self, &mut ring);
            }
            for (to, sent) in send.iter().chain(&branches) {
                let resident = match recv_first {
                    // Piece by piece, as they come.
                    true => Some(self.steps[first + index].keeps.clone()),
                    false => ring.resident.get(sent).cloned(),
                };
                let puts = resident.is_none();
                let contents = resident.unwrap_or_else(|| {
                    self.allocate(rank, &mut ring, sent, size(sent), room, line)
                });
                let shared_step = match branches.is_empty() {
                    true => &mut self.steps[first + index],
                    false => self.branches.entry((first + index, *to)).or_default(),
                };
                let number = numbers.entry(*to).or_default();
                for &content in &contents {
                    *number += 1;
                    self.contents[rank.index()][content]
                        .readers
                        .push((*to, *number));
                    shared_step.announces.push((content, *number));
                }
                shared_step.puts = puts;
            }
            // What a local step changes no longer lies there.
            if let Op::Local { target, .. } = step.op {
                let changed = schedule.chunks(target);
                ring.resident
                    .retain(|key, _| !key.iter().any(|chunk| changed.contains(chunk)));
            }
            if !recv_first {
                receive(self, &mut ring);
            }
        }
    }

    /// Finds room for some chunks, in pieces of at most half the buffer.
    fn allocate(
        &mut self,
        rank: Rank,
        ring: &mut Ring,
        key: &Key,
        bytes: usize,
        room: usize,
        line: usize,
    ) -> Vec<usize> {
        let most = piece_max(room, line);
        let contents = &mut self.contents[rank.index()];
        let (mut pieces, mut left) = (Vec::new(), bytes);
        loop {
            let bytes = left.min(most);
            left -= bytes;
            let len = bytes.div_ceil(line).max(1) * line;
            if ring.next + len > room {
                ring.next = 0;
            }
            let (start, end) = (ring.next, ring.next + len);
            ring.next = end;
            let is_under = |&old: &usize| {
                let old: &Content = &contents[old];
                old.offset < end && start < old.offset + old.bytes.max(1)
            };
            let mut replaces: Vec<usize> = ring.live.iter().copied().filter(is_under).collect();
            if replaces.is_empty() && ring.live.len() >= LIVE_MAX {
                replaces.extend(ring.live.front());
            }
            ring.live.retain(|old| !replaces.contains(old));
            ring.resident
                .retain(|_, of_key| !of_key.iter().any(|old| replaces.contains(old)));
            ring.live.push_back(contents.len());
            pieces.push(contents.len());
            contents.push(Content {
                offset: start,
                bytes,
                readers: Vec::new(),
                replaces,
            });
            if left == 0 {
                break;
            }
        }
        // Longer messages have replaced their own beginning.
        if pieces.iter().all(|piece| ring.live.contains(piece)) {
            ring.resident.insert(key.clone(), pieces.clone());
        }
        pieces
    }
}

/// Longest piece: two fit into a buffer.
fn piece_max(room: usize, line: usize) -> usize {
    (room / 2 / line * line).max(line)
}

/// Whether a step sends what it has received before.
fn send_is_later(step: &corecast_core::Step) -> bool {
    matches!(
        step.op,
        Op::Forward {
            arrival: Arrival::Store,
            ..
        }
    )
}

fn arriving(sender: &SharedStep) -> Vec<Arriving> {
    let announced = sender.announces.iter();
    announced
        .map(|&(content, number)| Arriving { content, number })
        .collect()
}
