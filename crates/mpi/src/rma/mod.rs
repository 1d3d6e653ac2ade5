// SPDX-License-Identifier: MIT OR Apache-2.0
//! One-sided communication: windows, and what one rank does in the memory of another.
//!
//! ```text
//! call -> reach (where in whose memory) -> that memory, if it lies here, too (memory.rs)
//!                                      \-> a request by message (wire.rs), which its owner carries out
//!                                          while it is in any call of the library (serve.rs)
//! ```
//!
//! Memory that the library gave (`MPI_Win_allocate`, `MPI_Win_allocate_shared`) lies in all ranks where
//! the transport has [`crate::transport::SharedMemory`]: put and get are one copy there, accumulates are
//! atomic on elements of 1, 2, 4 and 8 bytes, and a lock is a word. All else goes by messages, over any
//! transport. An accumulate on other elements is carried out by the memory's owner, so that the same
//! kind of element at the same place is always changed in the same way.

mod create;
mod epoch;
mod find;
mod flush;
mod gate;
mod memory;
mod origin;
mod serve;
mod state;
mod straight;
mod window;
mod wire;

pub use create::{Piece, Room};
pub use origin::{Awaiting, Remote};
pub use state::LockKind;
pub use window::{Flavor, Member, Window, Windows};
