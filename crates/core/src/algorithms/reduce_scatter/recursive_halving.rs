// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recursive halving: neighbours in one dimension of a hypercube swap halves.
//!
//! ```text
//! p = 4        round  0           1
//!                     0-2 1-3     0-1 2-3
//! rank 0 sends        2-3         1
//! rank 3 sends        0-1         2
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | log2 p | p log2 p | (p - 1) n bytes |
//!
//! Optimal in rounds and in bytes, for powers of two alone.
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.4.

use crate::algorithm::{Algorithm, Cost, Unsupported};
use crate::collective::{Collective, Split};
use crate::pattern::{Fold, halve};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct RecursiveHalving;

impl Algorithm for RecursiveHalving {
    fn name(&self) -> &'static str {
        "recursive-halving"
    }

    fn collective(&self) -> Collective {
        Collective::ReduceScatter
    }

    fn summary(&self) -> &'static str {
        "hypercube: neighbours swap and add halves; powers of two only"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.4"
    }

    fn requires(&self) -> &'static str {
        "a power of two ranks"
    }

    fn supports(&self, request: &Request) -> Result<(), Unsupported> {
        if request.ranks.is_power_of_two() {
            return Ok(());
        }
        Err(Unsupported::NotPowerOfTwo {
            algorithm: self.name(),
            ranks: request.ranks,
            instead: "pairwise",
        })
    }

    fn cost(&self, request: &Request) -> Cost {
        let p = u64::from(request.ranks);
        let dimensions = u64::from(request.ranks.ilog2());
        Cost {
            rounds: dimensions,
            messages: p * dimensions,
        }
    }

    fn schedule(&self, request: &Request) -> Schedule {
        let mut builder = ScheduleBuilder::new(self.name(), Spec::new(request, Split::Even(1)));
        let blocks: Vec<_> = (0..request.ranks)
            .map(|block| builder.spec().chunk(block, 0))
            .collect();
        let blocks = builder.list(&blocks);
        let fold = Fold::of(request.ranks);
        let dimensions: Vec<u32> = (0..fold.dimensions()).rev().collect();
        halve(&mut builder, fold, 0, &dimensions, blocks);
        builder.finish()
    }
}
