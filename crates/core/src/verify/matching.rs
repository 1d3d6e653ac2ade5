// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which send meets which receive.
//!
//! A *connection* is a sender, a receiver and a channel: its k-th message is what its k-th send sends
//! and its k-th receive takes. A multicast is a message on one connection to each receiver.

use std::collections::BTreeMap;

use super::violation::{At, Collector, Violation};
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Lanes, Op, Schedule, Step};

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

/// One half of a message, sortable by (from, to, channel) and then by program order.
type Half = (u32, u32, u32, u32);

impl Matching {
    /// Matches the k-th send of every connection with its k-th receive; reports what is left over and
    /// what disagrees.
    pub(super) fn new(schedule: &Schedule, found: &mut Collector) -> Self {
        let lanes = schedule.lanes();
        let (mut sends, mut recvs): (Vec<Half>, Vec<Half>) = (Vec::new(), Vec::new());
        for lane in 0..lanes.count() as u32 {
            let (rank, channel) = (lanes.rank(lane), lanes.channel(lane));
            let numbers = lanes.first_step[lane as usize]..lanes.first_step[lane as usize + 1];
            for number in numbers {
                let (_, step) = locate(schedule, rank, number);
                let halves = step.send_half().into_iter();
                let halves = halves.chain(schedule.branches(step));
                sends.extend(halves.map(|half| (rank.0, half.to.0, channel, number)));
                let half = step.recv_half();
                recvs.extend(half.map(|half| (half.from.0, rank.0, channel, number)));
            }
        }
        // In long schedules most of them lie in long runs already, which this sort finds.
        sends.sort();
        recvs.sort();
        let total = schedule.steps_total();
        let mut matching = Self {
            receiver_of: vec![NONE; total],
            branches: BTreeMap::new(),
            sender_of: vec![NONE; total],
            connection_of: vec![NONE; total],
            messages: Vec::new(),
        };
        let ends = [(&sends, true), (&recvs, false)];
        for (halves, is_send) in ends.into_iter().filter(|_| schedule.has_streams()) {
            check_streams(schedule, lanes, halves, is_send, found);
        }
        matching.pair_up(schedule, &sends, &recvs, found);
        matching
    }

    /// The steps that receive what a step sends; [`NONE`] for one that never receives it.
    pub(super) fn receivers(&self, number: u32) -> &[u32] {
        match self.branches.get(&number) {
            Some(branches) => branches,
            None => std::slice::from_ref(&self.receiver_of[number as usize]),
        }
    }

    /// Merges the two sorted lists of halves.
    fn pair_up(
        &mut self,
        schedule: &Schedule,
        sends: &[Half],
        recvs: &[Half],
        found: &mut Collector,
    ) {
        let connection = |half: &Half| (half.0, half.1, half.2);
        let (mut s, mut r) = (0, 0);
        let mut last = None;
        while s < sends.len() || r < recvs.len() {
            match (sends.get(s), recvs.get(r)) {
                (Some(send), Some(recv)) if connection(send) == connection(recv) => {
                    if last.replace(connection(send)) != Some(connection(send)) {
                        self.messages.push(0);
                    }
                    self.join(schedule, send, recv, found);
                    s += 1;
                    r += 1;
                }
                (Some(send), recv)
                    if recv.is_none_or(|recv| connection(send) < connection(recv)) =>
                {
                    let (rank, to) = (Rank(send.0), Rank(send.1));
                    let (index, step) = locate(schedule, rank, send.3);
                    found.push(Violation::UnmatchedSend {
                        at: At {
                            rank,
                            step: schedule.position(rank, index),
                            round: step.last_round(),
                        },
                        to,
                    });
                    s += 1;
                }
                (_, Some(recv)) => {
                    let (from, rank) = (Rank(recv.0), Rank(recv.1));
                    let (index, step) = locate(schedule, rank, recv.3);
                    found.push(Violation::UnmatchedRecv {
                        at: At {
                            rank,
                            step: schedule.position(rank, index),
                            round: step.round,
                        },
                        from,
                    });
                    r += 1;
                }
                (_, None) => unreachable!("the loop ends when both lists are used up"),
            }
        }
    }

    /// Makes two halves one message, and compares what they say.
    fn join(&mut self, schedule: &Schedule, send: &Half, recv: &Half, found: &mut Collector) {
        let (sender, receiver) = (send.3, recv.3);
        let (_, step) = locate(schedule, Rank(send.0), sender);
        if matches!(step.op, Op::Multicast { .. }) {
            self.branches.entry(sender).or_default().push(receiver);
        } else {
            self.receiver_of[sender as usize] = receiver;
        }
        self.sender_of[receiver as usize] = sender;
        self.connection_of[receiver as usize] = self.messages.len() as u32 - 1;
        *self.messages.last_mut().expect("the connection has begun") += 1;
        compare(schedule, send, recv, found);
    }
}

/// Rank-local index and definition of a numbered step of `rank`.
fn locate(schedule: &Schedule, rank: Rank, number: u32) -> (usize, &Step) {
    let index = (number - schedule.first_steps()[rank.index()]) as usize;
    (index, &schedule.steps(rank)[index])
}

/// Every end of a connection must be in one stream.
fn check_streams(
    schedule: &Schedule,
    lanes: Lanes<'_>,
    halves: &[Half],
    sends: bool,
    found: &mut Collector,
) {
    for pair in halves.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if (before.0, before.1, before.2) != (after.0, after.1, after.2) {
            continue;
        }
        let (rank, peer) = match sends {
            true => (Rank(after.0), Rank(after.1)),
            false => (Rank(after.1), Rank(after.0)),
        };
        if lanes.at(rank, before.3) != lanes.at(rank, after.3) {
            let (other, _) = locate(schedule, rank, before.3);
            let (index, step) = locate(schedule, rank, after.3);
            found.push(Violation::SharedConnection {
                at: At {
                    rank,
                    step: schedule.position(rank, index),
                    round: if sends { step.last_round() } else { step.round },
                },
                peer,
                channel: after.2,
                other: schedule.position(rank, other),
                sends,
            });
        }
    }
}

/// Sender and receiver must name the same chunks, or places of the same sizes, the same round and
/// the same multicast.
fn compare(schedule: &Schedule, send: &Half, recv: &Half, found: &mut Collector) {
    let (rank, to) = (Rank(send.0), Rank(send.1));
    let (index, sender) = locate(schedule, rank, send.3);
    let (_, receiver) = locate(schedule, to, recv.3);
    let received = receiver.recv_half().expect("a half of this step");
    let at = At {
        rank,
        step: schedule.position(rank, index),
        round: sender.last_round(),
    };
    let numbers = [sender, receiver].map(|step| match step.op {
        Op::Multicast { number, .. } | Op::RecvMulticast { number, .. } => Some(number),
        _ => None,
    });
    if numbers[0] != numbers[1] {
        let [sent, received] = numbers;
        found.push(Violation::MulticastMismatch {
            at,
            to,
            sent,
            received,
        });
    }
    let sent = sender.sent();
    let (ours, theirs) = (schedule.chunks(sent), schedule.chunks(received.chunks));
    if sent != received.chunks && ours != theirs {
        if let Some(chunk) = mismatch(schedule, ours, theirs) {
            found.push(Violation::ChunkMismatch { at, to, chunk });
        } else if let Some((chunk, target)) = misfit(schedule, ours, theirs) {
            found.push(Violation::WrongSize {
                at,
                chunk,
                bytes: schedule.chunk_bytes(chunk),
                target,
                target_bytes: schedule.chunk_bytes(target),
            });
        }
    }
    if received.round != at.round {
        let receives_in = received.round;
        found.push(Violation::RoundMismatch {
            at,
            to,
            receives_in,
        });
    }
}

/// Whether two lists differ in length or in the name of a chunk, with the first that is sent and not
/// expected. What goes into an added place, or comes out of one, may be any chunk.
fn mismatch(schedule: &Schedule, ours: &[ChunkId], theirs: &[ChunkId]) -> Option<Option<ChunkId>> {
    let chunks = schedule.spec().chunks();
    let is_named = |chunk: &ChunkId| chunk.0 < chunks;
    let mut pairs = ours.iter().zip(theirs);
    let differ = ours.len() != theirs.len()
        || pairs.any(|(our, their)| our != their && is_named(our) && is_named(their));
    differ.then(|| ours.iter().copied().find(|chunk| !theirs.contains(chunk)))
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
