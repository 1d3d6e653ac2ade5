// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages and the memory buffer that tasks on threads share.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;

use corecast_core::Rank;
use corecast_flow::{BufferUse, DataArrival, Peer, TileUse};
use corecast_machine::{
    Await, Blocked, LibraryCall, MessageRecord, ProgramRun, RunError, TaskError, Time,
};

use crate::shared::{Shared, State};
use crate::tasks::TaskSetup;

/// Bytes of a word, in which buffers are counted.
const WORD: usize = 4;

/// A message on its way.
struct Message {
    from: Rank,
    to: Rank,
    bytes: Vec<u8>,
    posted: Time,
    start: Time,
}

/// How full a buffer is, over time.
#[derive(Clone, Default)]
struct Level {
    words: u64,
    since: Time,
    /// Words times picoseconds up to `since`.
    area: u128,
    max: u64,
}

impl Level {
    fn change(&mut self, now: Time, taken: usize, freed: usize) {
        self.area += u128::from(self.words) * u128::from(now.saturating_sub(self.since).ps());
        self.since = self.since.max(now);
        self.words += taken.div_ceil(WORD) as u64;
        self.words -= freed.div_ceil(WORD) as u64;
        self.max = self.max.max(self.words);
    }

    fn usage(mut self, end: Time, words: usize) -> BufferUse {
        self.change(end, 0, 0);
        BufferUse {
            words: words as u64,
            mean_words: self.area as f64 / end.ps().max(1) as f64,
            max_words: self.max,
        }
    }
}

/// What a task sends and has received.
#[derive(Default)]
struct Desk {
    /// The output buffer, in order of sending.
    outgoing: VecDeque<Message>,
    outgoing_bytes: usize,
    output: Level,
    /// Messages of each sender that have arrived.
    queues: BTreeMap<Rank, Queue>,
    input: Level,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    bytes: usize,
}

/// Everything behind the lock.
pub(crate) struct Contents {
    desks: Vec<Desk>,
    memory: Vec<u8>,
    delivered: Vec<MessageRecord>,
}

/// See the module's documentation.
pub(crate) struct Mailroom {
    shared: Shared<Contents>,
    input_bytes: usize,
    output_bytes: usize,
}

impl Deref for Mailroom {
    type Target = Shared<Contents>;

    fn deref(&self) -> &Shared<Contents> {
        &self.shared
    }
}

impl Mailroom {
    pub(crate) fn new(tasks: u32, setup: &TaskSetup) -> Self {
        let contents = Contents {
            desks: (0..tasks).map(|_| Desk::default()).collect(),
            memory: setup.memory.clone(),
            delivered: Vec::new(),
        };
        Self {
            shared: Shared::new(tasks, setup.options.limits.time, contents),
            input_bytes: setup.input_bytes,
            output_bytes: setup.output_bytes,
        }
    }

    /// Largest message.
    fn message_bytes(&self) -> usize {
        self.input_bytes.min(self.output_bytes)
    }

    /// Computes for some time.
    pub(crate) fn spin(&self, time: Time) {
        let start = self.now();
        while self.now() - start < time {
            std::hint::spin_loop();
        }
    }

    /// Puts a message into the output buffer as soon as there is room.
    pub(crate) fn send(&self, call: &Calling, message: &[u8]) -> Result<(), RunError> {
        let (from, to) = (call.task, call.peer);
        if message.len() > self.message_bytes() {
            let (bytes, max) = (message.len(), self.message_bytes());
            return Err(TaskError::TooLong {
                task: from,
                to,
                bytes,
                max,
            }
            .into());
        }
        let mut state = self.lock();
        while state.desks[from.index()].outgoing_bytes + message.len() > self.output_bytes {
            let oldest = state.desks[from.index()].outgoing.front();
            let peer = oldest.map_or(to, |oldest| oldest.to);
            state = self.wait(state, call.blocked(peer, Await::Send, self.now()))?;
        }
        let now = self.now();
        let desk = &mut state.desks[from.index()];
        desk.outgoing_bytes += message.len();
        desk.output.change(now, message.len(), 0);
        let (bytes, posted) = (message.to_vec(), call.posted);
        desk.outgoing.push_back(Message {
            from,
            to,
            bytes,
            posted,
            start: now,
        });
        self.advance(&mut state, from);
        Ok(())
    }

    /// Moves messages out of an output buffer as long as there is room for the oldest.
    fn advance(&self, state: &mut State<Contents>, from: Rank) {
        let mut has_moved = false;
        while let Some(oldest) = state.desks[from.index()].outgoing.front() {
            let (to, bytes) = (oldest.to, oldest.bytes.len());
            let queue = state.desks[to.index()].queues.entry(from).or_default();
            if queue.bytes + bytes > self.input_bytes {
                break;
            }
            queue.bytes += bytes;
            let now = self.now();
            let desk = &mut state.desks[from.index()];
            let message = desk
                .outgoing
                .pop_front()
                .expect("there is an oldest message");
            desk.outgoing_bytes -= bytes;
            desk.output.change(now, 0, bytes);
            has_moved = true;
            state.delivered.push(MessageRecord {
                from,
                to,
                bytes: bytes as u64,
                posted: message.posted,
                start: message.start,
                end: now,
            });
            let desk = &mut state.desks[to.index()];
            desk.input.change(now, bytes, 0);
            desk.queues
                .entry(from)
                .or_default()
                .messages
                .push_back(message);
            self.wake(state, to, from, Await::Recv);
        }
        if has_moved
            && state
                .blocked(from)
                .is_some_and(|blocked| blocked.awaits == Await::Send)
        {
            self.release(state, from);
        }
    }

    /// Wakes a task if it waits for this.
    fn wake(&self, state: &mut State<Contents>, task: Rank, peer: Rank, awaits: Await) {
        let is_meant = |blocked: &Blocked| blocked.peer == peer && blocked.awaits == awaits;
        if state.blocked(task).is_some_and(is_meant) {
            self.release(state, task);
        }
    }

    /// The oldest message of the peer, as soon as there is one; it stays in its buffer.
    pub(crate) fn await_message(&self, call: &Calling) -> Result<(), RunError> {
        let mut state = self.lock();
        loop {
            let queue = state.desks[call.task.index()].queues.get(&call.peer);
            if queue.is_some_and(|queue| !queue.messages.is_empty()) {
                return Ok(());
            }
            state = self.wait(state, call.blocked(call.peer, Await::Recv, self.now()))?;
        }
    }

    /// Takes the message that [`Mailroom::await_message`] has seen.
    pub(crate) fn take(&self, call: &Calling, bytes: usize) -> Result<Vec<u8>, RunError> {
        let mut state = self.lock();
        let now = self.now();
        let desk = &mut state.desks[call.task.index()];
        let queue = desk.queues.entry(call.peer).or_default();
        let message = queue.messages.pop_front().expect("a message was there");
        queue.bytes -= message.bytes.len();
        desk.input.change(now, 0, message.bytes.len());
        self.advance(&mut state, message.from);
        let sent = message.bytes.len();
        if sent == bytes {
            return Ok(message.bytes);
        }
        let (task, from, expected) = (call.task, call.peer, bytes);
        Err(TaskError::OtherLength {
            task,
            from,
            expected,
            sent,
        }
        .into())
    }

    /// Waits until a task's output buffer is empty.
    pub(crate) fn drain(&self, call: &Calling) -> Result<(), RunError> {
        let mut state = self.lock();
        while let Some(oldest) = state.desks[call.task.index()].outgoing.front() {
            let peer = oldest.to;
            state = self.wait(state, call.blocked(peer, Await::Send, self.now()))?;
        }
        Ok(())
    }

    /// Part of the memory buffer.
    fn place(
        &self,
        task: Rank,
        address: u64,
        bytes: usize,
    ) -> Result<std::ops::Range<usize>, RunError> {
        let max = self.lock().memory.len();
        let begin = usize::try_from(address).ok();
        let range = begin.and_then(|begin| Some(begin..begin.checked_add(bytes)?));
        range.filter(|range| range.end <= max).ok_or_else(|| {
            let max = max as u64;
            TaskError::BeyondMemory {
                task,
                address,
                bytes,
                max,
            }
            .into()
        })
    }

    pub(crate) fn read(&self, task: Rank, address: u64, bytes: usize) -> Result<Vec<u8>, RunError> {
        let place = self.place(task, address, bytes)?;
        self.check()?;
        Ok(self.lock().memory[place].to_vec())
    }

    pub(crate) fn write(&self, task: Rank, address: u64, data: &[u8]) -> Result<(), RunError> {
        let place = self.place(task, address, data.len())?;
        self.check()?;
        self.lock().memory[place].copy_from_slice(data);
        Ok(())
    }

    /// All messages, as records of the run and as arrivals.
    ///
    /// # Errors
    /// One that nobody has received.
    pub(crate) fn delivered<T>(
        &self,
        run: &mut ProgramRun<T>,
    ) -> Result<Vec<DataArrival>, RunError> {
        let mut state = self.lock();
        let left = state.desks.iter().flat_map(|desk| desk.queues.values());
        if let Some(message) = left.flat_map(|queue| &queue.messages).next() {
            let Message {
                from, to, posted, ..
            } = *message;
            let bytes = message.bytes.len();
            return Err(TaskError::NeverReceived {
                from,
                to,
                bytes,
                posted,
            }
            .into());
        }
        run.messages = std::mem::take(&mut state.delivered);
        let arrival = |message: &MessageRecord| DataArrival {
            from: Peer::Task(message.from),
            to: Peer::Task(message.to),
            bytes: message.bytes,
            posted: message.posted,
            time: message.end,
        };
        Ok(run.messages.iter().map(arrival).collect())
    }

    /// How full the buffers were.
    pub(crate) fn usage(&self, end: Time) -> Vec<TileUse> {
        let state = self.lock();
        let desks = (0..).zip(&state.desks);
        let usage = |(core, desk): (u32, &Desk)| TileUse {
            core,
            input: desk
                .input
                .clone()
                .usage(end, desk.queues.len() * self.input_bytes / WORD),
            output: desk.output.clone().usage(end, self.output_bytes / WORD),
        };
        desks.map(usage).collect()
    }

    pub(crate) fn into_memory(self) -> Vec<u8> {
        std::mem::take(&mut self.lock().memory)
    }
}

/// A call of a task.
pub(crate) struct Calling {
    pub task: Rank,
    pub peer: Rank,
    pub name: &'static str,
    pub step: usize,
    pub posted: Time,
}

impl Calling {
    fn blocked(&self, peer: Rank, awaits: Await, since: Time) -> Blocked {
        Blocked {
            rank: self.task,
            peer,
            awaits,
            step: self.step,
            since,
            call: Some(LibraryCall::OfTask(self.name)),
        }
    }
}
