// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a link of a mesh has carried: what simulators count and pictures show.
//!
//! ```
//! use corecast_core::LinkUse;
//! let east = LinkUse { from: (0, 0), to: (1, 0), flits: 7 };
//! assert_eq!(east.to.0 - east.from.0, 1);
//! ```

use std::collections::BTreeMap;

/// Coordinates of the routers that a link leaves and enters.
pub type LinkEnds = ((u32, u32), (u32, u32));

/// What one link of a mesh carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkUse {
    /// Coordinates (x, y) of the router that it leaves.
    pub from: (u32, u32),
    /// Coordinates of the router that it enters.
    pub to: (u32, u32),
    /// Flits that crossed it; those of a static network are words.
    pub flits: u64,
}

/// What a picture says of links between neighbours. Of several side by side, as two networks have
/// them, it is what the busiest carried: no link carries the sum.
#[must_use]
pub fn busiest_links(links: &[LinkUse]) -> BTreeMap<LinkEnds, u64> {
    let mut busiest = BTreeMap::new();
    for link in links {
        let flits = busiest.entry((link.from, link.to)).or_default();
        *flits = link.flits.max(*flits);
    }
    busiest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_links_side_by_side_the_busiest_counts() {
        let link = |to, flits| LinkUse {
            from: (0, 0),
            to,
            flits,
        };
        let links = [
            link((1, 0), 3),
            link((1, 0), 5),
            link((0, 1), 2),
            link((1, 0), 4),
        ];
        let busiest: Vec<_> = busiest_links(&links).into_iter().collect();
        assert_eq!(busiest, [(((0, 0), (0, 1)), 2), (((0, 0), (1, 0)), 5)]);
    }
}
