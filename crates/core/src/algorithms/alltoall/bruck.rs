// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bruck's algorithm: a block that has to travel distance d takes the hops that are the bits of d.
//!
//! ```text
//! p = 5, hops of a block by distance
//! distance  1   2   3     4
//! round 0   +1      +1
//! round 1       +2  +2
//! round 2                 +4
//! rank 0 sends in round 1: its block for 2, and the block 4 -> 2 that came in round 0
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | ceil(log2 p) | p ceil(log2 p) | about p / 2 ceil(log2 p) n bytes |
//!
//! Fewest rounds, but blocks travel several times; for short blocks.
//! The paper's rotations before and after are not needed: chunks have names. For the same reason it
//! serves alltoallv as it is.
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby 1997 (index operation).

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

/// For alltoall and alltoallv, which differ in block sizes alone.
pub(crate) struct Bruck(pub Collective);

impl Algorithm for Bruck {
    fn name(&self) -> &'static str {
        "bruck"
    }

    fn collective(&self) -> Collective {
        self.0
    }

    fn summary(&self) -> &'static str {
        "blocks hop by powers of two: fewest rounds, more bytes; for short blocks"
    }

    fn source(&self) -> &'static str {
        "Bruck, Ho, Kipnis, Upfal, Weathersby 1997 (index operation)"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        let rounds = u64::from(log2_ceil(request.ranks));
        Cost {
            rounds,
            messages: p * rounds,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let p = request.ranks;
        for round in 0..log2_ceil(p) {
            let hop = 1 << round;
            let mut messages = Vec::new();
            for rank in 0..p {
                let travelling = (1..p)
                    .filter(|distance| distance & hop != 0)
                    .map(|distance| {
                        // The lower bits have been travelled.
                        let origin = (rank + p - distance % hop) % p;
                        let target = (origin + distance) % p;
                        let spec = builder.spec();
                        spec.chunk(spec.pair_block(Rank(origin), Rank(target)), 0)
                    });
                let travelling: Vec<_> = travelling.collect();
                let to = Rank((rank + hop) % p);
                messages.push((Rank(rank), to, builder.list(&travelling)));
            }
            builder.exchange_round(round, Arrival::Store, messages);
        }
        builder.finish()
    }
}
