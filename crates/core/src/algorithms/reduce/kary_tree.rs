// SPDX-License-Identifier: MIT OR Apache-2.0
//! k-ary tree: partial results go up a tree whose parents are near their children.
//!
//! ```text
//! p = 5, arity 3, root 0     0         round  0           1     2
//!                          / | \              4->1, 3->0  2->0  1->0
//!                         1  2  3
//!                         |
//!                         4
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | R(root), R(i) = max over the children c_j of i, j from 0, of R(c_j) + j + 1 | p - 1 | k n bytes |
//!
//! The tree is that of [`crate::pattern::KaryTree`] from the root of the request; the arity k is
//! `tuning.arity`. A parent combines its children one after the other, the one with the deepest
//! subtree last.
//! Source: Yagna and Mueller 2013, section 3.4 ("a 3-ary tree rooted at the root of the reduce
//! call").

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
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "partial results up a k-ary tree with near parents"
    }

    fn source(&self) -> &'static str {
        "Yagna and Mueller 2013, section 3.4"
    }

    fn cost(&self, request: &Request) -> Cost {
        let tree = pattern::KaryTree::new(request, request.root);
        Cost {
            rounds: u64::from(tree.rounds()),
            messages: u64::from(request.ranks) - 1,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        for (round, child, parent) in pattern::KaryTree::new(request, request.root).up() {
            builder.reduce(round, child, parent, &[chunk]);
        }
        builder.finish()
    }
}
