// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the three buffers of a rank (input, output and scratch memory) are in terms of chunks and
//! places, for formats that name data by them.
//!
//! With `n` chunks of the larger of input and output, `g` ranks and `m = n / g`:
//!
//! ```text
//! collective       input i[k] of rank r     output o[k] of rank r, in place
//! allreduce, bcast, reduce      chunk k                 chunk k
//! allgather, gather       chunk k of block r            chunk k of all
//! reduce_scatter, scatter     chunk k of all        chunk k of block r
//! alltoall    chunk k % m of what r sends to k / m      the same place
//! ```
//!
//! Out of place the output has places of its own, of which each is the result of that chunk. In an
//! alltoall `o[k]` of rank `r` is the result of chunk `k % m` of what rank `k / m` sends to `r`; in place
//! that one lies at the end where the chunk lay that `r` sends to `k / m`.

use corecast_core::{ChunkId, Collective, Rank, Request, ScheduleBuilder, Split};

use crate::error::Fault;
use crate::limits;

/// How long chunks are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChunkBytes {
    /// As the run wants it, which begins with a whole number of elements of any type.
    Any,
    /// So many bytes: the steps are for that.
    Fixed(u64),
}

impl ChunkBytes {
    fn bytes(self) -> u64 {
        match self {
            Self::Any => 8,
            Self::Fixed(bytes) => bytes,
        }
    }
}

/// How the buffers of one file lie in chunks and places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub collective: Collective,
    pub ranks: u32,
    /// Chunks of the larger of input and output.
    pub chunks: u32,
    pub is_in_place: bool,
    pub root: u32,
    /// Scratch places of every rank, as many as the rank with most has.
    pub scratch: u32,
    pub chunk_bytes: ChunkBytes,
}

/// One of a rank's buffers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Buffer {
    Input,
    Output,
    Scratch,
}

impl Buffer {
    pub(crate) const ALL: [(&'static str, Self); 3] = [
        ("i", Self::Input),
        ("o", Self::Output),
        ("s", Self::Scratch),
    ];
}

impl Layout {
    /// Chunks of a block.
    pub(crate) fn parts(&self) -> u32 {
        match self.collective {
            Collective::Bcast | Collective::Reduce | Collective::Allreduce => self.chunks,
            _ => self.chunks / self.ranks,
        }
    }

    /// Chunks of the collective.
    fn total(&self) -> u32 {
        match self.collective {
            Collective::Alltoall => self.chunks * self.ranks,
            _ => self.chunks,
        }
    }

    /// A schedule without steps.
    pub(crate) fn builder(&self, name: &str, line: u32) -> Result<ScheduleBuilder, Fault> {
        let chunk_bytes = self.chunk_bytes.bytes();
        let bytes = u64::from(self.parts()) * chunk_bytes;
        let split = match self.chunk_bytes {
            ChunkBytes::Any => Split::Even(self.parts()),
            ChunkBytes::Fixed(bytes) => Split::Fixed(bytes),
        };
        let request = Request::new(self.collective, self.ranks, bytes);
        let request = request.with_root(Rank(self.root));
        let spec = limits::spec(&request, split, line)?;
        let results = if self.is_in_place {
            0
        } else {
            u64::from(self.total())
        };
        let places = results + u64::from(self.scratch);
        limits::check_places(&spec, places, true, Some(line))?;
        let mut builder = ScheduleBuilder::new(name, spec);
        if !self.is_in_place {
            for chunk in 0..self.total() {
                builder.add_result(ChunkId(chunk));
            }
        } else if self.collective == Collective::Alltoall {
            for (rank, at) in
                (0..self.ranks).flat_map(|rank| (0..self.chunks).map(move |at| (rank, at)))
            {
                let (result, place) = (self.result(rank, at), self.place(rank, Buffer::Output, at));
                if let (Some(result), Some(place)) = (result, place) {
                    builder.set_result(result, place);
                }
            }
        }
        for _ in 0..self.scratch {
            builder.add_place(chunk_bytes);
        }
        Ok(builder)
    }

    /// The place of entry `offset` of a buffer of `rank`; none if the buffer has no such entry.
    pub(crate) fn place(&self, rank: u32, buffer: Buffer, offset: u32) -> Option<ChunkId> {
        use Collective as C;
        let of_all = |offset: u32| (offset < self.chunks).then_some(offset);
        match buffer {
            Buffer::Input => match self.collective {
                C::Allgather | C::Gather => self.of_block(rank, offset),
                C::Alltoall => of_all(offset).map(|at| self.pair(rank, at / self.parts(), at)),
                _ => of_all(offset),
            }
            .map(ChunkId),
            Buffer::Output if !self.is_in_place => {
                let chunk = self.result(rank, offset)?;
                Some(ChunkId(self.total() + chunk.0))
            }
            Buffer::Output if self.collective == C::Alltoall => {
                self.place(rank, Buffer::Input, offset)
            }
            Buffer::Output => self.result(rank, offset),
            Buffer::Scratch => {
                let results = if self.is_in_place { 0 } else { self.total() };
                let is_there = offset < self.scratch;
                is_there.then(|| ChunkId(self.total() + results + offset))
            }
        }
    }

    /// The chunk that ends in entry `offset` of the output of `rank`, in place and out of place.
    pub(crate) fn result(&self, rank: u32, offset: u32) -> Option<ChunkId> {
        use Collective as C;
        let chunk = match self.collective {
            C::ReduceScatter | C::Scatter => self.of_block(rank, offset),
            _ if offset >= self.chunks => None,
            C::Alltoall => Some(self.pair(offset / self.parts(), rank, offset)),
            _ => Some(offset),
        };
        chunk.map(ChunkId)
    }

    /// Chunk `offset` of the block of a rank.
    fn of_block(&self, rank: u32, offset: u32) -> Option<u32> {
        let parts = self.parts();
        (offset < parts).then(|| rank * parts + offset)
    }

    /// Of what a rank sends to another the chunk that lies at this offset among blocks.
    fn pair(&self, from: u32, to: u32, offset: u32) -> u32 {
        (from * self.ranks + to) * self.parts() + offset % self.parts()
    }
}
