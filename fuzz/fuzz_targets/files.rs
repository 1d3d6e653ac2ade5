// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as calls on a file of one rank, beside the list of its bytes.
#![no_main]

#[path = "../../crates/mpi/tests/models/mod.rs"]
mod models;

use libfuzzer_sys::fuzz_target;
use models::{Choices, files};

fuzz_target!(|bytes: &[u8]| files::check(&mut Choices::new(bytes)));
