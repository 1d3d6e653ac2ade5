// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as messages of a few ranks: which receive gets which, beside what the standard says.
#![no_main]

#[path = "../../crates/mpi/tests/models/mod.rs"]
mod models;

use libfuzzer_sys::fuzz_target;
use models::{Choices, matching};

fuzz_target!(|bytes: &[u8]| matching::check(&mut Choices::new(bytes)));
