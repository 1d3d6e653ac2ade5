// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ring: every block's partial sum travels once around and ends at its owner.
//!
//! ```text
//! p = 4, block sent by each rank
//! round  0  1  2
//! 0->1   3  2  1
//! 1->2   0  3  2
//! 2->3   1  0  3
//! 3->0   2  1  0
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | p - 1 | p (p - 1) | (p - 1) n bytes, the least possible |
//!
//! Block b is combined in the order b + 1, b + 2, ..., b around the ring. Every message goes to a
//! neighbour.
//! Source: Patarasuk and Yuan 2009 (first phase).

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::pattern::ring_pass;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Ring;

impl Algorithm for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn collective(&self) -> Collective {
        Collective::ReduceScatter
    }

    fn summary(&self) -> &'static str {
        "ring: every partial sum travels once around, neighbour to neighbour"
    }

    fn source(&self) -> &'static str {
        "Patarasuk and Yuan 2009"
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
        ring_pass(&mut builder, 0, Arrival::Reduce, request.ranks - 1, blocks);
        builder.finish()
    }
}
