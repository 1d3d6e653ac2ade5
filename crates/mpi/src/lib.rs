// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPI as a layer: matching, datatypes, communicators and collectives over a small transport seam
//! ([`transport::Transport`]), behind the standard ABI and that of MPICH.
//!
//! One [`Process`] is one rank's library. Its calls never wait: the C face repeats
//! [`Process::progress`] until what it waits for has come. Collectives are schedules of
//! [`corecast_core`], verified once and kept.

pub mod abi;
mod buffer;
pub mod calls;
pub mod collective;
mod comm;
mod copy;
pub mod datatype;
mod engine;
mod error;
pub mod face;
pub mod file;
mod greeting;
mod group;
pub mod handle;
pub mod hint;
pub mod joint;
pub mod launcher;
pub mod op;
mod ops;
pub mod partitioned;
pub mod partitions;
mod process;
mod pt2pt;
mod request;
pub mod rma;
mod status;
mod table;
pub mod topology;
pub mod transport;
mod types;

pub use buffer::Buffer;
pub use comm::Communicator;
pub use engine::{
    CONTEXT_MAX, Eager, Engine, Envelope, Flight, Landed, Memory, Mode, Operation, Taken,
    packet_words,
};
pub use error::{Class, Error, Result};
pub use group::Group;
pub use process::Process;
pub use pt2pt::{
    Attached, BSEND_OVERHEAD, Begin, Holder, Prepared, Probed, SendMode, Sought, Target,
};
pub use request::{Request, Started};
pub use status::Status;
pub use table::{Handle, Table};
