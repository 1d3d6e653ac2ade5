// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every rank holds while a schedule is executed symbolically.

use std::collections::{BTreeMap, BTreeSet};

use super::contributions::Contributions;
use crate::collective::Combine;
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Op, Schedule};

/// Above this many (rank, chunk) pairs a bit per pair is wasteful and a tree is used.
const DENSE_PAIRS_MAX: u64 = 1 << 32;

/// The symbolic memory of all ranks.
pub(super) enum Holdings {
    /// Data is only moved: a bit per (rank, chunk).
    Dense { chunks: u64, bits: Vec<u64> },
    /// The same for very many pairs.
    Sparse(Vec<BTreeSet<ChunkId>>),
    /// Data is combined: the contributions in every (rank, chunk); `None` is the rank's own alone.
    Combined {
        chunks: usize,
        partial: Vec<Option<Contributions>>,
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
    /// The memory before the first step.
    pub(super) fn initial(schedule: &Schedule) -> Self {
        let spec = schedule.spec();
        let (ranks, chunks) = (u64::from(spec.ranks()), u64::from(spec.chunks()));
        let combines = spec.collective().combine() != Combine::Nothing;
        if has_places(schedule) {
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
            return Self::Combined {
                chunks,
                partial: vec![None; ranks as usize * chunks],
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

    /// What `rank` would send for `chunk`; `None` if it does not hold it.
    pub(super) fn content(&self, rank: Rank, chunk: ChunkId) -> Option<Content> {
        match self {
            Self::Dense { chunks, bits } => {
                let bit = rank.0 as u64 * chunks + u64::from(chunk.0);
                let set = bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
                set.then_some(Content::Whole(chunk))
            }
            Self::Sparse(held) => held[rank.index()]
                .contains(&chunk)
                .then_some(Content::Whole(chunk)),
            Self::Combined { chunks, partial } => {
                let held = &partial[rank.index() * chunks + chunk.index()];
                let own = || Contributions::of(rank.0);
                Some(Content::Partial(chunk, held.clone().unwrap_or_else(own)))
            }
            Self::Placed(held) => held[rank.index()].get(&chunk).cloned(),
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
                partial[rank.index() * *chunks + chunk.index()] = Some(set);
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

/// Whether a chunk may lie anywhere but in its own place.
pub(super) fn has_places(schedule: &Schedule) -> bool {
    let mut steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
    !schedule.places().is_empty() || steps.any(|step| matches!(step.op, Op::Local { .. }))
}
