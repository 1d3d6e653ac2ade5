// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups: ordered lists of ranks.
#![forbid(unsafe_code)]

use std::sync::Arc;

/// A list of processes, each by its rank among all ([`crate::handle::CommId::WORLD`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    ranks: Arc<[u32]>,
    /// The first, where the others follow it one by one.
    first: Option<u32>,
}

impl Group {
    /// The group of these processes, in this order.
    #[must_use]
    pub fn new(ranks: Vec<u32>) -> Self {
        let first = ranks.first().copied().unwrap_or(0);
        let is_row = (first..).zip(&ranks).all(|(next, &rank)| next == rank);
        Self {
            first: is_row.then_some(first),
            ranks: ranks.into(),
        }
    }

    /// The processes in the order of the group.
    #[must_use]
    pub fn world_ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Whether every process has here the rank that it has among all.
    #[inline]
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.first == Some(0)
    }

    /// Number of processes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// The rank here of a process.
    #[must_use]
    pub fn rank_of(&self, world: u32) -> Option<u32> {
        if let Some(first) = self.first {
            let rank = world.wrapping_sub(first);
            return ((rank as usize) < self.ranks.len()).then_some(rank);
        }
        let at = self.ranks.iter().position(|&rank| rank == world)?;
        Some(at as u32)
    }
}
