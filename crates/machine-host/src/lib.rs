// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's own cores as a machine: one thread per rank over shared memory.
//!
//! The same interpreter walks the same schedules here as on simulated chips, with real threads and
//! real copies. This machine keeps the boundary honest; it is not built for speed: one lock guards
//! all mailboxes, which makes waiting bounded and deadlocks certain to be seen.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine};
//! use corecast_machine_host::HostMachine;
//! let request = Request::new(Collective::Allreduce, 4, 1000);
//! let schedule = algorithm::find(request.collective, "ring").unwrap().schedule(&request);
//! let report = HostMachine.run(&Job::new(&schedule)).unwrap();
//! assert!(report.delivered());
//! ```

mod core;
mod machine;
mod mailroom;
mod mpb;
mod post;
mod rcce;
mod shared;
mod steps;
mod tasks;
mod threads;
mod tile;
mod world;

pub use machine::HostMachine;
pub use mpb::{PAYLOAD_BYTES, PRIVATE_BYTES};
pub use tasks::TaskSetup;
pub use threads::RANKS_MAX;
pub use world::{EAGER_BYTES, HostCourier, HostEndpoint, HostWorld};
