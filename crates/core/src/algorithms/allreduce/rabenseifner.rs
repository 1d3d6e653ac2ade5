// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rabenseifner's algorithm: recursive halving adds, recursive doubling joins.
//!
//! ```text
//! p = 4        round  0           1           2           3
//!                     0-1 2-3     0-2 1-3     0-2 1-3     0-1 2-3
//! rank 0 sends        2-3         1           0           0-1
//! rank 1 sends        0-1         3           2           2-3
//! rank 2 sends        2-3         0           1           0-1
//! rank 3 sends        0-1         2           3           2-3
//!                     adding                  storing
//! ```
//!
//! | | rounds | messages | busiest port |
//! |---|---|---|---|
//! | power of two | 2 log2 p | 2 p log2 p | 2 (p - 1) / p n bytes |
//! | otherwise | 2 log2 q + 2 | 2 q log2 q + 2 (p - q) | (2 (q - 1) / q + 1) n bytes |
//!
//! Here q is the largest power of two that is not above p. The vector is cut into q chunks; the
//! long messages of the first and last rounds go to neighbours. With other rank counts the first `2
//! (p - q)` ranks are folded in pairs.
//! Source: Rabenseifner 2004, Optimization of collective reduction operations; Thakur,
//! Rabenseifner, Gropp 2005, section 4.5.

use crate::algorithm::{Algorithm, Cost};
use crate::collective::{Collective, Split};
use crate::pattern::{Fold, halve, join};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct Rabenseifner;

impl Algorithm for Rabenseifner {
    fn name(&self) -> &'static str {
        "rabenseifner"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "recursive halving, then recursive doubling: few rounds and few bytes"
    }

    fn source(&self) -> &'static str {
        "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5"
    }

    fn cost(&self, request: &Request) -> Cost {
        let fold = Fold::of(request.ranks);
        let (q, extra) = (u64::from(fold.size), u64::from(fold.extra));
        let dimensions = u64::from(fold.dimensions());
        Cost {
            rounds: 2 * dimensions + 2 * u64::from(fold.rounds()),
            messages: 2 * q * dimensions + 2 * extra,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let fold = Fold::of(request.ranks);
        let spec = Spec::new(request, Split::Even(fold.size));
        let mut builder = ScheduleBuilder::new(self.name(), spec);
        let chunks: Vec<_> = builder.spec().block_chunks(0).collect();
        let chunks = builder.list(&chunks);
        let dimensions: Vec<u32> = (0..fold.dimensions()).collect();
        let (before, each) = (fold.rounds(), fold.dimensions());
        fold.hand_in(&mut builder, 0, chunks);
        halve(&mut builder, fold, before, &dimensions, chunks);
        join(&mut builder, fold, before + each, &dimensions, chunks);
        fold.hand_back(&mut builder, before + 2 * each, chunks);
        builder.finish()
    }
}
