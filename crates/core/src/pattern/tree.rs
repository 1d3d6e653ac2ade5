// SPDX-License-Identifier: MIT OR Apache-2.0
//! The binomial tree whose subtrees are neighbours.
//!
//! Position 0 is the root. On level `k` every multiple of `2^(k + 1)` is the parent of the
//! position `2^k` above it, whose subtree are the up to `2^k` positions from there on; so a
//! message for a subtree names one run of positions, and a reduction combines neighbours in order.
//! Up the tree the levels are taken in ascending order, down the tree in descending order.
//!
//! ```text
//! p = 6        level 0        level 1      level 2
//!              0-1 2-3 4-5    0-2          0-4
//! ```
//!
//! ```
//! use corecast_core::pattern::binomial_edges;
//! let edges: Vec<_> = binomial_edges(6).map(|e| (e.level, e.parent, e.child, e.span)).collect();
//! assert_eq!(edges, [(0, 0, 1, 1), (0, 2, 3, 1), (0, 4, 5, 1), (1, 0, 2, 2), (2, 0, 4, 2)]);
//! ```

use crate::bounds::log2_ceil;

/// One edge of the tree, in positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeEdge {
    /// Level, `0..ceil(log2 positions)`: the binary logarithm of `child - parent`.
    pub level: u32,
    /// The upper end.
    pub parent: u32,
    /// The lower end.
    pub child: u32,
    /// Number of positions in the child's subtree: `child..child + span`.
    pub span: u32,
}

/// The edges of the tree over `positions` positions, by level and then by position, ascending.
///
/// # Cost
/// `positions - 1` edges on `ceil(log2 positions)` levels; on one level no position occurs twice.
///
/// # Panics
/// If there are no positions, or more than 2^31.
pub fn binomial_edges(positions: u32) -> impl DoubleEndedIterator<Item = TreeEdge> {
    (0..log2_ceil(positions)).flat_map(move |level| {
        let distance = 1_u32 << level;
        let families = (positions - distance).div_ceil(2 * distance);
        (0..families).map(move |family| {
            let parent = family * 2 * distance;
            let child = parent + distance;
            TreeEdge {
                level,
                parent,
                child,
                span: distance.min(positions - child),
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_but_the_root_is_a_child_once_and_spans_add_up() {
        for positions in 1..=70 {
            let mut children: Vec<u32> = binomial_edges(positions).map(|e| e.child).collect();
            children.sort_unstable();
            assert_eq!(children, (1..positions).collect::<Vec<_>>());
            let below_root = binomial_edges(positions).filter(|e| e.parent == 0);
            assert_eq!(below_root.map(|e| e.span).sum::<u32>(), positions - 1);
        }
    }
}
