// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequential tree: the root sends the whole message to one rank after the other.
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
//! | p - 1 | p - 1 | (p - 1) n bytes |
//!
//! Source: "sequential tree algorithm, in which the root node sends an individual message to all
//! participating nodes" (Chung 2011, section 2; Park 2019, section 1, citing Vadhiyar, Fagg and
//! Dongarra 2000).

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
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "sequential tree: the root sends to every rank in numeric order"
    }

    fn source(&self) -> &'static str {
        "Chung 2011, section 2; Vadhiyar, Fagg, Dongarra 2000"
    }

    fn cost(&self, request: &Request) -> Cost {
        let others = u64::from(request.ranks) - 1;
        Cost {
            rounds: others,
            messages: others,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        sequential_sends(self.name(), request, &status::numeric_order(request)).finish()
    }
}

/// One whole message from the first rank of `order` to each of the others, in this order.
pub(super) fn sequential_sends(
    name: &str,
    request: &Request,
    order: &[crate::ids::Rank],
) -> ScheduleBuilder {
    let mut builder = ScheduleBuilder::new(name, Spec::new(request, Split::Even(1)));
    let chunk = builder.spec().chunk(0, 0);
    for (round, &to) in order[1..].iter().enumerate() {
        builder.message(round as u32, order[0], to, &[chunk]);
    }
    builder
}
