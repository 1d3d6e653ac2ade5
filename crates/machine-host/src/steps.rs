// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of schedules over the mailboxes. Every call blocks; no future is ever pending.

use std::thread;
use std::time::Duration;

use corecast_core::{Rank, Schedule, Step};
use corecast_machine::{
    Activity, Cause, Message, MessageRecord, RunError, Steps, Time, message_bytes,
};

use crate::post::Post;

pub(crate) struct HostSteps<'a> {
    post: &'a Post,
    rank: Rank,
    step: usize,
    activity: Activity,
    messages: Vec<MessageRecord>,
}

impl<'a> HostSteps<'a> {
    pub(crate) fn new(post: &'a Post, rank: Rank) -> Self {
        let activity = Activity::default();
        Self {
            post,
            rank,
            step: 0,
            activity,
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
        self.activity.fill(self.post.now(), cause);
    }

    fn put(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        self.fill(Cause::Compute);
        let outcome = self.post.put(self.rank, to, message, self.step);
        self.fill(Cause::WaitPeer(to));
        outcome
    }

    /// Takes a message and copies it into memory of its own, as a receiver must.
    fn take(&mut self, from: Rank) -> Result<Message, RunError> {
        self.fill(Cause::Compute);
        let posted = self.post.take(from, self.rank, self.step)?;
        let start = self.post.now();
        self.activity.fill(start, Cause::WaitPeer(from));
        let message: Message = posted
            .message
            .iter()
            .map(|payload| payload[..].into())
            .collect();
        let end = self.post.now();
        self.activity.fill(end, Cause::Transfer);
        let (bytes, posted) = (message_bytes(&message), posted.posted);
        self.messages.push(MessageRecord {
            from,
            to: self.rank,
            bytes,
            posted,
            start,
            end,
        });
        Ok(message)
    }
}

impl Steps for HostSteps<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.post.ranks()
    }

    fn now(&self) -> Time {
        self.post.now()
    }

    fn at_step(&mut self, _: &Schedule, index: usize, _: &Step) {
        self.step = index;
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        self.put(to, message)
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        self.take(from)
    }

    /// Sends first: the mailbox has room unless the peer still has to take an earlier message, and
    /// then it is the peer's turn.
    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        self.put(to, message)?;
        self.take(from)
    }

    /// Whole messages: the next rank's copy is its own, so pieces would gain nothing here.
    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        _piece_bytes: Option<u64>,
    ) -> Result<Message, RunError> {
        let message = self.take(from)?;
        self.put(to, message.clone())?;
        Ok(message)
    }

    async fn combine(&mut self, _bytes: u64) -> Result<(), RunError> {
        // The interpreter combines right after this; `fill` at the next call accounts for it.
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }
}
