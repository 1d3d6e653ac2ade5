// SPDX-License-Identifier: MIT OR Apache-2.0
//! Direct: in round i every rank sends its own block straight to the rank i + 1 above it.
//!
//! ```text
//! p = 4        round  0     1     2
//! rank 0 sends to     1     2     3
//! rank 1 sends to     2     3     0
//! rank 2 sends to     3     0     1
//! rank 3 sends to     0     1     2
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | p - 1 | p (p - 1) | (p - 1) n bytes |
//!
//! No block is passed on, so a late rank delays nobody's data but its own. The name is used for
//! several algorithms; this is the one also called spreading-simple. Open MPI's "linear" instead
//! gathers at rank 0 and broadcasts.
//! Source: Faraj and Yuan 2005, Automatic generation and tuning of MPI collective communication
//! routines (spreading simple).

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Allgather
    }

    fn summary(&self) -> &'static str {
        "direct: every rank sends its own block to all others in rotating order"
    }

    fn source(&self) -> &'static str {
        "Faraj and Yuan 2005 (spreading simple)"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: p - 1,
            messages: p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let blocks: Vec<_> = (0..request.ranks)
            .map(|block| builder.spec().chunk(block, 0))
            .collect();
        let blocks = builder.list(&blocks);
        let p = request.ranks;
        for distance in 1..p {
            let messages = (0..p).map(|rank| {
                let to = Rank((rank + distance) % p);
                (Rank(rank), to, blocks.slice(rank, 1))
            });
            builder.exchange_round(distance - 1, Arrival::Store, messages);
        }
        builder.finish()
    }
}
