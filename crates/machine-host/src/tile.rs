// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread as a tile. Every call blocks; no future is ever pending.

use corecast_core::Rank;
use corecast_flow::{DataArrival, Peer, Tile};
use corecast_kernels::Work;
use corecast_machine::{Activity, Cause, RunError, TaskError, Time};

use crate::mailroom::{Calling, Mailroom};

pub(crate) struct HostTile<'a> {
    room: &'a Mailroom,
    task: Rank,
    cycle: Time,
    calls: usize,
    activity: Activity,
    /// Of reads and writes of the memory buffer.
    arrivals: Vec<DataArrival>,
}

impl<'a> HostTile<'a> {
    pub(crate) fn new(room: &'a Mailroom, task: Rank, cycle: Time) -> Self {
        Self {
            room,
            task,
            cycle,
            calls: 0,
            activity: Activity::default(),
            arrivals: Vec::new(),
        }
    }

    /// Computes for some time.
    pub(crate) fn spend(&mut self, time: Time) {
        self.room.spin(time);
        self.fill(Cause::Compute);
    }

    pub(crate) fn drain(&mut self) -> Result<(), RunError> {
        let call = self.begin("the end of its program", self.task);
        let outcome = self.room.drain(&call);
        self.fill(Cause::Handshake);
        outcome
    }

    pub(crate) fn into_books(self) -> (Activity, Vec<DataArrival>) {
        (self.activity, self.arrivals)
    }

    fn fill(&mut self, cause: Cause) {
        self.activity.fill(self.room.now(), cause);
    }

    /// Begins a call; what was before was work.
    fn begin(&mut self, name: &'static str, peer: Rank) -> Calling {
        self.fill(Cause::Compute);
        self.calls += 1;
        Calling {
            task: self.task,
            peer,
            name,
            step: self.calls,
            posted: self.room.now(),
        }
    }

    fn check(&self, named: Rank) -> Result<(), TaskError> {
        let (task, tasks) = (self.task, self.room.ranks());
        if named.0 >= tasks {
            return Err(TaskError::UnknownTask { task, named, tasks });
        }
        match named == task {
            true => Err(TaskError::ToItself { task }),
            false => Ok(()),
        }
    }

    fn arrived(&mut self, from: Peer, to: Peer, bytes: usize, posted: Time) {
        self.fill(Cause::Transfer);
        let (bytes, time) = (bytes as u64, self.room.now());
        self.arrivals.push(DataArrival {
            from,
            to,
            bytes,
            posted,
            time,
        });
    }
}

impl Tile for HostTile<'_> {
    fn task(&self) -> Rank {
        self.task
    }

    fn tasks(&self) -> u32 {
        self.room.ranks()
    }

    fn now(&self) -> Time {
        self.room.now()
    }

    async fn work(&mut self, _: &Work) {
        self.fill(Cause::Compute);
    }

    async fn compute(&mut self, cycles: u64) {
        self.spend(self.cycle * cycles);
    }

    async fn send(&mut self, to: Rank, message: &[u8]) -> Result<(), RunError> {
        let call = self.begin("MP_send", to);
        self.check(to)?;
        self.room.send(&call, message)?;
        self.fill(Cause::BufferFull(to));
        Ok(())
    }

    async fn receive(&mut self, from: Rank, bytes: usize) -> Result<Vec<u8>, RunError> {
        let call = self.begin("MP_receive", from);
        self.check(from)?;
        self.room.await_message(&call)?;
        self.fill(Cause::WaitPeer(from));
        let message = self.room.take(&call, bytes)?;
        self.fill(Cause::Transfer);
        Ok(message)
    }

    async fn read(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError> {
        let call = self.begin("MP_mread", self.task);
        let data = self.room.read(self.task, address, bytes)?;
        self.arrived(Peer::Memory, Peer::Task(self.task), bytes, call.posted);
        Ok(data)
    }

    async fn write(&mut self, address: u64, data: &[u8]) -> Result<(), RunError> {
        let call = self.begin("MP_mwrite", self.task);
        self.room.write(self.task, address, data)?;
        self.arrived(Peer::Task(self.task), Peer::Memory, data.len(), call.posted);
        Ok(())
    }
}
