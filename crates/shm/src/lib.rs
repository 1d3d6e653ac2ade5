// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's own cores as a transport: ranks are processes that attach to one shared segment.
//!
//! A launcher makes the [`Segment`], an anonymous file in memory that vanishes with the last process
//! that has it open, and starts one process per rank with [`Segment::environment`]. Each of them
//! calls [`attach`] and gets its [`Port`], which is the transport below `corecast-mpi`.
//!
//! Under `--cfg loom` there is nothing but the lock-free parts (`ring`, `turn`, `wait`) and their models
//! (`cargo xtask loom`).
//!
//! What the segment holds: a page about the job (who has attached, who has died), and for every
//! ordered pair of ranks a ring of packets (`ring`) that one rank writes and the other reads.
//! Behind that ranks take memory for windows (`areas`), and worlds of ranks lie that joined the job while
//! it ran (`worlds`).
//! Nothing in it is locked. A packet of up to 40 bytes is one cache line.
//!
//! ```
//! use corecast_mpi::transport::Transport;
//! use corecast_shm::{Port, Segment};
//! let segment = Segment::create(2)?;
//! let mut ports = [Port::on(&segment, 0)?, Port::on(&segment, 1)?];
//! assert!(ports[0].send(1, (7, 8), b"hello"));
//! let mut got = Vec::new();
//! ports[1].receive(None, &mut |from, head, body| got.push((from, head, body.to_vec())));
//! assert_eq!(got, [(0, (7, 8), b"hello".to_vec())]);
//! # Ok::<(), corecast_shm::ShmError>(())
//! ```

#![cfg_attr(
    loom,
    allow(dead_code, reason = "what is not modelled is not there to use it")
)]

mod append;
#[cfg(not(loom))]
mod areas;
#[cfg(not(loom))]
mod asks;
#[cfg(not(loom))]
mod attach;
#[cfg(not(loom))]
mod boards;
#[cfg(not(loom))]
mod bridge;
#[cfg(not(loom))]
mod child;
#[cfg(not(loom))]
mod clocked;
#[cfg(not(loom))]
mod cores;
mod cpu_time;
#[cfg(not(loom))]
mod desk;
mod directory;
#[cfg(not(loom))]
mod distance;
mod ending;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod job;
#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
mod leave;
#[cfg(not(loom))]
mod mailbox;
#[cfg(not(loom))]
mod map;
mod patience;
#[cfg(not(loom))]
mod port;
mod ring;
#[cfg(not(loom))]
mod segment;
#[cfg(not(loom))]
mod shelf;
#[cfg(not(loom))]
mod single_copy;
mod sync;
#[cfg(not(loom))]
mod trial;
mod turn;
#[cfg(not(loom))]
mod variables;
mod wait;
#[cfg(not(loom))]
mod worlds;

#[cfg(not(loom))]
pub use attach::attach;
#[cfg(not(loom))]
pub use clocked::processor;
#[cfg(not(loom))]
pub use cores::processors_by_core;
#[cfg(not(loom))]
pub use desk::{Desk, Over};
#[cfg(not(loom))]
pub use error::ShmError;
#[cfg(not(loom))]
pub use layout::RANKS_MAX;
#[cfg(not(loom))]
pub use mailbox::{
    Broadcasts, Compute, Errand, Item, PACKET_MAX, Terms, broadcast_body, broadcast_parts,
};
#[cfg(not(loom))]
pub use port::Port;
#[cfg(not(loom))]
pub use segment::{Asked, Segment};
