// SPDX-License-Identifier: MIT OR Apache-2.0
//! Static route: one message along a tree of routes that are configured in advance.
//!
//! ```text
//! 4 x 3 mesh, root 5       8 <- 9 -> 10 -> 11
//!                               ^
//!                          4 <- 5 ->  6 ->  7
//!                               v
//!                          0 <- 1 ->  2 ->  3
//! ```
//!
//! | rounds | messages |
//! |---|---|
//! | 1 (0 for one rank) | p - 1, on the chip's static network a single one that forks |
//!
//! Every link of the tree carries the message once. On machines without a static network the root
//! sends to one rank after the other.
//! Source: Yagna and Mueller 2013, section 3.2 and Figure 4.

use std::sync::Arc;

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::spec::Spec;

use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};

pub(crate) struct StaticRoute;

impl Algorithm for StaticRoute {
    fn name(&self) -> &'static str {
        "static-route"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "one message that forks along the root's column and then the rows"
    }

    fn source(&self) -> &'static str {
        "Yagna and Mueller 2013, section 3.2"
    }

    fn cost(&self, request: &Request) -> Cost {
        Cost {
            rounds: u64::from(request.ranks > 1),
            messages: u64::from(request.ranks) - 1,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let grid = request.grid_or_square();
        let tree = grid.column_then_rows(request.ranks, request.root);
        let chunk = builder.spec().chunk(0, 0);
        builder.multicast(0, Arc::new(tree), &[chunk]);
        builder.finish()
    }
}
