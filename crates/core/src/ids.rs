// SPDX-License-Identifier: MIT OR Apache-2.0
//! Newtypes for the indices that are easily confused.
//!
//! A rank is not a core and a chunk is not a byte; the compiler keeps them apart.
//!
//! ```
//! use corecast_core::Rank;
//! assert_eq!(Rank(3).index(), 3);
//! assert_eq!(Rank(3).to_string(), "3");
//! ```

use std::fmt;

/// Position of a participant in a communicator, `0..ranks`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rank(pub u32);

/// Name of one unit of data in a [`crate::Spec`], `0..spec.chunks()`.
///
/// A chunk is a *name*: every rank may hold its own copy of the same chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChunkId(pub u32);

/// Label of a set of steps that may overlap; used to count and to draw, never to synchronise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RoundIdx(pub u32);

macro_rules! index {
    ($name:ident) => {
        impl $name {
            /// The index as a `usize`, for use with slices.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index!(Rank);
index!(ChunkId);
index!(RoundIdx);
