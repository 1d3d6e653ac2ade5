// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps by messages: how every machine that runs programs of messages runs schedules.
//!
//! A machine with more to offer than messages implements [`Schedules`] itself; [`ByMessages`] does it
//! for all others, and shows for those that the two give the same bytes.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{ByMessages, Job, Machine, Oracle};
//! let request = Request::new(Collective::Allgather, 5, 12);
//! let schedule = algorithm::find(request.collective, "ring").unwrap().schedule(&request);
//! let report = ByMessages(Oracle).run(&Job::new(&schedule)).unwrap();
//! assert!(report.delivered());
//! ```

use corecast_core::{Rank, Schedule, Step, Time};

use crate::endpoint::{Endpoint, Program, ProgramRun, Programs, Source, Tag, TagFilter};
use crate::error::RunError;
use crate::interpreter;
use crate::job::{Job, Machine, RunOptions};
use crate::payload::{Message, Payload, divided, joined};
use crate::report::Report;
use crate::steps::{Schedules, StepProgram, Steps};

/// Tag of the messages of steps.
const TAG: Tag = Tag::MAX;

/// Steps over an endpoint. A message goes as one payload, and its chunks are told apart by the sizes
/// that the receiver's schedule gives; where nothing gives them, it arrives as one chunk.
#[derive(Debug)]
pub struct OverMessages<'e, E> {
    endpoint: &'e mut E,
    /// Sizes of the chunks that the next receive takes.
    sizes: Vec<usize>,
}

impl<'e, E: Endpoint> OverMessages<'e, E> {
    /// Steps over `endpoint`.
    pub fn new(endpoint: &'e mut E) -> Self {
        let sizes = Vec::new();
        Self { endpoint, sizes }
    }

    /// The chunks of a message that has come.
    fn divide(&self, payload: Payload) -> Message {
        divided(&payload, &self.sizes).unwrap_or_else(|| vec![payload])
    }
}

impl<E: Endpoint> Steps for OverMessages<'_, E> {
    fn rank(&self) -> Rank {
        self.endpoint.rank()
    }

    fn ranks(&self) -> u32 {
        self.endpoint.ranks()
    }

    fn now(&self) -> Time {
        self.endpoint.now()
    }

    fn at_step(&mut self, schedule: &Schedule, index: usize, step: &Step) {
        self.endpoint.at_call(index);
        let half = step.recv_half().map(|half| schedule.chunks(half.chunks));
        let chunks = half.unwrap_or_default().iter();
        let sizes = chunks.map(|&chunk| schedule.chunk_bytes(chunk) as usize);
        self.sizes = sizes.collect();
    }

    fn expect(&mut self, chunk_bytes: &[u64]) {
        self.sizes = chunk_bytes.iter().map(|&bytes| bytes as usize).collect();
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        self.endpoint.send(to, TAG, joined(message)).await
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        let (from, tag) = (Source::From(from), TagFilter::Is(TAG));
        let received = self.endpoint.recv(from, tag).await?;
        Ok(self.divide(received.payload))
    }

    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        let sending = self.endpoint.isend(to, TAG, joined(message)).await?;
        let arrived = self.recv(from).await?;
        self.endpoint.wait(sending).await?;
        Ok(arrived)
    }

    /// Whole messages: pieces would be messages of their own.
    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        _piece_bytes: Option<u64>,
    ) -> Result<Message, RunError> {
        let arrived = self.recv(from).await?;
        self.send(to, arrived.clone()).await?;
        Ok(arrived)
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        self.endpoint.combine(bytes).await
    }

    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        self.endpoint.copy(bytes).await
    }

    /// The endpoint's own end comes with its program's.
    async fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }
}

/// A program of steps as one of messages.
struct AsMessages<'p, P>(&'p P);

impl<P: StepProgram> Program for AsMessages<'_, P> {
    type Output = P::Output;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<P::Output, RunError> {
        self.0.run(&mut OverMessages::new(endpoint)).await
    }
}

/// A machine that runs programs of messages, for schedules.
#[derive(Clone, Copy, Debug)]
pub struct ByMessages<M>(pub M);

impl<M: Programs> Schedules for ByMessages<M> {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        self.0.run_programs(ranks, &AsMessages(program), options)
    }

    fn run_streams<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Option<Result<ProgramRun<P::Output>, RunError>> {
        Some(self.0.run_programs(ranks, program, options))
    }
}

impl<M: Programs> Machine for ByMessages<M> {
    fn name(&self) -> &'static str {
        "by messages"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}
