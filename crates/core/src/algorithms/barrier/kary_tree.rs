//! k-ary tree: reports are gathered up the tree, the release goes down the same way.
//!
//! ```text
//! p = 5, arity 3      0         round  0     1     2     3     4     5     6     7
//!                   / | \              4->1  1->0  2->0  3->0  0->1  0->2  0->3  1->4
//!                  1  2  3             reports                 releases
//!                  |
//!                  4
//! ```
//!
//! With depth D and m ranks on the deepest level:
//!
//! | rounds | messages |
//! |---|---|
//! | 2 ((D - 1) k + min(k, m)) (0 for one rank) | 2 (p - 1) |
//!
//! Rank r reports to rank (r - 1) / k; the arity k is `tuning.arity`. A parent hears its children
//! one after the other in numeric order, so each level above the deepest takes k rounds. The labels
//! are for ports that take one message at a time; a machine starts a report as soon as it can.
//! Source: Yagna and Mueller 2013, section 2.3 (rooted k-ary trees, "typically k=3 provides optimal
//! performance"); Mellor-Crummey and Scott 1991, section 3.2 (combining tree).

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Spec, Split};
use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};

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
        Cost {
            rounds: 2 * u64::from(Tree::of(request).rounds_up()),
            messages: 2 * (u64::from(request.ranks) - 1),
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let chunk = builder.spec().chunk(0, 0);
        let tree = Tree::of(request);
        for level in (1..=tree.depth()).rev() {
            for rank in tree.level(level) {
                builder.reduce(
                    tree.round_up(level, rank),
                    Rank(rank),
                    tree.parent(rank),
                    &[chunk],
                );
            }
        }
        for level in 1..=tree.depth() {
            for rank in tree.level(level) {
                let round = tree.rounds_up() + (level - 1) * tree.arity + tree.child_index(rank);
                builder.message(round, tree.parent(rank), Rank(rank), &[chunk]);
            }
        }
        builder.finish()
    }
}

/// The complete tree over all ranks, filled level by level.
struct Tree {
    /// At most the number of ranks: a larger arity makes the same tree.
    arity: u32,
    /// First rank of every level, and the number of ranks at the end.
    first: Vec<u32>,
}

impl Tree {
    fn of(request: &Request) -> Self {
        let arity = request.tuning.arity.min(request.ranks);
        let mut first = vec![0];
        let (mut next, mut width) = (1, u64::from(arity));
        while next < u64::from(request.ranks) {
            first.push(next as u32);
            next += width;
            width *= u64::from(arity);
        }
        first.push(request.ranks);
        Self { arity, first }
    }

    fn depth(&self) -> u32 {
        self.first.len() as u32 - 2
    }

    fn level(&self, level: u32) -> std::ops::Range<u32> {
        self.first[level as usize]..self.first[level as usize + 1]
    }

    fn parent(&self, rank: u32) -> Rank {
        Rank((rank - 1) / self.arity)
    }

    fn child_index(&self, rank: u32) -> u32 {
        (rank - 1) % self.arity
    }

    /// Rounds in which the deepest level reports: its first parent has the most children.
    fn deepest_rounds(&self) -> u32 {
        self.arity.min(self.level(self.depth()).len() as u32)
    }

    fn rounds_up(&self) -> u32 {
        match self.depth() {
            0 => 0,
            depth => (depth - 1) * self.arity + self.deepest_rounds(),
        }
    }

    fn round_up(&self, level: u32, rank: u32) -> u32 {
        if level == self.depth() {
            return self.child_index(rank);
        }
        let above_deepest = self.depth() - 1 - level;
        self.deepest_rounds() + above_deepest * self.arity + self.child_index(rank)
    }
}
