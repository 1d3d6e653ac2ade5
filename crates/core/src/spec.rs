// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a collective promises: a pre- and a postcondition per (rank, chunk).
//!
//! Which rank holds which chunk at the start, and which rank must hold it at the end. An algorithm
//! is checked against these two conditions and nothing else.
//!
//! ```
//! use corecast_core::{ChunkId, Collective, Rank, Request, Spec, Split};
//! let request = Request::new(Collective::Bcast, 4, 100);
//! let spec = Spec::new(&request, Split::Even(3));
//! assert!(spec.holds_initially(Rank(0), ChunkId(2)));
//! assert!(!spec.holds_initially(Rank(1), ChunkId(2)));
//! assert!(spec.wants_finally(Rank(1), ChunkId(2)));
//! assert_eq!((0..3).map(|c| spec.chunk_bytes(ChunkId(c))).sum::<u64>(), 100);
//! ```

use std::sync::Arc;

use crate::collective::{Collective, Split};
use crate::ids::{ChunkId, Rank};
use crate::request::Request;

/// What a collective promises for one request and one way of cutting blocks into chunks.
///
/// The data is a list of *blocks* (one for a broadcast, one per rank for a scatter, one per pair
/// of ranks for an alltoall); each block is cut into [`Spec::parts`] chunks. Chunk
/// `block * parts + part` occupies bytes `[offset, offset + chunk_bytes)` of its block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    collective: Collective,
    ranks: u32,
    root: Rank,
    block_bytes: u64,
    counts: Option<Arc<[u64]>>,
    element_bytes: u64,
    parts: u32,
    cut: Cut,
}

/// Where the chunks of a block begin.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Cut {
    /// They are as equal as elements allow.
    Even,
    /// Each but the last has so many bytes.
    Fixed(u64),
    /// Here, for every chunk of all blocks.
    Listed(Arc<[u64]>),
}

impl Spec {
    /// The specification of `request` with every block cut by `split`.
    ///
    /// # Panics
    /// If the number of chunks does not fit in 32 bits; [`Request::check`] refuses such requests.
    #[must_use]
    pub fn new(request: &Request, split: Split) -> Self {
        let block_bytes = if request.collective == Collective::Barrier {
            0
        } else {
            request.bytes
        };
        let element_bytes = u64::from(request.element_bytes);
        let (parts, cut) = match split {
            Split::Even(parts) => (parts.max(1), Cut::Even),
            Split::Fixed(bytes) => {
                let part = (bytes / element_bytes).max(1) * element_bytes;
                let parts = block_bytes.div_ceil(part).max(1);
                (
                    u32::try_from(parts).expect("a checked request has few parts"),
                    Cut::Fixed(part),
                )
            }
        };
        let spec = Self {
            collective: request.collective,
            ranks: request.ranks,
            root: request.root,
            block_bytes,
            counts: request.counts.clone(),
            element_bytes,
            parts,
            cut,
        };
        let chunks = u64::from(spec.blocks()) * u64::from(parts);
        assert!(
            u32::try_from(chunks).is_ok(),
            "{chunks} chunks do not fit in 32 bits"
        );
        spec
    }

    /// An alltoallv whose chunks have these sizes in bytes, in the order of their ids, with as many for
    /// every pair of ranks; a block is as large as its chunks together. Nothing is promised of a chunk
    /// without bytes. For messages that have nothing in common but their ends. `bytes` is what
    /// [`Spec::bytes`] says.
    ///
    /// ```
    /// use corecast_core::{ChunkId, Spec};
    /// let spec = Spec::of_sizes(2, 0, &[0, 0, 5, 9, 0, 0, 0, 0]);
    /// assert_eq!((spec.parts(), spec.block_bytes(1)), (2, 14));
    /// assert_eq!(spec.chunk_range(ChunkId(3)), (5, 9));
    /// ```
    ///
    /// # Panics
    /// If `sizes` are not as many for every pair, at least one, or do not fit in 32 bits, or if those of
    /// a block add up to more than 64 bits.
    #[must_use]
    pub fn of_sizes(ranks: u32, bytes: u64, sizes: &[u64]) -> Self {
        let pairs = ranks as usize * ranks as usize;
        assert!(
            pairs > 0 && !sizes.is_empty() && sizes.len().is_multiple_of(pairs),
            "{} sizes for {pairs} pairs",
            sizes.len()
        );
        let parts = sizes.len() / pairs;
        let mut starts = Vec::with_capacity(sizes.len());
        let counts = sizes.chunks_exact(parts).map(|of_block| {
            of_block.iter().fold(0_u64, |start, &bytes| {
                starts.push(start);
                let end = start.checked_add(bytes);
                end.expect("a block has less than 2^64 bytes")
            })
        });
        let counts = counts.collect();
        let mut request = Request::without_counts(Collective::Alltoallv, ranks, bytes);
        request.counts = Some(counts);
        Self {
            cut: Cut::Listed(starts.into()),
            ..Self::new(&request, Split::Even(parts as u32))
        }
    }

    /// That of `request`, with blocks cut as here; `request` has these block sizes if they are listed.
    pub(crate) fn serving(&self, request: &Request) -> Self {
        if !self.has_sizes() {
            return Self::new(request, self.split());
        }
        Self {
            block_bytes: request.bytes,
            ..self.clone()
        }
    }

    /// Whether the size of every chunk is listed ([`Spec::of_sizes`]).
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        matches!(self.cut, Cut::Listed(_))
    }

    /// The collective promised.
    #[must_use]
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// Number of ranks, at least 1.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The root; rank 0 where the collective has none.
    #[must_use]
    pub fn root(&self) -> Rank {
        self.root
    }

    /// The size asked for in bytes ([`Request::bytes`]); 0 for a barrier.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Block sizes of an alltoallv ([`Request::counts`]).
    #[must_use]
    pub fn counts(&self) -> Option<&Arc<[u64]>> {
        self.counts.as_ref()
    }

    /// Borders of chunks fall on multiples of so many bytes.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.element_bytes
    }

    /// How every block is cut into chunks; if their sizes are listed ([`Spec::has_sizes`]), no more
    /// than their number.
    #[must_use]
    pub fn split(&self) -> Split {
        match self.cut {
            Cut::Fixed(bytes) => Split::Fixed(bytes),
            Cut::Even | Cut::Listed(_) => Split::Even(self.parts),
        }
    }

    /// Number of blocks: 1, `ranks`, or `ranks * ranks`.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        use Collective as C;
        match self.collective {
            C::Bcast | C::Reduce | C::Allreduce | C::Barrier => 1,
            C::Scatter | C::Gather | C::Allgather | C::ReduceScatter => self.ranks,
            C::Alltoall | C::Alltoallv => self.ranks * self.ranks,
        }
    }

    /// Chunks per block, at least 1.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Number of chunks: `blocks * parts`.
    #[must_use]
    pub fn chunks(&self) -> u32 {
        self.blocks() * self.parts
    }

    /// Chunk `part` of `block`.
    #[must_use]
    pub fn chunk(&self, block: u32, part: u32) -> ChunkId {
        debug_assert!(block < self.blocks() && part < self.parts);
        ChunkId(block * self.parts + part)
    }

    /// All chunks of `block`, in order.
    pub fn block_chunks(&self, block: u32) -> impl Iterator<Item = ChunkId> + use<> {
        (block * self.parts..(block + 1) * self.parts).map(ChunkId)
    }

    /// The block that goes from rank `from` to rank `to` in an alltoall.
    #[must_use]
    pub fn pair_block(&self, from: Rank, to: Rank) -> u32 {
        from.0 * self.ranks + to.0
    }

    /// Size of a block in bytes.
    #[must_use]
    pub fn block_bytes(&self, block: u32) -> u64 {
        match &self.counts {
            Some(counts) => counts[block as usize],
            None => self.block_bytes,
        }
    }

    /// Offset of a chunk in its block and its size, both in bytes.
    #[must_use]
    pub fn chunk_range(&self, chunk: ChunkId) -> (u64, u64) {
        let (block, part) = (chunk.0 / self.parts, u64::from(chunk.0 % self.parts));
        let (bytes, parts) = (self.block_bytes(block), u64::from(self.parts));
        let start = |part: u64| match &self.cut {
            _ if part == parts => bytes,
            Cut::Even => {
                let elements = bytes / self.element_bytes;
                (elements / parts * part + (elements % parts).min(part)) * self.element_bytes
            }
            Cut::Fixed(size) => (part * size).min(bytes),
            Cut::Listed(starts) => starts[(u64::from(block) * parts + part) as usize],
        };
        (start(part), start(part + 1) - start(part))
    }

    /// Size of a chunk in bytes; may be 0.
    #[must_use]
    pub fn chunk_bytes(&self, chunk: ChunkId) -> u64 {
        self.chunk_range(chunk).1
    }

    /// Precondition: whether `rank` holds `chunk` (for reductions: its own contribution to it)
    /// before the first step.
    #[must_use]
    pub fn holds_initially(&self, rank: Rank, chunk: ChunkId) -> bool {
        use Collective as C;
        let block = chunk.0 / self.parts;
        match self.collective {
            C::Bcast | C::Scatter => rank == self.root,
            C::Gather | C::Allgather => block == rank.0,
            C::Reduce | C::Allreduce | C::ReduceScatter | C::Barrier => true,
            C::Alltoall | C::Alltoallv => block / self.ranks == rank.0,
        }
    }

    /// Postcondition: whether `rank` must hold `chunk` (for reductions: the complete reduction of
    /// it) after its last step.
    #[must_use]
    pub fn wants_finally(&self, rank: Rank, chunk: ChunkId) -> bool {
        use Collective as C;
        let block = chunk.0 / self.parts;
        match self.collective {
            C::Bcast | C::Allgather | C::Allreduce | C::Barrier => true,
            C::Gather | C::Reduce => rank == self.root,
            C::Scatter | C::ReduceScatter => block == rank.0,
            C::Alltoall => block % self.ranks == rank.0,
            // Nothing is promised where there is nothing to send.
            C::Alltoallv => block % self.ranks == rank.0 && self.is_promised(chunk),
        }
    }

    /// Whether an alltoallv promises a chunk.
    fn is_promised(&self, chunk: ChunkId) -> bool {
        match self.cut {
            Cut::Listed(_) => self.chunk_bytes(chunk) > 0,
            Cut::Even | Cut::Fixed(_) => self.block_bytes(chunk.0 / self.parts) > 0,
        }
    }

    /// The chunks that `rank` holds before the first step, ascending: those for which
    /// [`Spec::holds_initially`] is true, without a look at the others.
    pub fn initial_chunks(&self, rank: Rank) -> impl Iterator<Item = ChunkId> + '_ {
        use Collective as C;
        let blocks = match self.collective {
            C::Bcast | C::Scatter if rank == self.root => self.every_block(),
            C::Bcast | C::Scatter => Blocks::none(),
            C::Gather | C::Allgather => Blocks::one(rank.0),
            C::Reduce | C::Allreduce | C::ReduceScatter | C::Barrier => self.every_block(),
            C::Alltoall | C::Alltoallv => Blocks {
                first: rank.0 * self.ranks,
                stride: 1,
                count: self.ranks,
            },
        };
        blocks.flat_map(|block| self.block_chunks(block))
    }

    /// The chunks that `rank` must hold after its last step, ascending: those for which
    /// [`Spec::wants_finally`] is true, without a look at the others.
    pub fn final_chunks(&self, rank: Rank) -> impl Iterator<Item = ChunkId> + '_ {
        use Collective as C;
        let blocks = match self.collective {
            C::Bcast | C::Allgather | C::Allreduce | C::Barrier => self.every_block(),
            C::Gather | C::Reduce if rank == self.root => self.every_block(),
            C::Gather | C::Reduce => Blocks::none(),
            C::Scatter | C::ReduceScatter => Blocks::one(rank.0),
            C::Alltoall | C::Alltoallv => Blocks {
                first: rank.0,
                stride: self.ranks,
                count: self.ranks,
            },
        };
        let is_sparse = self.collective == C::Alltoallv;
        let blocks = blocks.filter(move |&block| !is_sparse || self.block_bytes(block) > 0);
        let chunks = blocks.flat_map(|block| self.block_chunks(block));
        chunks.filter(move |&chunk| !is_sparse || self.is_promised(chunk))
    }

    fn every_block(&self) -> Blocks {
        Blocks {
            first: 0,
            stride: 1,
            count: self.blocks(),
        }
    }
}

/// Evenly spaced blocks, ascending. An alltoall has a block per pair of ranks; looking at all of
/// them for every rank would take the cube of the number of ranks.
struct Blocks {
    first: u32,
    stride: u32,
    count: u32,
}

impl Blocks {
    fn none() -> Self {
        Self {
            first: 0,
            stride: 1,
            count: 0,
        }
    }

    fn one(block: u32) -> Self {
        Self {
            first: block,
            stride: 1,
            count: 1,
        }
    }
}

impl Iterator for Blocks {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        let block = self.first;
        self.first += self.stride;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(bytes: u64, element: u32, split: Split) -> Vec<u64> {
        let mut request = Request::new(Collective::Allreduce, 4, bytes);
        request.element_bytes = element;
        let spec = Spec::new(&request, split);
        (0..spec.chunks())
            .map(|c| spec.chunk_bytes(ChunkId(c)))
            .collect()
    }

    #[test]
    fn even_parts_differ_by_at_most_one_element() {
        assert_eq!(sizes(10, 1, Split::Even(4)), [3, 3, 2, 2]);
        assert_eq!(sizes(20, 4, Split::Even(3)), [8, 8, 4]);
        assert_eq!(sizes(4, 4, Split::Even(3)), [4, 0, 0]);
        assert_eq!(sizes(0, 4, Split::Even(2)), [0, 0]);
    }

    #[test]
    fn fixed_parts_leave_the_rest_to_the_last() {
        assert_eq!(sizes(10, 1, Split::Fixed(4)), [4, 4, 2]);
        assert_eq!(sizes(20, 4, Split::Fixed(9)), [8, 8, 4]);
        assert_eq!(sizes(8, 4, Split::Fixed(1)), [4, 4]);
        assert_eq!(sizes(0, 4, Split::Fixed(16)), [0]);
    }

    #[test]
    fn names_are_unique_and_found_again() {
        for collective in Collective::ALL {
            assert_eq!(Collective::from_name(collective.name()), Some(collective));
        }
        assert_eq!(Collective::from_name("broadcast"), None);
    }

    #[test]
    fn listed_chunks_are_those_of_the_conditions() {
        for collective in Collective::ALL {
            for ranks in 1..=5 {
                let mut request = Request::new(collective, ranks, 12).with_root(Rank(ranks / 2));
                let counts = request
                    .counts
                    .as_ref()
                    .map_or(0, |counts| counts.len() as u64);
                if counts > 0 {
                    request.counts = Some((0..counts).map(|pair| pair % 3 * 4).collect());
                }
                let spec = Spec::new(&request, Split::Even(2));
                let all = || (0..spec.chunks()).map(ChunkId);
                for rank in (0..ranks).map(Rank) {
                    let held = all().filter(|&chunk| spec.holds_initially(rank, chunk));
                    assert!(spec.initial_chunks(rank).eq(held), "{collective} {ranks}");
                    let wanted = all().filter(|&chunk| spec.wants_finally(rank, chunk));
                    assert!(spec.final_chunks(rank).eq(wanted), "{collective} {ranks}");
                }
            }
        }
    }

    #[test]
    fn listed_sizes_are_those_of_the_chunks() {
        let sizes = [0, 0, 7, 0, 3, 4, 0, 0];
        let spec = Spec::of_sizes(2, 0, &sizes);
        let all = || (0..8).map(ChunkId);
        assert!(all().map(|chunk| spec.chunk_bytes(chunk)).eq(sizes));
        assert_eq!(spec.counts().unwrap()[..], [0, 7, 7, 0]);
        assert_eq!(spec.chunk_range(ChunkId(5)), (3, 4));
        for rank in [Rank(0), Rank(1)] {
            let wanted = all().filter(|&chunk| spec.wants_finally(rank, chunk));
            assert!(spec.final_chunks(rank).eq(wanted));
        }
        let wanted: Vec<_> = spec.final_chunks(Rank(1)).collect();
        assert_eq!(wanted, [ChunkId(2)], "chunk 3 has no bytes");
    }

    #[test]
    fn alltoall_blocks_go_from_row_to_column() {
        let spec = Spec::new(&Request::new(Collective::Alltoall, 3, 8), Split::Even(1));
        let chunk = spec.chunk(spec.pair_block(Rank(1), Rank(2)), 0);
        let holders: Vec<_> = (0..3)
            .filter(|&r| spec.holds_initially(Rank(r), chunk))
            .collect();
        let wanters: Vec<_> = (0..3)
            .filter(|&r| spec.wants_finally(Rank(r), chunk))
            .collect();
        assert_eq!((holders, wanters), (vec![1], vec![2]));
    }
}
