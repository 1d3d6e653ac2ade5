// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message layer in software over a mesh whose cores write and read words (Tilera's UDN).
//!
//! A core writes a packet into the network word by word and is held up when the network is full;
//! words that arrive wait in the core's finite hardware queues and, when these are full, in the
//! mesh. One queue is for data, one for flow control.
//!
//! ```text
//! sender    send overhead > ..... ready > header, words ...
//! receiver  ready .......................................> words out of the queue > recv overhead
//! ```
//!
//! * With flow control a sender may write a packet when the receiver has sent it a ready, a packet
//!   without payload; a receiver sends one per packet it expects, and only one at a time. So all
//!   payload on its way to a core fits into its queue, and the mesh never fills up.
//!   Readies of several receivers may be more than the queue for flow control takes: a core that is
//!   held up while it writes, and whose queue is full, is interrupted and reads it.
//! * Without flow control a sender writes at once. Messages that are not expected yet are put
//!   aside by the software that reads the queue. Cores that all write and do not read can fill the
//!   mesh and stop for ever: the run then ends as a deadlock.
//!
//! * Where senders are synchronous (a chip's choice, for ordinary MPI layers), the software of a
//!   send begins with the ready and ends when the receiver has said that its own has ended.
//!   Messages without payload go at once; their readies are read when they come, at the latest at
//!   the end.
//!
//! Packets say nothing about their order, so those to one queue must not overtake each other: the
//! interface gives each the virtual channel of its receiver
//! ([`corecast_sim::network::mesh::VcChoice::Receiver`]), and a queue takes one packet after the
//! other.
//!
//! Models software as costs per call, rank, message and word, network and queues word by word; with
//! [`crate::Fidelity::Packet`] network and queues packet by packet: a core that has begun to read a
//! packet reads it to its end, queues take any number of words, and a full mesh holds up nobody.
//! Background traffic shares the mesh and the cores' inputs; it has a queue of its own that
//! somebody else reads at once. Does not model caches or the instructions of the software.

mod costs;
mod courier;
mod holds;
mod inbox;
mod net;
mod network;
mod static_net;
mod steps;

pub(crate) use costs::Costs;

use std::rc::Rc;

use corecast_chip::{Mesh, Udn};
use corecast_machine::{ProgramRun, RunError, RunOptions};
use corecast_sim::Executor;

use crate::Fidelity;
use crate::ranks::{OnChip, execute};
use courier::UdnCourier;
use net::{Net, disturb, drive};
use steps::UdnSteps;

/// Runs what `on` says on the cores of a mesh.
pub(crate) fn run<'a, T: OnChip + 'a>(
    (mesh, udn, fidelity): (&Mesh, &Udn, Fidelity),
    mut executor: Executor<'a>,
    on: T,
    ranks: u32,
    options: &RunOptions,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    let kernel = executor.kernel();
    let net = Rc::new(Net::new(mesh, udn, fidelity, kernel, ranks, options));
    executor.spawn_service(drive(Rc::clone(&net)));
    if options.background.is_some() {
        executor.spawn_service(disturb(Rc::clone(&net)));
    }
    let steps = |rank| UdnSteps::new(Rc::clone(&net), rank);
    let courier = |rank| UdnCourier::new(Rc::clone(&net), rank);
    let rank = (steps, courier);
    let mut run = execute(executor, on, rank, ranks, options, &net.books)?;
    net.check_received()?;
    // Before what is left of other traffic is let through.
    run.links = net.links();
    run.background = net.others.used();
    net.assert_conservation();
    run.holds = net.books.take_holds();
    Ok(run)
}
