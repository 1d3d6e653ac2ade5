// SPDX-License-Identifier: MIT OR Apache-2.0
//! The collective operations, by their names in MPI.
//!
//! ```
//! use corecast_core::{Collective, collective::Combine};
//! assert_eq!(Collective::from_name("reduce_scatter"), Some(Collective::ReduceScatter));
//! assert_eq!(Collective::Barrier.combine(), Combine::AtLeastOnce);
//! ```

use std::fmt;

/// A collective operation, in MPI's words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Collective {
    /// The root's message reaches every rank. `bytes` is the message.
    Bcast,
    /// Rank `r` receives block `r` of the root. `bytes` is one block.
    Scatter,
    /// The root receives every rank's block. `bytes` is one block.
    Gather,
    /// Every rank receives every rank's block. `bytes` is one block.
    Allgather,
    /// The root receives the element-wise reduction of all vectors. `bytes` is the vector.
    Reduce,
    /// Every rank receives the element-wise reduction of all vectors. `bytes` is the vector.
    Allreduce,
    /// Rank `r` receives block `r` of the reduction of all vectors. `bytes` is one block.
    ReduceScatter,
    /// Rank `d` receives from every rank `s` the block that `s` holds for it. `bytes` is one block.
    Alltoall,
    /// As [`Collective::Alltoall`], with a size of its own per pair: [`crate::Request::counts`]. Pairs that
    /// have nothing to say need no message.
    Alltoallv,
    /// No rank leaves before every rank has entered. Carries no payload.
    Barrier,
}

impl Collective {
    /// Every collective, in the order in which they are listed to users.
    pub const ALL: [Self; 10] = [
        Self::Bcast,
        Self::Scatter,
        Self::Gather,
        Self::Allgather,
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::Alltoall,
        Self::Alltoallv,
        Self::Barrier,
    ];

    /// The name used on the command line and in every file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bcast => "bcast",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Allgather => "allgather",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce_scatter",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::Barrier => "barrier",
        }
    }

    /// The collective called `name`, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|collective| collective.name() == name)
    }

    /// Whether one rank, the root, plays a special part.
    #[must_use]
    pub const fn is_rooted(self) -> bool {
        matches!(
            self,
            Self::Bcast | Self::Scatter | Self::Gather | Self::Reduce
        )
    }

    /// How arriving contributions are combined with what a rank already holds.
    #[must_use]
    pub const fn combine(self) -> Combine {
        match self {
            Self::Reduce | Self::Allreduce | Self::ReduceScatter => Combine::ExactlyOnce,
            Self::Barrier => Combine::AtLeastOnce,
            _ => Combine::Nothing,
        }
    }

    /// Whether the collective applies a reduction operator to payload bytes.
    #[must_use]
    pub const fn is_reduction(self) -> bool {
        matches!(self.combine(), Combine::ExactlyOnce)
    }

    /// Bytes of a call's largest buffer over so many ranks: of all blocks where `bytes` are those of one.
    #[must_use]
    pub const fn buffer_bytes(self, ranks: u32, bytes: u64) -> u64 {
        match self {
            Self::Bcast | Self::Reduce | Self::Allreduce | Self::Barrier => bytes,
            Self::Scatter
            | Self::Gather
            | Self::Allgather
            | Self::ReduceScatter
            | Self::Alltoall
            | Self::Alltoallv => bytes.saturating_mul(ranks as u64),
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a collective combines contributions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    /// Data is moved, never combined.
    Nothing,
    /// Every rank's contribution enters the result exactly once (sums).
    ExactlyOnce,
    /// Every rank's contribution enters the result at least once (a barrier's "I am here").
    AtLeastOnce,
}

/// How an algorithm cuts one block into chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// This many parts whose sizes differ by at most one element; parts may be empty.
    Even(u32),
    /// Parts of this many bytes, the last one smaller. Rounded down to whole elements, at least
    /// one element.
    Fixed(u64),
}
