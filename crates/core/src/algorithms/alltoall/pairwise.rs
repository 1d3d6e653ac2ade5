// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairwise: p - 1 rounds, in each of which every rank sends to one and receives from one.
//!
//! ```text
//! p = 4, XOR pairs    round  0         1         2
//! swapping                   0-1 2-3   0-2 1-3   0-3 1-2
//! p = 5, rotation     round  0         1         2         3
//! rank r sends to            r+1       r+2       r+3       r+4
//! rank r receives from       r-1       r-2       r-3       r-4
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | p - 1 | p (p - 1) | (p - 1) n bytes |
//!
//! The fewest rounds in which every block goes straight to its receiver. For powers of two the
//! partner is `rank XOR (round + 1)`, so both directions of a pair are one swap.
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.3.

use super::pair_list;
use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

/// For alltoall and alltoallv, which differ in block sizes alone.
pub(crate) struct Pairwise(pub Collective);

impl Algorithm for Pairwise {
    fn name(&self) -> &'static str {
        "pairwise"
    }

    fn collective(&self) -> Collective {
        self.0
    }

    fn summary(&self) -> &'static str {
        "every round a permutation: straight from sender to receiver, ports always busy"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.3"
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
        let p = request.ranks;
        for distance in 1..p {
            let mut messages = Vec::new();
            for rank in 0..p {
                let to = if p.is_power_of_two() {
                    rank ^ distance
                } else {
                    (rank + distance) % p
                };
                let (from, to) = (Rank(rank), Rank(to));
                messages.push((from, to, pair_list(&mut builder, from, to)));
            }
            builder.exchange_round(distance - 1, Arrival::Store, messages);
        }
        builder.finish()
    }
}
