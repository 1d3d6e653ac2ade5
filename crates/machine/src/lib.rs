// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine is, and the one interpreter that walks a schedule on any of them.
//!
//! A machine gives every rank an [`Endpoint`] (tagged messages, any source, requests, probes) and
//! runs one async program per rank on it ([`Programs`]). The schedule interpreter ([`interpreter`])
//! is a program on [`Steps`], written once: every endpoint carries steps out by messages
//! ([`OverMessages`]), and a machine that can do more for a schedule offers that ([`Schedules`]).
//! [`Machine`] is the object-safe face that runs a schedule and returns a [`Report`].
//!
//! This crate does not know which machine: simulated chips and the host's cores live elsewhere.
//! [`Oracle`] is the simplest machine, and the one the others are compared with.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine, Oracle};
//! let request = Request::new(Collective::Allgather, 5, 12);
//! let schedule = algorithm::find(request.collective, "ring").unwrap().schedule(&request);
//! let report = Oracle.run(&Job::new(&schedule)).unwrap();
//! assert!(report.delivered());
//! ```

mod activity;
mod ascending;
mod by_rank;
mod calls;
pub mod conformance;
pub mod data;
mod endpoint;
mod error;
mod header;
mod held;
pub mod interpreter;
mod job;
mod line;
mod matching;
mod oracle;
mod over_messages;
mod path;
mod payload;
pub mod pingpong;
mod progress;
mod rendezvous;
mod report;
mod residents;
mod rounding;
mod sharing;
mod skew;
mod spread;
mod steps;
mod streams;
mod tasks;
mod turns;

pub use activity::{Activity, Cause, Span};
pub use ascending::Ascending;
pub use by_rank::{CoreLog, CoreMessage, ResidentLog, Stretches, by_rank};
pub use calls::{CallLog, CallSpan};
pub use endpoint::{
    Broadcast, Done, Endpoint, Envelope, Pending, Program, ProgramRun, Programs, Received, Source,
    Tag, TagFilter, run_blocking,
};
pub use error::{Await, Blocked, LibraryCall, RunError, cycle_first};
pub use header::{Header, HeaderKind};
pub use held::Held;
pub use job::{Background, Job, Machine, Ongoing, RunOptions, Watch};
pub use matching::{ArrivalId, Courier, Matched, News, SendId};
pub use oracle::Oracle;
pub use over_messages::{ByMessages, OverMessages};
pub use path::{PathSegment, Shares, critical_path};
pub use payload::{Message, Payload, message_bytes};
pub use progress::{InTurns, until_news, until_sent};
pub use rendezvous::{NextPart, Rendezvous};
pub use report::{BackgroundUse, LinkHold, MessageRecord, Report, WrongChunk};
pub use residents::Residents;
pub use sharing::Sharing;
pub use skew::Skew;
pub use spread::Spread;
pub use steps::{Schedules, StepProgram, Steps};
pub use streams::SideBySide;
pub use tasks::{TaskError, Unrest};

pub use corecast_core::{Limits, LinkUse, Time};
