// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairwise: in round i every rank sends its share of one block straight to the block's owner.
//!
//! ```text
//! p = 4        round  0     1     2
//! rank 0 sends to     1     2     3
//! rank 1 sends to     2     3     0
//! rank 2 sends to     3     0     1
//! rank 3 sends to     0     1     2      each time the receiver's block
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | p - 1 | p (p - 1) | (p - 1) n bytes, the least possible |
//!
//! Rank r combines in the order r, r - 1, r - 2, ... (modulo p). Nothing is passed on, so no rank
//! waits for a sum of others.
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.4 (pairwise exchange).

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Pairwise;

impl Algorithm for Pairwise {
    fn name(&self) -> &'static str {
        "pairwise"
    }

    fn collective(&self) -> Collective {
        Collective::ReduceScatter
    }

    fn summary(&self) -> &'static str {
        "every rank sends each share straight to the owner of the block"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.4"
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
                let to = (rank + distance) % p;
                (Rank(rank), Rank(to), blocks.slice(to, 1))
            });
            builder.exchange_round(distance - 1, Arrival::Reduce, messages);
        }
        builder.finish()
    }
}
