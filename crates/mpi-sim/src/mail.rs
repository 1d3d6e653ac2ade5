// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of the MPI library as messages of the machine: what the ranks of a core have on their way.

use std::collections::VecDeque;
use std::ops::Range;

use corecast_core::Rank;
use corecast_machine::{
    Broadcast, CoreMessage, Done, Endpoint, MessageRecord, Payload, Pending, Received, RunError,
    Sharing, Source, TagFilter, Time,
};
use corecast_mpi::transport::Head;
use corecast_shm::{Errand, broadcast_parts};

use crate::capture::Captured;

/// Bytes before a packet's body, where a rank has a core to itself.
const HEAD_BYTES: usize = 12;

/// Bytes before a packet's body: where several ranks have a core a message says which of them it is from
/// and for.
#[must_use]
pub fn head_bytes(sharing: Sharing) -> usize {
    match sharing.is_alone() {
        true => HEAD_BYTES,
        false => HEAD_BYTES + Sharing::PLACES_BYTES,
    }
}

/// Messages that a core may have on their way before a further send waits for the first of them, and
/// their bytes: what a library has as room for messages that it has copied.
const UNSENT_MAX: usize = 64;
const UNSENT_BYTES_MAX: usize = 1 << 20;

/// A packet that has come.
pub(crate) struct Packet {
    from: u32,
    /// The lower half of the head's first word.
    tag: u32,
    payload: Payload,
    /// Where its body begins.
    body: usize,
}

impl Packet {
    /// Sender, head, body.
    pub(crate) fn parts(&self) -> (u32, Head, &[u8]) {
        let (head, body) = self.payload.split_at(self.body);
        let upper = u32::from_le_bytes(head[..4].try_into().expect("four bytes"));
        let second = u64::from_le_bytes(head[4..12].try_into().expect("eight bytes"));
        let first = u64::from(self.tag) | u64::from(upper) << 32;
        (self.from, (first, second), body)
    }

    /// Its being received, as it is captured.
    fn received(&self) -> Captured {
        let (from, (word, _), body) = self.parts();
        let bytes = (HEAD_BYTES + body.len()) as u64;
        Captured::Received { from, word, bytes }
    }

    /// Who sent it.
    pub(crate) fn from(&self) -> u32 {
        self.from
    }
}

/// What has become of an errand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Served {
    /// It is done.
    Done,
    /// The rank has looked, and nothing has come.
    Nothing,
    /// The rank can go on when something has come for it.
    Waits,
    /// That was the rank's last.
    Finished,
}

/// Messages of a core's ranks that are under way.
pub(crate) struct Mail {
    sharing: Sharing,
    ranks: Range<u32>,
    /// The receive that takes the next packet, sends that have not ended, and the broadcast that the rank
    /// takes part in, in this order.
    pending: Vec<Pending>,
    /// The root of that broadcast, and the words before the packet in which it comes.
    broadcast: Option<(Rank, Head)>,
    /// Bytes of those sends.
    unsent: VecDeque<usize>,
    /// What has come for each rank and was not told.
    inboxes: Vec<VecDeque<Packet>>,
    /// What each rank has done, where that is asked for.
    pub(crate) captured: Option<Vec<Vec<Captured>>>,
    /// Of the sends that have not ended the rank, and the number among all of its sends.
    numbers: VecDeque<(u32, u32)>,
    sends: Vec<u32>,
    /// Where ranks share cores: messages between two of this one, and those that went to others, in their
    /// order.
    pub(crate) within: Vec<MessageRecord>,
    pub(crate) sent: Vec<CoreMessage>,
}

impl Mail {
    /// That of a core.
    pub(crate) fn new(sharing: Sharing, core: u32) -> Self {
        let ranks = sharing.ranks_of(core);
        Self {
            sharing,
            pending: Vec::new(),
            broadcast: None,
            unsent: VecDeque::new(),
            inboxes: ranks.clone().map(|_| VecDeque::new()).collect(),
            captured: None,
            numbers: VecDeque::new(),
            sends: ranks.clone().map(|_| 0).collect(),
            within: Vec::new(),
            sent: Vec::new(),
            ranks,
        }
    }

    /// What has come for a rank and was not told.
    pub(crate) fn inbox(&mut self, rank: u32) -> &mut VecDeque<Packet> {
        let place = self.place(rank);
        &mut self.inboxes[place]
    }

    /// Does one thing for a rank.
    pub(crate) async fn serve<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        rank: u32,
        errand: Errand<'_>,
    ) -> Result<Served, RunError> {
        match errand {
            // What is carried on comes as sends and waits.
            Errand::Begin | Errand::Now | Errand::Carry(_) | Errand::Tell(_) => {}
            Errand::Compute(ps) => {
                // Nothing goes out while the core computes, and others may wait for it. A core with
                // several ranks goes on with another one instead, which a replay has to do, too.
                while self.sharing.is_alone() && !self.unsent.is_empty() {
                    self.send_on(endpoint, rank).await?;
                }
                self.capture(rank, Captured::Compute(ps));
                endpoint.compute(Time::from_ps(ps)).await?;
            }
            Errand::Send { to, head, body } => {
                self.send(endpoint, (rank, to), head, body).await?;
            }
            Errand::Look => {
                self.listen(endpoint).await?;
                if self.inbox(rank).is_empty()
                    && let Some(done) = endpoint.test(&self.pending[0]).await?
                {
                    self.ended(endpoint, 0, done).await?;
                }
                if self.inbox(rank).is_empty() {
                    return Ok(Served::Nothing);
                }
            }
            Errand::Wait => {
                self.listen(endpoint).await?;
                return Ok(Served::Waits);
            }
            Errand::Broadcast {
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
                    number: head.0,
                    payload: bytes.into(),
                };
                let taken_part = endpoint.ibroadcast(broadcast).await?;
                self.pending.push(taken_part);
                self.broadcast = Some((root, head));
            }
            Errand::Finish(_) => return Ok(Served::Finished),
        }
        Ok(Served::Done)
    }

    /// Sends a packet of one rank to another.
    async fn send<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        (from, to): (u32, u32),
        head: Head,
        body: &[u8],
    ) -> Result<(), RunError> {
        self.listen(endpoint).await?;
        let core = self.sharing.core_of(to);
        let (tag, bytes) = (head.0 as u32, body.len());
        let is_within = self.ranks.contains(&to) && !self.sharing.is_alone();
        if !is_within {
            self.make_room(endpoint, from).await?;
        }
        let one = Captured::Send {
            to,
            word: head.0,
            bytes: (HEAD_BYTES + bytes) as u64,
        };
        self.capture(from, one);
        let number = self.sends(from);
        if is_within {
            return self.hand(endpoint, (from, to), head, body).await;
        }
        let message = self.message((from, to), head, body);
        let machine_bytes = message.len() as u64;
        let sent = endpoint.isend(Rank(core), tag, message).await?;
        let sends_end = self.pending.len() - usize::from(self.broadcast.is_some());
        self.pending.insert(sends_end, sent);
        self.unsent.push_back(bytes);
        self.numbers.push_back((from, number));
        if !self.sharing.is_alone() {
            self.sent.push(CoreMessage {
                core,
                ranks: (from, to),
                bytes: machine_bytes,
            });
        }
        Ok(())
    }

    /// Hands a packet to a rank of the same core, which copies it to where that one's library finds it.
    async fn hand<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        (from, to): (u32, u32),
        head: Head,
        body: &[u8],
    ) -> Result<(), RunError> {
        let payload = self.message((from, to), head, body);
        if from != to {
            let (posted, bytes) = (endpoint.now(), payload.len() as u64);
            endpoint.copy(bytes).await?;
            self.within.push(MessageRecord {
                from: Rank(from),
                to: Rank(to),
                bytes,
                posted,
                start: posted,
                end: endpoint.now(),
            });
        }
        let packet = Packet {
            from,
            tag: head.0 as u32,
            payload,
            body: head_bytes(self.sharing),
        };
        self.inbox(to).push_back(packet);
        Ok(())
    }

    /// Sees to it that there is a receive for the next packet.
    async fn listen<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        if self.pending.is_empty() {
            if self.sharing.is_alone() {
                self.capture(self.ranks.start, Captured::Listen);
            }
            let receive = endpoint.irecv(Source::Any, TagFilter::Any).await?;
            self.pending.push(receive);
        }
        Ok(())
    }

    fn place(&self, rank: u32) -> usize {
        (rank - self.ranks.start) as usize
    }

    fn capture(&mut self, rank: u32, one: Captured) {
        let place = self.place(rank);
        if let Some(captured) = &mut self.captured {
            captured[place].push(one);
        }
    }

    /// So many packets are told to a rank; one that shares its core goes on from there.
    pub(crate) fn told(&mut self, rank: u32, packets: usize) {
        let place = self.place(rank);
        let told = self.inboxes[place].drain(..packets);
        if let Some(captured) = self.captured.as_mut().filter(|_| !self.sharing.is_alone()) {
            captured[place].extend(told.map(|packet| packet.received()));
        }
    }

    /// The number of a rank's next send.
    fn sends(&mut self, rank: u32) -> u32 {
        let place = self.place(rank);
        self.sends[place] += 1;
        self.sends[place] - 1
    }

    /// Waits as long as too much is on its way for a rank to send more.
    async fn make_room<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        rank: u32,
    ) -> Result<(), RunError> {
        while self.unsent.len() >= UNSENT_MAX
            || self.unsent.iter().sum::<usize>() >= UNSENT_BYTES_MAX
        {
            self.send_on(endpoint, rank).await?;
        }
        Ok(())
    }

    /// Waits until something ends, for a rank that cannot go on before sends have.
    async fn send_on<E: Endpoint>(&mut self, endpoint: &mut E, rank: u32) -> Result<(), RunError> {
        let (index, done) = endpoint.wait_any(&self.pending).await?;
        if done == Done::Sent {
            let (of, number) = self.numbers[index - 1];
            // That it has waited for another one's is not said of a rank.
            if of == rank {
                self.capture(rank, Captured::Sent(number));
            }
        }
        self.ended(endpoint, index, done).await
    }

    /// Waits until something ends.
    pub(crate) async fn next<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
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
        if let Some((root, head)) = self.broadcast.take_if(|_| is_last) {
            self.pending.truncate(index);
            let received = done.received();
            let body = received
                .as_ref()
                .map_or(&[][..], |message| &message.payload);
            let packet = Packet {
                from: root.0,
                tag: head.0 as u32,
                payload: self.message((root.0, self.ranks.start), head, body),
                body: head_bytes(self.sharing),
            };
            self.inboxes[0].push_back(packet);
            return Ok(());
        }
        match done {
            Done::Received(message) => {
                let (to, packet) = self.packet(message);
                if self.captured.is_some() && self.sharing.is_alone() {
                    self.capture(self.ranks.start, packet.received());
                }
                self.inboxes[to].push_back(packet);
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

    /// A packet as a message.
    fn message(&self, (from, to): (u32, u32), head: Head, body: &[u8]) -> Payload {
        let mut bytes = Vec::with_capacity(head_bytes(self.sharing) + body.len());
        bytes.extend_from_slice(&((head.0 >> 32) as u32).to_le_bytes());
        bytes.extend_from_slice(&head.1.to_le_bytes());
        if !self.sharing.is_alone() {
            bytes.extend_from_slice(&self.sharing.places(from, to));
        }
        bytes.extend_from_slice(body);
        bytes.into()
    }

    /// The inverse of [`Mail::message`], and for which of the core's ranks it is.
    fn packet(&self, message: Received) -> (usize, Packet) {
        let Received { from, tag, payload } = message;
        let [from, to] = match self.sharing.is_alone() {
            true => [from.0, self.ranks.start],
            false => {
                let cores = [from.0, self.sharing.core_of(self.ranks.start)];
                self.sharing.at_places(cores, &payload[HEAD_BYTES..])
            }
        };
        let packet = Packet {
            from,
            tag,
            payload,
            body: head_bytes(self.sharing),
        };
        ((to - self.ranks.start) as usize, packet)
    }
}

/// Ends a core's part. A rank that has come to its end may leave messages that nobody has received.
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
            head: Head, body in prop::collection::vec(any::<u8>(), 0..99),
            per_core in 1_u32..300, ends: [u32; 2],
        ) {
            let sharing = Sharing::new(1 << 20, per_core);
            let [from, to] = ends.map(|rank| rank % sharing.ranks());
            let mail = Mail::new(sharing, sharing.core_of(to));
            let received = Received {
                from: Rank(sharing.core_of(from)),
                tag: head.0 as u32,
                payload: mail.message((from, to), head, &body),
            };
            let (place, packet) = mail.packet(received);
            prop_assert_eq!(packet.parts(), (from, head, &body[..]));
            prop_assert_eq!(mail.ranks.start + place as u32, to);
        }
    }
}
