// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequential reduction: the root receives one rank's vector after the other.
//!
//! ```text
//! p = 4, root 0        round  0  1  2
//!                      1 -> 0  +
//!                      2 -> 0     +
//!                      3 -> 0        +
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | p - 1 | p - 1 | (p - 1) n bytes |
//!
//! The root combines in numeric order: `((own + 0) + 1) + ...`.
//! Source: Chan, Heimlich, Purkayastha, van de Geijn 2007, Collective communication: theory,
//! practice, and experience; the basic linear reduction of MPI libraries.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;
use crate::status;

pub(crate) struct Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "sequential: the root receives and adds every vector in numeric order"
    }

    fn source(&self) -> &'static str {
        "Chan, Heimlich, Purkayastha, van de Geijn 2007"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: p - 1,
            messages: p - 1,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let order = status::numeric_order(request);
        for (round, &from) in order[1..].iter().enumerate() {
            builder.reduce(round as u32, from, order[0], &[chunk]);
        }
        builder.finish()
    }
}
