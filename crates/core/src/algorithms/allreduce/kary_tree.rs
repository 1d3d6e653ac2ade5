// SPDX-License-Identifier: MIT OR Apache-2.0
//! k-ary tree: partial results go up to the middle of the mesh, the result comes back on a static
//! route.
//!
//! ```text
//! p = 5, arity 3, no grid    round  0           1     2     3
//!                                   4->1, 3->0  2->0  1->0  0 to all
//!                                   adding                  storing
//! ```
//!
//! | rounds | messages |
//! |---|---|
//! | R(root) + 1 (0 for one rank), R(i) = max over the children c_j of i, j from 0, of R(c_j) + j + 1 | 2 (p - 1), of which p - 1 are one multicast on the chip's static network |
//!
//! The tree is that of [`crate::pattern::KaryTree`] from the middle of the grid; the way back is
//! that of the static-route broadcast.
//! Source: Yagna and Mueller 2013, section 3.4 ("a Reduce relative to the root, followed by a
//! broadcast from the root").

use std::sync::Arc;

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::spec::Spec;

use crate::pattern;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};

pub(crate) struct KaryTree;

impl Algorithm for KaryTree {
    fn name(&self) -> &'static str {
        "kary-tree"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "up a k-ary tree to the middle of the mesh, back on a static route"
    }

    fn source(&self) -> &'static str {
        "Yagna and Mueller 2013, section 3.4"
    }

    fn cost(&self, request: &Request) -> Cost {
        let tree = pattern::KaryTree::from_middle(request);
        Cost {
            rounds: u64::from(tree.rounds()) + u64::from(request.ranks > 1),
            messages: 2 * (u64::from(request.ranks) - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let tree = pattern::KaryTree::from_middle(request);
        for (round, child, parent) in tree.up() {
            builder.reduce(round, child, parent, &[chunk]);
        }
        let grid = request.grid_or_square();
        let routes = grid.column_then_rows(request.ranks, tree.root());
        builder.multicast(tree.rounds(), Arc::new(routes), &[chunk]);
        builder.finish()
    }
}
