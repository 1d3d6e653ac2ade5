// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scatter: every rank receives its block of the root.

use crate::algorithm::Algorithm;

mod binomial;
mod linear;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[&linear::Linear, &binomial::Binomial];
