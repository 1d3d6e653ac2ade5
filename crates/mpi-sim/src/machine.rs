// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated machine as MPI programs have it: schedules become the plans of the library, whose packets
//! are messages of the machine.
//!
//! Every rank has an engine of the library, without a process around it. A collective takes as long as
//! the one call of a program that makes no other; a test of the command compares the two.
//!
//! Models one call at a time, by ranks that come to it when they are there. Does not model calls before
//! it whose messages are still on their way.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine, Oracle};
//! use corecast_mpi_sim::MpiMachine;
//! let request = Request::new(Collective::Allreduce, 3, 1000);
//! let schedule = algorithm::find(request.collective, "ring").unwrap().schedule(&request);
//! let report = MpiMachine::new(&Oracle, 64).run(&Job::new(&schedule)).unwrap();
//! assert!(report.delivered());
//! ```

use std::sync::Arc;

use corecast_core::{Rank, Schedule, Time, in_one_stream};
use corecast_machine::{
    Endpoint, Held, Job, Limits, Machine, Program, Programs, Report, RunError, RunOptions,
    interpreter,
};
use corecast_mpi::Group;
use corecast_mpi::collective::plan::{self, Layout};
use corecast_mpi::collective::program::{Builder, Region, Span};
use corecast_mpi::collective::{Channel, OnBytes, Owned, is_for_hardware};
use corecast_shm::PACKET_MAX;

use crate::mail::finish;
use crate::port::Seat;

/// Name of the machine in results.
pub const NAME: &str = "mpi";

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct MpiMachine<'a, M> {
    machine: &'a M,
    eager_max: usize,
}

impl<'a, M: Programs> MpiMachine<'a, M> {
    /// This machine under a library that sends messages of up to `eager_max` bytes without asking.
    #[must_use]
    pub fn new(machine: &'a M, eager_max: usize) -> Self {
        Self { machine, eager_max }
    }

    /// The shortest of `times` round trips of `bytes` bytes between two of `ranks` ranks.
    ///
    /// # Errors
    /// Whatever ended the run.
    pub fn round_trip(
        &self,
        ranks: u32,
        pair: [Rank; 2],
        bytes: u64,
        times: u32,
        limits: Limits,
    ) -> Result<Time, RunError> {
        let game = PingPong {
            pair,
            bytes: bytes as usize,
            times,
            eager_max: self.eager_max,
        };
        let options = RunOptions {
            limits,
            ..RunOptions::default()
        };
        let run = self.machine.run_programs(ranks, &game, &options)?;
        Ok(run.outputs[pair[0].index()])
    }
}

impl<M: Programs> Machine for MpiMachine<'_, M> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        let schedule = in_one_stream(job.schedule);
        let schedule = schedule.map_err(|violation| RunError::NotRunnable(Box::new(violation)))?;
        let planned = Planned {
            job,
            schedule: &schedule,
            eager_max: self.eager_max,
        };
        let ranks = schedule.ranks();
        let run = self.machine.run_programs(ranks, &planned, &job.options)?;
        interpreter::report(NAME, job, run)
    }
}

/// Messages of all ranks, as a communicator of a program has them.
fn channel(ranks: u32, tag: u32, name: &'static str) -> Channel {
    Channel {
        peers: Group::new((0..ranks).collect()),
        context: 1,
        tag: tag as i32,
        name,
    }
}

/// A collective by the plan of its schedule.
struct Planned<'a> {
    job: &'a Job<'a>,
    schedule: &'a Schedule,
    eager_max: usize,
}

impl Program for Planned<'_> {
    type Output = Held;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Held, RunError> {
        let (job, schedule, rank) = (self.job, self.schedule, endpoint.rank());
        let program = match endpoint.has_broadcasts() && is_for_hardware(schedule) {
            true => plan::in_hardware(schedule, PACKET_MAX),
            false => plan::program(schedule, rank, &Layout::EVEN),
        };
        let places = plan::places(schedule, rank, &Layout::EVEN);
        let (send, recv) = places.buffers(|chunk| job.input_of(rank, chunk));
        let (op, element) = (job.op, job.element);
        let operator: Box<OnBytes> = Box::new(move |left, into| op.apply(element, into, left));
        let channel = channel(endpoint.ranks(), 0, "the collective");
        let mut owned = Owned::new(Arc::new(program), channel, (&send, &recv), operator);
        let mut seat = Seat::new(endpoint, self.eager_max);
        seat.carry_out(endpoint, &mut owned).await?;
        let received = owned.received().expect("all messages have ended");
        let held = places.held(schedule, received);
        Ok(held.map(|(place, bytes)| (place, bytes.into())).collect())
    }

    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        finish(endpoint).await
    }
}

/// A message there and one back, several times; the rank that begins returns the shortest time of both.
struct PingPong {
    pair: [Rank; 2],
    bytes: usize,
    times: u32,
    eager_max: usize,
}

impl Program for PingPong {
    type Output = Time;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Time, RunError> {
        let [from, to] = self.pair;
        let is_first = endpoint.rank() == from;
        if !is_first && endpoint.rank() != to {
            return Ok(Time::MAX);
        }
        let mut builder = Builder::new();
        let ball = Span::new(Region::Recv, 0, self.bytes);
        // What follows from a ball without bytes is the order alone.
        let thrown = if is_first {
            builder.send(to.0, ball)
        } else {
            builder.recv(from.0, ball)
        };
        builder.wait(thrown);
        if is_first {
            builder.recv(to.0, ball);
        } else {
            builder.send(from.0, ball);
        }
        let program = Arc::new(builder.finish());
        let mut seat = Seat::new(endpoint, self.eager_max);
        let mut shortest = Time::MAX;
        for number in 0..self.times {
            let channel = channel(endpoint.ranks(), number, "the round trip");
            let contents = vec![0; self.bytes];
            let operator: Box<OnBytes> = Box::new(|_, _| ());
            let mut owned = Owned::new(Arc::clone(&program), channel, (&[], &contents), operator);
            let start = endpoint.now();
            seat.carry_out(endpoint, &mut owned).await?;
            shortest = shortest.min(endpoint.now() - start);
        }
        Ok(shortest)
    }

    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        finish(endpoint).await
    }
}
