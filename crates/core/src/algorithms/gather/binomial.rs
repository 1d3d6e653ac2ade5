// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binomial tree: every rank collects the blocks of its subtree before it sends them up.
//!
//! ```text
//! p = 5, root 0        round  0                 1              2
//!                      1->0 [1]  3->2 [3]       2->0 [2-3]     4->0 [4]
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | ceil(log2 p) | p - 1 | (p - 1) n bytes, the least possible |
//!
//! Positions are counted from the root; a subtree is a run of positions, so a message is one run of
//! blocks (around the end of the ranks, two).
//! Source: Chan, Heimlich, Purkayastha, van de Geijn 2007 (minimum spanning tree gather).

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::pattern::{Rotation, binomial_edges};
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Binomial;

impl Algorithm for Binomial {
    fn name(&self) -> &'static str {
        "binomial"
    }

    fn collective(&self) -> Collective {
        Collective::Gather
    }

    fn summary(&self) -> &'static str {
        "binomial tree: every rank collects its subtree before it sends up"
    }

    fn source(&self) -> &'static str {
        "Chan, Heimlich, Purkayastha, van de Geijn 2007"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: u64::from(log2_ceil(request.ranks)),
            messages: p - 1,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let around = Rotation::of(request);
        let blocks: Vec<_> = (0..request.ranks)
            .map(|position| builder.spec().chunk(around.rank(position).0, 0))
            .collect();
        let blocks = builder.list(&blocks);
        for edge in binomial_edges(request.ranks) {
            let (from, to) = (around.rank(edge.child), around.rank(edge.parent));
            let subtree = blocks.slice(edge.child, edge.span);
            builder.deliver(edge.level, from, to, subtree, Arrival::Store);
        }
        builder.finish()
    }
}
