// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod coll;
mod colour;
mod errors;
mod exit;
mod fields;
mod files;
mod flow;
mod json;
mod listed;
mod machines;
mod mpi;
mod mpi_examples;
mod mpi_programs;
mod mpi_shared_cores;
mod mpi_virtual;
mod mpi_whatif;
mod mpirun;
mod parts;
mod pictures;
mod readme;
mod replay;
mod schedules;
mod tune;
mod view;
