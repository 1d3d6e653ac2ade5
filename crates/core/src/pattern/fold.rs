// SPDX-License-Identifier: MIT OR Apache-2.0
//! A power of two out of any number of ranks.
//!
//! Hypercube algorithms need a power of two. The first `2 * extra` ranks are folded in pairs: the
//! even one hands its contribution to the odd one, which stands in for both, and gets the result
//! back at the end (the way of MPICH: Thakur, Rabenseifner, Gropp 2005, section 4.5).
//!
//! ```text
//! ranks = 6, size = 4, extra = 2        rank      0  1  2  3  4  5
//!                                       position     0     1  2  3
//! ```
//!
//! ```
//! use corecast_core::{Rank, pattern::Fold};
//! let fold = Fold::of(6);
//! assert_eq!((fold.size, fold.extra), (4, 2));
//! assert_eq!(fold.rank(1), Rank(3));
//! assert_eq!(fold.rank(2), Rank(4));
//! ```

use crate::ids::Rank;
use crate::schedule::{Arrival, ChunkList, ScheduleBuilder};

/// The positions of a hypercube and the ranks at them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// Number of positions: the largest power of two that is not above the number of ranks.
    pub size: u32,
    /// Ranks without a position: ranks `0, 2, .. 2 * extra - 2`.
    pub extra: u32,
}

impl Fold {
    /// The fold of `ranks` ranks.
    ///
    /// # Panics
    /// If `ranks` is 0.
    #[must_use]
    pub fn of(ranks: u32) -> Self {
        let size = 1 << ranks.ilog2();
        Self {
            size,
            extra: ranks - size,
        }
    }

    /// Dimensions of the hypercube: `log2 size`.
    #[must_use]
    pub fn dimensions(self) -> u32 {
        self.size.ilog2()
    }

    /// Rounds that folding adds before the hypercube rounds, and again after them: 0 or 1.
    #[must_use]
    pub fn rounds(self) -> u32 {
        u32::from(self.extra > 0)
    }

    /// The rank at a position.
    #[must_use]
    pub fn rank(self, position: u32) -> Rank {
        Rank(if position < self.extra {
            2 * position + 1
        } else {
            position + self.extra
        })
    }

    /// The folded pairs: the rank without a position and the rank that stands in for it.
    pub fn pairs(self) -> impl Iterator<Item = (Rank, Rank)> {
        (0..self.extra).map(|pair| (Rank(2 * pair), Rank(2 * pair + 1)))
    }

    /// Appends the round in which contributions are handed in; without extra ranks, nothing.
    pub fn hand_in(self, builder: &mut ScheduleBuilder, round: u32, chunks: ChunkList) {
        for (extra, stand_in) in self.pairs() {
            builder.deliver(round, extra, stand_in, chunks, Arrival::Reduce);
        }
    }

    /// Appends the round in which results are handed back; without extra ranks, nothing.
    pub fn hand_back(self, builder: &mut ScheduleBuilder, round: u32, chunks: ChunkList) {
        for (extra, stand_in) in self.pairs() {
            builder.deliver(round, stand_in, extra, chunks, Arrival::Store);
        }
    }

    /// Appends a round in which every position swaps messages with its neighbour in one
    /// dimension; `chunks` says what a position sends.
    pub fn swap_round(
        self,
        builder: &mut ScheduleBuilder,
        round: u32,
        dimension: u32,
        arrival: Arrival,
        chunks: impl Fn(u32) -> ChunkList,
    ) {
        let messages = (0..self.size).map(|position| {
            let neighbour = position ^ (1 << dimension);
            (self.rank(position), self.rank(neighbour), chunks(position))
        });
        builder.exchange_round(round, arrival, messages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_extras_are_all_the_ranks() {
        for ranks in 1..=33 {
            let fold = Fold::of(ranks);
            let mut all: Vec<Rank> = (0..fold.size).map(|position| fold.rank(position)).collect();
            all.extend(fold.pairs().map(|(extra, _)| extra));
            all.sort_unstable();
            assert_eq!(all, (0..ranks).map(Rank).collect::<Vec<_>>());
        }
    }
}
