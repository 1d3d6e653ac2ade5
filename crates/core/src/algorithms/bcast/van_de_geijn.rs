// SPDX-License-Identifier: MIT OR Apache-2.0
//! Van de Geijn: scatter p parts along a minimum spanning tree, then collect them in a ring.
//!
//! ```text
//! p = 4, root 0        round 0   0 -> 3: parts 2 3
//!                            1   0 -> 1: part 1       3 -> 2: part 2
//!                            2   every rank r -> r+1: part r
//!                            3   every rank r -> r+1: part r-1
//!                            4   every rank r -> r+1: part r-2
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | ceil(log2 p) + p - 1 | (p - 1) + p (p - 1) | 2 (p - 1) / p n bytes |
//!
//! Part r of the p even parts belongs to rank r. Every message has its place even if its part is
//! empty, so the cost does not depend on n. The ring also brings back to the root, and to the
//! inner ranks of the tree, parts they hold already; this is the published algorithm.
//! Source: Barnett, Gupta, Payne, Shuler, van de Geijn 1994 (scatter and collect for long
//! vectors), cited by Park 2019, section 1.

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::{ChunkId, Rank};
use crate::pattern::{Partner, pass_on, recursive_halving};
use crate::request::Request;
use crate::schedule::{ChunkList, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct VanDeGeijn;

impl Algorithm for VanDeGeijn {
    fn name(&self) -> &'static str {
        "van-de-geijn"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "scatter along a minimum spanning tree, then a ring allgather"
    }

    fn source(&self) -> &'static str {
        "Barnett, Gupta, Payne, Shuler, van de Geijn 1994"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: u64::from(log2_ceil(request.ranks)) + p - 1,
            messages: (p - 1) + p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let ranks = request.ranks;
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(ranks)));
        let everyone: Vec<Rank> = (0..ranks).map(Rank).collect();
        scatter(&mut builder, &everyone, request.root.0);
        collect(&mut builder, log2_ceil(ranks), &everyone, ranks);
        builder.finish()
    }
}

/// Brings part `i` from the rank at position `holder` to the rank at position `i`.
pub(super) fn scatter(builder: &mut ScheduleBuilder, members: &[Rank], holder: u32) {
    for half in recursive_halving(members.len() as u32, holder, Partner::Mirror) {
        let parts: Vec<ChunkId> = (half.first..=half.last)
            .map(|part| builder.spec().chunk(0, part))
            .collect();
        let (from, to) = (members[half.from as usize], members[half.to as usize]);
        builder.message(half.round, from, to, &parts);
    }
}

/// Brings every part to every rank of `ring`, where position `i` starts with part `i`; positions
/// from `parts` on start with nothing and send nothing in the turn of the part they lack.
///
/// Takes `ring.len() - 1` rounds from `start` on and `parts * (ring.len() - 1)` messages.
pub(super) fn collect(builder: &mut ScheduleBuilder, start: u32, ring: &[Rank], parts: u32) {
    let size = ring.len() as u32;
    let lists: Vec<ChunkList> = (0..parts.min(size))
        .map(|part| builder.list(&[builder.spec().chunk(0, part)]))
        .collect();
    for turn in 0..size - 1 {
        // The part that a position passes on in this turn: its own, then what came in last.
        let passed_on = |position: u32| lists.get(((position + size - turn) % size) as usize);
        for position in 0..size {
            let (before, after) = ((position + size - 1) % size, (position + 1) % size);
            let send = passed_on(position).map(|&part| (ring[after as usize], part));
            let recv = passed_on(before).map(|&part| (ring[before as usize], part));
            if let Some(op) = pass_on(send, recv) {
                builder.push(start + turn, ring[position as usize], op);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_four_ranks() {
        assert_eq!(
            drawing(&VanDeGeijn.schedule(&Request::new(Collective::Bcast, 4, 64))),
            [
                "0->3:2,3",
                "0->1:1 3->2:2",
                "0->1:0 1->2:1 2->3:2 3->0:3",
                "0->1:3 1->2:0 2->3:1 3->0:2",
                "0->1:2 1->2:3 2->3:0 3->0:1",
            ]
        );
    }
}
