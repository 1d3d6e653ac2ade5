// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of a message that has come.
#![forbid(unsafe_code)]

use crate::error::Class;
use crate::handle::{ANY_SOURCE, ANY_TAG, PROC_NULL};

/// What `MPI_Status` says; each ABI has its own layout of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// Tag.
    pub tag: i32,
    /// How the operation ended; only calls with several statuses set it.
    pub error: Class,
    /// Bytes received, as packed.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub is_cancelled: bool,
}

impl Status {
    /// The empty status (MPI 5.0, 3.7.3).
    pub const EMPTY: Self = Self {
        source: ANY_SOURCE,
        tag: ANY_TAG,
        error: Class::Success,
        bytes: 0,
        is_cancelled: false,
    };

    /// The status of a receive from nobody.
    pub const OF_NOBODY: Self = Self {
        source: PROC_NULL,
        ..Self::EMPTY
    };
}
