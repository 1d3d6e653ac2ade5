// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rounds of Yagna and Mueller 2013, section 3.1: straight messages first, then those that turn
//! left, then those that turn right, each kind by growing hop count.
//!
//! ```text
//! direct x   1 hop, 2 hops, ..., then direct y the same
//! left       along x, then counter-clockwise into the column (east then north, west then south)
//! right      along x, then clockwise (east then south, west then north)
//! ```
//!
//! Messages of one kind and hop count are a *round*. They can share links, and the paper leaves
//! open how they do not: here every message takes, in the order of the senders, the first slot of
//! its round in which all its links are free. A link is idle whenever its round needs it less than
//! the busiest one, so this takes more slots than [`super::contention_free_slots`], which lets
//! messages of all shapes share a slot.

use std::collections::{BTreeMap, BTreeSet};

use super::Slots;
use super::slots::SLOT_RANKS_MAX;
use crate::grid::Grid;
use crate::ids::Rank;
use crate::routes::{LinkId, Routes as _};

/// The links that a slot uses, and its messages.
type Slot = (BTreeSet<LinkId>, Vec<(Rank, Rank)>);

/// Kind and hop count of a message. On grids routed along y first, left and right change places.
fn round_of(grid: &Grid, (from, to): (Rank, Rank)) -> (u32, u32) {
    let at = |rank| grid.position(grid.node_of(rank));
    let ((sx, sy), (dx, dy)) = (at(from), at(to));
    let kind = match (sx == dx, sy == dy) {
        (_, true) => 0,
        (true, false) => 1,
        (false, false) => 2 + u32::from((dx > sx) != (dy > sy)),
    };
    (kind, grid.hops(from, to))
}

/// Slots without contention for all pairs of `ranks` ranks on `grid`, round by round; the bound is
/// the load of the busiest link or port.
///
/// # Panics
/// If there are more than [`SLOT_RANKS_MAX`] ranks, or more than the grid has places.
#[must_use]
pub fn hop_round_slots(grid: &Grid, ranks: u32) -> Slots {
    assert!(
        ranks <= SLOT_RANKS_MAX && ranks <= grid.ranks_max(),
        "{ranks} ranks"
    );
    let all = (0..ranks).map(Rank);
    let mut pairs: Vec<(Rank, Rank)> = all
        .clone()
        .flat_map(|from| all.clone().map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
        .collect();
    pairs.sort_by_cached_key(|&pair| (round_of(grid, pair), pair));
    let mut load: BTreeMap<LinkId, u32> = BTreeMap::new();
    let mut slots = Vec::new();
    for round in pairs.chunk_by(|&a, &b| round_of(grid, a) == round_of(grid, b)) {
        let mut open: Vec<Slot> = Vec::new();
        for &(from, to) in round {
            let mut links = BTreeSet::new();
            grid.visit_links(from, to, &mut |link| {
                links.insert(link);
                *load.entry(link).or_default() += 1;
            });
            match open.iter_mut().find(|(taken, _)| taken.is_disjoint(&links)) {
                Some((taken, slot)) => {
                    taken.extend(links);
                    slot.push((from, to));
                }
                None => open.push((links, vec![(from, to)])),
            }
        }
        slots.extend(open.into_iter().map(|(_, slot)| slot));
    }
    Slots {
        slots,
        bound: load.into_values().max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_one_after_the_other_by_growing_hops() {
        for (width, height) in [(1, 1), (1, 6), (5, 1), (2, 2), (4, 4), (5, 3), (3, 7)] {
            let grid = Grid::mesh(width, height);
            let found = hop_round_slots(&grid, width * height);
            let rounds: Vec<_> = found
                .slots
                .iter()
                .map(|slot| {
                    let first = round_of(&grid, slot[0]);
                    assert!(slot.iter().all(|&pair| round_of(&grid, pair) == first));
                    first
                })
                .collect();
            assert!(rounds.is_sorted(), "{rounds:?}");
            let messages: usize = found.slots.iter().map(Vec::len).sum();
            assert_eq!(messages as u32, width * height * (width * height - 1));
            assert!(found.slots.len() as u32 >= found.bound);
        }
    }
}
