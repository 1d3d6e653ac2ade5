//! Algorithms of reduce_scatter.

use crate::algorithm::Algorithm;

/// In the order in which they are listed to users.
pub(crate) const ALL: &[&dyn Algorithm] = &[];
