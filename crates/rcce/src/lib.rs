// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCE and iRCCE, the message libraries of the Intel SCC, over any cores that have a message
//! passing buffer each.
//!
//! The libraries are written once, over [`Core`]: what a core can do with buffers and flags. The
//! simulated SCC implements it with timing, threads of the host implement it with shared memory.
//!
//! A message goes in chunks that fit into a buffer. The sender copies a chunk into its *own* buffer
//! and sets a flag in the receiver's; the receiver copies it out of the sender's buffer and sets a
//! flag there.
//!
//! ```text
//! sender: put chunk | sent = 1 ------------------> poll | sent = 0, get chunk, ready = 1 :receiver
//!         poll <------------------------------------------------------------- | ready = 0
//! ```
//!
//! A program ([`RcceProgram`]) calls the libraries by their handle [`Rcce`], and runs on every
//! machine that has such cores. What a program can do wrong ends in an [`RcceError`], never in a
//! panic; two ends that wait for each other are a deadlock that names both calls.
//!
//! Programs of messages with tags run on the same cores by [`MpbCourier`].
//!
//! Source: RCCE 2.0 (`RCCE_send.c`, `RCCE_recv.c`) and iRCCE (`iRCCE_isend.c`, `iRCCE_irecv.c`).

mod comm;
mod core;
mod courier;
mod error;
mod gory;
mod memory;
mod message;
mod messages;
mod program;
mod queues;

pub use crate::core::{
    Announcement, CopyLoop, Core, Flag, LINE_BYTES, MpbPlace, OTHER_FLAGS, Overhead, Until, Wait,
};
pub use comm::Comm;
pub use courier::{MpbCourier, slot_bytes};
pub use error::{CallSite, Misuse, RcceError};
pub use gory::{FlagId, MpbBuffer};
pub use memory::Buffer;
pub use message::{Incoming, Outgoing, Part};
pub use messages::{MessageRequest, WaitList};
pub use program::{Rcce, RcceProgram};
pub use queues::{Queues, RequestId, recv, send};
