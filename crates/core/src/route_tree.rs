//! A tree of routes, fixed in advance, along which one message reaches many ranks.
//!
//! A schedule has such a tree per multicast: the root's step sends, and every other rank has a step
//! that receives. The verifier takes it for one message to each receiver, which all take it at the
//! same time; machines without a network for it send to one after the other.
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
    /// Whether every rank's way leads to the root is not looked at: [`crate::verify()`] refuses a
    /// schedule in which it does not ([`RouteTree::stray`]).
    ///
    /// # Panics
    /// If the root is no rank, or not its own parent.
    #[must_use]
    pub fn new(root: Rank, parents: Vec<Rank>) -> Self {
        assert_eq!(parents[root.index()], root, "the root is its own parent");
        Self { root, parents }
    }

    /// A rank from which no way leads to the root; `None` if this is a tree.
    #[must_use]
    pub fn stray(&self) -> Option<Rank> {
        // What is known of a rank: nothing, that it is on the way looked at, that it is in the tree.
        #[derive(Clone, Copy, PartialEq)]
        enum Known {
            Nothing,
            OnTheWay,
            Inside,
        }
        let mut known = vec![Known::Nothing; self.parents.len()];
        known[self.root.index()] = Known::Inside;
        let mut way = Vec::new();
        for start in (0..self.ranks()).map(Rank) {
            let mut at = start;
            while known.get(at.index()) == Some(&Known::Nothing) {
                known[at.index()] = Known::OnTheWay;
                way.push(at);
                at = self.parents[at.index()];
            }
            if known.get(at.index()) != Some(&Known::Inside) {
                return Some(start);
            }
            for rank in way.drain(..) {
                known[rank.index()] = Known::Inside;
            }
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_does_not_lead_to_the_root_is_found() {
        let stray = |parents: &[u32]| {
            let parents: Vec<Rank> = parents.iter().copied().map(Rank).collect();
            RouteTree::new(Rank(0), parents).stray()
        };
        assert_eq!(stray(&[0, 0, 1, 2]), None);
        assert_eq!(stray(&[0, 3, 0, 2]), None);
        assert_eq!(
            stray(&[0, 0, 3, 2]),
            Some(Rank(2)),
            "two send to each other"
        );
        assert_eq!(stray(&[0, 1, 0, 0]), Some(Rank(1)), "one sends to itself");
        assert_eq!(stray(&[0, 0, 0, 4]), Some(Rank(3)), "there is no rank 4");
    }
}
