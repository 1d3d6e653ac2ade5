//! Barrier: no rank leaves before every rank has entered.

use crate::algorithm::Algorithm;

mod dissemination;
mod kary_tree;
mod linear;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[
    &linear::Linear,
    &kary_tree::KaryTree,
    &dissemination::Dissemination,
];
