//! Cores with message passing buffers on a mesh, and the RCCE libraries on them.
//!
//! What a core does, it does line by line and waits for each: its time is the sum over the lines it
//! touches, of private memory through its caches, of buffers over the mesh. What many share (links,
//! ports of buffers, memory controllers) limits the throughput of all together
//! ([`corecast_sim::memory::Server`]). Flags are polled, at the pace of the polling loop.
//!
//! Not modelled: that lines of buffers pass through the first-level cache and drive out private
//! ones.

mod copy;
mod core;
mod endpoint;
mod one_sided;
mod others;
mod pieces;
mod plan;
mod program;
mod shared;
mod tile;

pub(crate) use endpoint::RcceEndpoint;
pub(crate) use tile::Tiles;
