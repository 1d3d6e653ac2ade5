// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives: schedules of the registry, verified, flattened and carried out.
//!
//! ```text
//! call -> shape -> plan (cache: choose, build, verify, flatten) -> run over messages
//!              \-> boards, where all ranks can read each other's memory
//! ```
//!
//! A [`Plan`] is what one rank does for calls of one [`Shape`]; a [`Run`] carries it out and is an
//! [`crate::Operation`], so that blocking, non-blocking and persistent collectives are one thing.
//! Messages of collectives travel in the context after the communicator's own; the number of the
//! collective is their tag.
//!
//! What the registry has no algorithm for is written in [`programs`] by the same acts: prefixes by
//! recursive doubling, neighbourhoods with all messages at once, reductions by an operator that does
//! not commute by a binomial tree to rank 0.

mod again;
mod agree;
mod between;
mod cache;
mod call;
pub mod carried;
mod carry;
mod check;
mod choose;
mod create;
mod fold;
mod kept;
pub mod lane;
pub mod lines;
mod measured;
mod neighbours;
mod owned;
mod persistent;
pub mod plan;
pub mod program;
pub mod programs;
mod ranges;
mod run;
pub mod shared;
pub mod side;
pub mod slots;
mod state;
mod tally;

pub use again::{Again, Known, Signature};
pub(crate) use agree::Unsettled;
pub use agree::{Contexts, Proposal, Small};
pub use between::Between;
pub use cache::{Cache, Plan, Shape, VERIFIED_STEPS_MAX, Verified, say, schedule, whole_blocks};
pub use call::{Call, Recalled, RunningCall, Through, Wanted};
pub use carry::Away;
pub use choose::{Choice, Hardware, Settings, choose, is_for_hardware, set_variable, variable};
pub use kept::Kept;
pub use measured::{Means, Measured};
pub use owned::{OnBytes, Owned, OwnedOnBoards};
pub use persistent::Persistent;
pub use run::{Buffers, Channel, Combine, Run, Scratch, Step};
pub use state::{Meeting, State};
pub use tally::{Calls, Number, Tally, Way, algorithms};
