// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binomial tree: in every round half of the ranks that still hold a partial result hand it on.
//!
//! ```text
//! p = 5, root 0        round  0           1        2
//!                      1->0 3->2          2->0     4->0
//! partial results      0+1, 2+3, 4        0..3, 4  0..4
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | ceil(log2 p) | p - 1 | ceil(log2 p) n bytes |
//!
//! Positions are counted from the root; neighbours are combined first, the lower position on the
//! left, so the order of combination is that of the positions.
//! In time this is the mirror image of a binomial broadcast whose distances halve.
//! Source: Chan, Heimlich, Purkayastha, van de Geijn 2007 (minimum spanning tree reduce);
//! MPICH's binomial reduction (Thakur, Rabenseifner, Gropp 2005, section 4.5).

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::pattern::{Rotation, binomial_edges};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Binomial;

impl Algorithm for Binomial {
    fn name(&self) -> &'static str {
        "binomial"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "binomial tree: the number of partial results halves every round"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.5"
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
        let chunk = builder.spec().chunk(0, 0);
        let around = Rotation::of(request);
        for edge in binomial_edges(request.ranks) {
            let (from, to) = (around.rank(edge.child), around.rank(edge.parent));
            builder.reduce(edge.level, from, to, &[chunk]);
        }
        builder.finish()
    }
}
