// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gather: the root receives every rank's block.

use crate::algorithm::Algorithm;

mod binomial;
mod linear;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[&linear::Linear, &binomial::Binomial];
