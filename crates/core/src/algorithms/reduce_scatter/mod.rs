// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reduce-scatter: every rank receives one block of the reduction of all vectors.

use crate::algorithm::Algorithm;

mod pairwise;
mod recursive_halving;
mod ring;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &pairwise::Pairwise,
    &ring::Ring,
    &recursive_halving::RecursiveHalving,
];
