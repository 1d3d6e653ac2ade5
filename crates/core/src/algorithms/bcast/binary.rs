// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binary tree: every rank sends the whole message to its left and then to its right child.
//!
//! ```text
//! p = 8, root 0        the number is the round of the message
//!
//!                 0
//!             0/     \1
//!            1         2
//!          1/ \2     2/ \3
//!          3   4     5   6
//!        2/
//!        7
//! ```
//!
//! | rounds | messages | root's port |
//! |---|---|---|
//! | floor(log2 (p+1)) + floor(log2 ((p+1)/3)) | p - 1 | 2 n bytes |
//!
//! Positions are counted from the root in heap order: position i has the children 2i+1 and 2i+2. A
//! rank that received in round t sends in rounds t+1 and t+2; the root in rounds 0 and 1.
//!
//! *Rounds.* Write v = i + 1 in binary: the path from the root appends a 0 for a left child (one
//! round) and a 1 for a right child (two rounds), so v has been reached after
//! floor(log2 v) + ones(v) - 1 rounds. t rounds take at least ceil(t/2) appended digits. The
//! smallest v that is reached only after t rounds appends only ones, v + 1 = 2^(t/2+1), for even
//! t, and one 0 before the ones, v + 1 = 3 * 2^((t-1)/2), for odd t. These grow with t, so the
//! tree takes the largest t whose v is at most p: with q = p + 1, 2 floor(log2 q) - 2 rounds and
//! one more if q reaches 3/2 of its power of two, which is the sum in the table. A single rank
//! needs none, as the sum says when the second logarithm is taken of the fraction 2/3.
//! Source: Park 2019, section 2.2, citing Vadhiyar, Fagg and Dongarra 2000; the closed form is
//! derived here.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::pattern::Rotation;
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Binary;

impl Algorithm for Binary {
    fn name(&self) -> &'static str {
        "binary"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "binary tree: every rank sends to its left child, then to its right child"
    }

    fn source(&self) -> &'static str {
        "Vadhiyar, Fagg, Dongarra 2000, as cited by Park 2019, section 2.2"
    }

    fn cost(&self, request: &Request) -> Cost {
        let messages = u64::from(request.ranks) - 1;
        let rounds = match request.ranks {
            1 => 0,
            ranks => (ranks + 1).ilog2() + ((ranks + 1) / 3).ilog2(),
        };
        Cost {
            rounds: u64::from(rounds),
            messages,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let around = Rotation::of(request);
        let chunk = builder.spec().chunk(0, 0);
        // First round in which each position may send; parents come before their children.
        let mut ready = vec![0; request.ranks as usize];
        for child in 1..request.ranks {
            let parent = (child - 1) / 2;
            let round = ready[parent as usize] + (child - 1) % 2;
            ready[child as usize] = round + 1;
            builder.message(round, around.rank(parent), around.rank(child), &[chunk]);
        }
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawing;
    use super::*;

    #[test]
    fn drawn_for_eight_ranks() {
        assert_eq!(
            drawing(&Binary.schedule(&Request::new(Collective::Bcast, 8, 64))),
            ["0->1:0", "0->2:0 1->3:0", "1->4:0 2->5:0 3->7:0", "2->6:0"]
        );
    }
}
