// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recursive doubling: neighbours in one dimension of a hypercube swap whole partial results.
//!
//! ```text
//! p = 4        round  0           1
//!                     0-1 2-3     0-2 1-3
//! p = 5        round  0           1           2           3
//!                     0->1        1-2 3-4     1-3 2-4     1->0
//! ```
//!
//! | | rounds | messages | busiest port |
//! |---|---|---|---|
//! | power of two | log2 p | p log2 p | n log2 p bytes |
//! | otherwise | log2 q + 2 | q log2 q + 2 (p - q) | n (log2 q + 1) bytes |
//!
//! Here q is the largest power of two below p. With other rank counts the first `2 (p - q)` ranks
//! are folded in pairs. Both neighbours combine the same two operands, so all ranks end with the
//! same bits for every operator that is commutative to the bit.
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.5.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::pattern::Fold;
use crate::request::Request;
use crate::schedule::{Arrival, Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct RecursiveDoubling;

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive-doubling"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "hypercube: neighbours swap and add whole partial results"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.5"
    }

    fn cost(&self, request: &Request) -> Cost {
        let fold = Fold::of(request.ranks);
        let (q, extra) = (u64::from(fold.size), u64::from(fold.extra));
        let dimensions = u64::from(fold.dimensions());
        Cost {
            rounds: dimensions + 2 * u64::from(fold.rounds()),
            messages: q * dimensions + 2 * extra,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let fold = Fold::of(request.ranks);
        let chunk = builder.spec().chunk(0, 0);
        let whole = builder.list(&[chunk]);
        fold.hand_in(&mut builder, 0, whole);
        for dimension in 0..fold.dimensions() {
            let round = fold.rounds() + dimension;
            fold.swap_round(&mut builder, round, dimension, Arrival::Reduce, |_| whole);
        }
        fold.hand_back(&mut builder, fold.rounds() + fold.dimensions(), whole);
        builder.finish()
    }
}
