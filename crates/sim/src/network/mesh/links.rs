// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the links of a mesh have carried, in both fidelities alike.

use corecast_core::{Grid, LinkUse, Side};

/// Every link that has been used, router by router; `flits` tells what has crossed the link that
/// leaves a router on a side.
pub(super) fn used_links<F>(grid: Grid, flits: F) -> impl Iterator<Item = LinkUse>
where
    F: Fn(u32, Side) -> u64,
{
    let sides = |router| Side::ALL.map(|side| (router, side));
    let all = (0..grid.nodes()).flat_map(sides);
    all.filter_map(move |(router, side)| {
        let flits = flits(router, side);
        let next = grid.neighbour(router, side).filter(|_| flits > 0)?;
        Some(LinkUse {
            from: grid.position(router),
            to: grid.position(next),
            flits,
        })
    })
}
