// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allgather: every rank receives every rank's block.

use crate::algorithm::Algorithm;

use super::shared::Shared;

mod bruck;
mod linear;
mod recursive_doubling;
mod ring;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear,
    &ring::Ring,
    &recursive_doubling::RecursiveDoubling,
    &bruck::Bruck,
    &Shared {
        name: "shared-linear",
        summary: "linear through shared buffers: every block lies in one of them for all",
        of: &linear::Linear,
    },
];
