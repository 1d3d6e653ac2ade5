// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod brought;
mod buffered;
mod calls;
mod collectives;
mod headers;
mod irregular;
#[path = "../models/mod.rs"]
mod models;
mod models_hold;
mod operators;
mod refused;

use models::world;
