// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recursive doubling: neighbours in one dimension of a hypercube swap all they have.
//!
//! ```text
//! p = 4        round  0           1
//!                     0-1 2-3     0-2 1-3
//! rank 0 sends        0           0-1
//! rank 3 sends        3           2-3
//! ```
//!
//! | rounds | messages | every port |
//! |---|---|---|
//! | log2 p | p log2 p | (p - 1) n bytes |
//!
//! Optimal in rounds and in bytes, for powers of two alone.
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.1.

use crate::algorithm::{Algorithm, Cost, Unsupported};
use crate::collective::{Collective, Split};
use crate::pattern::{Fold, join};
use crate::request::Request;
use crate::schedule::{Schedule, ScheduleBuilder};
use crate::spec::Spec;

pub(crate) struct RecursiveDoubling;

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive-doubling"
    }

    fn collective(&self) -> Collective {
        Collective::Allgather
    }

    fn summary(&self) -> &'static str {
        "hypercube: neighbours swap all they have; powers of two only"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner, Gropp 2005, section 4.1"
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
            instead: "bruck",
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
        // Joining takes the dimensions from the back: the lowest first.
        let fold = Fold::of(request.ranks);
        let dimensions: Vec<u32> = (0..fold.dimensions()).rev().collect();
        join(&mut builder, fold, 0, &dimensions, blocks);
        builder.finish()
    }
}
