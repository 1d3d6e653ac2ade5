// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a datatype beside its list of elements: bounds, packing, views, external form.
#![no_main]

#[path = "../../crates/mpi/tests/models/mod.rs"]
mod models;

use libfuzzer_sys::fuzz_target;
use models::{Choices, datatypes};

fuzz_target!(|bytes: &[u8]| datatypes::check(&mut Choices::new(bytes)));
