// SPDX-License-Identifier: MIT OR Apache-2.0
//! The complete k-ary tree over all ranks, filled level by level, and where its ranks sit.
//!
//! Position 0 is the root; the children of position `i` are `k i + 1` to `k i + k`. Without a grid,
//! positions follow the ranks from the root on. On a grid, a level takes the ranks nearest to the
//! root that are left, and every position the one of them that is nearest to its parent:
//!
//! ```text
//! 3 x 3 mesh, root in the middle, k = 3      ranks  6 7 8      positions  7 6 8
//!                                                   3 4 5                 2 0 3
//!                                                   0 1 2                 4 1 5
//! ```

use crate::grid::Grid;
use crate::ids::Rank;
use crate::request::Request;

/// Ranks beyond which those of a level are taken as they come: seeking the nearest one for every
/// position takes the square of their number.
const NEAREST_RANKS_MAX: u32 = 4096;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct KaryTree {
    /// At most the number of ranks: a larger arity makes the same tree.
    arity: u32,
    /// The rank at every position.
    ranks: Vec<Rank>,
}

impl KaryTree {
    /// The tree of `request` from `root` on; the arity is its `tuning.arity`.
    #[must_use]
    pub fn new(request: &Request, root: Rank) -> Self {
        let (p, arity) = (request.ranks, request.tuning.arity.min(request.ranks));
        let mut first = vec![0];
        let (mut next, mut width) = (1, u64::from(arity));
        while next < u64::from(p) {
            first.push(next as u32);
            next += width;
            width *= u64::from(arity);
        }
        first.push(p);
        let around =
            |position: u32| Rank(((u64::from(root.0) + u64::from(position)) % u64::from(p)) as u32);
        let ranks = match &request.platform.grid {
            None => (0..p).map(around).collect(),
            Some(grid) => placed(grid, p, root, arity, &first),
        };
        Self { arity, ranks }
    }

    /// The tree of `request` with the root in the middle of the grid, if it has one, and rank 0
    /// otherwise.
    #[must_use]
    pub fn from_middle(request: &Request) -> Self {
        let middle = request
            .platform
            .grid
            .map_or(Rank(0), |grid| grid.middle(request.ranks));
        Self::new(request, middle)
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> Rank {
        self.ranks[0]
    }

    /// Rounds from the leaves to the root, one message per port and round: the largest of
    /// `rounds(c) + i + 1` over the children `c` of the root, `i` counted from 0; at most
    /// `depth * k`. As many lead from the root to the leaves.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.heights()[0]
    }

    /// [`KaryTree::rounds`] of the subtree at every position.
    fn heights(&self) -> Vec<u32> {
        let mut heights = vec![0; self.ranks.len()];
        for position in (1..heights.len()).rev() {
            let (parent, index) = self.parent(position as u32);
            heights[parent as usize] = heights[parent as usize].max(heights[position] + index + 1);
        }
        heights
    }

    /// Position of the parent, and which of its children this is.
    fn parent(&self, position: u32) -> (u32, u32) {
        ((position - 1) / self.arity, (position - 1) % self.arity)
    }

    /// The positions of the children.
    fn children(&self, position: u32) -> std::ops::Range<u32> {
        let p = self.ranks.len() as u64;
        let at = |index: u64| (u64::from(position) * u64::from(self.arity) + index).min(p) as u32;
        at(1)..at(1 + u64::from(self.arity))
    }

    /// Messages from the leaves to the root, as (round, child, parent). A parent hears its children
    /// one after the other, the one with the deepest subtree last.
    pub fn up(&self) -> impl Iterator<Item = (u32, Rank, Rank)> + '_ {
        let heights = self.heights();
        (0..self.ranks.len() as u32).rev().flat_map(move |parent| {
            let mut free = 0;
            let children = self.children(parent).rev().map(|child| {
                let round = heights[child as usize].max(free);
                free = round + 1;
                (
                    round,
                    self.ranks[child as usize],
                    self.ranks[parent as usize],
                )
            });
            children.collect::<Vec<_>>()
        })
    }

    /// Messages from the root to the leaves, as (round, parent, child), counted from 0. A parent
    /// tells its children one after the other, the one with the deepest subtree first.
    pub fn down(&self) -> impl Iterator<Item = (u32, Rank, Rank)> + '_ {
        let mut start = vec![0; self.ranks.len()];
        (1..self.ranks.len() as u32).map(move |position| {
            let (parent, index) = self.parent(position);
            let round = start[parent as usize] + index;
            start[position as usize] = round + 1;
            let rank = |position: u32| self.ranks[position as usize];
            (round, rank(parent), rank(position))
        })
    }
}

/// The rank at every position of a tree on a grid.
fn placed(grid: &Grid, p: u32, root: Rank, arity: u32, first: &[u32]) -> Vec<Rank> {
    let mut nearest: Vec<Rank> = (0..p).map(Rank).collect();
    nearest.sort_by_key(|&rank| (grid.hops(root, rank), rank));
    // The root shares its node with others perhaps; it comes first all the same.
    nearest.retain(|&rank| rank != root);
    nearest.insert(0, root);
    if p > NEAREST_RANKS_MAX {
        return nearest;
    }
    let mut ranks = vec![root];
    for level in first[1..].windows(2) {
        let mut left: Vec<Rank> = nearest[level[0] as usize..level[1] as usize].to_vec();
        for position in level[0]..level[1] {
            let parent = ranks[(position as usize - 1) / arity as usize];
            let hops = |index: &usize| (grid.hops(parent, left[*index]), left[*index]);
            let best = (0..left.len())
                .min_by_key(hops)
                .expect("a rank per position");
            ranks.push(left.swap_remove(best));
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Collective;
    use std::collections::BTreeSet;

    fn request(ranks: u32, arity: u32, grid: Option<Grid>) -> Request {
        let mut request = Request::new(Collective::Barrier, ranks, 0);
        request.tuning.arity = arity;
        request.platform.grid = grid;
        request
    }

    #[test]
    fn everybody_but_the_root_has_a_parent_once() {
        for ranks in 1..=40 {
            for arity in 2..=5 {
                for grid in [None, Some(Grid::most_square(ranks))] {
                    let tree = KaryTree::from_middle(&request(ranks, arity, grid));
                    let children: BTreeSet<Rank> = tree.up().map(|(_, child, _)| child).collect();
                    assert_eq!(children.len() as u32, ranks - 1);
                    assert!(!children.contains(&tree.root()));
                    assert_eq!(tree.down().count() as u32, ranks - 1);
                    let rounds = tree.up().map(|(round, ..)| round + 1).max().unwrap_or(0);
                    assert_eq!(rounds, tree.rounds());
                    let rounds = tree.down().map(|(round, ..)| round + 1).max().unwrap_or(0);
                    assert_eq!(rounds, tree.rounds());
                }
            }
        }
    }

    #[test]
    fn on_a_grid_parents_are_near() {
        let hops = |grid| {
            let tree = KaryTree::from_middle(&request(49, 3, grid));
            let of = |(_, child, parent)| Grid::mesh(7, 7).hops(child, parent);
            tree.up().map(of).sum::<u32>()
        };
        let (near, numeric) = (hops(Some(Grid::mesh(7, 7))), hops(None));
        assert!(5 * near < 3 * numeric, "{near} against {numeric} hops");
        let tree = KaryTree::from_middle(&request(49, 3, Some(Grid::mesh(7, 7))));
        assert_eq!(tree.root(), Rank(24));
        let small = KaryTree::from_middle(&request(9, 3, Some(Grid::mesh(3, 3))));
        let positions: Vec<u32> = small.ranks.iter().map(|rank| rank.0).collect();
        assert_eq!(positions, [4, 1, 3, 5, 0, 2, 7, 6, 8]);
    }
}
