// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank on the machine: what its process asks for, in virtual time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use corecast_core::Rank;
use corecast_machine::{
    CallLog, CallSpan, Done, Endpoint, Payload, Pending, Program, Received, RunError, Source,
    TagFilter, Time,
};
use corecast_shm::{Desk, Item, Request};

use crate::HEAD_BYTES;
use crate::capture::Captured;

/// Messages that a rank may have on their way before a further send waits for the first of them, and
/// their bytes: what a library has as room for messages that it has copied.
const UNSENT_MAX: usize = 64;
const UNSENT_BYTES_MAX: usize = 1 << 20;

/// What is known of a rank at its end.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RankLog {
    /// Its calls ([`corecast_mpi::calls::name`]).
    pub calls: CallLog,
    /// Hand-overs between its process and the simulator, there and back.
    pub hand_overs: u64,
    /// The call by which it came to its end, when it had nothing more to ask for.
    pub last: Option<CallSpan>,
    /// What it has done; empty unless that was asked for.
    pub captured: Vec<Captured>,
}

impl RankLog {
    /// The rank has finished: what was left to do after its last request was part of its last call.
    pub fn close(&mut self, finish: Time) {
        if let Some(last) = self.last {
            self.calls.enter(last.call, last.serial, last.end, finish);
        }
    }
}

/// The ranks of an MPI program, whose processes are attended at a desk.
#[derive(Debug)]
pub struct MpiRanks<'a> {
    desk: Desk<'a>,
    /// The rank whose process is to ask for something; none = `NOBODY`.
    awaited: AtomicU32,
    is_capturing: bool,
}

const NOBODY: u32 = u32::MAX;

impl<'a> MpiRanks<'a> {
    /// Those whose mailboxes are these.
    #[must_use]
    pub fn new(desk: Desk<'a>) -> Self {
        Self {
            desk,
            awaited: AtomicU32::new(NOBODY),
            is_capturing: false,
        }
    }

    /// The same, which write down what each of them does if `is_capturing`.
    #[must_use]
    pub fn capturing(self, is_capturing: bool) -> Self {
        Self {
            is_capturing,
            ..self
        }
    }

    /// The rank whose process computed, and made no call, when the run ended; none if they all waited.
    #[must_use]
    pub fn awaited(&self) -> Option<u32> {
        let awaited = self.awaited.load(Ordering::Relaxed);
        (awaited != NOBODY).then_some(awaited)
    }

    /// The mailboxes.
    #[must_use]
    pub fn desk(&self) -> &Desk<'a> {
        &self.desk
    }
}

impl Program for MpiRanks<'_> {
    type Output = RankLog;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<RankLog, RunError> {
        let me = endpoint.rank().0;
        if me == 0 {
            self.desk.sit_down();
        }
        let mut mail = Mail {
            captured: self.is_capturing.then(Vec::new),
            ..Mail::default()
        };
        let mut log = RankLog::default();
        loop {
            let mut is_finished = false;
            self.awaited.store(me, Ordering::Relaxed);
            let items = self.desk.items(me).map_err(|_| RunError::Stopped)?;
            self.awaited.store(NOBODY, Ordering::Relaxed);
            for item in items {
                let since = endpoint.now();
                is_finished |= mail.serve(endpoint, &item).await?;
                if let Request::Finish(counts) = item.request {
                    log.calls.counts = Desk::counts(counts).collect();
                    log.last = Some(CallSpan {
                        call: item.call,
                        serial: item.serial,
                        start: since,
                        end: since,
                    });
                }
                let now = endpoint.now();
                log.calls.enter(item.call, item.serial, since, now);
            }
            let packets = mail.inbox.iter().map(packet);
            let now = endpoint.now().ps();
            let told = self.desk.answer(me, now, packets);
            mail.inbox.drain(..told);
            log.hand_overs += 1;
            if is_finished {
                log.captured = mail.captured.unwrap_or_default();
                return Ok(log);
            }
        }
    }

    /// A rank that has come to `MPI_Finalize` may leave messages that nobody has received.
    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        match endpoint.finish().await {
            Err(RunError::Unreceived { .. } | RunError::NotWaitedFor { .. }) => Ok(()),
            ended => ended,
        }
    }
}

/// Messages of a rank that are under way.
#[derive(Default)]
struct Mail {
    /// The receive that takes the next packet, and sends that have not ended, in this order.
    pending: Vec<Pending>,
    /// Bytes of those sends.
    unsent: VecDeque<usize>,
    /// What has come and was not told.
    inbox: VecDeque<Received>,
    /// What the rank has done, where that is asked for.
    captured: Option<Vec<Captured>>,
    /// Numbers of the sends that have not ended.
    numbers: VecDeque<u32>,
    sends: u32,
}

impl Mail {
    /// Does one thing; whether it was the rank's last.
    async fn serve<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        item: &Item<'_>,
    ) -> Result<bool, RunError> {
        match item.request {
            Request::Begin | Request::Now | Request::Tell(_) => {}
            Request::Compute(ps) => {
                self.capture(Captured::Compute(ps));
                endpoint.compute(Time::from_ps(ps)).await?;
            }
            Request::Send { to, head, body } => {
                self.listen(endpoint).await?;
                self.make_room(endpoint).await?;
                let bytes = body.len();
                let tag = head[0] as u32;
                self.capture(Captured::Send {
                    to,
                    word: head[0],
                    bytes: (HEAD_BYTES + bytes) as u64,
                });
                let sent = endpoint.isend(Rank(to), tag, message(head, body)).await?;
                self.pending.push(sent);
                self.unsent.push_back(bytes);
                self.numbers.push_back(self.sends);
                self.sends += 1;
            }
            Request::Look => {
                self.listen(endpoint).await?;
                if self.inbox.is_empty()
                    && let Some(done) = endpoint.test(&self.pending[0]).await?
                {
                    self.ended(endpoint, 0, done).await?;
                }
            }
            Request::Wait => {
                self.listen(endpoint).await?;
                while self.inbox.is_empty() {
                    self.next(endpoint).await?;
                }
            }
            Request::Finish(_) => return Ok(true),
        }
        Ok(false)
    }

    /// Sees to it that there is a receive for the next packet.
    async fn listen<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        if self.pending.is_empty() {
            self.capture(Captured::Listen);
            let receive = endpoint.irecv(Source::Any, TagFilter::Any).await?;
            self.pending.push(receive);
        }
        Ok(())
    }

    fn capture(&mut self, one: Captured) {
        if let Some(captured) = &mut self.captured {
            captured.push(one);
        }
    }

    /// Waits as long as too much is on its way.
    async fn make_room<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        while self.unsent.len() >= UNSENT_MAX
            || self.unsent.iter().sum::<usize>() >= UNSENT_BYTES_MAX
        {
            let (index, done) = endpoint.wait_any(&self.pending).await?;
            if done == Done::Sent {
                self.capture(Captured::Sent(self.numbers[index - 1]));
            }
            self.ended(endpoint, index, done).await?;
        }
        Ok(())
    }

    /// Waits until something ends.
    async fn next<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        let (index, done) = endpoint.wait_any(&self.pending).await?;
        self.ended(endpoint, index, done).await
    }

    async fn ended<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        index: usize,
        done: Done,
    ) -> Result<(), RunError> {
        match done {
            Done::Received(message) => {
                if self.captured.is_some() {
                    let (from, [word, _], body) = packet(&message);
                    let bytes = (HEAD_BYTES + body.len()) as u64;
                    self.capture(Captured::Received { from, word, bytes });
                }
                self.inbox.push_back(message);
                self.pending[index] = endpoint.irecv(Source::Any, TagFilter::Any).await?;
            }
            Done::Sent => {
                drop(self.pending.remove(index));
                self.unsent.remove(index - 1);
                self.numbers.remove(index - 1);
            }
        }
        Ok(())
    }
}

/// A packet as a message.
fn message(head: [u64; 2], body: &[u8]) -> Payload {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.extend_from_slice(&((head[0] >> 32) as u32).to_le_bytes());
    bytes.extend_from_slice(&head[1].to_le_bytes());
    bytes.extend_from_slice(body);
    bytes.into()
}

/// The inverse of [`message`].
fn packet(message: &Received) -> (u32, [u64; 2], &[u8]) {
    let (head, body) = message.payload.split_at(HEAD_BYTES);
    let (upper, second) = head.split_at(4);
    let upper = u32::from_le_bytes(upper.try_into().expect("four bytes"));
    let second = u64::from_le_bytes(second.try_into().expect("eight bytes"));
    let first = u64::from(message.tag) | u64::from(upper) << 32;
    (message.from.0, [first, second], body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_left_to_do_at_the_end_is_part_of_the_last_call() {
        let mut log = RankLog::default();
        let at = Time::from_ps;
        let span = |start, end| CallSpan {
            call: 4,
            serial: 9,
            start: at(start),
            end: at(end),
        };
        log.calls.enter(4, 9, at(0), at(5));
        log.last = Some(span(5, 5));
        log.close(at(8));
        assert_eq!(log.calls.spans, [span(0, 8)]);
    }

    proptest! {
        #[test]
        fn a_packet_is_the_same_behind_a_message(
            head: [u64; 2], body in prop::collection::vec(any::<u8>(), 0..99), from: u32,
        ) {
            let received = Received {
                from: Rank(from),
                tag: head[0] as u32,
                payload: message(head, &body),
            };
            prop_assert_eq!(packet(&received), (from, head, &body[..]));
        }
    }
}
