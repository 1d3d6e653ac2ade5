//! The host's own cores as a transport: ranks are processes that attach to one shared segment.
//!
//! A launcher makes the [`Segment`], an anonymous file in memory that vanishes with the last process
//! that has it open, and starts one process per rank with [`Segment::environment`]. Each of them
//! calls [`attach`] and gets its [`Port`], which is the transport below `corecast-mpi`.
//!
//! What the segment holds: a page about the job (who has attached, who has died), and for every
//! ordered pair of ranks a ring of packets ([`ring`]) that one rank writes and the other reads.
//! Nothing in it is locked. A packet of up to 40 bytes is one cache line.
//!
//! ```
//! use corecast_mpi::transport::Transport;
//! use corecast_shm::{Port, Segment};
//! let segment = Segment::create(2)?;
//! let mut ports = [Port::on(&segment, 0)?, Port::on(&segment, 1)?];
//! assert!(ports[0].send(1, [7, 8], b"hello"));
//! let mut got = Vec::new();
//! ports[1].receive(None, &mut |from, head, body| got.push((from, head, body.to_vec())));
//! assert_eq!(got, [(0, [7, 8], b"hello".to_vec())]);
//! # Ok::<(), corecast_shm::ShmError>(())
//! ```

mod attach;
mod boards;
mod error;
mod job;
mod layout;
mod map;
mod port;
mod ring;
mod segment;
mod single_copy;
mod wait;

pub use attach::attach;
pub use error::ShmError;
pub use port::Port;
pub use segment::Segment;

/// Most ranks of a segment: every pair has a ring.
pub const RANKS_MAX: u32 = 1024;
