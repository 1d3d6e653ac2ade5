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
    executor: Executor<'a>,
    on: T,
    ranks: u32,
    options: &RunOptions,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    let kernel = executor.kernel();
    let net = Net::new(mesh, udn, fidelity, kernel, ranks, options);
    run_over(net, executor, on, ranks, options)
}

fn run_over<'a, T: OnChip + 'a>(
    net: Net,
    mut executor: Executor<'a>,
    on: T,
    ranks: u32,
    options: &RunOptions,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    let net = Rc::new(net);
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

#[cfg(test)]
mod tests {
    use corecast_chip::{Chip, System};
    use corecast_core::random::SplitMix64;
    use corecast_core::{Rank, Time};
    use corecast_machine::{
        Activity, Cause, Done, Endpoint, LinkHold, MessageRecord, Program, ProgramRun, Source,
        Span, TagFilter,
    };

    use super::*;
    use crate::ranks::OnMessages;

    const RANKS: u32 = 48;

    /// Every rank sends a message of any length to each other one, so that queues run full, and takes what
    /// comes: when each came, from whom and how long it was.
    struct Mixed {
        seed: u64,
    }

    impl Program for Mixed {
        type Output = Vec<(Time, Rank, usize)>;

        async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Self::Output, RunError> {
            let me = endpoint.rank().0;
            let mut mix = SplitMix64::new(self.seed << 8 | u64::from(me));
            let mut pending = Vec::new();
            for step in 1..RANKS {
                let bytes = [4, 60, 200, 1500][(mix.next() % 4) as usize];
                let to = Rank((me + step) % RANKS);
                pending.push(endpoint.isend(to, step, vec![7; bytes].into()).await?);
                if mix.next().is_multiple_of(4) {
                    let time = Time::from_ps(mix.next() % 600_000);
                    endpoint.compute(time).await?;
                }
            }
            for _ in 1..RANKS {
                pending.push(endpoint.irecv(Source::Any, TagFilter::Any).await?);
            }
            let mut log = Vec::new();
            while !pending.is_empty() {
                let (index, done) = endpoint.wait_any(&pending).await?;
                drop(pending.swap_remove(index));
                if let Done::Received(message) = done {
                    log.push((endpoint.now(), message.from, message.payload.len()));
                }
            }
            Ok(log)
        }
    }

    type Run = ProgramRun<Vec<(Time, Rank, usize)>>;

    /// Where the ranks' time went, with links instead of their numbers in the run's list.
    fn spans(run: &Run) -> Vec<(Time, Time, Cause, Option<LinkHold>)> {
        let spans = run.activity.iter().flat_map(Activity::spans);
        let named = spans.map(|Span { cause, start, end }| match cause {
            Cause::LinkBusy(hold) => {
                let hold = run.holds[hold as usize];
                (start, end, Cause::LinkBusy(0), Some(hold))
            }
            cause => (start, end, cause, None),
        });
        named.collect()
    }

    /// In an order that two of one moment have, too.
    fn messages(run: &Run) -> Vec<(Time, Rank, Rank, MessageRecord)> {
        let messages = run.messages.iter();
        let mut messages: Vec<_> = messages.map(|it| (it.end, it.from, it.to, *it)).collect();
        messages.sort_by_key(|&(end, from, to, _)| (end, from, to));
        messages
    }

    /// How much is known of words to come, and so is read in one go, is the simulation's affair: it changes
    /// no time.
    #[test]
    fn words_are_read_in_one_go_when_they_would_be_one_by_one() {
        // Software that takes no time is in the way of others all the time.
        let names = ["tilepro64", "booksim-mesh"];
        let chips = names.map(|name| Chip::builtin(name).expect("it is built in"));
        let mut goes = 0;
        for seed in 0..10 {
            let System::Mesh { mesh, udn } = chips[seed as usize % 2].system() else {
                panic!("it has queues");
            };
            let run = |all: u64| {
                let options = RunOptions::default();
                let executor = Executor::new(options.limits);
                let kernel = executor.kernel();
                let mut net = Net::new(mesh, udn, Fidelity::Flit, kernel, RANKS, &options);
                net.all = all;
                let program = Mixed { seed };
                let on = OnMessages {
                    program: &program,
                    is_schedule: false,
                };
                run_over(net, executor, on, RANKS, &options).expect("it ends")
            };
            let (together, one_by_one) = (run(u64::MAX), run(1));
            assert_eq!(together.outputs, one_by_one.outputs, "seed {seed}");
            assert_eq!(together.finish, one_by_one.finish, "seed {seed}");
            assert_eq!(spans(&together), spans(&one_by_one), "seed {seed}");
            assert_eq!(messages(&together), messages(&one_by_one), "seed {seed}");
            assert_eq!(together.links, one_by_one.links, "seed {seed}");
            goes += one_by_one.events - together.events;
        }
        assert!(goes > 0);
    }
}
