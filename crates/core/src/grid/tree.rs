// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tree of a multicast over the nodes of a grid.

use super::Grid;
use crate::ids::Rank;
use crate::route_tree::RouteTree;

impl Grid {
    /// The tree of Yagna and Mueller 2013, section 3.2: along the root's column, and from there
    /// along the rows, "so that the message from the root flows to each leaf task".
    ///
    /// A last row that does not reach the root's column is entered at its end. Ranks that share a
    /// node hang below the first of them, or below the root.
    #[must_use]
    pub fn column_then_rows(&self, ranks: u32, root: Rank) -> RouteTree {
        let grid = self;
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
        let parents = (0..ranks).map(|rank| parent(Rank(rank))).collect();
        RouteTree::new(root, parents)
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
                    let tree = grid.column_then_rows(ranks, root);
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
