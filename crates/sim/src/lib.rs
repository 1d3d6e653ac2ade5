// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual time and a deterministic executor in which every simulated component is an async task.
//!
//! This crate does not know what a collective is, or a chip: it has a clock of [`Time`], tasks
//! ([`Executor`], [`Kernel`]), one-shot timed conditions ([`Latch`]), wires that are used again
//! ([`Bells`]), networks ([`network`]) and memories ([`memory`]). It has no ambient clock, no
//! randomness and no unordered iteration; the same tasks give the same events in the same order,
//! and [`Kernel::trace_hash`] proves it.
//!
//! ```
//! use corecast_sim::{Executor, Limits, Time};
//! let mut executor = Executor::new(Limits::default());
//! let kernel = executor.kernel();
//! executor.spawn(async move {
//!     kernel.sleep_until(Time::from_ps(500)).await;
//!     assert_eq!(kernel.now(), Time::from_ps(500));
//! });
//! assert!(executor.run().is_complete());
//! ```

mod bell;
mod executor;
mod join;
mod latch;
pub mod memory;
pub mod network;
pub mod traffic;
mod wakes;

pub use bell::{BellWait, Bells};
pub use executor::{Executor, Kernel, Outcome, Sleep};
pub use join::{join, race};
pub use latch::{Latch, LatchWait};

pub use corecast_core::{Limits, Time};
