// SPDX-License-Identifier: MIT OR Apache-2.0
//! The four calls of Kumar 2012, Table I, on a simulated tile.

use std::rc::Rc;

use corecast_core::Rank;
use corecast_flow::Tile;
use corecast_kernels::Work;
use corecast_machine::{Await, Cause, LibraryCall, RunError, TaskError, Time};

use super::array::Array;
use super::interface::Interface;
use super::unit::Purpose;

/// One task on its tile.
pub(crate) struct TaskTile {
    pub interface: Interface,
}

impl TaskTile {
    pub(crate) fn new(array: Rc<Array>, task: Rank) -> Self {
        Self {
            interface: Interface::new(array, task),
        }
    }

    /// Begins a call.
    fn begin(&mut self, call: &'static str) -> Time {
        self.interface.call = Some(LibraryCall::OfTask(call));
        self.interface.step += 1;
        self.interface.now()
    }

    fn check(&self, named: Rank) -> Result<(), TaskError> {
        let (task, tasks) = (self.interface.task, self.tasks());
        if named.0 >= tasks {
            return Err(TaskError::UnknownTask { task, named, tasks });
        }
        match named == task {
            true => Err(TaskError::ToItself { task }),
            false => Ok(()),
        }
    }

    /// Waits for room in the output buffer.
    async fn room(&self, words: u32) -> u32 {
        loop {
            match self.interface.reserve(words) {
                Some(offset) => return offset,
                None => self.interface.stall().await,
            }
        }
    }
}

impl Tile for TaskTile {
    fn task(&self) -> Rank {
        self.interface.task
    }

    fn tasks(&self) -> u32 {
        self.interface.array.homes.borrow().len() as u32
    }

    fn now(&self) -> Time {
        self.interface.now()
    }

    async fn work(&mut self, work: &Work) {
        let duration = self.interface.array.costs.work(work);
        self.interface.spend(duration, Cause::Compute).await;
    }

    async fn compute(&mut self, cycles: u64) {
        let duration = self.interface.array.costs.core_cycles(cycles);
        self.interface.spend(duration, Cause::Compute).await;
    }

    async fn send(&mut self, to: Rank, message: &[u8]) -> Result<(), RunError> {
        let posted = self.begin("MP_send");
        self.check(to)?;
        let costs = &self.interface.array.costs;
        let max = costs.block_words as usize * costs.word_bytes;
        if message.len() > max {
            let (task, bytes) = (self.interface.task, message.len());
            return Err(TaskError::TooLong {
                task,
                to,
                bytes,
                max,
            }
            .into());
        }
        self.interface.command().await;
        let offset = self.room(costs.words(message.len())).await;
        let purpose = Purpose::Message(to);
        let call = (posted, Some(message.len() as u64));
        self.interface.put(purpose, message, offset, call).await;
        Ok(())
    }

    async fn receive(&mut self, from: Rank, bytes: usize) -> Result<Vec<u8>, RunError> {
        self.begin("MP_receive");
        self.check(from)?;
        self.interface.command().await;
        let entry = loop {
            match self.interface.entry(Some(from)) {
                Some(entry) => break entry,
                None => self.interface.listen(Some((from, Await::Recv))).await,
            }
        };
        let sent = self.interface.length(entry);
        if sent != bytes {
            return Err(TaskError::OtherLength {
                task: self.interface.task,
                from,
                expected: bytes,
                sent,
            }
            .into());
        }
        self.interface.account(entry);
        let taken = self.interface.take(entry).await;
        self.interface.array.books.record(taken.record);
        Ok(taken.bytes)
    }

    async fn read(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError> {
        let posted = self.begin("MP_mread");
        let (array, task) = (&self.interface.array, self.interface.task);
        array.external.borrow().check(task, address, bytes)?;
        self.interface.command().await;
        match bytes {
            0 => Ok(Vec::new()),
            _ => Ok(self.interface.fetch(address, bytes, posted).await),
        }
    }

    async fn write(&mut self, address: u64, data: &[u8]) -> Result<(), RunError> {
        let posted = self.begin("MP_mwrite");
        let (array, task) = (&self.interface.array, self.interface.task);
        array.external.borrow().check(task, address, data.len())?;
        self.interface.command().await;
        let costs = &array.costs;
        let block = costs.block_words as usize * costs.word_bytes;
        let last = data.len().div_ceil(block).saturating_sub(1);
        for (index, part) in data.chunks(block).enumerate() {
            let offset = self.room(costs.words(part.len())).await;
            let purpose = Purpose::Write(address + (index * block) as u64);
            let call = (posted, (index == last).then_some(data.len() as u64));
            self.interface.put(purpose, part, offset, call).await;
        }
        Ok(())
    }
}
