// SPDX-License-Identifier: MIT OR Apache-2.0
//! One-sided communication: windows, and what one rank does in the memory of another.
//!
//! ```text
//! call -> all of it simple, and the memory lies here (straight.rs) -> that memory (memory.rs)
//!      \-> short, in one piece (away.rs) -> a request by message
//!      \-> reach (where in whose memory, origin.rs) -> that memory, if it lies here
//!                                                  \-> its address in its rank, if that can be used
//!                                                  \-> a request by message (wire.rs), which its owner
//!                                                      carries out while it is in any call of the
//!                                                      library (serve.rs)
//! ```
//!
//! Memory that the library gave (`MPI_Win_allocate`, `MPI_Win_allocate_shared`) lies in all ranks where
//! the transport has [`crate::transport::SharedMemory`]: put and get are one copy there, a lock is a word,
//! and accumulates take a latch of the memory's rank (gate.rs) for as long as they change some kilobytes.
//! All of them do, on whatever elements, so that each element is changed as a whole; only to read words
//! takes no latch, because nobody sees half of one.
//!
//! Of memory of the program put and get of many bytes in one piece go by its address where the system lets
//! a process read and write another's, and that takes less time. All else goes by messages, over any
//! transport; accumulates do always, so that the same place is always changed in the same way.

mod away;
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
