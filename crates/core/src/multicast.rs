//! One message to many ranks over routes fixed in advance, where the chip has a network for it.
//!
//! A multicast is written into a schedule as one send per receiver, all in one round; so everything
//! that is proved about sends is proved about it, and machines without such a network just send.
//! The [`Multicast`] beside the steps says which sends are one, and along which tree.
//!
//! ```
//! use corecast_core::{Grid, Rank, RouteTree};
//! let tree = RouteTree::column_then_rows(&Grid::mesh(3, 2), 6, Rank(1));
//! assert_eq!(tree.parent(Rank(4)), Some(Rank(1)));
//! assert_eq!(tree.parent(Rank(3)), Some(Rank(4)));
//! assert_eq!(tree.depth(Rank(5)), 2);
//! ```

use std::sync::Arc;

use crate::grid::Grid;
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
    /// The tree of Yagna and Mueller 2013, section 3.2: along the root's column, and from there
    /// along the rows, "so that the message from the root flows to each leaf task".
    ///
    /// A last row that does not reach the root's column is entered at its end. Ranks that share a
    /// node hang below the first of them, or below the root.
    #[must_use]
    pub fn column_then_rows(grid: &Grid, ranks: u32, root: Rank) -> Self {
        let nodes = ranks.div_ceil(grid.per_node);
        let (root_x, root_y) = grid.position(grid.node_of(root));
        let row_len = |y: u32| (nodes - y * grid.width).min(grid.width);
        let entry = |y: u32| root_x.min(row_len(y) - 1);
        // The rank that stands for its node in the tree.
        let leader = |node: u32| {
            if node == grid.node_of(root) {
                root
            } else {
                Rank(node * grid.per_node)
            }
        };
        let parent = |rank: Rank| {
            let node = grid.node_of(rank);
            if rank != leader(node) {
                return leader(node);
            }
            let (x, y) = grid.position(node);
            let (from_x, from_y) = match x.cmp(&entry(y)) {
                std::cmp::Ordering::Less => (x + 1, y),
                std::cmp::Ordering::Greater => (x - 1, y),
                std::cmp::Ordering::Equal if y == root_y => (x, y),
                // Towards the root's row; a shorter one is above or left of its neighbour's entry.
                std::cmp::Ordering::Equal if y > root_y => (x, y - 1),
                std::cmp::Ordering::Equal => (x, y + 1),
            };
            leader(grid.node_at(from_x, from_y))
        };
        Self {
            root,
            parents: (0..ranks).map(|rank| parent(Rank(rank))).collect(),
        }
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

/// Sends of one rank that are one multicast.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multicast {
    /// The routes.
    pub tree: Arc<RouteTree>,
    /// First of the root's sends; one per receiver follows, in order of the receivers.
    pub first_step: u32,
    /// Per rank: the step that receives; the root's entry is its first send.
    pub steps: Vec<u32>,
}

impl Multicast {
    /// The root's sends.
    #[must_use]
    pub fn sends(&self) -> std::ops::Range<usize> {
        let first = self.first_step as usize;
        first..first + self.tree.ranks() as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_the_tree_are_neighbours_on_the_grid() {
        for (width, height, per_node) in [(1, 1, 1), (4, 4, 1), (5, 3, 1), (3, 3, 2)] {
            let grid = Grid {
                per_node,
                ..Grid::mesh(width, height)
            };
            for ranks in 1..=grid.ranks_max() {
                for root in (0..ranks).map(Rank) {
                    let tree = RouteTree::column_then_rows(&grid, ranks, root);
                    for (parent, rank) in tree.edges() {
                        assert!(parent.0 < ranks && parent != rank);
                        assert!(grid.hops(parent, rank) <= 1, "{root}: {parent} to {rank}");
                        assert!(tree.depth(rank) <= width + height + 1, "no circle");
                    }
                }
            }
        }
    }
}
