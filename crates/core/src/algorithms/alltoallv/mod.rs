// SPDX-License-Identifier: MIT OR Apache-2.0
//! Alltoallv: alltoall with a size of its own for every pair of ranks.
//!
//! The algorithms are those of [`super::alltoall`]: they move named blocks and never look at sizes.

use super::alltoall::{
    bruck::Bruck, contention_free::CONTENTION_FREE, hop_rounds::HOP_ROUNDS, linear::Linear,
    pairwise::Pairwise,
};
use crate::algorithm::Algorithm;
use crate::collective::Collective;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &Linear(Collective::Alltoallv),
    &Pairwise(Collective::Alltoallv),
    &Bruck(Collective::Alltoallv),
    &CONTENTION_FREE.of(Collective::Alltoallv),
    &HOP_ROUNDS.of(Collective::Alltoallv),
];
