// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives under somebody else's MPI: plans for code in C that carries them out.
//!
//! MPI libraries have no binary interface in common, so what calls them is compiled against each: the
//! files of `crates/coll/shim`, by that library's own `mpicc` (`crates/cli/src/coll.rs`). They define
//! `MPI_Bcast` and its like, ask here what a rank has to do, and do it by `PMPI_Isend` and `PMPI_Irecv`.
//! This side knows no MPI: its functions are those of `crates/coll/shim/plans.h`, built as
//! `libcorecast_plans.so`.
//!
//! ```text
//! MPI_Bcast of a program -> shim (C, per MPI library) -> plan (here) -> acts -> PMPI_Isend ...
//! ```
//!
//! What is faster than that library's own is measured by a program of the same files ([`TuningJob`]), and kept in
//! decision tables.
//!
//! Plans are those of our own MPI library (`crates/mpi/src/collective/cache.rs`), with the same
//! variables and the same tables.

mod asked;
mod group;
mod plans;
mod race;
mod tune;

pub use asked::{Asked, Scope};
pub use group::{Block, Group, Unplanned, Wanted};
pub use race::{Outcome, Runner, race};
pub use tune::TuningJob;
