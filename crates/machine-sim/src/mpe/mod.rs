// SPDX-License-Identifier: MIT OR Apache-2.0
//! The message passing engine (MPE) of the bus chips (Chung 2011, section 3; Park 2019, 3.1, 3.3).
//!
//! Every core has one; `rtl/README.md` is its specification and `rtl/src` the same engine in
//! hardware, clock by clock. A command goes through two stages. While one message streams, the next
//! command is already handshaked (Chung 2011, Figure 4), so a sequence of sends costs its words and
//! one clock each:
//!
//! ```text
//! core      command > queue
//! handshake          head > request .... ready
//! stream                                       > w0 w1 ... > complete > notify
//! ```
//!
//! * A receiver answers a request with *ready* once its own matching command is at the head and its
//!   stream stage is empty, so a busy leaf delays the send that targets it.
//! * *Fwd* (Park 2019, Figure 7): request to the next node, request from the previous, ready from
//!   the next, ready to the previous, then data passes through with one piece of delay per hop.
//! * A member of an atomic broadcast knows its place in the chain, and so how long its ready needs
//!   to the root and the first word back; it may send its ready while an earlier message still
//!   streams that will be through by then (`StreamTimes::empties_for` in `engine.rs`).
//!
//! Models the control messages as point-to-point with fixed delay. Does not model contention
//! between control messages: the papers give the control path of the bus no arbitration cost.
//! Memory is always ready: the hardware's `hold` has no counterpart.

mod command;
mod courier;
mod engine;
mod fabric;
mod gathering;
mod handshake;
mod launch;
mod port;
mod record;
mod script;
mod status_bus;
mod steps;
mod timing;
mod wires;

pub(crate) use fabric::Fabric;
pub use port::{PortCommand, PortOp};
pub use record::{Recording, record};
pub use script::{Script, ScriptRun, run_script};
pub use wires::{Wire, WireEvent};

use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{ProgramRun, RunError, RunOptions};
use corecast_sim::Executor;

use crate::ranks::{OnChip, execute};
use courier::{MpeCourier, Requests};
use gathering::Gatherings;
use steps::MpeSteps;

/// Runs what `on` says on the cores of `fabric`.
pub(crate) fn run<'a, T: OnChip + 'a>(
    fabric: &Rc<Fabric>,
    mut executor: Executor<'a>,
    on: T,
    ranks: u32,
    options: &RunOptions,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    for rank in (0..ranks).map(Rank) {
        executor.spawn_service(handshake::serve(Rc::clone(fabric), rank));
    }
    let requests = Rc::new(Requests::new(&fabric.kernel, ranks));
    let steps = |rank| MpeSteps::new(Rc::clone(fabric), rank);
    let gatherings = Rc::new(Gatherings::default());
    let courier = |rank| {
        let (requests, gatherings) = (Rc::clone(&requests), Rc::clone(&gatherings));
        MpeCourier::new(Rc::clone(fabric), requests, gatherings, rank)
    };
    let rank = (steps, courier);
    let run = execute(executor, on, rank, ranks, options, &fabric.books)?;
    fabric.assert_conservation();
    Ok(run)
}
