// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs out of schedules.
//!
//! A schedule names chunks; a [`Layout`] says where the blocks that they are cut from lie in the
//! caller's buffers. Walking the steps of one rank with both, [`program`] knows at every moment
//! where the newest value of a chunk is, so that data is received where it is wanted, sent from where
//! it lies, and copied only where neither is possible.
//!
//! Operands keep the order of ranks: what comes from a lower rank is the left one. So an algorithm
//! that combines neighbours (recursive doubling, a binomial tree to rank 0) serves operators that do
//! not commute, and two ranks that swap contributions compute the same bits.
#![forbid(unsafe_code)]

use corecast_core::{Arrival, ChunkId, ChunkList, Collective, Op, Rank, Schedule, Spec};

use super::program::{Builder, Program, Region, Span, merged};

/// Where the blocks of a buffer lie.
#[derive(Clone, Copy, Debug)]
pub enum Blocks<'a> {
    /// One after the other, each as long as the specification says.
    Even,
    /// Each at its own offset with its own length, in bytes.
    Table(&'a [(usize, usize)]),
}

impl<'a> Blocks<'a> {
    /// Where each is, if they are not of one size.
    #[must_use]
    pub fn table(self) -> Option<&'a [(usize, usize)]> {
        match self {
            Self::Even => None,
            Self::Table(table) => Some(table),
        }
    }
}

/// Where one rank's blocks lie.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// In the buffer that it gives.
    pub send: Blocks<'a>,
    /// In the buffer that it receives.
    pub recv: Blocks<'a>,
    /// Whether its own contribution lies in the receive buffer already (`MPI_IN_PLACE`).
    pub in_place: bool,
}

impl<'a> Layout<'a> {
    /// Blocks of one size, one after the other.
    pub const EVEN: Self = Self {
        send: Blocks::Even,
        recv: Blocks::Even,
        in_place: false,
    };

    /// Of a call whose blocks have lengths of their own: both sides as the caller cuts them, which are
    /// [`Blocks::Even`] where it has one block or none. Where the root alone knows all blocks, the others
    /// go by `own` ([`own_block`]).
    #[must_use]
    pub fn irregular(
        collective: Collective,
        in_place: bool,
        (send, recv): (Blocks<'a>, Blocks<'a>),
        own: &'a [(usize, usize)],
    ) -> Self {
        use Collective as C;
        Self {
            send: match (collective, send) {
                (C::Scatter, Blocks::Even) => Blocks::Table(own),
                (C::Alltoallv | C::ReduceScatter, _) if in_place => recv,
                _ => send,
            },
            recv: match (collective, recv) {
                (C::Gather, Blocks::Even) => Blocks::Table(own),
                (C::ReduceScatter, _) => Blocks::Even,
                _ => recv,
            },
            in_place,
        }
    }

    /// Bytes of a block in the mean, where every rank knows the lengths of all. Rounded down to a power of
    /// two: lengths change from call to call, and what is chosen by this is kept.
    #[must_use]
    pub fn mean_bytes(&self, collective: Collective) -> Option<u64> {
        let known = match collective {
            Collective::Allgather => self.recv,
            Collective::ReduceScatter => self.send,
            _ => return None,
        };
        let Blocks::Table(table) = known else {
            return None;
        };
        let bytes: usize = table.iter().map(|&(_, bytes)| bytes).sum();
        let mean = bytes.checked_div(table.len()).unwrap_or(0);
        Some(1 << mean.max(1).ilog2())
    }
}

/// The blocks of all ranks as one of them has them that knows the length of its own alone.
#[must_use]
pub fn own_block((rank, ranks): (u32, u32), bytes: usize) -> Vec<(usize, usize)> {
    let mut table = vec![(0, 0); ranks as usize];
    table[rank as usize].1 = bytes;
    table
}

/// What `rank` does of a schedule whose ranks have one stream each.
///
/// # Panics
/// If a block with a length of its own is cut into parts, or a step reads what is not there; a
/// verified schedule has no such step.
#[must_use]
pub fn program(schedule: &Schedule, rank: Rank, layout: &Layout<'_>) -> Program {
    let mut walk = Walk::new(schedule, rank, layout);
    for chunk in schedule.spec().initial_chunks(rank) {
        walk.at[chunk.index()] = Some(walk.source(chunk));
    }
    walk.stage();
    for step in schedule.steps(rank) {
        walk.step(&step.op);
    }
    walk.deliver_results();
    walk.builder.finish()
}

/// What every rank does of a broadcast that the machine itself carries out
/// ([`super::is_for_hardware`]), `part_bytes` at a time.
#[must_use]
pub fn in_hardware(schedule: &Schedule, part_bytes: usize) -> Program {
    let spec = schedule.spec();
    let chunks = (0..spec.chunks()).map(|chunk| spec.chunk_bytes(ChunkId(chunk)));
    let bytes = chunks.sum::<u64>() as usize;
    let mut builder = Builder::new();
    for offset in (0..bytes).step_by(part_bytes) {
        let part = Span::new(Region::Recv, offset, part_bytes.min(bytes - offset));
        builder.broadcast(spec.root().0, part);
    }
    builder.finish()
}

/// Where chunks lie in a rank's buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// Those that it holds before the first act.
    pub sources: Vec<(ChunkId, Span)>,
    /// Those that it was promised, after the last.
    pub results: Vec<(ChunkId, Span)>,
}

impl Places {
    /// What the rank's two buffers hold before the first act: what it gives, and what it receives.
    #[must_use]
    pub fn buffers<B: AsRef<[u8]>>(&self, contents: impl Fn(ChunkId) -> B) -> (Vec<u8>, Vec<u8>) {
        let (mut send, mut recv) = (Vec::new(), Vec::new());
        for &(chunk, span) in &self.sources {
            let buffer: &mut Vec<u8> = match span.region {
                Region::Send => &mut send,
                Region::Recv => &mut recv,
                Region::Scratch => continue,
            };
            if buffer.len() < span.end() {
                buffer.resize(span.end(), 0);
            }
            buffer[span.offset..span.end()].copy_from_slice(contents(chunk).as_ref());
        }
        (send, recv)
    }

    /// What the rank was promised, out of what it has received, by the places in which its schedule
    /// leaves it.
    pub fn held<'a>(
        &'a self,
        schedule: &'a Schedule,
        received: &'a [u8],
    ) -> impl Iterator<Item = (ChunkId, &'a [u8])> {
        let left_in = schedule.results();
        self.results.iter().map(move |&(chunk, span)| {
            let end = span.end().min(received.len());
            let place = left_in.get(&chunk).copied().unwrap_or(chunk);
            (place, &received[span.offset.min(end)..end])
        })
    }
}

/// Where the program of a rank finds its input and leaves its results.
#[must_use]
pub fn places(schedule: &Schedule, rank: Rank, layout: &Layout<'_>) -> Places {
    let walk = Walk::new(schedule, rank, layout);
    let spec = schedule.spec();
    let sources = spec.initial_chunks(rank);
    let results = spec.final_chunks(rank);
    Places {
        sources: sources.map(|chunk| (chunk, walk.source(chunk))).collect(),
        results: results
            .filter_map(|chunk| Some((chunk, walk.home(chunk)?)))
            .collect(),
    }
}

/// Which of its blocks a rank means.
#[derive(Clone, Copy)]
enum Side {
    /// What it gives.
    Given,
    /// What it receives.
    Received,
}

struct Walk<'a> {
    schedule: &'a Schedule,
    spec: &'a Spec,
    layout: &'a Layout<'a>,
    rank: Rank,
    builder: Builder,
    /// Where the value of each chunk lies.
    at: Vec<Option<Span>>,
    /// Where the blocks of what it gives and of what it receives begin, if the specification has sizes of
    /// its own for them and they lie one after the other.
    starts: Option<[Vec<u64>; 2]>,
}

impl<'a> Walk<'a> {
    fn new(schedule: &'a Schedule, rank: Rank, layout: &'a Layout<'a>) -> Self {
        let spec = schedule.spec();
        Self {
            schedule,
            spec,
            layout,
            rank,
            builder: Builder::new(),
            at: vec![None; schedule.places_total() as usize],
            starts: spec.counts().map(|_| starts(spec, rank)),
        }
    }
}

/// Where the blocks that a rank gives, and those that it receives, begin if each lies behind the one
/// before it.
fn starts(spec: &Spec, rank: Rank) -> [Vec<u64>; 2] {
    let behind = |block: &dyn Fn(Rank) -> u32| {
        let blocks = (0..spec.ranks()).map(|other| block(Rank(other)));
        let mut end = 0;
        let starts = blocks.map(|block| {
            let start = end;
            end += spec.block_bytes(block);
            start
        });
        starts.collect()
    };
    [
        behind(&|to| spec.pair_block(rank, to)),
        behind(&|from| spec.pair_block(from, rank)),
    ]
}

impl Walk<'_> {
    /// Copies a contribution away that lies where other results will.
    fn stage(&mut self) {
        use Collective as C;
        let is_apart = matches!(
            self.spec.collective(),
            C::ReduceScatter | C::Alltoall | C::Alltoallv
        );
        if !self.layout.in_place || !is_apart {
            return;
        }
        let chunks: Vec<ChunkId> = self.spec.initial_chunks(self.rank).collect();
        let bytes = chunks.iter().map(|&chunk| self.bytes(chunk)).sum();
        let staged = self.builder.scratch(bytes);
        let mut offset = 0;
        for span in merged(chunks.iter().map(|&chunk| self.held(chunk))) {
            self.builder.copy(span, staged.part(offset, span.bytes));
            offset += span.bytes;
        }
        self.move_to(&chunks, staged);
    }

    fn step(&mut self, op: &Op) {
        match *op {
            Op::Send { to, chunks } => {
                self.send(to, chunks);
            }
            Op::Multicast { number, chunks } => {
                let tree = self.schedule.tree(number).expect("of the schedule");
                let receivers: Vec<Rank> = tree.edges().map(|(_, to)| to).collect();
                for to in receivers {
                    self.send(to, chunks);
                }
            }
            Op::Recv {
                from,
                chunks,
                arrival,
            } => self.recv(from, chunks, arrival),
            Op::RecvMulticast { from, chunks, .. } => self.recv(from, chunks, Arrival::Store),
            Op::Exchange {
                to,
                send,
                from,
                recv,
                arrival,
            } => {
                self.send(to, send);
                self.recv(from, recv, arrival);
            }
            Op::Forward {
                from, to, chunks, ..
            } => {
                self.recv(from, chunks, Arrival::Store);
                self.send(to, chunks);
            }
            Op::Local {
                source,
                target,
                arrival,
            } => self.local(source, target, arrival),
        }
    }

    /// The chunks of a list.
    fn chunks(&self, list: ChunkList) -> &[ChunkId] {
        self.schedule.chunks(list)
    }

    fn is_barrier(&self) -> bool {
        self.spec.collective() == Collective::Barrier
    }

    /// Nothing to say, and both ends know it.
    fn is_silent(&self, bytes: usize) -> bool {
        bytes == 0 && !self.is_barrier()
    }

    fn message_bytes(&self, list: ChunkList) -> usize {
        let chunks = self.chunks(list).iter();
        chunks.map(|&chunk| self.bytes(chunk)).sum()
    }

    fn send(&mut self, to: Rank, list: ChunkList) {
        let bytes = self.message_bytes(list);
        if self.is_silent(bytes) {
            return;
        }
        let spans = merged(self.chunks(list).iter().map(|&chunk| self.held(chunk)));
        if let [span] = spans[..] {
            self.builder.send(to.0, span);
            return;
        }
        let packed = self.builder.scratch(bytes);
        let mut offset = 0;
        for span in spans {
            self.builder.copy(span, packed.part(offset, span.bytes));
            offset += span.bytes;
        }
        self.builder.send(to.0, packed);
        self.builder.forget(packed);
    }

    fn recv(&mut self, from: Rank, list: ChunkList, arrival: Arrival) {
        let bytes = self.message_bytes(list);
        if self.is_silent(bytes) {
            return;
        }
        if self.is_barrier() {
            // What follows from a message without bytes is the order alone.
            let post = self.builder.recv(from.0, Span::NONE);
            self.builder.wait(post);
            for chunk in self.chunks(list).to_vec() {
                self.at[chunk.index()] = Some(Span::NONE);
            }
            return;
        }
        let chunks = self.chunks(list).to_vec();
        match arrival {
            Arrival::Store => self.store(from, &chunks, bytes),
            _ if from < self.rank => self.reduce_left(from, &chunks, bytes),
            _ => self.reduce_right(from, &chunks, bytes),
        }
    }

    /// Receives what replaces chunks, where they are wanted if that is one free range.
    fn store(&mut self, from: Rank, chunks: &[ChunkId], bytes: usize) {
        let span = self
            .homes(chunks)
            .filter(|&span| !self.builder.is_used(span))
            .unwrap_or_else(|| self.builder.scratch(bytes));
        self.builder.recv(from.0, span);
        self.move_to(chunks, span);
    }

    /// What arrives is the left operand: combined into what is held.
    fn reduce_left(&mut self, from: Rank, chunks: &[ChunkId], bytes: usize) {
        let arrived = self.builder.scratch(bytes);
        self.builder.recv(from.0, arrived);
        self.make_writable(chunks);
        let mut offset = 0;
        for span in merged(chunks.iter().map(|&chunk| self.held(chunk))) {
            let left = arrived.part(offset, span.bytes);
            self.builder.combine(left, span);
            offset += span.bytes;
        }
        self.builder.forget(arrived);
    }

    /// What arrives is the right operand: what is held is combined into it, and it takes its place.
    fn reduce_right(&mut self, from: Rank, chunks: &[ChunkId], bytes: usize) {
        let is_elsewhere = |span: Span| {
            let held = chunks.iter().map(|&chunk| self.held(chunk));
            held.clone().all(|held| held.region != span.region) && !self.builder.is_used(span)
        };
        let home = self.homes(chunks).filter(|&span| is_elsewhere(span));
        let arrived = home.unwrap_or_else(|| self.builder.scratch(bytes));
        self.builder.recv(from.0, arrived);
        let mut offset = 0;
        for span in merged(chunks.iter().map(|&chunk| self.held(chunk))) {
            let into = arrived.part(offset, span.bytes);
            self.builder.combine(span, into);
            self.builder.forget(span);
            offset += span.bytes;
        }
        self.move_to(chunks, arrived);
    }

    /// Copies chunks out of memory that must not be written.
    fn make_writable(&mut self, chunks: &[ChunkId]) {
        let fixed: Vec<ChunkId> = chunks
            .iter()
            .copied()
            .filter(|&chunk| self.held(chunk).region == Region::Send)
            .collect();
        if fixed.is_empty() {
            return;
        }
        let bytes = fixed.iter().map(|&chunk| self.bytes(chunk)).sum();
        let homes = self.homes(&fixed);
        let target = homes.unwrap_or_else(|| self.builder.scratch(bytes));
        let mut offset = 0;
        for span in merged(fixed.iter().map(|&chunk| self.held(chunk))) {
            self.builder.copy(span, target.part(offset, span.bytes));
            offset += span.bytes;
        }
        self.move_to(&fixed, target);
    }

    fn local(&mut self, source: ChunkList, target: ChunkList, arrival: Arrival) {
        let pairs: Vec<(ChunkId, ChunkId)> = {
            let (source, target) = (self.chunks(source), self.chunks(target));
            source.iter().copied().zip(target.iter().copied()).collect()
        };
        for (source, target) in pairs {
            let from = self.held(source);
            if arrival == Arrival::Reduce {
                // `target = target op source`.
                let into = self.builder.scratch(from.bytes);
                self.builder.copy(from, into);
                self.builder.combine(self.held(target), into);
                self.at[target.index()] = Some(into);
            } else {
                let into = self.builder.scratch(from.bytes);
                self.builder.copy(from, into);
                self.at[target.index()] = Some(into);
            }
        }
    }

    /// The chunks lie one after the other from here on.
    fn move_to(&mut self, chunks: &[ChunkId], span: Span) {
        let mut offset = 0;
        for &chunk in chunks {
            let bytes = self.bytes(chunk);
            self.at[chunk.index()] = Some(span.part(offset, bytes));
            offset += bytes;
        }
    }

    /// Brings what is promised to where it is promised.
    fn deliver_results(&mut self) {
        if self.is_barrier() {
            return;
        }
        let spec = self.spec;
        let places = self.schedule.results();
        let mut copies: Vec<(Span, Span)> = Vec::new();
        for chunk in spec.final_chunks(self.rank) {
            let Some(home) = self.home(chunk) else {
                continue;
            };
            let from = self.held(places.get(&chunk).copied().unwrap_or(chunk));
            if from == home || home.bytes == 0 {
                continue;
            }
            match copies.last_mut() {
                Some((last_from, last_home))
                    if last_from.region == from.region
                        && last_from.end() == from.offset
                        && last_home.end() == home.offset =>
                {
                    last_from.bytes += from.bytes;
                    last_home.bytes += home.bytes;
                }
                _ => copies.push((from, home)),
            }
        }
        for (from, home) in copies {
            self.builder.copy(from, home);
        }
    }

    fn held(&self, chunk: ChunkId) -> Span {
        if self.bytes(chunk) == 0 {
            return Span::NONE; // it may never have been sent
        }
        self.at[chunk.index()].expect("a verified schedule reads what is there")
    }

    /// Where chunks are wanted in the end, if they are and if it is one range.
    fn homes(&self, chunks: &[ChunkId]) -> Option<Span> {
        let homes = chunks.iter().map(|&chunk| self.home(chunk));
        let homes: Option<Vec<Span>> = homes.collect();
        match merged(homes?)[..] {
            [span] => Some(span),
            _ => None,
        }
    }

    /// Where a chunk is wanted in the end, if it is.
    fn home(&self, chunk: ChunkId) -> Option<Span> {
        use Collective as C;
        let spec = self.spec;
        if chunk.0 >= spec.chunks() || !spec.wants_finally(self.rank, chunk) {
            return None;
        }
        let block = chunk.0 / spec.parts();
        let is_root = self.rank == spec.root();
        let place = match spec.collective() {
            C::Bcast | C::Reduce | C::Allreduce | C::Barrier => 0,
            C::Scatter if is_root && self.layout.in_place => return None,
            C::Scatter | C::ReduceScatter => 0,
            C::Gather | C::Allgather => block,
            C::Alltoall | C::Alltoallv => block / spec.ranks(),
        };
        Some(self.part_of(
            (Region::Recv, self.layout.recv),
            (Side::Received, place),
            chunk,
        ))
    }

    /// Where a chunk lies at the start.
    fn source(&self, chunk: ChunkId) -> Span {
        use Collective as C;
        let spec = self.spec;
        let block = chunk.0 / spec.parts();
        let in_place = self.layout.in_place;
        let Layout { send, recv, .. } = *self.layout;
        // What is split among the ranks lies in the receive buffer as it would in the send buffer.
        let split = match in_place {
            true => (Region::Recv, send),
            false => (Region::Send, send),
        };
        let (buffer, place) = match spec.collective() {
            C::Barrier => return Span::NONE,
            C::Bcast => ((Region::Recv, recv), 0),
            C::Gather | C::Allgather if in_place => ((Region::Recv, recv), block),
            C::Reduce | C::Allreduce if in_place => ((Region::Recv, recv), 0),
            C::Gather | C::Allgather | C::Reduce | C::Allreduce => ((Region::Send, send), 0),
            C::Scatter => ((Region::Send, send), block),
            C::ReduceScatter => (split, block),
            C::Alltoall | C::Alltoallv => (split, block % spec.ranks()),
        };
        self.part_of(buffer, (Side::Given, place), chunk)
    }

    /// The bytes of a chunk in block `place` of a buffer.
    fn part_of(
        &self,
        (region, blocks): (Region, Blocks<'_>),
        (side, place): (Side, u32),
        chunk: ChunkId,
    ) -> Span {
        let start = match (blocks, &self.starts) {
            (Blocks::Table(table), _) => table[place as usize].0 as u64,
            (Blocks::Even, Some(starts)) => starts[side as usize][place as usize],
            (Blocks::Even, None) => u64::from(place) * self.spec.bytes(),
        };
        // A block of a table is whole.
        let offset = match blocks {
            Blocks::Table(_) => 0,
            Blocks::Even => self.spec.chunk_range(chunk).0,
        };
        Span::new(region, (start + offset) as usize, self.bytes(chunk))
    }

    /// The length of a chunk at this rank.
    fn bytes(&self, chunk: ChunkId) -> usize {
        let spec = self.spec;
        if chunk.0 >= spec.chunks() {
            return self.schedule.chunk_bytes(chunk) as usize;
        }
        match self.own_length(chunk.0 / spec.parts()) {
            None => spec.chunk_bytes(chunk) as usize,
            Some(bytes) => {
                assert_eq!(spec.parts(), 1, "blocks of their own lengths are whole");
                bytes
            }
        }
    }

    /// The length of a block that has one of its own.
    fn own_length(&self, block: u32) -> Option<usize> {
        use Collective as C;
        let of = |blocks: Blocks<'_>, index: u32| match blocks {
            Blocks::Even => None,
            Blocks::Table(table) => table.get(index as usize).map(|&(_, bytes)| bytes),
        };
        let (layout, ranks) = (self.layout, self.spec.ranks());
        match self.spec.collective() {
            C::Bcast | C::Reduce | C::Allreduce | C::Barrier => None,
            C::Scatter | C::ReduceScatter => of(layout.send, block),
            C::Gather | C::Allgather => of(layout.recv, block),
            C::Alltoall | C::Alltoallv if block / ranks == self.rank.0 => {
                of(layout.send, block % ranks)
            }
            C::Alltoall | C::Alltoallv => of(layout.recv, block / ranks),
        }
    }
}
