// SPDX-License-Identifier: MIT OR Apache-2.0
//! Barrier: no rank leaves before every rank has entered.

use crate::algorithm::Algorithm;

use super::shared::Shared;

mod dissemination;
mod kary_tree;
mod linear;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear,
    &kary_tree::KaryTree,
    &dissemination::Dissemination,
    &Shared {
        name: "shared-dissemination",
        summary: "dissemination through shared buffers: one flag per message",
        of: &dissemination::Dissemination,
    },
];
