// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs as data: what every rank computes, sends and receives, and what waits for what.
//!
//! A [`CallGraph`] is read from our own text and from the formats of others ([`FORMATS`]), is checked
//! before it runs ([`check`]), and runs on every machine that runs programs of messages ([`Replay`]).
//! Collectives are the schedules that the MPI library takes, over messages.
//!
//! This crate knows no chip, and opens no files itself.
//!
//! ```
//! use corecast_machine::{Oracle, RunOptions};
//! use corecast_replay::{Replay, read};
//! let text = "corecast calls 1\nranks 2\nrank 0\nsend 1 8\nallreduce 64\n\
//!             rank 1\nrecv 0 8\nallreduce 64\n";
//! let program = read("two.calls", text.as_bytes(), &Default::default())?;
//! let replay = Replay::new(&program.graph, &Default::default())?;
//! let run = replay.run(&Oracle, &RunOptions::default()).unwrap();
//! assert_eq!(run.outputs[0].counts.len(), 2);
//! # Ok::<(), corecast_exchange::FileError>(())
//! ```

mod allprof;
mod chakra;
mod check;
mod collective;
mod format;
mod formats;
mod goal;
mod graph;
mod mail;
mod matching;
mod progress;
mod rank;
mod roots;
mod run;
mod shared;
mod smpi;
mod stuck;
mod text;

pub use check::check;
pub use collective::Taken;
pub use format::{FILE_BYTES_MAX, Format, Options, Read, ReadFile};
pub use formats::{FORMATS, find_format, format_of, format_of_name, read};
pub use graph::{
    COMPUTE_MAX, Call, CallGraph, Collective, CollectiveKind, Event, Group, KINDS,
    MESSAGE_BYTES_MAX, Origin, RANKS_MAX, Size, WORLD, What,
};
pub use run::{Replay, Stopped};
pub use stuck::StuckCall;
