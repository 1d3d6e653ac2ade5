// SPDX-License-Identifier: MIT OR Apache-2.0
//! k-ary tree: reports are gathered up the tree, the release goes down the same way.
//!
//! ```text
//! p = 5, arity 3      0         round  0           1     2     3     4           5
//!                   / | \              4->1, 3->0  2->0  1->0  0->1  0->2, 1->4  0->3
//!                  1  2  3             reports                 releases
//!                  |
//!                  4
//! ```
//!
//! | rounds | messages |
//! |---|---|
//! | 2 R(root), R(i) = max over the children c_j of i, j from 0, of R(c_j) + j + 1 | 2 (p - 1) |
//!
//! Position r reports to position (r - 1) / k; the arity k is `tuning.arity`. Without a grid the
//! positions are the ranks; on a grid the root is in the middle and parents are near
//! ([`crate::pattern::KaryTree`]). A parent hears its children one after the other, the deepest
//! subtree last, and releases that one first. The labels are for ports that take one message at a
//! time; a machine starts a report as soon as it can.
//! Source: Yagna and Mueller 2013, section 2.3 (rooted k-ary trees, "typically k=3 provides optimal
//! performance"); Mellor-Crummey and Scott 1991, section 3.2 (combining tree).

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::pattern;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct KaryTree;

impl Algorithm for KaryTree {
    fn name(&self) -> &'static str {
        "kary-tree"
    }

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn summary(&self) -> &'static str {
        "reports up a k-ary tree, release down the same tree"
    }

    fn source(&self) -> &'static str {
        "Yagna and Mueller 2013; Mellor-Crummey and Scott 1991, section 3.2"
    }

    fn cost(&self, request: &Request) -> Cost {
        let tree = pattern::KaryTree::from_middle(request);
        Cost {
            rounds: 2 * u64::from(tree.rounds()),
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
        for (round, parent, child) in tree.down() {
            builder.message(tree.rounds() + round, parent, child, &[chunk]);
        }
        builder.finish()
    }
}
