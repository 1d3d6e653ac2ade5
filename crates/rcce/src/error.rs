// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs can do wrong.

use std::fmt;

use corecast_core::{ElementType, Help, Rank};
use corecast_machine::RunError;
use thiserror::Error;

/// A library call of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// Its name in C.
    pub name: &'static str,
    /// How many calls the rank made before it.
    pub index: usize,
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (call {})", self.name, self.index)
    }
}

/// Why a program ended without its output.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum RcceError {
    /// A call that cannot be carried out.
    #[error("rank {rank}, {call}: {misuse}")]
    Call {
        /// Who called.
        rank: Rank,
        /// What.
        call: CallSite,
        /// What was wrong.
        misuse: Misuse,
    },
    /// A slice of a buffer that does not lie in it.
    #[error("bytes {start} to {end} do not lie in a buffer of {bytes} bytes")]
    Slice {
        /// First byte.
        start: usize,
        /// The byte after the last one.
        end: usize,
        /// Size of the buffer.
        bytes: usize,
    },
    /// A chip whose cores have no message passing buffers.
    #[error("{chip} has no message passing buffers")]
    NoBuffers {
        /// The chip.
        chip: String,
    },
    /// The run ended: a deadlock, a limit, or the failure of a rank.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl RcceError {
    /// The error as that of rank `rank`, for those who hear of it at other ranks.
    #[must_use]
    pub fn at(&self, rank: Rank) -> RunError {
        match self {
            Self::Run(error) => error.clone(),
            other => RunError::RankFailed {
                rank,
                reason: other.to_string(),
                help: other.help(),
            },
        }
    }
}

/// What is wrong with a call.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum Misuse {
    /// A rank that does not exist.
    #[error("rank {rank} does not exist")]
    UnknownRank {
        /// The rank.
        rank: Rank,
        /// Number of ranks of the communicator.
        ranks: u32,
    },
    /// A rank sends to itself or receives from itself.
    #[error("a rank exchanges no messages with itself")]
    Itself,
    /// Private memory is full.
    #[error("{bytes} bytes do not fit: {used} of the {max} bytes of private memory are in use")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes in use.
        used: usize,
        /// Bytes of private memory.
        max: u64,
    },
    /// A buffer that the rank has not allocated.
    #[error("bytes {start} to {end} of private memory belong to no buffer of this rank")]
    ForeignBuffer {
        /// First byte.
        start: usize,
        /// The byte after the last one.
        end: usize,
    },
    /// A buffer is used while a request still needs it.
    #[error("bytes {start} to {end} of private memory belong to pending request {request} ({})", if *.is_receive { "a receive" } else { "a send" })]
    BufferInUse {
        /// First byte of the buffer that the call names.
        start: usize,
        /// The byte after the last one.
        end: usize,
        /// Number of the request at this rank.
        request: u64,
        /// Whether the request receives.
        is_receive: bool,
    },
    /// The two buffers of a reduction share some bytes but are not the same.
    #[error("the buffers overlap")]
    Overlap,
    /// The two buffers of a reduction differ in size.
    #[error("the buffers have {from} and {to} bytes")]
    SizesDiffer {
        /// Bytes of the operands.
        from: usize,
        /// Bytes for the result.
        to: usize,
    },
    /// A reduction of parts of elements.
    #[error("{bytes} bytes are not a whole number of {} elements", element.name())]
    NotWhole {
        /// Bytes of the operands.
        bytes: usize,
        /// The type of the elements.
        element: ElementType,
    },
    /// The two ends of a message give different sizes.
    #[error("rank {from} sends {sent} bytes, but {expected} are to be received")]
    Length {
        /// The sender.
        from: Rank,
        /// Bytes of its message.
        sent: usize,
        /// Bytes of the receive.
        expected: usize,
    },
    /// The two ends of a message cut it in different places.
    #[error("rank {from} sends chunks of {theirs} bytes and this rank receives chunks of {ours}")]
    Chunks {
        /// The sender.
        from: Rank,
        /// Bytes of its chunks.
        theirs: usize,
        /// Bytes of the receiver's.
        ours: usize,
    },
    /// A request that is not pending at this rank.
    #[error("request {request} is not pending")]
    NotPending {
        /// Its number at the rank that made it.
        request: u64,
    },
    /// A wait for one of no requests.
    #[error("the wait list is empty, so none of its requests can complete")]
    EmptyWaitList,
    /// Requests are pending where none may be.
    #[error("requests are pending ({count}, first request {first})")]
    Pending {
        /// How many.
        count: usize,
        /// The first.
        first: u64,
    },
    /// The message passing buffer is full.
    #[error("{bytes} bytes do not fit into the message passing buffer")]
    OutOfBuffer {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes that can still be allocated.
        free: usize,
    },
    /// All flags are in use.
    #[error("all {max} flags are in use")]
    OutOfFlags {
        /// Flags that programs can have.
        max: u32,
    },
    /// A flag that is not allocated.
    #[error("flag {flag} is not allocated")]
    UnknownFlag {
        /// Its number.
        flag: u32,
    },
    /// Space in the buffers that the rank has not allocated.
    #[error("bytes {start} to {end} of the buffer are not allocated by this rank (RCCE_malloc)")]
    ForeignSpace {
        /// First byte.
        start: usize,
        /// The byte after the last one.
        end: usize,
    },
    /// A communicator that the rank has not made.
    #[error("the communicator was made by another rank or in another run")]
    ForeignComm,
    /// A copy beyond the end of an allocation in a buffer.
    #[error("{bytes} bytes do not fit into the {room} bytes allocated in the buffer")]
    BeyondEnd {
        /// Bytes to be copied.
        bytes: usize,
        /// Bytes of the allocation.
        room: usize,
    },
}

impl Help for RcceError {
    fn help(&self) -> String {
        match self {
            Self::NoBuffers { .. } => "RCCE needs a chip that does, such as scc".to_owned(),
            Self::Run(error) => error.help(),
            Self::Call { misuse, .. } => misuse.help(),
            _ => String::new(),
        }
    }
}

impl Help for Misuse {
    fn help(&self) -> String {
        match self {
            Self::UnknownRank { ranks, .. } => {
                format!("with {ranks} ranks it must be 0 to {}", ranks - 1)
            }
            Self::Itself => "copy the bytes".to_owned(),
            Self::BufferInUse { .. } => "wait for it first".to_owned(),
            Self::Overlap => "they must be one and the same or have no byte in common".to_owned(),
            Self::SizesDiffer { .. } => "they must have the same size".to_owned(),
            Self::Chunks { .. } => {
                "all ranks must allocate the same in their buffers (RCCE_malloc)".to_owned()
            }
            Self::NotPending { .. } => "it was waited for, tested or cancelled before".to_owned(),
            Self::Pending { .. } => "wait for them or cancel them".to_owned(),
            Self::OutOfBuffer { free, .. } => format!("{free} are free"),
            Self::UnknownFlag { .. } => "it was freed before".to_owned(),
            _ => String::new(),
        }
    }
}
