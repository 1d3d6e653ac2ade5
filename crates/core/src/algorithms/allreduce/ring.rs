// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ring: p partial sums travel around while every rank adds its share, then the results travel on.
//!
//! ```text
//! p = 4, chunk sent by each rank
//! round  0  1  2 |  3  4  5
//! 0->1   3  2  1 |  0  3  2
//! 1->2   0  3  2 |  1  0  3
//! 2->3   1  0  3 |  2  1  0
//! 3->0   2  1  0 |  3  2  1
//!        adding  |  storing
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | 2 (p - 1) | 2 p (p - 1) | 2 (p - 1) / p n bytes, the least possible |
//!
//! The vector is cut into p chunks; chunk c is combined in the order c + 1, c + 2, ..., c around
//! the ring and is complete at rank c after p - 1 rounds.
//! Source: Patarasuk and Yuan 2009, Bandwidth optimal all-reduce algorithms for clusters of
//! workstations.

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
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "ring reduce_scatter, then ring allgather, on p chunks: least bytes per port"
    }

    fn source(&self) -> &'static str {
        "Patarasuk and Yuan 2009"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: 2 * (p - 1),
            messages: 2 * p * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder =
            ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(request.ranks)));
        let chunks: Vec<_> = builder.spec().block_chunks(0).collect();
        let chunks = builder.list(&chunks);
        let last = request.ranks - 1;
        ring_pass(&mut builder, 0, Arrival::Reduce, last, chunks);
        ring_pass(&mut builder, last, Arrival::Store, 0, chunks);
        builder.finish()
    }
}
