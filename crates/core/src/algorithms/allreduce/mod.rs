// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allreduce: every rank receives the element-wise reduction of all vectors.

use crate::algorithm::Algorithm;

use super::shared::Shared;

mod direct;
mod kary_tree;
mod rabenseifner;
mod recursive_doubling;
mod reduce_bcast;
mod ring;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &recursive_doubling::RecursiveDoubling,
    &rabenseifner::Rabenseifner,
    &ring::Ring,
    &reduce_bcast::ReduceBcast,
    &kary_tree::KaryTree,
    &direct::Direct,
    &Shared {
        name: "shared-recursive-doubling",
        summary: "recursive doubling through shared buffers",
        of: &recursive_doubling::RecursiveDoubling,
    },
    &Shared {
        name: "shared-rabenseifner",
        summary: "rabenseifner through shared buffers",
        of: &rabenseifner::Rabenseifner,
    },
];
