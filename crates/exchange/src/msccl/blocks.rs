// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams as thread blocks: at most one peer each way, steps in order, one wait per step.
//!
//! A stream that has one peer each way is a thread block as it is. Any other is spread over several,
//! one per connection; a step then waits for the one before it in the stream. A forward stays one step
//! where its two connections have no others beside them.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{Arrival, ChunkList, Op, Rank, Schedule, Step};

use super::names::{Entry, Names};
use super::waits::Waits;

/// A step of a thread block before it is numbered.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: &'static str,
    pub source: Entry,
    pub target: Entry,
    pub count: u32,
    pub waits: Waits,
}

/// A thread block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub send: Option<Rank>,
    pub recv: Option<Rank>,
    pub channel: u32,
    pub nodes: Vec<Node>,
}

/// One end of a connection within a stream.
type End = (bool, Rank);

/// Neighbouring entries at both ends of a piece of a message: what is sent, and where it goes.
pub(super) type Piece = (Entry, Entry, u32);

/// What the writer knows of messages.
pub(super) trait Messages {
    /// The pieces of what a step sends, and of what it receives: source at the sender, target here.
    fn pieces(&self, rank: Rank, index: usize, is_send: bool) -> &[Piece];
}

/// The thread blocks of one rank.
pub(super) struct Blocks<'a> {
    schedule: &'a Schedule,
    names: &'a Names,
    messages: &'a dyn Messages,
    rank: Rank,
    pub blocks: Vec<Block>,
    /// The last nodes of every step of the rank.
    ends: Vec<Vec<(usize, usize)>>,
}

impl<'a> Blocks<'a> {
    /// Of a rank, or what of it cannot be said.
    pub(super) fn new(
        schedule: &'a Schedule,
        names: &'a Names,
        messages: &'a dyn Messages,
        rank: Rank,
    ) -> Result<Self, String> {
        let mut of_rank = Self {
            schedule,
            names,
            messages,
            rank,
            blocks: Vec::new(),
            ends: vec![Vec::new(); schedule.steps(rank).len()],
        };
        for &[source, target] in &names.own[rank.index()] {
            if of_rank.blocks.is_empty() {
                of_rank.add(None, None, 0);
            }
            of_rank.push(0, "cpy", (source, target, 1));
        }
        let mut firsts = vec![Vec::new(); schedule.steps(rank).len()];
        for (range, channel) in schedule.streams(rank) {
            of_rank.stream(range, channel, &mut firsts)?;
        }
        for (index, firsts) in firsts.into_iter().enumerate() {
            for on in schedule.waits(rank, index) {
                for &(block, node) in &firsts {
                    for end in of_rank.ends[on].clone() {
                        of_rank.wait((block, node), end);
                    }
                }
            }
        }
        Ok(of_rank)
    }

    fn add(&mut self, send: Option<Rank>, recv: Option<Rank>, channel: u32) -> usize {
        self.blocks.push(Block {
            send,
            recv,
            channel,
            nodes: Vec::new(),
        });
        self.blocks.len() - 1
    }

    fn push(&mut self, block: usize, kind: &'static str, (source, target, count): Piece) -> usize {
        let nodes = &mut self.blocks[block].nodes;
        nodes.push(Node {
            kind,
            source,
            target,
            count,
            waits: Waits::default(),
        });
        nodes.len() - 1
    }

    fn wait(&mut self, step: (usize, usize), on: (usize, usize)) {
        if step.0 != on.0 {
            self.blocks[step.0].nodes[step.1].waits.add(on);
        }
    }

    fn stream(
        &mut self,
        range: std::ops::Range<usize>,
        channel: u32,
        firsts: &mut [Vec<(usize, usize)>],
    ) -> Result<(), String> {
        let groups = Groups::new(&self.schedule.steps(self.rank)[range.clone()]);
        let mut of_group: BTreeMap<usize, usize> = BTreeMap::new();
        let mut last_block = None;
        let mut before: Vec<(usize, usize)> = Vec::new();
        for index in range {
            let op = self.schedule.steps(self.rank)[index].op;
            let mut block_of = |this: &mut Self, end: End| {
                let group = groups.of(end);
                *of_group.entry(group).or_insert_with(|| {
                    let (send, recv) = groups.peers(group);
                    this.add(send, recv, channel)
                })
            };
            let mut done: Vec<(usize, usize)> = Vec::new();
            match op {
                Op::Local {
                    source,
                    target,
                    arrival,
                } => {
                    let block = match last_block {
                        Some(block) => block,
                        None => match groups.first() {
                            Some(end) => block_of(self, end),
                            None => self.add(None, None, channel),
                        },
                    };
                    for (kind, piece) in self.local(source, target, arrival) {
                        done.push((block, self.push(block, kind, piece)));
                    }
                }
                Op::Multicast { .. } | Op::RecvMulticast { .. } => {
                    return Err("a multicast".to_owned());
                }
                Op::Forward {
                    from, to, arrival, ..
                } if groups.keeps(from, to) => {
                    let block = block_of(self, (true, to));
                    let kind = match arrival {
                        Arrival::Store => "rcs",
                        Arrival::Reduce => "rrcs",
                        Arrival::PassOn => "rrs",
                    };
                    for &(_, here, count) in self.messages.pieces(self.rank, index, false) {
                        done.push((block, self.push(block, kind, (here, here, count))));
                    }
                }
                Op::Forward {
                    from, to, arrival, ..
                } => {
                    let block = block_of(self, (false, from));
                    let kind = received(arrival)
                        .ok_or("reduce unkept between more than two peers of a stream")?;
                    self.receive(block, index, kind, &mut done);
                    let block = block_of(self, (true, to));
                    let received = done.clone();
                    let first = self.blocks[block].nodes.len();
                    self.send(block, index, &mut done);
                    for on in received {
                        self.wait((block, first), on);
                    }
                }
                Op::Send { to, .. } => {
                    let block = block_of(self, (true, to));
                    self.send(block, index, &mut done);
                }
                Op::Recv { from, arrival, .. } => {
                    let block = block_of(self, (false, from));
                    let kind = received(arrival).ok_or("a receive that keeps nothing")?;
                    self.receive(block, index, kind, &mut done);
                }
                Op::Exchange {
                    to, from, arrival, ..
                } => {
                    let kind = received(arrival).ok_or("a receive that keeps nothing")?;
                    let (sends, receives) =
                        (block_of(self, (true, to)), block_of(self, (false, from)));
                    if sends == receives {
                        self.exchange(sends, index, kind, &mut done);
                    } else {
                        self.send(sends, index, &mut done);
                        let first = self.blocks[receives].nodes.len();
                        let sent = done.last().copied();
                        self.receive(receives, index, kind, &mut done);
                        // What is sent are the values from before.
                        if let Some(sent) = sent.filter(|_| self.overlaps(index)) {
                            self.wait((receives, first), sent);
                        }
                    }
                }
            }
            let mut first: BTreeMap<usize, usize> = BTreeMap::new();
            let mut last: BTreeMap<usize, usize> = BTreeMap::new();
            for &(block, node) in &done {
                first.entry(block).or_insert(node);
                last.insert(block, node);
            }
            firsts[index] = first.into_iter().collect();
            for step in firsts[index].clone() {
                for &on in &before {
                    self.wait(step, on);
                }
            }
            last_block = done.last().map(|&(block, _)| block).or(last_block);
            before = last.into_iter().collect();
            self.ends[index].clone_from(&before);
        }
        Ok(())
    }

    fn send(&mut self, block: usize, index: usize, done: &mut Vec<(usize, usize)>) {
        for &piece in self.messages.pieces(self.rank, index, true) {
            done.push((block, self.push(block, "s", piece)));
        }
    }

    /// Whether a step writes a place that it reads.
    fn overlaps(&self, index: usize) -> bool {
        let step = self.schedule.steps(self.rank)[index];
        let [read, written] = [step.read(), step.written()].map(|list| self.schedule.chunks(list));
        let read: BTreeSet<_> = read.iter().collect();
        written.iter().any(|place| read.contains(place))
    }

    /// Both halves of an exchange in one thread block: piece by piece, so that one slot is enough.
    fn exchange(
        &mut self,
        block: usize,
        index: usize,
        kind: &'static str,
        done: &mut Vec<(usize, usize)>,
    ) {
        let messages = self.messages;
        let [sent, received] =
            [true, false].map(|is_send| messages.pieces(self.rank, index, is_send));
        for number in 0..sent.len().max(received.len()) {
            if let Some(&piece) = sent.get(number) {
                done.push((block, self.push(block, "s", piece)));
            }
            if let Some(&(_, here, count)) = received.get(number) {
                done.push((block, self.push(block, kind, (here, here, count))));
            }
        }
    }

    fn receive(
        &mut self,
        block: usize,
        index: usize,
        kind: &'static str,
        done: &mut Vec<(usize, usize)>,
    ) {
        for &(_, here, count) in self.messages.pieces(self.rank, index, false) {
            done.push((block, self.push(block, kind, (here, here, count))));
        }
    }

    /// A local step as runs of neighbours; one without places only waits.
    fn local(
        &self,
        source: ChunkList,
        target: ChunkList,
        arrival: Arrival,
    ) -> Vec<(&'static str, Piece)> {
        let lists = [source, target].map(|list| {
            let places = self.schedule.chunks(list).iter();
            let entries = places.map(|&place| self.names.entry(self.rank, place));
            entries.collect::<Vec<_>>()
        });
        let kind = if arrival == Arrival::Store {
            "cpy"
        } else {
            "re"
        };
        let pieces = runs(&lists[0], &lists[1], &BTreeSet::new());
        if pieces.is_empty() {
            let nowhere = (crate::places::Buffer::Input, 0);
            return vec![("nop", (nowhere, nowhere, 0))];
        }
        pieces.into_iter().map(|piece| (kind, piece)).collect()
    }
}

/// How a plain receive treats what arrives.
fn received(arrival: Arrival) -> Option<&'static str> {
    match arrival {
        Arrival::Store => Some("r"),
        Arrival::Reduce => Some("rrc"),
        Arrival::PassOn => None,
    }
}

/// Neighbours at both ends become one piece; none goes beyond a place in `cuts`.
pub(super) fn runs(ours: &[Entry], theirs: &[Entry], cuts: &BTreeSet<usize>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, (&our, &their)) in ours.iter().zip(theirs).enumerate() {
        let follows =
            |first: Entry, count: u32, next: Entry| first.0 == next.0 && first.1 + count == next.1;
        match pieces.last_mut() {
            Some((from, to, count))
                if !cuts.contains(&at)
                    && follows(*from, *count, our)
                    && follows(*to, *count, their) =>
            {
                *count += 1;
            }
            _ => pieces.push((our, their, 1)),
        }
    }
    pieces
}

/// Which connections of a stream share a thread block.
struct Groups {
    /// Every end with its group.
    of: BTreeMap<End, usize>,
    /// Whom each group sends to, and whom it receives from.
    peers: Vec<(Option<Rank>, Option<Rank>)>,
    first: Option<End>,
}

impl Groups {
    fn new(steps: &[Step]) -> Self {
        let mut ends: Vec<End> = Vec::new();
        let mut seen: BTreeSet<End> = BTreeSet::new();
        // Who forwards from whom to whom.
        let mut partners: BTreeMap<End, BTreeSet<End>> = BTreeMap::new();
        for step in steps {
            let sent = step.send_half().map(|half| (true, half.to));
            let received = step.recv_half().map(|half| (false, half.from));
            let new = received.into_iter().chain(sent);
            ends.extend(new.filter(|&end| seen.insert(end)));
            if let Op::Forward { from, to, .. } = step.op {
                let (from, to) = ((false, from), (true, to));
                partners.entry(from).or_default().insert(to);
                partners.entry(to).or_default().insert(from);
            }
        }
        let count = |is_send| ends.iter().filter(|end| end.0 == is_send).count();
        let is_one = count(true) <= 1 && count(false) <= 1;
        let only = |end: End| {
            let all = partners.get(&end)?;
            all.first().copied().filter(|_| all.len() == 1)
        };
        let mut groups = Self {
            of: BTreeMap::new(),
            peers: Vec::new(),
            first: ends.first().copied(),
        };
        for &end in &ends {
            let other = only(end).filter(|&other| only(other) == Some(end));
            let other = if is_one { groups.first } else { other };
            let known = other.and_then(|other| groups.of.get(&other)).copied();
            let group = known.unwrap_or_else(|| {
                groups.peers.push((None, None));
                groups.peers.len() - 1
            });
            groups.of.insert(end, group);
            let peers = &mut groups.peers[group];
            *(if end.0 { &mut peers.0 } else { &mut peers.1 }) = Some(end.1);
        }
        groups
    }

    /// The group of an end of one of the steps.
    fn of(&self, end: End) -> usize {
        self.of[&end]
    }

    fn first(&self) -> Option<End> {
        self.first
    }

    /// Whether a forward from and to these is one step.
    fn keeps(&self, from: Rank, to: Rank) -> bool {
        self.of((false, from)) == self.of((true, to))
    }

    /// The peers of a group: whom it sends to, whom it receives from.
    fn peers(&self, group: usize) -> (Option<Rank>, Option<Rank>) {
        self.peers[group]
    }
}
