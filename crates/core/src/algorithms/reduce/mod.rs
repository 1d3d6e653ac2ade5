// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reduction: the root receives the element-wise reduction of all vectors.

use crate::algorithm::Algorithm;

use super::shared::Shared;

mod binomial;
mod chain;
mod direct;
mod kary_tree;
mod linear;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear,
    &binomial::Binomial,
    &kary_tree::KaryTree,
    &chain::Chain,
    &direct::Direct,
    &Shared {
        name: "shared-binomial",
        summary: "binomial through shared buffers",
        of: &binomial::Binomial,
    },
];
