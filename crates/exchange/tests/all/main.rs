// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod chakra;
mod common;
mod documentation;
mod errors;
mod goal;
mod lines;
mod msccl;
mod msccl_steps;
mod mscclpp;
mod repair;
mod round_trip;
mod teccl;
