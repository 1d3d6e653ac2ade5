// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod common;
mod conformance;
mod examples;
mod flows;
#[path = "../../examples/own_schedule.rs"]
mod own_schedule;
mod rcce_collectives;
mod rcce_errors;
#[path = "../../examples/rcce_pingpong.rs"]
mod rcce_pingpong;
mod rcce_programs;
#[path = "../../examples/rcce_ring.rs"]
mod rcce_ring;
#[path = "../../examples/rcce_stencil.rs"]
mod rcce_stencil;
#[path = "../../../core/tests/all/split.rs"]
mod split;
mod streams;
mod world;
