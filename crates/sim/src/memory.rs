//! The memory of a core: caches, and what has to be shared for it.
//!
//! Costs are per line touched, and only counted here; what a line takes is up to the chip. Models
//! capacity, associativity, least-recently-used replacement, physical page colours, and that
//! caches are filled by reads alone. Does not model write-back traffic: what it takes is part of
//! what a store costs.

mod cache;
mod caches;
mod server;

pub use cache::Cache;
pub use caches::{Caches, CachesSpec, Touched};
pub use server::Server;
