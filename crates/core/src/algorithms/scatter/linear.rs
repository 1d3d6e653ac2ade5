// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequential scatter: the root sends one rank's block after the other.
//!
//! ```text
//! p = 4, root 0        round  0  1  2
//!                      0 -> 1  *
//!                      0 -> 2     *
//!                      0 -> 3        *
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | p - 1 | p - 1 | (p - 1) n bytes, the least possible |
//!
//! Source: Chan, Heimlich, Purkayastha, van de Geijn 2007; the basic linear scatter of MPI
//! libraries.

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
        Collective::Scatter
    }

    fn summary(&self) -> &'static str {
        "sequential: the root sends every block in numeric order"
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
        let order = status::numeric_order(request);
        for (round, &to) in order[1..].iter().enumerate() {
            let block = builder.spec().chunk(to.0, 0);
            builder.message(round as u32, order[0], to, &[block]);
        }
        builder.finish()
    }
}
