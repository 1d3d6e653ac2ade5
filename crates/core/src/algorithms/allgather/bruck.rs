// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bruck's algorithm: in round k every rank sends all it has to the rank 2^k below it.
//!
//! ```text
//! p = 5        round  0     1      2
//! rank 0 sends to     4     3      1
//!              blocks 0     0,1    0
//! rank 3 sends to     2     1      4
//!              blocks 3     3,4    3
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | ceil(log2 p) | p ceil(log2 p) | (p - 1) n bytes |
//!
//! Optimal in rounds and bytes for any rank count. Rank r collects the blocks r, r + 1, ... in
//! order; the last round sends only what is missing. The paper's final rotation of the receive
//! buffer is not needed: chunks have names, and the machine puts them where they belong.
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby 1997, Efficient algorithms for all-to-all
//! communications in multiport message-passing systems (concatenation).

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Bruck;

impl Algorithm for Bruck {
    fn name(&self) -> &'static str {
        "bruck"
    }

    fn collective(&self) -> Collective {
        Collective::Allgather
    }

    fn summary(&self) -> &'static str {
        "every rank sends all it has to the rank 2^k below: fewest rounds for any rank count"
    }

    fn source(&self) -> &'static str {
        "Bruck, Ho, Kipnis, Upfal, Weathersby 1997 (concatenation)"
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
        // Twice around, so that a run of blocks that wraps is still one slice.
        let twice: Vec<_> = (0..2 * p)
            .map(|block| builder.spec().chunk(block % p, 0))
            .collect();
        let twice = builder.list(&twice);
        for round in 0..log2_ceil(p) {
            let distance = 1 << round;
            let len = distance.min(p - distance);
            let messages = (0..p).map(|rank| {
                let to = Rank((rank + p - distance) % p);
                (Rank(rank), to, twice.slice(rank, len))
            });
            builder.exchange_round(round, Arrival::Store, messages);
        }
        builder.finish()
    }
}
