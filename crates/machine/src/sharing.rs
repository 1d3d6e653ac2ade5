// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which ranks share a core.

use std::ops::Range;

/// So many ranks on every core, those that follow each other together; the last core may have fewer.
///
/// ```
/// use corecast_machine::Sharing;
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

    /// Bytes of a message that say which ranks of two cores it is between.
    pub const PLACES_BYTES: usize = 4;

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

    /// What a message says of its ranks where several have a core: which of them it is from and for.
    ///
    /// # Panics
    /// If they are no ranks.
    #[must_use]
    pub fn places(&self, from: u32, to: u32) -> [u8; Self::PLACES_BYTES] {
        assert!(from.max(to) < self.ranks, "{from} to {to}");
        let place = |rank: u32| ((rank % self.per_core) as u16).to_le_bytes();
        let ([a, b], [c, d]) = (place(from), place(to));
        [a, b, c, d]
    }

    /// The inverse of [`Sharing::places`], for two cores: the ranks.
    ///
    /// # Panics
    /// If there are not so many bytes.
    #[must_use]
    pub fn at_places(&self, [from_core, to_core]: [u32; 2], places: &[u8]) -> [u32; 2] {
        let rank = |core: u32, at: usize| {
            let place = u16::from_le_bytes([places[at], places[at + 1]]);
            self.ranks_of(core).start + u32::from(place)
        };
        [rank(from_core, 0), rank(to_core, 2)]
    }
}
