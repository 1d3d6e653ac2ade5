// SPDX-License-Identifier: MIT OR Apache-2.0
//! The computations of dataflow tasks: real results, and the work that a core has with them.
//!
//! A kernel knows no chip and no clock. It counts its operations ([`Work`]); what an operation costs
//! is a property of the core.
//!
//! The workloads are those of Kumar 2012, section V.B: a [`jpeg`] decoder in three stages, a
//! moving-average filter ([`fir`]) and tasks of equal load ([`custom`]). Each stage is a value that
//! takes a block and returns the next one, so that a task of a dataflow program is a loop over
//! receive, stage and send.

pub mod custom;
pub mod fir;
pub mod jpeg;
pub mod picture;
mod random;
pub mod words;
mod work;

pub use work::Work;
