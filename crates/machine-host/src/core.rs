// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread as a core with a message passing buffer. Every call blocks; no future is ever pending.

use std::thread;
use std::time::Duration;

use corecast_core::Rank;
use corecast_machine::{Activity, Blocked, Cause, LibraryCall, MessageRecord, RunError, Time};
use corecast_rcce::{Announcement, CopyLoop, Core, Flag, MpbPlace, Overhead, Wait};

use crate::mpb::{Awaited, Mpb, PAYLOAD_BYTES, PRIVATE_BYTES, at};

pub(crate) struct HostCore<'a> {
    mpb: &'a Mpb,
    rank: Rank,
    /// The library call, and how many were before it.
    call: (Option<&'static str>, usize),
    /// Bytes at the end of the own buffer that messages may not use.
    reserved: usize,
    activity: Activity,
    messages: Vec<MessageRecord>,
}

impl<'a> HostCore<'a> {
    pub(crate) fn new(mpb: &'a Mpb, rank: Rank) -> Self {
        Self {
            mpb,
            rank,
            call: (None, 0),
            reserved: 0,
            activity: Activity::default(),
            messages: Vec::new(),
        }
    }

    /// The rank arrives late.
    pub(crate) fn compute_for(&mut self, time: Time) {
        if time > Time::ZERO {
            thread::sleep(Duration::from_nanos(time.ps() / 1000));
            self.fill(Cause::Compute);
        }
    }

    pub(crate) fn into_books(self) -> (Activity, Vec<MessageRecord>) {
        (self.activity, self.messages)
    }

    fn fill(&mut self, cause: Cause) {
        self.activity.fill(self.mpb.now(), cause);
    }

    fn wait(&mut self, awaited: &Awaited, wait: &Wait) -> Result<Option<usize>, RunError> {
        self.fill(Cause::Compute);
        let (call, step) = self.call;
        let blocked = Blocked {
            rank: self.rank,
            peer: wait.peer,
            awaits: wait.awaits,
            step,
            since: Time::ZERO, // the time at which it is blocked
            call: call.map(LibraryCall::OfRank),
        };
        let outcome = self.mpb.wait_for(awaited, blocked);
        self.fill(Cause::WaitPeer(wait.peer));
        outcome
    }

    fn own(&self, waits: &[Wait]) -> Vec<(Rank, Flag, corecast_rcce::Until)> {
        waits.iter().map(|wait| at(self.rank, wait)).collect()
    }
}

impl Core for HostCore<'_> {
    fn id(&self) -> Rank {
        self.rank
    }

    fn cores(&self) -> u32 {
        self.mpb.ranks()
    }

    fn now(&self) -> Time {
        self.mpb.now()
    }

    fn payload_bytes(&self) -> usize {
        PAYLOAD_BYTES - self.reserved
    }

    fn reserve(&mut self, bytes: usize) {
        self.reserved += bytes;
    }

    fn private_bytes(&self) -> u64 {
        PRIVATE_BYTES
    }

    fn at_call(&mut self, name: Option<&'static str>, index: usize) {
        self.call = (name, index);
    }

    /// Lets the other threads go on too: who asks will ask again.
    fn check(&self) -> Result<(), RunError> {
        thread::yield_now();
        self.mpb.check()
    }

    fn announce(&mut self, to: Rank, envelope: Announcement) {
        let announced = (envelope, self.mpb.now());
        self.mpb.announce(self.rank, to, announced);
    }

    fn announced(&self, from: Rank) -> Option<Announcement> {
        let (envelope, _) = self.mpb.announced(from, self.rank)?;
        Some(envelope)
    }

    fn delivered(&mut self, from: Rank) {
        if let Some((envelope, start)) = self.mpb.delivered(from, self.rank) {
            self.messages.push(MessageRecord {
                from,
                to: self.rank,
                bytes: envelope.bytes as u64,
                posted: envelope.posted,
                start,
                end: self.mpb.now(),
            });
        }
    }

    fn record(&mut self, message: MessageRecord) {
        self.messages.push(message);
    }

    async fn put(&mut self, to: MpbPlace, bytes: &[u8], _: u64) {
        self.fill(Cause::Compute);
        self.mpb.put(to, bytes);
        self.fill(Cause::Transfer);
    }

    async fn get(&mut self, from: MpbPlace, bytes: &mut [u8], _: u64, _: CopyLoop) {
        self.fill(Cause::Compute);
        self.mpb.get(from, bytes);
        self.fill(Cause::Transfer);
    }

    async fn set_flag(&mut self, at: Rank, flag: Flag, value: u8) {
        self.mpb.set_flag(at, flag, value);
        self.fill(Cause::Handshake);
    }

    async fn flag(&mut self, at: Rank, flag: Flag) -> u8 {
        let value = self.mpb.flag(at, flag);
        self.fill(Cause::Handshake);
        value
    }

    async fn poll(&mut self, waits: &[Wait]) -> Result<usize, RunError> {
        let awaited = Awaited {
            all: Vec::new(),
            any: self.own(waits),
        };
        let index = self.wait(&awaited, &waits[0])?;
        Ok(index.expect("nothing but these is waited for"))
    }

    async fn watch(
        &mut self,
        all: &[(Rank, Wait)],
        meanwhile: &[Wait],
    ) -> Result<Option<usize>, RunError> {
        let awaited = Awaited {
            all: all.iter().map(|(owner, wait)| at(*owner, wait)).collect(),
            any: self.own(meanwhile),
        };
        let missing = all.iter().find(|(owner, wait)| {
            let value = self.mpb.flag(*owner, wait.flag);
            !wait.until.holds(value)
        });
        let (_, wait) = missing.unwrap_or(&all[0]);
        self.wait(&awaited, wait)
    }

    async fn combine(&mut self, _: u64) {}

    async fn compute(&mut self, _: Time) {}

    async fn spend(&mut self, _: Overhead) {}
}
