// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program that carries out several streams per rank side by side: while one waits for a message,
//! the others go on.
//!
//! A rank stays one processor. It gives the sends and receives of its streams to the endpoint as
//! they come, copies and combines for one stream after the other, and waits only when no stream can
//! do anything: then for whichever message ends first. So streams overlap where they wait, and nowhere
//! else.
//!
//! It is a program of messages, because what steps give has no way to say which of several messages
//! is wanted: a channel is a tag here, and a receive is asked for when its stream comes to it. This
//! lets happen whatever the verifier's execution lets happen, so no schedule that completes there is
//! stuck here: a receive is there as soon as the verifier grants it, a forward asks for its message
//! without waiting for a grant from downstream, and a send is over when at most as many messages of its
//! connection as the schedule needs slots have not left this rank, where their slots are.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use corecast_core::{
    Arrival, ChunkList, Launch, Op, Rank, Schedule, Transport, Violation, slots_needed,
};

use crate::data;
use crate::endpoint::{Done, Endpoint, Pending, Program, Source, TagFilter};
use crate::error::RunError;
use crate::held::Held;
use crate::interpreter::{combined, gather, take};
use crate::job::Job;
use crate::payload::{Message, divided, joined, message_bytes};

/// Carries out all streams of a schedule; a rank's output is what it holds at the end.
pub struct SideBySide<'a> {
    job: &'a Job<'a>,
    /// What the first rank that asks has worked out.
    slots: OnceLock<Result<u32, Box<Violation>>>,
}

impl<'a> SideBySide<'a> {
    /// The program that carries out the schedule of `job` with its input data.
    #[must_use]
    pub fn new(job: &'a Job<'a>) -> Self {
        let slots = OnceLock::new();
        Self { job, slots }
    }

    /// The same for a schedule that gains by it: some rank has several streams, and nothing is in it
    /// that steps give and messages do not, a launch of all ranks, a multicast, shared buffers, packets of
    /// a size or that nobody waits to send.
    #[must_use]
    pub fn if_worthwhile(job: &'a Job<'a>) -> Option<Self> {
        let schedule = job.schedule;
        let has_several = |rank| {
            let streams = schedule.streams(rank);
            streams.filter(|(steps, _)| !steps.is_empty()).count() > 1
        };
        let is_worthwhile = schedule.has_streams()
            && *schedule.launch() == Launch::Independent
            && schedule.multicasts().is_empty()
            && schedule.transport() == Transport::Messages
            && schedule.has_flow_control()
            && schedule.piece_bytes().is_none()
            && schedule.all_ranks().any(has_several);
        is_worthwhile.then(|| Self::new(job))
    }
}

impl Program for SideBySide<'_> {
    type Output = Held;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Held, RunError> {
        let needed = || slots_needed(self.job.schedule).map_err(Box::new);
        let slots = self.slots.get_or_init(needed).clone();
        let slots = slots.map_err(RunError::NotRunnable)?;
        let mut streams = Streams::new(self.job, endpoint, slots);
        streams.run().await?;
        Ok(streams.held)
    }
}

/// One stream of a rank, at one of its steps.
struct Stream {
    /// Indices of the steps that are left; the first is the one that it is at.
    left: Range<usize>,
    channel: u32,
    /// What the step has asked for so far.
    phase: Phase,
    /// Messages of this stream, by receiver, that have not left this rank.
    leaving: BTreeMap<Rank, u32>,
    /// The message of the step, once it has come.
    received: Message,
}

/// How far a step has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing of it has been done.
    New,
    /// It waits for its message.
    Receives,
    /// Its message is here, and nothing has been done with it.
    Received,
    /// Only what it sends may be left.
    Sends,
}

/// What a send or receive that is under way belongs to.
enum Owner {
    Recv {
        stream: usize,
        index: usize,
    },
    Send {
        stream: usize,
        index: usize,
        to: Rank,
    },
}

struct Streams<'a, E> {
    job: &'a Job<'a>,
    schedule: &'a Schedule,
    endpoint: &'a mut E,
    rank: Rank,
    slots: u32,
    held: Held,
    streams: Vec<Stream>,
    under_way: BTreeMap<Pending, Owner>,
}

impl<'a, E: Endpoint> Streams<'a, E> {
    fn new(job: &'a Job<'a>, endpoint: &'a mut E, slots: u32) -> Self {
        let (schedule, rank) = (job.schedule, endpoint.rank());
        let streams = schedule.streams(rank).map(|(left, channel)| Stream {
            left,
            channel,
            phase: Phase::New,
            leaving: BTreeMap::new(),
            received: Message::new(),
        });
        Self {
            job,
            schedule,
            endpoint,
            rank,
            slots,
            held: data::initial(job, rank),
            streams: streams.collect(),
            under_way: BTreeMap::new(),
        }
    }

    async fn run(&mut self) -> Result<(), RunError> {
        loop {
            while self.advance_all().await? {}
            let awaited = self.under_way.iter();
            let awaited = awaited.min_by_key(|(_, owner)| matches!(owner, Owner::Send { .. }));
            let Some((pending, owner)) = awaited else {
                let is_over = self.streams.iter().all(|stream| stream.left.is_empty());
                assert!(
                    is_over,
                    "rank {}: streams that complete are not stuck",
                    self.rank
                );
                return Ok(());
            };
            let (Owner::Recv { index, .. } | Owner::Send { index, .. }) = *owner;
            self.endpoint.at_call(index);
            for (pending, done) in self.endpoint.ended(Some(pending)).await? {
                let owner = self.under_way.remove(&pending);
                match owner.expect("what ends was asked for here") {
                    Owner::Send { stream, to, .. } => {
                        let leaving = self.streams[stream].leaving.get_mut(&to);
                        *leaving.expect("it was leaving") -= 1;
                    }
                    Owner::Recv { stream, index } => {
                        let message = self.divide(index, done)?;
                        let stream = &mut self.streams[stream];
                        (stream.received, stream.phase) = (message, Phase::Received);
                    }
                }
            }
        }
    }

    /// Lets every stream do what it can do without waiting; returns whether any has completed a step.
    async fn advance_all(&mut self) -> Result<bool, RunError> {
        let mut any = false;
        for stream in 0..self.streams.len() {
            while self.advance(stream).await? {
                any = true;
            }
        }
        Ok(any)
    }

    /// Does what a stream can do at its step without waiting; returns whether the step is complete.
    async fn advance(&mut self, stream: usize) -> Result<bool, RunError> {
        let Stream { left, phase, .. } = &self.streams[stream];
        let Some(index) = left.clone().next() else {
            return Ok(false);
        };
        match phase {
            Phase::New if self.may_begin(index) => self.begin(stream, index).await?,
            Phase::Received if self.may_take(stream, index) => self.take_in(stream, index).await?,
            _ => {}
        }
        let has_sent = self.has_sent(stream, index);
        let stream = &mut self.streams[stream];
        let is_complete = stream.phase == Phase::Sends && has_sent;
        if is_complete {
            stream.left.start += 1;
            stream.phase = Phase::New;
        }
        Ok(is_complete)
    }

    /// Whether so many messages have left to everybody whom a step sends to that no more are under way
    /// than there are slots.
    fn has_sent(&self, stream: usize, index: usize) -> bool {
        let leaving = &self.streams[stream].leaving;
        let is_free = |to| leaving.get(&to).is_none_or(|&count| count <= self.slots);
        self.receivers(index).all(is_free)
    }

    /// An exchange is over when both its messages are through, and combines then: who waits for what it
    /// sends does not wait for that.
    fn may_take(&self, stream: usize, index: usize) -> bool {
        let op = self.schedule.steps(self.rank)[index].op;
        !matches!(op, Op::Exchange { .. }) || self.has_sent(stream, index)
    }

    /// Whether all that a step waits for is complete.
    fn may_begin(&self, index: usize) -> bool {
        let is_left = |on| self.streams.iter().any(|stream| stream.left.contains(&on));
        let mut waits = self.schedule.waits(self.rank, index);
        waits.all(|on| !is_left(on))
    }

    /// Whom a step sends to.
    fn receivers(&self, index: usize) -> impl Iterator<Item = Rank> + use<'a, E> {
        let step = &self.schedule.steps(self.rank)[index];
        let halves = step.send_half().into_iter();
        halves
            .chain(self.schedule.branches(step))
            .map(|half| half.to)
    }

    async fn begin(&mut self, stream: usize, index: usize) -> Result<(), RunError> {
        let step = &self.schedule.steps(self.rank)[index];
        self.endpoint.at_call(index);
        if let Op::Local {
            source,
            target,
            arrival,
        } = step.op
        {
            let contents = gather(self.schedule, &self.held, self.rank, index, source)?;
            if arrival == Arrival::Store {
                self.endpoint.copy(message_bytes(&contents)).await?;
            }
            self.put(target, arrival, contents).await?;
        }
        if !matches!(step.op, Op::Forward { .. }) {
            self.send(stream, index, step.sent()).await?;
        }
        self.streams[stream].phase = Phase::Sends;
        if let Some(half) = step.recv_half() {
            let tag = TagFilter::Is(self.streams[stream].channel);
            let pending = self.endpoint.irecv(Source::From(half.from), tag).await?;
            self.under_way
                .insert(pending, Owner::Recv { stream, index });
            self.streams[stream].phase = Phase::Receives;
        }
        Ok(())
    }

    /// Does with the message that has come what the step says.
    async fn take_in(&mut self, stream: usize, index: usize) -> Result<(), RunError> {
        let step = &self.schedule.steps(self.rank)[index];
        let half = step.recv_half().expect("a step that receives");
        let message = std::mem::take(&mut self.streams[stream].received);
        self.endpoint.at_call(index);
        let passed_on = self.put(half.chunks, half.arrival, message).await?;
        match step.op {
            Op::Forward {
                arrival: Arrival::PassOn,
                ..
            } => self.send_message(stream, index, passed_on).await?,
            Op::Forward { chunks, .. } => self.send(stream, index, chunks).await?,
            _ => {}
        }
        self.streams[stream].phase = Phase::Sends;
        Ok(())
    }

    /// The chunks of a message that has come.
    fn divide(&self, index: usize, done: Done) -> Result<Message, RunError> {
        let half = self.schedule.steps(self.rank)[index].recv_half();
        let half = half.expect("a step that receives");
        let chunks = self.schedule.chunks(half.chunks).iter();
        let sizes = chunks.map(|&chunk| self.schedule.chunk_bytes(chunk) as usize);
        let sizes: Vec<usize> = sizes.collect();
        let received = done.received().expect("a receive ends with a message");
        divided(&received.payload, &sizes).ok_or_else(|| RunError::Shape {
            rank: self.rank,
            from: half.from,
            expected: format!("{} chunks", sizes.len()),
        })
    }

    /// Does with contents what a step says; returns what is passed on instead of being kept.
    async fn put(
        &mut self,
        target: ChunkList,
        arrival: Arrival,
        contents: Message,
    ) -> Result<Message, RunError> {
        if arrival != Arrival::Store {
            self.endpoint.combine(message_bytes(&contents)).await?;
        }
        let operator = (self.job.op, self.job.element);
        let mut passed_on = Vec::new();
        for (&chunk, payload) in self.schedule.chunks(target).iter().zip(contents) {
            match (arrival, self.held.get(chunk)) {
                (Arrival::PassOn, Some(held)) => passed_on.push(combined(held, &payload, operator)),
                _ => take(&mut self.held, chunk, payload, arrival, operator),
            }
        }
        Ok(passed_on)
    }

    /// Sends what the places of a list hold.
    async fn send(&mut self, stream: usize, index: usize, list: ChunkList) -> Result<(), RunError> {
        let message = gather(self.schedule, &self.held, self.rank, index, list)?;
        self.send_message(stream, index, message).await
    }

    /// Sends to all receivers of a step.
    async fn send_message(
        &mut self,
        stream: usize,
        index: usize,
        message: Message,
    ) -> Result<(), RunError> {
        let payload = joined(message);
        for to in self.receivers(index) {
            let tag = self.streams[stream].channel;
            let pending = self.endpoint.isend(to, tag, payload.clone()).await?;
            *self.streams[stream].leaving.entry(to).or_default() += 1;
            self.under_way
                .insert(pending, Owner::Send { stream, index, to });
        }
        Ok(())
    }
}
