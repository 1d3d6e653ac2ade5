// SPDX-License-Identifier: MIT OR Apache-2.0
//! A tree of routes, fixed in advance, along which one message reaches many ranks.
//!
//! A schedule has such a tree per multicast: the root's step sends, and every other rank on the tree
//! has a step that receives. The verifier takes it for one message to each receiver, which all take it at the
//! same time; machines without a network for it send to one after the other.
//!
//! ```
//! use corecast_core::{Rank, RouteTree};
//! let chain = RouteTree::new(Rank(0), vec![Rank(0), Rank(0), Rank(1)]);
//! assert_eq!(chain.parent(Rank(2)), Some(Rank(1)));
//! assert_eq!(chain.depth(Rank(2)), 2);
//! let some = RouteTree::to_some(Rank(0), 3, &[(Rank(0), Rank(2))]);
//! assert_eq!((some.edges().count(), some.parent(Rank(1))), (1, None));
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::ids::Rank;

/// A tree over all ranks or some of them, in which a message flows from the root to the others.
/// Where all are on it neighbours in the tree are neighbours on the grid, or share a node; where some
/// are not, routes lead past them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteTree {
    root: Rank,
    /// The rank before each; none for the root and for ranks that are not on the tree.
    parents: Vec<Option<Rank>>,
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
        let mut parents: Vec<Option<Rank>> = parents.into_iter().map(Some).collect();
        parents[root.index()] = None;
        Self { root, parents }
    }

    /// The tree with these edges, from the rank before to the rank behind it, among `ranks` ranks; the
    /// other ranks are not on it. As with [`RouteTree::new`], who verifies looks at the ways.
    ///
    /// # Panics
    /// If the root or the end of an edge is no rank, or the root or one rank twice is behind another.
    #[must_use]
    pub fn to_some(root: Rank, ranks: u32, edges: &[(Rank, Rank)]) -> Self {
        let mut parents = vec![None; ranks as usize];
        assert!(root.0 < ranks, "the root is a rank");
        for &(parent, rank) in edges {
            assert!(rank != root, "nobody is before the root");
            let before = parents[rank.index()].replace(parent);
            assert_eq!(before, None, "rank {rank} has one rank before it");
        }
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
        for (_, start) in self.edges() {
            let mut at = start;
            while known.get(at.index()) == Some(&Known::Nothing) {
                known[at.index()] = Known::OnTheWay;
                way.push(at);
                // Who is not on the tree leads nowhere.
                let Some(parent) = self.parents[at.index()] else {
                    return Some(start);
                };
                at = parent;
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

    /// Number of ranks, on the tree or not.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.parents.len() as u32 // made of a rank count
    }

    /// The rank before `rank` on the message's way; `None` for the root and for ranks that are not on
    /// the tree.
    #[must_use]
    pub fn parent(&self, rank: Rank) -> Option<Rank> {
        self.parents[rank.index()]
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

    /// Every receiver, which is every rank on the tree but the root, with the one before it.
    pub fn edges(&self) -> impl Iterator<Item = (Rank, Rank)> + '_ {
        (0..self.ranks())
            .map(Rank)
            .filter_map(|rank| Some((self.parent(rank)?, rank)))
    }
}

/// As `0>1,4 1>2`: every rank that sends the message on, and to whom.
impl fmt::Display for RouteTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut branches: BTreeMap<Rank, Vec<String>> = BTreeMap::new();
        for (parent, rank) in self.edges() {
            branches.entry(parent).or_default().push(rank.to_string());
        }
        let branches = branches.iter();
        let branches = branches.map(|(parent, ranks)| format!("{parent}>{}", ranks.join(",")));
        f.write_str(&branches.collect::<Vec<_>>().join(" "))
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
        let to_some = |edges: &[(u32, u32)]| {
            let edges: Vec<_> = edges.iter().map(|&(a, b)| (Rank(a), Rank(b))).collect();
            RouteTree::to_some(Rank(0), 5, &edges).stray()
        };
        assert_eq!(to_some(&[(0, 3), (3, 1)]), None);
        assert_eq!(to_some(&[]), None);
        assert_eq!(
            to_some(&[(0, 3), (2, 1)]),
            Some(Rank(1)),
            "rank 2 is not on it"
        );
        assert_eq!(to_some(&[(3, 1), (1, 3)]), Some(Rank(1)), "a circle");
    }
}
