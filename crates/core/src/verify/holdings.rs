// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every rank holds while a schedule is executed symbolically.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use super::contributions::Contributions;
use crate::collective::Combine;
use crate::ids::{ChunkId, Rank};
use crate::schedule::Schedule;

/// Above this many (rank, chunk) pairs a bit per pair is wasteful and a tree is used.
const DENSE_PAIRS_MAX: u64 = 1 << 32;

/// The symbolic memory of all ranks.
pub(super) enum Holdings {
    /// Data is only moved: a bit per (rank, chunk).
    Dense { chunks: u64, bits: Vec<u64> },
    /// The same for very many pairs.
    Sparse(Vec<BTreeSet<ChunkId>>),
    /// Data is combined: the contributions in every (rank, chunk).
    Combined {
        chunks: usize,
        partial: Vec<Contributions>,
    },
    /// Anything may be anywhere: what lies in every place, per rank.
    Placed(Vec<BTreeMap<ChunkId, Content>>),
}

/// What a message carries for one chunk.
#[derive(Clone)]
pub(super) enum Content {
    /// This chunk.
    Whole(ChunkId),
    /// A partial result of this chunk.
    Partial(ChunkId, Contributions),
}

impl Content {
    /// Which chunk it is, or is a part of.
    pub(super) fn chunk(&self) -> ChunkId {
        let (Self::Whole(chunk) | Self::Partial(chunk, _)) = *self;
        chunk
    }
}

impl Holdings {
    /// The memory before the first step; `are_anywhere` says whether a chunk may lie anywhere but in its own
    /// place.
    pub(super) fn initial(schedule: &Schedule, are_anywhere: bool) -> Self {
        let spec = schedule.spec();
        let (ranks, chunks) = (u64::from(spec.ranks()), u64::from(spec.chunks()));
        let combines = spec.collective().combine() != Combine::Nothing;
        if are_anywhere {
            let content = |rank: Rank, chunk| match combines {
                true => Content::Partial(chunk, Contributions::of(rank.0)),
                false => Content::Whole(chunk),
            };
            let memory = schedule.all_ranks().map(|rank| {
                let chunks = spec.initial_chunks(rank);
                chunks.map(|chunk| (chunk, content(rank, chunk))).collect()
            });
            return Self::Placed(memory.collect());
        }
        if combines {
            let chunks = chunks as usize;
            let own = (0..spec.ranks()).map(Contributions::of);
            return Self::Combined {
                chunks,
                partial: own.flat_map(|own| iter::repeat_n(own, chunks)).collect(),
            };
        }
        let mut holdings = if ranks * chunks <= DENSE_PAIRS_MAX {
            let words = (ranks * chunks).div_ceil(64);
            Self::Dense {
                chunks,
                bits: vec![0; words as usize],
            }
        } else {
            Self::Sparse(vec![BTreeSet::new(); ranks as usize])
        };
        for rank in (0..spec.ranks()).map(Rank) {
            for chunk in spec.initial_chunks(rank) {
                holdings.store(rank, chunk, Content::Whole(chunk));
            }
        }
        holdings
    }

    /// Whether chunks are names: what lies in a place is that chunk, or nothing.
    pub(super) fn are_names(&self) -> bool {
        matches!(self, Self::Dense { .. } | Self::Sparse(_))
    }

    /// Whether anything lies in a place.
    pub(super) fn holds(&self, rank: Rank, chunk: ChunkId) -> bool {
        match self {
            Self::Dense { chunks, bits } => {
                let bit = rank.0 as u64 * chunks + u64::from(chunk.0);
                bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
            }
            Self::Sparse(held) => held[rank.index()].contains(&chunk),
            Self::Combined { .. } => true,
            Self::Placed(held) => held[rank.index()].contains_key(&chunk),
        }
    }

    /// What `rank` would send for `chunk`; `None` if it does not hold it.
    pub(super) fn content(&self, rank: Rank, chunk: ChunkId) -> Option<Content> {
        match self {
            Self::Dense { .. } | Self::Sparse(_) => {
                self.holds(rank, chunk).then_some(Content::Whole(chunk))
            }
            Self::Combined { chunks, partial } => {
                let held = &partial[rank.index() * chunks + chunk.index()];
                Some(Content::Partial(chunk, held.clone()))
            }
            Self::Placed(held) => held[rank.index()].get(&chunk).cloned(),
        }
    }

    /// Whether data that is only moved lies in its place already.
    pub(super) fn is_known(&self, rank: Rank, chunk: ChunkId, content: &Content) -> bool {
        let Content::Whole(new) = *content else {
            return false;
        };
        match self {
            Self::Placed(held) => {
                let held = held[rank.index()].get(&chunk);
                matches!(held, Some(Content::Whole(held)) if *held == new)
            }
            Self::Combined { .. } => false,
            Self::Dense { .. } | Self::Sparse(_) => new == chunk && self.holds(rank, chunk),
        }
    }

    /// Replaces what `rank` holds for `chunk`. Where chunks are names, what is put there has that name
    /// from then on.
    pub(super) fn store(&mut self, rank: Rank, chunk: ChunkId, content: Content) {
        match (self, content) {
            (Self::Dense { chunks, bits }, _) => {
                let bit = rank.0 as u64 * *chunks + u64::from(chunk.0);
                bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            (Self::Sparse(held), _) => {
                held[rank.index()].insert(chunk);
            }
            (Self::Combined { chunks, partial }, Content::Partial(_, set)) => {
                partial[rank.index() * *chunks + chunk.index()] = set;
            }
            (Self::Placed(held), content) => {
                held[rank.index()].insert(chunk, content);
            }
            (Self::Combined { .. }, Content::Whole(_)) => {
                unreachable!("combining collectives carry partial results")
            }
        }
    }
}
