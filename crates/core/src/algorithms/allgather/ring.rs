// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ring: every rank passes on to the right what it has just received from the left.
//!
//! ```text
//! p = 4, block sent by each rank
//! round  0  1  2
//! 0->1   0  3  2
//! 1->2   1  0  3
//! 2->3   2  1  0
//! 3->0   3  2  1
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | p - 1 | p (p - 1) | (p - 1) n bytes, the least possible |
//!
//! Every message goes to a neighbour.
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.1.

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
        Collective::Allgather
    }

    fn summary(&self) -> &'static str {
        "ring: every block travels once around, neighbour to neighbour"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.1"
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
        ring_pass(&mut builder, 0, Arrival::Store, 0, blocks);
        builder.finish()
    }
}
