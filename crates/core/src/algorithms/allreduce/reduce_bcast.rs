// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binomial reduction to rank 0, then binomial broadcast of the result.
//!
//! ```text
//! p = 5        round  0           1        2        3        4        5
//!                     1->0 3->2   2->0     4->0     0->4     0->2     0->1 2->3
//!                     adding                        storing
//! ```
//!
//! | rounds | messages | rank 0's port |
//! |---|---|---|
//! | 2 ceil(log2 p) | 2 (p - 1) | n ceil(log2 p) bytes each way |
//!
//! Fewest messages of all; twice the rounds of recursive doubling.
//! Source: Chan, Heimlich, Purkayastha, van de Geijn 2007 (reduce followed by broadcast).

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::pattern::binomial_edges;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct ReduceBcast;

impl Algorithm for ReduceBcast {
    fn name(&self) -> &'static str {
        "reduce-bcast"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "binomial reduce to rank 0, then binomial bcast: fewest messages"
    }

    fn source(&self) -> &'static str {
        "Chan, Heimlich, Purkayastha, van de Geijn 2007"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: 2 * u64::from(log2_ceil(request.ranks)),
            messages: 2 * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let levels = log2_ceil(request.ranks);
        for edge in binomial_edges(request.ranks) {
            builder.reduce(edge.level, Rank(edge.child), Rank(edge.parent), &[chunk]);
        }
        for edge in binomial_edges(request.ranks).rev() {
            let round = 2 * levels - 1 - edge.level;
            builder.message(round, Rank(edge.parent), Rank(edge.child), &[chunk]);
        }
        builder.finish()
    }
}
