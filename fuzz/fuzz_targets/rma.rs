// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as one-sided communication of a few ranks, beside plain memory.
#![no_main]

#[path = "../../crates/mpi/tests/models/mod.rs"]
mod models;

use libfuzzer_sys::fuzz_target;
use models::{Choices, rma};

fuzz_target!(|bytes: &[u8]| rma::check(&mut Choices::new(bytes)));
