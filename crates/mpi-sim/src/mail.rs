// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of the MPI library as messages of the machine: what a rank has on its way.

use std::collections::VecDeque;

use corecast_core::Rank;
use corecast_machine::{
    Broadcast, Done, Endpoint, Payload, Pending, Received, RunError, Source, TagFilter, Time,
};
use corecast_shm::{Request, broadcast_parts};

use crate::HEAD_BYTES;
use crate::capture::Captured;

/// Messages that a rank may have on their way before a further send waits for the first of them, and
/// their bytes: what a library has as room for messages that it has copied.
const UNSENT_MAX: usize = 64;
const UNSENT_BYTES_MAX: usize = 1 << 20;

/// Messages of a rank that are under way.
#[derive(Default)]
pub(crate) struct Mail {
    /// The receive that takes the next packet, sends that have not ended, and the broadcast that the rank
    /// takes part in, in this order.
    pending: Vec<Pending>,
    /// The root of that broadcast, and the words before the packet in which it comes.
    broadcast: Option<(Rank, [u64; 2])>,
    /// Bytes of those sends.
    unsent: VecDeque<usize>,
    /// What has come and was not told.
    pub(crate) inbox: VecDeque<Received>,
    /// What the rank has done, where that is asked for.
    pub(crate) captured: Option<Vec<Captured>>,
    /// Numbers of the sends that have not ended.
    numbers: VecDeque<u32>,
    sends: u32,
}

impl Mail {
    /// Does one thing; whether it was the rank's last.
    pub(crate) async fn serve<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        request: Request<'_>,
    ) -> Result<bool, RunError> {
        match request {
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
                let sends_end = self.pending.len() - usize::from(self.broadcast.is_some());
                self.pending.insert(sends_end, sent);
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
            Request::Broadcast {
                root,
                members,
                head,
                body,
            } => {
                self.listen(endpoint).await?;
                let (members, bytes) = broadcast_parts(members, body);
                let mut members: Vec<Rank> = members.into_iter().map(Rank).collect();
                members.sort_unstable();
                let root = Rank(root);
                let broadcast = Broadcast {
                    root,
                    members,
                    number: head[0],
                    payload: bytes.into(),
                };
                let taken_part = endpoint.ibroadcast(broadcast).await?;
                self.pending.push(taken_part);
                self.broadcast = Some((root, head));
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
        let is_last = index + 1 == self.pending.len();
        if let Some((from, head)) = self.broadcast.take_if(|_| is_last) {
            self.pending.truncate(index);
            let received = done.received();
            let body = received
                .as_ref()
                .map_or(&[][..], |message| &message.payload);
            self.inbox.push_back(Received {
                from,
                tag: head[0] as u32,
                payload: message(head, body),
            });
            return Ok(());
        }
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
pub(crate) fn packet(message: &Received) -> (u32, [u64; 2], &[u8]) {
    let (head, body) = message.payload.split_at(HEAD_BYTES);
    let (upper, second) = head.split_at(4);
    let upper = u32::from_le_bytes(upper.try_into().expect("four bytes"));
    let second = u64::from_le_bytes(second.try_into().expect("eight bytes"));
    let first = u64::from(message.tag) | u64::from(upper) << 32;
    (message.from.0, [first, second], body)
}

/// Ends a rank's part. A rank that has come to its end may leave messages that nobody has received.
pub(crate) async fn finish<E: Endpoint>(endpoint: &mut E) -> Result<(), RunError> {
    match endpoint.finish().await {
        Err(RunError::Unreceived { .. } | RunError::NotWaitedFor { .. }) => Ok(()),
        ended => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
