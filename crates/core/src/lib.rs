// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives as verified values.
//!
//! A [`Request`] goes to an [`Algorithm`], which returns a [`Schedule`]: the steps of every rank
//! in program order. [`verify()`] checks it against what the collective promises ([`Spec`]) and
//! returns a [`Certificate`]; [`bounds`] says what no schedule can beat. Machines that execute
//! schedules live in other crates.
//!
//! This crate has no clock, no threads, no files, and knows no chip.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm, verify};
//! let request = Request::new(Collective::Bcast, 6, 100);
//! let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
//! let schedule = algorithm::build(binomial, &request).unwrap();
//! let certificate = verify(&schedule, &corecast_core::FullCrossbar);
//! assert!(certificate.is_correct());
//! ```

pub mod algorithm;
pub mod algorithms;
pub mod bounds;
pub mod collective;
pub mod grid;
pub mod hash;
mod help;
pub mod ids;
mod link_use;
pub mod pattern;
pub mod platform;
pub mod random;
pub mod reduce;
pub mod request;
mod route_tree;
pub mod routes;
pub mod schedule;
pub mod seats;
pub mod shelf;
mod show;
mod spec;
pub mod status;
pub mod time;
pub mod tuning;
pub mod verify;

pub use algorithm::{Algorithm, BuildError, Cost, Unsupported};
pub use collective::{Collective, Combine, Split};
pub use grid::{DimensionOrder, Grid, Hop, Side};
pub use help::{Help, WithHelp};
pub use ids::{ChunkId, Rank, RoundIdx};
pub use link_use::{LinkEnds, LinkUse, busiest_links};
pub use platform::{LinkCost, Platform, Queue, SharedBuffer};
pub use reduce::{ElementType, ReduceOp};
pub use request::{Request, RequestError};
pub use route_tree::RouteTree;
pub use routes::{FullCrossbar, LinkId, Routes};
pub use schedule::{
    Arrival, ChunkList, Launch, Op, Order, Place, Position, RecvHalf, Schedule, ScheduleBuilder,
    SendHalf, Step, StepRef, Transport,
};
pub use seats::Seats;
pub use spec::Spec;
pub use time::{EventHash, Limits, Time};
pub use tuning::{FlowControl, STATUS_BITS, Tuning};
pub use verify::{Certificate, Violation, in_one_stream, slots_needed, verify, worst_queue};
