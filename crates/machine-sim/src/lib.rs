// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulated chips as machines, one module per kind of endpoint.
//!
//! [`SimMachine`] runs schedules and programs on a [`corecast_chip::Chip`] in virtual time. The
//! message layer of the bus chips, the message passing engine (MPE), is [`mpe`]; that of a mesh whose cores write
//! and read words themselves is [`udn`]; that of cores that copy into and out of message passing
//! buffers, as on the default chip, is `rcce`; that of tiles with hardware-managed buffers, which
//! also run dataflow programs, is [`pronto`].
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine, RunOptions};
//! use corecast_machine_sim::SimMachine;
//! let machine = SimMachine::new(&corecast_chip::find("park2019-bus").unwrap());
//! let options = RunOptions::default();
//! let request = machine.request(Request::new(Collective::Bcast, 4, 4), &options);
//! let ap = algorithm::find(Collective::Bcast, "ap").unwrap().schedule(&request);
//! let report = machine.run(&Job::new(&ap)).unwrap();
//! assert!(report.delivered());
//! // 7 cycles of commands and control messages, 3 hops of ready, 3 hops of the only word.
//! assert_eq!(report.makespan.ns(), 130.0);
//! ```

mod books;
mod fidelity;
mod machine;
mod mesh_spec;
pub mod mpe;
pub mod pronto;
mod ranks;
mod rcce;
mod runs;
pub mod udn;
mod window;
mod worst_case;

pub use fidelity::Fidelity;
pub use machine::SimMachine;
pub use mesh_spec::mesh_spec;
pub use rcce::part_bytes;
