// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making and changing schedules.
//!
//! ```
//! use corecast_core::{ChunkId, Collective, Rank, Request, ScheduleBuilder, Spec, Split};
//! let spec = Spec::new(&Request::new(Collective::Reduce, 3, 8), Split::Even(1));
//! let mut builder = ScheduleBuilder::new("two partial sums", spec);
//! let other = builder.add_place(8);
//! builder.reduce(0, Rank(1), Rank(0), &[ChunkId(0)]);
//! builder.transfer(1, (Rank(2), &[ChunkId(0)]), (Rank(0), &[other]));
//! builder.combine(1, Rank(0), &[other], &[ChunkId(0)]);
//! let schedule = builder.finish();
//! assert!(corecast_core::verify(&schedule, &corecast_core::FullCrossbar).is_correct());
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Arrival, ChunkList, Launch, Op, Place, Schedule, Step, StepRef, Streams, Terms, Transport,
};
use crate::ids::{ChunkId, Rank, RoundIdx};
use crate::route_tree::RouteTree;
use crate::spec::Spec;

/// How a rank sends and receives in one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// In one [`Op::Exchange`].
    Together,
    /// One after the other.
    SendFirst,
    /// The other way round.
    RecvFirst,
}

/// Collects the steps of all ranks and makes a [`Schedule`] of them.
///
/// The builder checks nothing but index ranges; correctness is [`crate::verify()`]'s part.
#[derive(Clone, Debug)]
pub struct ScheduleBuilder {
    terms: Terms,
    /// Steps of the first stream of every rank.
    steps: Vec<Vec<Step>>,
    /// The other streams.
    more: BTreeMap<(Rank, u32), Stream>,
    /// Channels of first streams, where they are not 0.
    channels: BTreeMap<Rank, u32>,
    /// Which step waits for which.
    waits: Vec<(StepRef, StepRef)>,
    chunk_table: Vec<ChunkId>,
}

/// A stream beside the first of a rank.
#[derive(Clone, Default, Debug)]
struct Stream {
    channel: u32,
    steps: Vec<Step>,
}

impl ScheduleBuilder {
    /// An empty schedule that promises `spec`.
    #[must_use]
    pub fn new(algorithm: &str, spec: Spec) -> Self {
        Self {
            steps: vec![Vec::new(); spec.ranks() as usize],
            terms: Terms {
                algorithm: algorithm.to_owned(),
                spec,
                launch: Launch::Independent,
                status_bits: None,
                piece_bytes: None,
                has_flow_control: true,
                transport: Transport::Messages,
                slots: 0,
                multicasts: Vec::new(),
                places: Vec::new(),
                moved: BTreeMap::new(),
            },
            more: BTreeMap::new(),
            channels: BTreeMap::new(),
            waits: Vec::new(),
            chunk_table: Vec::new(),
        }
    }

    /// A builder for the same purpose with the same table of chunks, but no steps and no slots.
    pub(crate) fn without_steps(schedule: &Schedule) -> Self {
        let mut builder = Self::new(schedule.algorithm(), schedule.spec().clone());
        builder.terms.clone_from(&schedule.terms);
        builder.terms.slots = 0;
        builder.chunk_table.clone_from(&schedule.chunk_table);
        builder
    }

    /// A finished schedule taken apart.
    pub(super) fn from_schedule(schedule: Schedule) -> Self {
        let mut steps = Vec::new();
        let (mut more, mut channels, mut waits) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for rank in schedule.all_ranks() {
            let all = schedule.steps(rank);
            for (stream, (range, channel)) in (0..).zip(schedule.streams(rank)) {
                for index in range.clone().filter(|_| schedule.has_streams()) {
                    let of = |index| schedule.step_ref(rank, index);
                    waits.extend(schedule.waits(rank, index).map(|on| (of(index), of(on))));
                }
                let of_stream = all[range].to_vec();
                if stream == 0 {
                    steps.push(of_stream);
                    if channel != 0 {
                        channels.insert(rank, channel);
                    }
                } else {
                    let steps = of_stream;
                    more.insert((rank, stream), Stream { channel, steps });
                }
            }
        }
        Self {
            terms: schedule.terms,
            steps,
            more,
            channels,
            waits,
            chunk_table: schedule.chunk_table,
        }
    }

    /// What the schedule promises.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.terms.spec
    }

    /// Gives the algorithm another name: its steps were changed.
    pub fn set_algorithm(&mut self, name: &str) {
        name.clone_into(&mut self.terms.algorithm);
    }

    /// Sets when the first step may begin.
    pub fn set_launch(&mut self, launch: Launch) {
        self.terms.launch = launch;
    }

    /// Declares that the order was read from a status register of `bits` bits per rank.
    pub fn set_status_bits(&mut self, bits: u32) {
        self.terms.status_bits = Some(bits);
    }

    /// Sets the size of the pieces that `Forward` passes on.
    pub fn set_piece_bytes(&mut self, bytes: Option<u64>) {
        self.terms.piece_bytes = bytes;
    }

    /// Sets how messages travel.
    pub fn set_transport(&mut self, transport: Transport) {
        self.terms.transport = transport;
    }

    /// Sets whether a sender waits until its receiver is ready ([`Schedule::has_flow_control`]).
    pub fn set_flow_control(&mut self, is_on: bool) {
        self.terms.has_flow_control = is_on;
    }

    /// Declares that a connection holds this many messages before its receiver takes one: what the
    /// schedule counts on. The verifier says how many it needs.
    pub fn set_slots(&mut self, slots: u32) {
        self.terms.slots = slots;
    }

    /// Adds a place of this size to every rank, and returns its name.
    ///
    /// # Panics
    /// If chunks and places would exceed 32-bit ids.
    pub fn add_place(&mut self, bytes: u64) -> ChunkId {
        let result_of = None;
        self.push_place(Place { bytes, result_of })
    }

    /// Adds a place where `chunk` must lie at the end, instead of in its own place.
    ///
    /// # Panics
    /// If there is no such chunk, or if chunks and places would exceed 32-bit ids.
    pub fn add_result(&mut self, chunk: ChunkId) -> ChunkId {
        assert!(
            chunk.0 < self.terms.spec.chunks(),
            "chunk {chunk} does not exist"
        );
        let (bytes, result_of) = (self.terms.spec.chunk_bytes(chunk), Some(chunk));
        self.push_place(Place { bytes, result_of })
    }

    /// Lets `chunk` lie at the end in the place of another one, which began there: an exchange in place
    /// leaves what a rank gets where what it gave was.
    ///
    /// # Panics
    /// If there are no such chunks, or they differ in size.
    pub fn set_result(&mut self, chunk: ChunkId, place: ChunkId) {
        let spec = &self.terms.spec;
        for chunk in [chunk, place] {
            assert!(chunk.0 < spec.chunks(), "chunk {chunk} does not exist");
        }
        let bytes = [chunk, place].map(|chunk| spec.chunk_bytes(chunk));
        assert!(bytes[0] == bytes[1], "{chunk} has not the size of {place}");
        match chunk == place {
            true => self.terms.moved.remove(&chunk),
            false => self.terms.moved.insert(chunk, place),
        };
    }

    fn push_place(&mut self, place: Place) -> ChunkId {
        let index = u64::from(self.terms.spec.chunks()) + self.terms.places.len() as u64;
        self.terms.places.push(place);
        ChunkId(u32::try_from(index).expect("places fit in 32 bits"))
    }

    /// Puts `chunks` into the table and returns their list; a sender and a receiver may share it.
    ///
    /// # Panics
    /// If the table would exceed 32-bit indices.
    pub fn list(&mut self, chunks: &[ChunkId]) -> ChunkList {
        let start = u32::try_from(self.chunk_table.len()).expect("chunk table fits in 32 bits");
        let len = u32::try_from(chunks.len()).expect("chunk list fits in 32 bits");
        assert!(
            start.checked_add(len).is_some(),
            "chunk table fits in 32 bits"
        );
        self.chunk_table.extend_from_slice(chunks);
        ChunkList { start, len }
    }

    /// The chunks of a list.
    #[must_use]
    pub fn chunks(&self, list: ChunkList) -> &[ChunkId] {
        &self.chunk_table[list.start as usize..(list.start + list.len) as usize]
    }

    /// Appends a step to the program of `rank`.
    pub fn push(&mut self, round: u32, rank: Rank, op: Op) {
        self.steps[rank.index()].push(Step {
            round: RoundIdx(round),
            op,
        });
    }

    /// Appends a send to `from` and the matching receive to `to`.
    pub fn message(&mut self, round: u32, from: Rank, to: Rank, chunks: &[ChunkId]) {
        let chunks = self.list(chunks);
        self.deliver(round, from, to, chunks, Arrival::Store);
    }

    /// Appends a send to `from` and the matching combining receive to `to`.
    pub fn reduce(&mut self, round: u32, from: Rank, to: Rank, chunks: &[ChunkId]) {
        let chunks = self.list(chunks);
        self.deliver(round, from, to, chunks, Arrival::Reduce);
    }

    /// Appends a send of some places of one rank and the matching receive into places of another.
    pub fn transfer(&mut self, round: u32, from: (Rank, &[ChunkId]), to: (Rank, &[ChunkId])) {
        let chunks = self.list(from.1);
        self.push(round, from.0, Op::Send { to: to.0, chunks });
        let chunks = self.list(to.1);
        let (from, arrival) = (from.0, Arrival::Store);
        self.push(
            round,
            to.0,
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        );
    }

    /// Appends a local copy: every place of `target` becomes the place of `source` beside it.
    pub fn copy(&mut self, round: u32, rank: Rank, source: &[ChunkId], target: &[ChunkId]) {
        self.push_local(round, rank, (source, target), Arrival::Store);
    }

    /// Appends a local reduction: `target = target op source`, place by place.
    pub fn combine(&mut self, round: u32, rank: Rank, source: &[ChunkId], target: &[ChunkId]) {
        self.push_local(round, rank, (source, target), Arrival::Reduce);
    }

    fn push_local(
        &mut self,
        round: u32,
        rank: Rank,
        (source, target): (&[ChunkId], &[ChunkId]),
        arrival: Arrival,
    ) {
        let (source, target) = (self.list(source), self.list(target));
        self.push(
            round,
            rank,
            Op::Local {
                source,
                target,
                arrival,
            },
        );
    }

    /// Gives `rank` one more stream, with this channel, and returns its number. The first stream,
    /// number 0, is that of every method that names none.
    pub fn add_stream(&mut self, rank: Rank, channel: u32) -> u32 {
        let last = self.more.range((rank, 0)..=(rank, u32::MAX)).next_back();
        let stream = last.map_or(0, |((_, stream), _)| *stream) + 1;
        let steps = Vec::new();
        self.more.insert((rank, stream), Stream { channel, steps });
        stream
    }

    /// Sets the channel of the first stream of `rank`.
    pub fn set_first_channel(&mut self, rank: Rank, channel: u32) {
        self.channels.insert(rank, channel);
    }

    /// Appends a step to a stream of `rank`, and returns where it is.
    ///
    /// # Panics
    /// If the rank has no such stream.
    pub fn push_on(&mut self, round: u32, (rank, stream): (Rank, u32), op: Op) -> StepRef {
        let steps = self.stream_mut(rank, stream);
        let step = u32::try_from(steps.len()).expect("steps fit in 32 bits");
        let round = RoundIdx(round);
        steps.push(Step { round, op });
        StepRef { rank, stream, step }
    }

    /// Appends a send to one stream and the matching receive to another, and returns where they are.
    pub fn deliver_on(
        &mut self,
        round: u32,
        from: (Rank, u32),
        to: (Rank, u32),
        chunks: &[ChunkId],
    ) -> (StepRef, StepRef) {
        let chunks = self.list(chunks);
        let sent = self.push_on(round, from, Op::Send { to: to.0, chunks });
        let (from, arrival) = (from.0, Arrival::Store);
        let recv = Op::Recv {
            from,
            chunks,
            arrival,
        };
        (sent, self.push_on(round, to, recv))
    }

    /// Lets a step begin only when another step of the same rank is done.
    ///
    /// # Panics
    /// If the two are of different ranks.
    pub fn wait(&mut self, step: StepRef, on: StepRef) {
        assert_eq!(step.rank, on.rank, "a rank waits for its own streams");
        self.waits.push((step, on));
    }

    /// Which step waits for which, to be changed at will.
    pub fn waits_mut(&mut self) -> &mut Vec<(StepRef, StepRef)> {
        &mut self.waits
    }

    /// Appends a send of a list to `from` and the matching receive to `to`.
    pub fn deliver(
        &mut self,
        round: u32,
        from: Rank,
        to: Rank,
        chunks: ChunkList,
        arrival: Arrival,
    ) {
        self.push(round, from, Op::Send { to, chunks });
        self.push(
            round,
            to,
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        );
    }

    /// Adds the routes of a multicast and returns its number, for steps that are to be appended.
    ///
    /// # Panics
    /// If there are more than 32-bit numbers.
    pub fn add_multicast(&mut self, tree: Arc<RouteTree>) -> u32 {
        let number = u32::try_from(self.terms.multicasts.len()).expect("multicasts fit in 32 bits");
        self.terms.multicasts.push(tree);
        number
    }

    /// Appends one message from the tree's root to every other rank on it.
    ///
    /// # Panics
    /// If the tree is not one among all ranks.
    pub fn multicast(&mut self, round: u32, tree: Arc<RouteTree>, chunks: &[ChunkId]) {
        assert_eq!(
            tree.ranks(),
            self.terms.spec.ranks(),
            "a tree among all ranks"
        );
        if tree.ranks() == 1 {
            return;
        }
        let chunks = self.list(chunks);
        let number = self.add_multicast(Arc::clone(&tree));
        let from = tree.root();
        self.push(round, from, Op::Multicast { number, chunks });
        for (_, rank) in tree.edges() {
            self.push(
                round,
                rank,
                Op::RecvMulticast {
                    from,
                    number,
                    chunks,
                },
            );
        }
    }

    /// Appends one round of messages `(from, to, chunks)` that travel at the same time: a rank
    /// that sends and receives does both in one [`Op::Exchange`], so nothing can deadlock.
    ///
    /// # Panics
    /// If a rank would send or receive twice.
    pub fn exchange_round(
        &mut self,
        round: u32,
        arrival: Arrival,
        messages: impl IntoIterator<Item = (Rank, Rank, ChunkList)>,
    ) {
        self.ordered_round(round, arrival, messages, |_| Order::Together);
    }

    /// As [`ScheduleBuilder::exchange_round`], where a rank that sends and receives does so in the
    /// order that `order` says.
    ///
    /// # Panics
    /// If a rank would send or receive twice.
    pub fn ordered_round(
        &mut self,
        round: u32,
        arrival: Arrival,
        messages: impl IntoIterator<Item = (Rank, Rank, ChunkList)>,
        order: impl Fn(Rank) -> Order,
    ) {
        let ranks = self.steps.len();
        let mut outgoing: Vec<Option<(Rank, ChunkList)>> = vec![None; ranks];
        let mut incoming = outgoing.clone();
        for (sender, receiver, chunks) in messages {
            let sends = outgoing[sender.index()].replace((receiver, chunks));
            assert!(
                sends.is_none(),
                "rank {sender} sends twice in round {round}"
            );
            let receives = incoming[receiver.index()].replace((sender, chunks));
            assert!(
                receives.is_none(),
                "rank {receiver} receives twice in round {round}"
            );
        }
        for (index, halves) in outgoing.into_iter().zip(incoming).enumerate() {
            let rank = Rank(index as u32);
            let sent = halves.0.map(|(to, chunks)| Op::Send { to, chunks });
            let received = halves.1.map(|(from, chunks)| Op::Recv {
                from,
                chunks,
                arrival,
            });
            match (halves, order(rank)) {
                ((Some((to, send)), Some((from, recv))), Order::Together) => {
                    let op = Op::Exchange {
                        to,
                        send,
                        from,
                        recv,
                        arrival,
                    };
                    self.push(round, rank, op);
                }
                (_, Order::RecvFirst) => {
                    let ops = received.into_iter().chain(sent);
                    ops.for_each(|op| self.push(round, rank, op));
                }
                (_, Order::Together | Order::SendFirst) => {
                    let ops = sent.into_iter().chain(received);
                    ops.for_each(|op| self.push(round, rank, op));
                }
            }
        }
    }

    /// The steps of the first stream of `rank`, to be changed at will.
    pub fn steps_mut(&mut self, rank: Rank) -> &mut Vec<Step> {
        &mut self.steps[rank.index()]
    }

    /// The steps of a stream of `rank`, to be changed at will.
    ///
    /// # Panics
    /// If the rank has no such stream.
    pub fn stream_mut(&mut self, rank: Rank, stream: u32) -> &mut Vec<Step> {
        if stream == 0 {
            return self.steps_mut(rank);
        }
        let found = self.more.get_mut(&(rank, stream));
        let found = found.unwrap_or_else(|| panic!("rank {rank} has no stream {stream}"));
        &mut found.steps
    }

    /// The finished schedule.
    ///
    /// # Panics
    /// If there are more steps than 32-bit indices, or a wait names a step that does not exist.
    #[must_use]
    pub fn finish(mut self) -> Schedule {
        let has_streams =
            !(self.more.is_empty() && self.channels.is_empty() && self.waits.is_empty());
        let mut first_step = Vec::with_capacity(self.steps.len() + 1);
        let mut steps = Vec::with_capacity(self.steps.iter().map(Vec::len).sum());
        let mut streams = Streams {
            first_stream: Vec::new(),
            first_step: Vec::new(),
            channels: Vec::new(),
            waits: Vec::new(),
            waiters: Vec::new(),
        };
        let number = |steps: &Vec<Step>| u32::try_from(steps.len()).expect("steps fit in 32 bits");
        for (index, of_rank) in self.steps.into_iter().enumerate() {
            let rank = Rank(index as u32);
            first_step.push(number(&steps));
            if has_streams {
                let channel = self.channels.get(&rank).copied().unwrap_or(0);
                streams.begin_rank();
                streams.begin(number(&steps), channel);
            }
            steps.extend(of_rank);
            while let Some(entry) = self.more.first_entry()
                && entry.key().0 == rank
            {
                let stream = entry.remove();
                streams.begin(number(&steps), stream.channel);
                steps.extend(stream.steps);
            }
        }
        first_step.push(number(&steps));
        if has_streams {
            streams.begin_rank();
            streams.first_step.push(number(&steps));
            streams.set_waits(&self.waits);
        }
        let rounds = steps.iter().map(|step| step.last_round().0 + 1);
        let combines = |step: &Step| match step.op {
            Op::Forward { arrival, .. } => arrival != Arrival::Store,
            _ => false,
        };
        Schedule {
            is_plain: !has_streams && self.terms.slots == 0 && !steps.iter().any(combines),
            rounds: rounds.max().unwrap_or(0),
            terms: self.terms,
            steps,
            first_step,
            streams: has_streams.then(|| Box::new(streams)),
            chunk_table: self.chunk_table,
        }
    }
}
