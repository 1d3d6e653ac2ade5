// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules over hardware-managed buffers: the software that cuts messages into blocks.
//!
//! A message that fits into the output buffer is one block. A longer one is cut into blocks of half
//! that buffer, so that one is copied in while the one before leaves; where a schedule forwards
//! messages in pieces, blocks are no longer than a piece.
//!
//! The input buffer can be full of messages that the program wants only later, with the one that it
//! waits for held outside: in a program of plain calls that is a deadlock. This software, when it
//! waits and an envelope is held, moves the oldest message to local memory, where it is copied once
//! more when the program asks for it. That the status table can be read for that is assumed.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_core::{Rank, Schedule, Step};
use corecast_machine::{Await, Cause, Message, MessageRecord, Payload, RunError, Steps, Time};

use super::array::{Array, Shape};
use super::interface::{Interface, Taken};
use super::unit::Purpose;
use crate::ranks::SimSteps;

/// See the module's documentation.
pub(crate) struct ProntoSteps {
    interface: Interface,
    /// Most words of a block that is not a whole message, and of one that is.
    part_words: usize,
    whole_words: usize,
    /// Until when the tile is busy with a transfer from before the run.
    busy_until: Time,
    /// Blocks that have been moved out of the buffer before they were asked for.
    aside: BTreeMap<Rank, VecDeque<Taken>>,
}

/// A message of which some blocks have come.
#[derive(Default)]
struct Incoming {
    bytes: Vec<u8>,
    /// Sizes of its chunks, known when the first block has come.
    sizes: Option<Shape>,
    record: Option<MessageRecord>,
}

impl Incoming {
    fn is_complete(&self) -> bool {
        let total = self.sizes.as_ref().map(|sizes| sizes.iter().sum::<usize>());
        total.is_some_and(|total| self.bytes.len() >= total)
    }
}

impl ProntoSteps {
    pub(crate) fn new(array: Rc<Array>, rank: Rank, busy_bytes: u64) -> Self {
        let costs = &array.costs;
        let words = busy_bytes.div_ceil(costs.word_bytes as u64);
        let block = costs.block_words as usize;
        Self {
            busy_until: Time::from_ps(costs.flit.ps().saturating_mul(words)),
            part_words: (block / 2).max(1),
            whole_words: block,
            interface: Interface::new(array, rank),
            aside: BTreeMap::new(),
        }
    }

    /// The blocks of a message.
    fn cut<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let word = self.interface.array.costs.word_bytes;
        let is_whole = bytes.len() <= self.whole_words * word;
        let most = if is_whole {
            self.whole_words * word
        } else {
            self.part_words * word
        };
        let nothing = bytes.is_empty().then_some(bytes);
        nothing.into_iter().chain(bytes.chunks(most))
    }

    /// Tells the receiver, beside the words, how the message is divided; it knows that from its
    /// schedule.
    fn announce(&self, to: Rank, sizes: Shape) {
        let mut shapes = self.interface.array.shapes.borrow_mut();
        let pair = shapes.entry((self.interface.task, to)).or_default();
        pair.push_back(sizes);
    }

    /// Makes room for an envelope that is held, if there is one; returns whether it did.
    async fn make_room(&mut self) -> bool {
        let oldest = self.interface.entry(None);
        let Some(entry) = oldest.filter(|_| self.interface.is_crowded()) else {
            return false;
        };
        self.interface.command().await;
        let taken = self.interface.take(entry).await;
        self.aside.entry(entry.from).or_default().push_back(taken);
        true
    }

    /// Sends a block as soon as the output buffer has room for it.
    async fn send_block(&mut self, to: Rank, bytes: &[u8], posted: Time) {
        self.interface.command().await;
        let words = self.interface.array.costs.words(bytes.len());
        let offset = loop {
            if let Some(offset) = self.interface.reserve(words) {
                break offset;
            }
            if !self.make_room().await {
                self.interface.stall().await;
            }
        };
        let purpose = Purpose::Message(to);
        self.interface
            .put(purpose, bytes, offset, (posted, None))
            .await;
    }

    /// Whether a block of `from` is here.
    fn has_block(&self, from: Rank) -> bool {
        self.aside.get(&from).is_some_and(|queue| !queue.is_empty())
            || self.interface.entry(Some(from)).is_some()
    }

    /// Takes the oldest block of `from`, which is here, at a command that has been given.
    async fn take_block(&mut self, from: Rank) -> Taken {
        let aside = self.aside.get_mut(&from).and_then(VecDeque::pop_front);
        if let Some(mut taken) = aside {
            let costs = &self.interface.array.costs;
            let again = costs.copy * u64::from(costs.words(taken.bytes.len()));
            self.interface.spend(again, Cause::Transfer).await;
            taken.record.end = self.interface.now();
            return taken;
        }
        let entry = self.interface.entry(Some(from)).expect("it is here");
        self.interface.take(entry).await
    }

    /// Waits for something to happen while a block of `from` is missing.
    async fn await_block(&mut self, from: Rank) {
        self.interface.listen(Some((from, Await::Recv))).await;
        match self.interface.entry(Some(from)) {
            Some(entry) => self.interface.account(entry),
            None => self
                .interface
                .fill(self.interface.now(), Cause::WaitPeer(from)),
        }
    }

    /// Puts a block of `from` behind those that have come.
    fn add(&self, from: Rank, taken: Taken, incoming: &mut Incoming) {
        let me = self.interface.task;
        incoming.sizes.get_or_insert_with(|| {
            let mut shapes = self.interface.array.shapes.borrow_mut();
            let sizes = shapes.get_mut(&(from, me)).and_then(VecDeque::pop_front);
            sizes.expect("announced before its first block")
        });
        incoming.bytes.extend_from_slice(&taken.bytes);
        let record = incoming.record.get_or_insert(taken.record);
        record.bytes = incoming.bytes.len() as u64;
        record.end = taken.record.end;
    }

    /// The message whose blocks have all come, entered into the books.
    fn finish_recv(&self, incoming: Incoming) -> Message {
        let record = incoming.record.expect("a message has a block");
        self.interface.array.books.record(record);
        let mut rest = &incoming.bytes[..];
        let sizes = incoming.sizes.unwrap_or_default();
        let chunks = sizes.iter().map(|&size| {
            let (chunk, others) = rest.split_at(size);
            rest = others;
            Payload::from(chunk)
        });
        chunks.collect()
    }

    /// Takes the next block of a message of `from`, waiting for it.
    async fn recv_block(&mut self, from: Rank, incoming: &mut Incoming) -> Vec<u8> {
        self.interface.command().await;
        while !self.has_block(from) {
            if !self.make_room().await {
                self.await_block(from).await;
            }
        }
        let taken = self.take_block(from).await;
        let bytes = taken.bytes.clone();
        self.add(from, taken, incoming);
        bytes
    }
}

/// The bytes of a message one after the other, and how they are divided.
fn flatten(message: &Message) -> (Vec<u8>, Shape) {
    let sizes = message.iter().map(|chunk| chunk.len()).collect();
    (message.concat(), sizes)
}

impl SimSteps for ProntoSteps {
    async fn compute_until(&mut self, time: Time) {
        self.interface.spend_until(time, Cause::Compute).await;
    }
}

impl Steps for ProntoSteps {
    fn rank(&self) -> Rank {
        self.interface.task
    }

    fn ranks(&self) -> u32 {
        self.interface.array.homes.borrow().len() as u32
    }

    fn now(&self) -> Time {
        self.interface.now()
    }

    async fn launch(&mut self, schedule: &Schedule) -> Result<(), RunError> {
        if let Some(bytes) = schedule.piece_bytes() {
            let piece = bytes.div_ceil(self.interface.array.costs.word_bytes as u64);
            let piece = usize::try_from(piece).unwrap_or(usize::MAX).max(1);
            self.part_words = self.part_words.min(piece);
            self.whole_words = self.whole_words.min(piece);
        }
        let cause = Cause::PortBusy(self.interface.task);
        self.interface.spend_until(self.busy_until, cause).await;
        Ok(())
    }

    fn at_step(&mut self, _: &Schedule, index: usize, _: &Step) {
        self.interface.step = index;
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        let posted = self.now();
        let (bytes, sizes) = flatten(&message);
        self.announce(to, sizes);
        for block in self.cut(&bytes) {
            self.send_block(to, block, posted).await;
        }
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        let mut incoming = Incoming::default();
        while !incoming.is_complete() {
            self.recv_block(from, &mut incoming).await;
        }
        Ok(self.finish_recv(incoming))
    }

    /// Neither direction waits for the other: whichever can go on does, sending first.
    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        let posted = self.now();
        let (bytes, sizes) = flatten(&message);
        self.announce(to, sizes);
        let mut blocks = self.cut(&bytes).peekable();
        let mut incoming = Incoming::default();
        loop {
            let words = blocks
                .peek()
                .map(|b| self.interface.array.costs.words(b.len()));
            let is_complete = incoming.is_complete();
            if let Some(offset) = words.and_then(|words| self.interface.reserve(words)) {
                let block = blocks.next().expect("it was looked at");
                self.interface.command().await;
                let purpose = Purpose::Message(to);
                let call = (posted, None);
                self.interface.put(purpose, block, offset, call).await;
            } else if !is_complete && (self.has_block(from) || words.is_none()) {
                self.recv_block(from, &mut incoming).await;
            } else if words.is_none() {
                return Ok(self.finish_recv(incoming));
            } else if !self.make_room().await {
                match is_complete {
                    true => self.interface.stall().await,
                    false => self.await_block(from).await,
                }
            }
        }
    }

    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        _: Option<u64>, // the size of all pieces of the schedule: see `launch`
    ) -> Result<Message, RunError> {
        let posted = self.now();
        let mut incoming = Incoming::default();
        let mut is_announced = false;
        while !incoming.is_complete() {
            let block = self.recv_block(from, &mut incoming).await;
            if !is_announced {
                self.announce(to, incoming.sizes.clone().unwrap_or_default());
                is_announced = true;
            }
            self.send_block(to, &block, posted).await;
        }
        Ok(self.finish_recv(incoming))
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let duration = self.interface.array.costs.combine(bytes);
        self.interface.spend(duration, Cause::Compute).await;
        Ok(())
    }

    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        let duration = self.interface.array.costs.copy(bytes);
        self.interface.spend(duration, Cause::Compute).await;
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        self.interface.drain().await;
        self.interface.array.retire();
        Ok(())
    }
}
