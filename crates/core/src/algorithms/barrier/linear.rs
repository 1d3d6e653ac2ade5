// SPDX-License-Identifier: MIT OR Apache-2.0
//! Central counter: every rank reports to rank 0, which then releases them one after the other.
//!
//! ```text
//! p = 4        round  0     1     2     3     4     5
//!                     1->0  2->0  3->0  0->1  0->2  0->3
//!                     reports           releases
//! ```
//!
//! | rounds | messages |
//! |---|---|
//! | 2 (p - 1) | 2 (p - 1) |
//!
//! Source: the central barrier (Mellor-Crummey and Scott 1991, Algorithms for scalable
//! synchronization, section 3.1) with messages for the counter.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn summary(&self) -> &'static str {
        "every rank reports to rank 0, which releases them one by one"
    }

    fn source(&self) -> &'static str {
        "Mellor-Crummey and Scott 1991, section 3.1"
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        Cost {
            rounds: 2 * (p - 1),
            messages: 2 * (p - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let others = request.ranks - 1;
        for rank in 1..=others {
            builder.reduce(rank - 1, Rank(rank), Rank(0), &[chunk]);
        }
        for rank in 1..=others {
            builder.message(others + rank - 1, Rank(0), Rank(rank), &[chunk]);
        }
        builder.finish()
    }
}
