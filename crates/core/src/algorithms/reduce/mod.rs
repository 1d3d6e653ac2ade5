//! Reduction: the root receives the element-wise reduction of all vectors.

use crate::algorithm::Algorithm;

mod binomial;
mod kary_tree;
mod linear;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] =
    &[&linear::Linear, &binomial::Binomial, &kary_tree::KaryTree];
