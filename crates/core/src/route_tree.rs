//! A tree of routes, fixed in advance, along which one message reaches many ranks.
//!
//! ```
//! use corecast_core::{Rank, RouteTree};
//! let chain = RouteTree::new(Rank(0), vec![Rank(0), Rank(0), Rank(1)]);
//! assert_eq!(chain.parent(Rank(2)), Some(Rank(1)));
//! assert_eq!(chain.depth(Rank(2)), 2);
//! ```

use crate::ids::Rank;

/// A tree over all ranks in which a message flows from the root to everybody; neighbours in the
/// tree are neighbours on the grid, or share a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteTree {
    root: Rank,
    /// The root is its own parent.
    parents: Vec<Rank>,
}

impl RouteTree {
    /// The tree in which `parents[rank]` is the rank before each; the root is its own.
    ///
    /// # Panics
    /// If the root is no rank, or not its own parent.
    #[must_use]
    pub fn new(root: Rank, parents: Vec<Rank>) -> Self {
        assert_eq!(parents[root.index()], root, "the root is its own parent");
        Self { root, parents }
    }

    /// Where the message comes from.
    #[must_use]
    pub fn root(&self) -> Rank {
        self.root
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.parents.len() as u32 // made of a rank count
    }

    /// The rank before `rank` on the message's way; `None` for the root.
    #[must_use]
    pub fn parent(&self, rank: Rank) -> Option<Rank> {
        (rank != self.root).then(|| self.parents[rank.index()])
    }

    /// Steps of the tree from the root to `rank`.
    #[must_use]
    pub fn depth(&self, rank: Rank) -> u32 {
        let mut depth = 0;
        let mut at = rank;
        while let Some(parent) = self.parent(at) {
            at = parent;
            depth += 1;
        }
        depth
    }

    /// Every rank but the root, with the one before it.
    pub fn edges(&self) -> impl Iterator<Item = (Rank, Rank)> + '_ {
        (0..self.ranks())
            .map(Rank)
            .filter_map(|rank| Some((self.parent(rank)?, rank)))
    }
}
