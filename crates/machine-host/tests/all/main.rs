// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod common;
mod conformance;
mod examples;
mod flows;
mod rcce_collectives;
mod rcce_errors;
mod rcce_programs;
#[path = "../../../core/tests/all/split.rs"]
mod split;
mod streams;
#[path = "../../../core/tests/all/swap.rs"]
mod swap;
mod world;
