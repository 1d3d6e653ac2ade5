// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a core: caches, and what has to be shared for it.
//!
//! Costs are per line touched, and only counted here; what a line takes is up to the chip. Models
//! capacity, associativity, least-recently-used replacement, physical page colours, and that
//! caches are filled by reads alone, and lines that have to be written back because their place is
//! needed. Does not model what the first level writes back to the second: it waits in a buffer of
//! the core's until there is time for it.

mod cache;
mod caches;
mod server;

pub use cache::{Access, Cache};
pub use caches::{Caches, CachesSpec, Touched};
pub use server::Server;
