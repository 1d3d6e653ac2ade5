//! Alltoallv: alltoall with a size of its own for every pair of ranks.
//!
//! The algorithms are those of [`super::alltoall`]: they move named blocks and never look at sizes.

use super::alltoall::{
    bruck::Bruck, contention_free::ContentionFree, hop_rounds::HopRounds, linear::Linear,
    pairwise::Pairwise,
};
use crate::algorithm::Algorithm;
use crate::collective::Collective;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &Linear(Collective::Alltoallv),
    &Pairwise(Collective::Alltoallv),
    &Bruck(Collective::Alltoallv),
    &ContentionFree(Collective::Alltoallv),
    &HopRounds(Collective::Alltoallv),
];
