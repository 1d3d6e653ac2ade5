// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dissemination: in round k every rank tells the rank 2^k above it all it has heard.
//!
//! ```text
//! p = 5        round  0     1     2
//! rank 0 tells        1     2     4
//! rank 3 tells        4     0     2
//! rank 0 has heard    4,0   2..0  all
//! ```
//!
//! | rounds | messages |
//! |---|---|
//! | ceil(log2 p) | p ceil(log2 p) |
//!
//! Optimal in rounds. A rank may be heard of twice, which a barrier does not mind.
//! Source: Hensgen, Finkel, Manber 1988, Two algorithms for barrier synchronization.

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Dissemination;

impl Algorithm for Dissemination {
    fn name(&self) -> &'static str {
        "dissemination"
    }

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn summary(&self) -> &'static str {
        "every rank tells the rank 2^k above it what it has heard: fewest rounds"
    }

    fn source(&self) -> &'static str {
        "Hensgen, Finkel, Manber 1988"
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
        let chunk = builder.spec().chunk(0, 0);
        let arrived = builder.list(&[chunk]);
        for round in 0..log2_ceil(p) {
            let messages =
                (0..p).map(|rank| (Rank(rank), Rank((rank + (1 << round)) % p), arrived));
            builder.exchange_round(round, Arrival::Reduce, messages);
        }
        builder.finish()
    }
}
