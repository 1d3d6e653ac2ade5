// SPDX-License-Identifier: MIT OR Apache-2.0
//! A task's side of its tile's interface: commands to the engine, and waiting.
//!
//! The engine moves one block at a time, at the command of the core, which waits for it: so a core
//! never copies in and out at once. The network side works meanwhile: buffers have a port for each.

use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{Await, Blocked, Cause, LibraryCall, MessageRecord, Time};

use super::array::Array;
use super::unit::{Entry, Purpose, Transfer, TransferId};

/// See the module's documentation.
pub(crate) struct Interface {
    pub array: Rc<Array>,
    pub task: Rank,
    /// Index of the program's step or call, and the call's name, for diagnostics.
    pub step: usize,
    pub call: Option<LibraryCall>,
}

/// A block that has been moved to local memory.
pub(crate) struct Taken {
    pub bytes: Vec<u8>,
    pub record: MessageRecord,
}

impl Interface {
    pub(crate) fn new(array: Rc<Array>, task: Rank) -> Self {
        Self {
            array,
            task,
            step: 0,
            call: None,
        }
    }

    pub(crate) fn node(&self) -> usize {
        self.array.node_of(self.task) as usize
    }

    pub(crate) fn now(&self) -> Time {
        self.array.kernel.now()
    }

    pub(crate) fn fill(&self, until: Time, cause: Cause) {
        self.array.books.fill(self.task, until, cause);
    }

    pub(crate) async fn spend(&self, duration: Time, cause: Cause) {
        // A time that 64 bits do not hold lies beyond every limit.
        let end = self.now().ps().saturating_add(duration.ps());
        self.spend_until(Time::from_ps(end), cause).await;
    }

    pub(crate) async fn spend_until(&self, end: Time, cause: Cause) {
        self.array.kernel.sleep_until(end).await;
        self.fill(end, cause);
    }

    /// Gives the engine a command.
    pub(crate) async fn command(&self) {
        self.spend(self.array.costs.setup, Cause::Handshake).await;
    }

    /// Waits until something has happened in this tile; `peer` is to blame if nothing does.
    pub(crate) async fn listen(&self, blame: Option<(Rank, Await)>) {
        if let Some((peer, awaits)) = blame {
            self.array.books.block_as(Blocked {
                rank: self.task,
                peer,
                awaits,
                step: self.step,
                since: self.array.books.accounted(self.task),
                call: self.call,
            });
        }
        self.array.listen(self.task).await;
        self.array.books.unblock(self.task);
    }

    /// Whom the oldest request of this tile is for; none = the memory.
    fn oldest(&self) -> Option<Rank> {
        let units = self.array.units.borrow();
        let oldest = units[self.node()].outgoing.first()?;
        match oldest.purpose {
            Purpose::Message(to) => Some(to),
            Purpose::Write(_) | Purpose::Read(_) => None,
        }
    }

    /// Waits for the oldest request to go on: its receiver has no room.
    pub(crate) async fn stall(&self) {
        let oldest = self.oldest();
        self.listen(oldest.map(|to| (to, Await::Send))).await;
        let cause = oldest.map_or(Cause::Memory, Cause::BufferFull);
        self.fill(self.now(), cause);
    }

    /// Waits until everything has left the output buffer and the memory has been written: the program
    /// has ended, and its last words move.
    pub(crate) async fn drain(&self) {
        while !self.array.units.borrow()[self.node()].outgoing.is_empty() {
            self.listen(self.oldest().map(|to| (to, Await::Send))).await;
            self.fill(self.now(), Cause::Transfer);
        }
    }

    /// Reserves room for a block in the output buffer, if there is any.
    pub(crate) fn reserve(&self, words: u32) -> Option<u32> {
        let mut units = self.array.units.borrow_mut();
        units[self.node()].output.reserve(words, self.now())
    }

    /// Moves a block into the output buffer, where room is reserved for it, and posts it; `call` is when
    /// its call began, and how many bytes that moves if the block is the last one.
    pub(crate) async fn put(
        &self,
        purpose: Purpose,
        bytes: &[u8],
        out_offset: u32,
        call: (Time, Option<u64>),
    ) {
        let words = self.array.costs.words(bytes.len());
        self.set_copying(true);
        self.spend(self.array.costs.copy * u64::from(words), Cause::Transfer)
            .await;
        self.set_copying(false);
        let mut transfer = self.transfer(purpose, bytes.len(), words, call);
        transfer.out_offset = out_offset;
        self.array.units.borrow_mut()[self.node()]
            .output
            .write(out_offset, 0, bytes);
        let id = self.array.begin(transfer);
        self.array.post(self.array.node_of(self.task), id);
    }

    fn set_copying(&self, is_copying: bool) {
        self.array.units.borrow_mut()[self.node()].is_copying = is_copying;
    }

    fn transfer(
        &self,
        purpose: Purpose,
        bytes: usize,
        words: u32,
        (posted, call_bytes): (Time, Option<u64>),
    ) -> Transfer {
        Transfer {
            purpose,
            task: self.task,
            node: self.array.node_of(self.task),
            to: 0,
            bytes,
            words,
            call_bytes,
            out_offset: 0,
            in_offset: 0,
            sent: 0,
            arrived: 0,
            data: Vec::new(),
            posted,
            start: self.now(),
            asked: Time::ZERO,
            end: Time::ZERO,
        }
    }

    /// The oldest message of `from`, or of anybody, that is in the status table.
    pub(crate) fn entry(&self, from: Option<Rank>) -> Option<Entry> {
        let units = self.array.units.borrow();
        let mut table = units[self.node()].table.iter();
        table
            .find(|entry| from.is_none_or(|from| entry.from == from))
            .copied()
    }

    /// Whether envelopes wait for room in this tile.
    pub(crate) fn is_crowded(&self) -> bool {
        !self.array.units.borrow()[self.node()].held.is_empty()
    }

    /// Length of a message in the status table.
    pub(crate) fn length(&self, entry: Entry) -> usize {
        self.array.transfers.borrow()[&entry.id].bytes
    }

    /// Accounts for the time in which `entry` was waited for: until it asked for room the task had no
    /// input, from then on it was on its way.
    pub(crate) fn account(&self, entry: Entry) {
        let asked = self.array.transfers.borrow()[&entry.id].asked;
        let now = self.now();
        self.fill(asked.min(now), Cause::WaitPeer(entry.from));
        self.fill(now, Cause::Transfer);
    }

    /// Moves a message of the status table to local memory.
    pub(crate) async fn take(&self, entry: Entry) -> Taken {
        let node = self.node();
        self.array.units.borrow_mut()[node]
            .table
            .retain(|other| other.id != entry.id);
        let words = self.array.transfers.borrow()[&entry.id].words;
        self.set_copying(true);
        self.spend(self.array.costs.copy * u64::from(words), Cause::Transfer)
            .await;
        self.set_copying(false);
        let transfer = self.array.transfers.borrow_mut().remove(&entry.id);
        let transfer = transfer.expect("it is in the buffer");
        let mut units = self.array.units.borrow_mut();
        let unit = &mut units[node];
        let bytes = unit.input.read(transfer.in_offset, 0, transfer.bytes);
        unit.input.free(transfer.in_offset, self.now());
        unit.tuples -= 1;
        drop(units);
        self.array.admit(node as u32);
        let record = MessageRecord {
            from: entry.from,
            to: self.task,
            bytes: transfer.bytes as u64,
            posted: transfer.posted,
            start: transfer.start,
            end: self.now(),
        };
        Taken { bytes, record }
    }

    /// Asks the memory for data, and waits until they are in local memory. Its request waits for an
    /// earlier one of this tile.
    pub(crate) async fn fetch(&self, address: u64, bytes: usize, posted: Time) -> Vec<u8> {
        // At most 2^31 bytes: the memory's size.
        let words = bytes.div_ceil(self.array.costs.word_bytes).max(1) as u32;
        let transfer = self.transfer(
            Purpose::Read(address),
            bytes,
            words,
            (posted, Some(bytes as u64)),
        );
        let id = self.array.begin(transfer);
        self.array.post(self.array.node_of(self.task), id);
        // The engine is behind by some words when the last one has come.
        self.set_copying(true);
        while self.is_under_way(id) {
            self.listen(None).await;
            self.fill(self.now(), Cause::Memory);
        }
        let transfer = self.array.transfers.borrow_mut().remove(&id);
        let mut transfer = transfer.expect("it has been answered");
        self.spend_until(transfer.end, Cause::Transfer).await;
        self.set_copying(false);
        transfer.data.truncate(bytes);
        transfer.data
    }

    fn is_under_way(&self, id: TransferId) -> bool {
        let units = self.array.units.borrow();
        units[self.node()]
            .outgoing
            .iter()
            .any(|other| other.id == id)
    }
}
