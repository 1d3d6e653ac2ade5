// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tiles whose message passing buffers the hardware manages (Pronto, Kumar et al. 2012).
//!
//! A core gives a command to its interface's engine: the engine moves a block between local memory
//! and a message passing buffer; the interface asks the receiver's tile for room, waits for its
//! acknowledgement and sends the block in packets, without the core.
//!
//! ```text
//! sender    set-up > copy in > ............................................ the core goes on
//!  its tile                   envelope > ........... > packets
//!  other tile                           > room > ack            > whole > status table
//! receiver  set-up > ..................................................... > copy out
//! ```
//!
//! What the paper leaves open, and what is done here:
//!
//! * A message longer than the output buffer is refused: it is moved there as a whole before its
//!   envelope goes. Software over schedules cuts messages instead.
//! * A core gives one command at a time and waits for its copy; the network side of both buffers works
//!   at the same time as the engine, and several messages of a tile can be on their way at once.
//! * Envelopes, acknowledgements and requests go before packets of data; data of several messages
//!   take turns packet by packet.
//! * A read of the memory is a request, answered in packets that the engine moves to local memory as
//!   their words come; it needs no room in the input buffer, so it never waits for a receive.
//! * A write goes through the output buffer, block by block, without envelope: the memory has room for
//!   one block per tile, and says when it is written. Another task that is told before then may read
//!   what was there before. Longer reads are one request; the memory serves requests in order.
//! * Envelopes are served strictly in order. A program whose tasks receive in another order than
//!   messages come can fill a buffer with what is wanted later, and wait for ever; that is reported as
//!   the deadlock that it is.
//!
//! Models both buffers word by word, the translation and status tables, the queue of envelopes, one
//! request per destination, packets over the mesh flit by flit, and the external memory buffer's
//! port. Real bytes go through all of it. Does not model the local memories' ports, instructions, or
//! the time that the buffer manager takes to look into its tables.

mod array;
mod costs;
mod courier;
mod external;
mod flows;
mod injectors;
mod interface;
mod others;
mod protocol;
mod ring;
mod steps;
mod tasks;
mod tile;
mod unit;

pub use flows::{FlowError, FlowRun, FlowSetup, PlacementCost, input_buffer};
pub use injectors::{Aim, Direction, Injectors};
pub use tasks::{Move, TaskSetup};

use std::rc::Rc;

use corecast_chip::{Mesh, Pronto};
use corecast_core::Rank;
use corecast_machine::{ProgramRun, RunError, RunOptions};
use corecast_sim::Executor;

use crate::ranks::{OnChip, execute};
use array::{Array, drive};
use courier::ProntoCourier;
use others::Others;
use steps::ProntoSteps;

/// Runs what `on` says on tiles whose buffers the hardware manages.
pub(crate) fn run<'a, T: OnChip + 'a>(
    (mesh, pronto): (&Mesh, &Pronto),
    mut executor: Executor<'a>,
    on: T,
    ranks: u32,
    options: &RunOptions,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    let (kernel, seats) = (executor.kernel(), mesh.place(ranks));
    // A router has one tile.
    let nodes = (0..ranks).map(|rank| seats.node_of(Rank(rank))).collect();
    let array = Rc::new(Array::new(mesh, pronto, kernel, nodes, Vec::new()));
    executor.spawn_service(drive(Rc::clone(&array)));
    if let Some(background) = options.background.filter(|others| others.rate > 0.0) {
        let others = Others::new(mesh, background);
        executor.spawn_service(others.disturb(Rc::clone(&array)));
    }
    let busy = options.busy_bytes(ranks);
    let busy = |rank: Rank| busy.get(rank.index()).copied().unwrap_or(0);
    let steps = |rank| ProntoSteps::new(Rc::clone(&array), rank, busy(rank));
    let courier = |rank| ProntoCourier::new(Rc::clone(&array), rank, busy(rank));
    let rank = (steps, courier);
    let run = execute(executor, on, rank, ranks, options, &array.books);
    let mut run = run.map_err(|error| array.deadlock_behind(error))?;
    array.check_received()?;
    run.background = array.others.used();
    array.assert_conservation();
    run.links = array.links();
    Ok(run)
}
