// SPDX-License-Identifier: MIT OR Apache-2.0
//! Minimum spanning tree: halve the ranks, serve the other half through one rank, recurse.
//!
//! ```text
//! p = 8, root 0        round 0   0 ------------------------> 7
//!                            1   0 --------> 3   4 <-------- 7
//!                            2   0 -> 1  2 <- 3   4 -> 5  6 <- 7
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | ceil(log2 p) | p - 1 | ceil(log2 p) n bytes |
//!
//! The holder of an interval of ranks sends to its mirror image in the other half; the middle rank
//! of an odd interval, which is its own image, to the nearest rank of the other half. Unlike
//! `binomial` this follows the numbers of the ranks for every root, without wrapping around: the
//! intervals of one round are disjoint. It may cross a whole interval; `distance-mst` does not.
//! Source: Barnett, Gupta, Payne, Shuler, van de Geijn 1994; named by Park 2019, section 1. The
//! partner inside the half is free in the recursion; the mirror image is our choice.

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::pattern::{Partner, recursive_halving};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Mst;

impl Algorithm for Mst {
    fn name(&self) -> &'static str {
        "mst"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "minimum spanning tree: recursive halving, to the mirror image in the other half"
    }

    fn source(&self) -> &'static str {
        "Barnett, Gupta, Payne, Shuler, van de Geijn 1994"
    }

    fn cost(&self, request: &Request) -> Cost {
        halving_cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        halving(self.name(), request, Partner::Mirror)
    }
}

/// Cost of [`halving`].
pub(super) fn halving_cost(request: &Request) -> Cost {
    Cost {
        rounds: u64::from(log2_ceil(request.ranks)),
        messages: u64::from(request.ranks) - 1,
    }
}

/// The whole message along a recursive halving of the ranks.
pub(super) fn halving(name: &str, request: &Request, partner: Partner) -> Schedule {
    let mut builder = ScheduleBuilder::new(name, Spec::new(request, Split::Even(1)));
    let chunk = builder.spec().chunk(0, 0);
    for hand_over in recursive_halving(request.ranks, request.root.0, partner) {
        let (from, to) = (Rank(hand_over.from), Rank(hand_over.to));
        builder.message(hand_over.round, from, to, &[chunk]);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_eight_ranks() {
        assert_eq!(
            drawing(&Mst.schedule(&Request::new(Collective::Bcast, 8, 64))),
            ["0->7:0", "0->3:0 7->4:0", "0->1:0 3->2:0 4->5:0 7->6:0"]
        );
    }

    #[test]
    fn the_middle_of_an_odd_interval_sends_to_its_neighbour() {
        let request = Request::new(Collective::Bcast, 5, 64).with_root(Rank(2));
        assert_eq!(
            drawing(&Mst.schedule(&request)),
            ["2->3:0", "2->0:0 3->4:0", "0->1:0"]
        );
    }
}
