// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binomial tree: every rank that has the message sends it on in every round.
//!
//! ```text
//! p = 8, root 0        round  0   1        2
//!                      0->1   0->2 1->3   0->4 1->5 2->6 3->7
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | ceil(log2 p) | p - 1 | ceil(log2 p) n bytes |
//!
//! Positions are counted from the root; in round k the holders are positions 0..2^k.
//! The number of rounds is optimal for whole messages.
//! Source: Park 2019, section 1, citing Seidel 1993.

use crate::algorithm::{Algorithm, Cost};
use crate::bounds::log2_ceil;
use crate::collective::{Collective, Split};
use crate::pattern::Rotation;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Binomial;

impl Algorithm for Binomial {
    fn name(&self) -> &'static str {
        "binomial"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "binomial tree: the number of ranks that hold the message doubles every round"
    }

    fn source(&self) -> &'static str {
        "Seidel 1993, Broadcasting on Linear Arrays and Meshes"
    }

    fn cost(&self, request: &Request) -> Cost {
        Cost {
            rounds: u64::from(log2_ceil(request.ranks)),
            messages: u64::from(request.ranks) - 1,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let around = Rotation::of(request);
        let chunk = builder.spec().chunk(0, 0);
        for round in 0..log2_ceil(request.ranks) {
            let holders = 1 << round;
            for from in 0..holders.min(request.ranks - holders) {
                builder.message(
                    round,
                    around.rank(from),
                    around.rank(from + holders),
                    &[chunk],
                );
            }
        }
        builder.finish()
    }
}
