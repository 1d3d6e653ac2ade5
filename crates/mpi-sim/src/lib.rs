// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPI programs in virtual time: ranks are processes, their messages go over a simulated machine.
//!
//! To the machine [`MpiRanks`] is a program of messages like any other. A rank of it does in virtual time
//! what its process asks for, answers, and waits until that process asks again, while nothing else runs:
//! so the order of everything is the simulator's, and the same program takes the same time whenever it
//! runs.
//!
//! A packet of the MPI library is one message of the machine. Its tag is the lower half of the head's
//! first word (kind and communicator); the upper half (MPI's tag) and the second word (the number of the
//! sender's or receiver's request) are the first 12 bytes of the message. Where several ranks share a core
//! ([`corecast_machine::Sharing`]) four more say which of them it is from and for.
//!
//! ```
//! use corecast_machine::{Oracle, Programs, RunOptions};
//! use corecast_mpi_sim::MpiRanks;
//! use corecast_shm::{Broadcasts, Compute, Segment, Terms};
//! let terms = Terms {
//!     eager_max: 4096,
//!     tick_ps: 1,
//!     compute: Compute::Stated,
//!     processor: None,
//!     broadcasts: Broadcasts::None,
//!     carries: true,
//! };
//! let segment = Segment::clocked(1, &terms)?;
//! let attended = MpiRanks::new(segment.desk());
//! // No process will ever ask for anything: somebody has to say so.
//! segment.stop();
//! assert!(Oracle.run_programs(1, &attended, &RunOptions::default()).is_err());
//! # Ok::<(), corecast_shm::ShmError>(())
//! ```

mod aboard;
mod capture;
mod machine;
mod mail;
mod port;
mod rank;
mod stuck;

pub use capture::Captured;
pub use machine::{MpiMachine, NAME};
pub use mail::head_bytes;
pub use rank::{MpiRanks, RankLog};
pub use stuck::{Awaited, Sought, StuckRank};
