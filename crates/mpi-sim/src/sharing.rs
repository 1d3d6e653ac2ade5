// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which ranks share a core.

use std::ops::Range;

/// Bytes before a packet's body, where a rank has a core to itself.
pub const HEAD_BYTES: usize = 12;

/// So many ranks on every core, those that follow each other together; the last core may have fewer.
///
/// ```
/// use corecast_mpi_sim::Sharing;
/// let sharing = Sharing::new(7, 3);
/// assert_eq!(sharing.cores(), 3);
/// assert_eq!(sharing.ranks_of(2), 6..7);
/// assert_eq!(sharing.core_of(5), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sharing {
    ranks: u32,
    per_core: u32,
}

impl Sharing {
    /// Most ranks of one core: a message names both of its ranks in two bytes each.
    pub const MOST: u32 = 1 << 16;

    /// So many ranks, of which each core has `per_core`.
    ///
    /// # Panics
    /// If a core has none, or more than [`Sharing::MOST`].
    #[must_use]
    pub fn new(ranks: u32, per_core: u32) -> Self {
        assert!(
            (1..=Self::MOST).contains(&per_core),
            "{per_core} ranks on a core"
        );
        Self { ranks, per_core }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of cores.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.ranks.div_ceil(self.per_core)
    }

    /// Ranks of every core but perhaps the last.
    #[must_use]
    pub fn per_core(&self) -> u32 {
        self.per_core
    }

    /// Whether ranks have a core to themselves.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.per_core == 1
    }

    /// A rank's core.
    #[must_use]
    pub fn core_of(&self, rank: u32) -> u32 {
        rank / self.per_core
    }

    /// The ranks of a core.
    #[must_use]
    pub fn ranks_of(&self, core: u32) -> Range<u32> {
        let first = core * self.per_core;
        first..self.ranks.min(first.saturating_add(self.per_core))
    }

    /// Bytes before a packet's body: where several ranks have a core a message says which of them it is
    /// from and for.
    #[must_use]
    pub fn head_bytes(&self) -> usize {
        match self.is_alone() {
            true => HEAD_BYTES,
            false => HEAD_BYTES + 4,
        }
    }
}
