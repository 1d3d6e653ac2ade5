// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong with a segment.

use std::io;

use crate::variables::SEGMENT;

/// Why a segment could not be made or attached to.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ShmError {
    #[error("{ranks} ranks cannot share a segment; from 1 to {max} can")]
    Ranks { ranks: u32, max: u32 },
    #[error("the system gives no shared memory of {bytes} bytes ({what}): {error}")]
    Memory {
        bytes: usize,
        what: &'static str,
        error: io::Error,
    },
    #[error("{name} is {value:?}; corecast mpirun sets it to {expected}")]
    Environment {
        name: &'static str,
        value: String,
        expected: &'static str,
    },
    #[error(
        "file descriptor {descriptor} is not the segment of this job: {what}; \
         was it closed between corecast mpirun and this program? A program that a rank starts is no rank \
         of the job: start it without {name} in its environment",
        name = SEGMENT
    )]
    NotASegment { descriptor: i32, what: &'static str },
    #[error("there is no rank {rank} in this job")]
    NoRank { rank: u32 },
    #[error("rank {rank} has {state} before; each rank of a job is one process, once")]
    Taken { rank: u32, state: &'static str },
}
