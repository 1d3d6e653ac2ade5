// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod background;
mod bounds;
mod broadcasts;
mod by_hand;
mod causes;
mod channels;
mod common;
mod conformance;
mod engine_messages;
mod engine_scripts;
mod engine_steps;
mod exchanges;
mod fidelity;
mod flows;
mod messages;
mod mpe;
mod placement;
mod pronto_buffers;
mod pronto_errors;
mod pronto_latency;
mod pronto_traffic;
mod random;
mod random_chips;
mod rcce_schedules;
mod rcce_steps;
mod routes;
#[path = "../../../core/tests/all/split.rs"]
mod split;
mod streams;
#[path = "../../../core/tests/all/swap.rs"]
mod swap;
mod tasks;
mod tiles_steps;
mod timing;
mod udn;
mod unused;
mod watch;
mod words_steps;
mod worst_case;
mod worst_case_by_hand;
mod write_back;
