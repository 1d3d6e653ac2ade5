// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged messages in software over the mesh: envelopes go ahead, payloads wait until they are wanted.
//!
//! ```text
//! sender    send overhead > envelope ........... grant > words ... grant > words ...
//! receiver                           .> matched, grant .......> read, grant ........> recv overhead
//! ```
//!
//! Envelopes, grants and the word of a synchronous receiver that it is done are packets of a few words
//! in the queue for flow control, which every core reads while it waits and, when it is held up, as
//! soon as that queue is full. A core grants one packet of payload at a time, so that what is on its
//! way to it fits into its queue for data. The hardware's demultiplexer sorts packets by queue; it
//! knows no tags, so these are words of the envelope.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{
    ArrivalId, Ascending, Await, Blocked, Cause, Courier, Header, HeaderKind, InTurns,
    MessageRecord, News, Payload, RunError, SendId, Tag, Time, until_news, until_sent,
};

use super::costs::Cut;
use super::net::{CONTROL, DATA, FRONT, Injection, Label, Net, PacketKind};
use super::network::Portion;
use crate::ranks::SimCourier;

/// A message on its way out.
struct Outgoing {
    id: SendId,
    to: Rank,
    payload: Payload,
    /// Its packets that have not been granted.
    packets: VecDeque<Cut>,
    posted: Time,
}

/// What has been read and is to be acted on.
enum Task {
    /// A packet of the message with this number may go.
    Grant(u32),
    /// The receiver of the message with this number has it.
    Done(u32),
    /// A packet of the message that was granted, and its payload if it is the last.
    Data(Option<Payload>),
}

/// See the module's documentation.
pub(crate) struct UdnCourier {
    net: Rc<Net>,
    rank: Rank,
    /// The call under way.
    call: usize,
    news: VecDeque<News>,
    tasks: VecDeque<Task>,
    /// By their number.
    sends: Ascending<u32, Outgoing>,
    /// Messages that have been asked for, with their sizes; the first one's next packet has been
    /// granted.
    wanted: VecDeque<(ArrivalId, u64)>,
    is_granted: bool,
    /// Sizes of messages that have not been asked for.
    arrived: BTreeMap<ArrivalId, u64>,
}

impl UdnCourier {
    pub(crate) fn new(net: Rc<Net>, rank: Rank) -> Self {
        Self {
            net,
            rank,
            call: 0,
            news: VecDeque::new(),
            tasks: VecDeque::new(),
            sends: Ascending::default(),
            wanted: VecDeque::new(),
            is_granted: false,
            arrived: BTreeMap::new(),
        }
    }

    async fn spend(&self, duration: Time, cause: Cause) {
        self.net.kernel.sleep(duration).await;
        self.net.books.fill(self.rank, self.net.kernel.now(), cause);
    }

    /// Reads up to `most` words from the front of a queue.
    async fn read(&mut self, front: (u32, Portion), most: u64) {
        let net = Rc::clone(&self.net);
        let peer = Net::sender(front.1.tag);
        let reading = net.begin_reading(self.rank, front, most);
        net.kernel.sleep_until(reading.end).await;
        if let Some(label) = net.end_reading(self.rank, peer, &reading) {
            self.understand(label);
        }
    }

    /// What a packet that has been read as a whole is for.
    fn understand(&mut self, label: Label) {
        let complete = MessageRecord {
            from: label.from,
            to: self.rank,
            bytes: 0,
            posted: label.posted,
            start: label.start,
            end: self.net.kernel.now(),
        };
        let payload = label.message.and_then(|mut message| message.pop());
        if label.kind == PacketKind::Data {
            if let Some(payload) = &payload {
                let bytes = payload.len() as u64;
                self.net.books.record(MessageRecord { bytes, ..complete });
            }
            return self.tasks.push_back(Task::Data(payload));
        }
        let header = Header::decode(&payload.expect("a header has words"));
        match header.kind {
            HeaderKind::Envelope => {
                let id = header.arrival(label.from);
                self.arrived.insert(id, header.bytes);
                let envelope = header.envelope(label.from);
                self.news.push_back(News::Arrived(id, envelope));
                if header.bytes == 0 {
                    self.net.books.record(complete);
                }
            }
            HeaderKind::Grant => self.tasks.push_back(Task::Grant(header.number)),
            HeaderKind::Done => self.tasks.push_back(Task::Done(header.number)),
            HeaderKind::Part | HeaderKind::Whole => unreachable!("payloads are packets of data"),
        }
    }

    /// Writes a packet into the network; a full queue that is held up is read meanwhile.
    async fn inject(&mut self, to: Rank, queue: u32, label: Label) {
        let (net, rank) = (Rc::clone(&self.net), self.rank);
        let since = net.kernel.now();
        match net.send(to, queue, label) {
            Injection::Until(time) => net.kernel.sleep_until(time).await,
            Injection::IsTold(tag, alone) => {
                net.books.block(rank, to, Await::Send, self.call, since);
                loop {
                    let Some(queue) = net.full_queue(rank) else {
                        if net.hear_injected(rank).await {
                            break;
                        }
                        continue;
                    };
                    net.books.fill(rank, net.kernel.now(), Cause::Transfer);
                    if let Some(portion) = net.front(rank, queue) {
                        self.read((queue, portion), FRONT).await;
                    }
                }
                net.books.unblock(rank);
                net.account_injection(rank, tag, alone);
            }
        }
        net.books.fill(rank, net.kernel.now(), Cause::Transfer);
    }

    fn label(&self, kind: PacketKind, words: u64, content: Option<Payload>, posted: Time) -> Label {
        Label {
            from: self.rank,
            kind,
            words,
            message: content.map(|content| vec![content]),
            posted,
            start: self.net.kernel.now(),
        }
    }

    /// Sends a packet of the words of a header.
    async fn send_header(&mut self, to: Rank, header: Header, posted: Time) {
        // Whom it is for is not sent; it serves who finds it unread.
        let content = [&header.encode()[..], &to.0.to_le_bytes()].concat();
        let words = self.net.costs.words(Header::BYTES as u64);
        let label = self.label(PacketKind::Header, words, Some(content.into()), posted);
        self.inject(to, CONTROL, label).await;
    }

    /// Sends the next packet of a message.
    async fn send_packet(&mut self, number: u32) {
        let net = Rc::clone(&self.net);
        let message = self.sends.get_mut(&number);
        let message = message.expect("what is granted was announced");
        let packet = message.packets.pop_front().expect("it has a packet left");
        let (to, posted, id) = (message.to, message.posted, message.id);
        let content = packet.is_last.then(|| Payload::clone(&message.payload));
        let bytes = message.payload.len() as u64;
        if net.costs.is_synchronous && packet.is_first {
            self.spend(net.costs.send(bytes), Cause::Software).await;
        }
        let label = self.label(PacketKind::Data, packet.words, content, posted);
        self.inject(to, DATA, label).await;
        if packet.is_last && !net.costs.is_synchronous {
            self.sends.remove(&number);
            self.news.push_back(News::Sent(id));
        }
    }

    /// A packet of the message that was granted has come.
    async fn take(&mut self, payload: Option<Payload>) {
        self.is_granted = false;
        let Some(payload) = payload else { return };
        let wanted = self.wanted.pop_front();
        let (id, bytes) = wanted.expect("it was asked for");
        let software = self.net.costs.recv(bytes);
        self.spend(software, Cause::Software).await;
        if self.net.costs.is_synchronous {
            let (from, number) = Header::sender(id);
            let header = Header::new(HeaderKind::Done, number.into(), 0, 0);
            let now = self.net.kernel.now();
            self.send_header(from, header, now).await;
        }
        self.news.push_back(News::Landed(id, payload));
    }
}

impl SimCourier for UdnCourier {
    async fn begin(&mut self, late: Time) -> Result<(), RunError> {
        let (net, rank) = (Rc::clone(&self.net), self.rank);
        net.kernel.sleep_until(late).await;
        net.books.fill(rank, late, Cause::Compute);
        let busy_until = net.busy_until[rank.index()];
        net.kernel.sleep_until(busy_until).await;
        net.books.fill(rank, busy_until, Cause::PortBusy(rank));
        Ok(())
    }

    async fn call(&mut self) {
        self.spend(self.net.costs.call, Cause::Software).await;
    }
}

impl InTurns for UdnCourier {
    async fn progress(&mut self) {
        loop {
            if let Some(task) = self.tasks.pop_front() {
                match task {
                    Task::Grant(number) => self.send_packet(number).await,
                    Task::Done(number) => {
                        let sent = self.sends.remove(&number);
                        let sent = sent.expect("what is done was sent");
                        self.news.push_back(News::Sent(sent.id));
                    }
                    Task::Data(payload) => self.take(payload).await,
                }
            } else if let Some(&(id, bytes)) = self.wanted.front().filter(|_| !self.is_granted) {
                let (from, number) = Header::sender(id);
                let header = Header::new(HeaderKind::Grant, number.into(), 0, bytes);
                self.is_granted = true;
                let now = self.net.kernel.now();
                self.send_header(from, header, now).await;
            } else {
                return;
            }
        }
    }

    fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    fn sending_to(&self) -> Option<Rank> {
        self.sends.first().map(|(_, message)| message.to)
    }

    /// Reads what is next, waiting for it.
    async fn pause(&mut self, blocked: Blocked) -> Result<(), RunError> {
        match self.net.earliest(self.rank) {
            Some(front) => self.read(front, self.net.all).await,
            None => {
                self.net.books.block_as(blocked);
                self.net.listen(self.rank).await;
                self.net.books.unblock(self.rank);
            }
        }
        Ok(())
    }
}

impl Courier for UdnCourier {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.net.ranks
    }

    fn now(&self) -> Time {
        self.net.kernel.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.spend(time, Cause::Compute).await;
        Ok(())
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let costs = &self.net.costs;
        self.compute(costs.combine * costs.words(bytes)).await
    }

    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError> {
        let (posted, bytes) = (self.now(), payload.len() as u64);
        let costs = self.net.costs;
        if !costs.is_synchronous || bytes == 0 {
            self.spend(costs.send(bytes), Cause::Software).await;
        }
        let header = Header::new(HeaderKind::Envelope, id, tag, bytes);
        if bytes > 0 {
            let packets = costs.packets(bytes, costs.packet_words).collect();
            let message = Outgoing {
                id,
                to,
                payload,
                packets,
                posted,
            };
            self.sends.insert(header.number, message);
        }
        self.send_header(to, header, posted).await;
        if bytes == 0 {
            self.news.push_back(News::Sent(id));
        }
        Ok(())
    }

    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError> {
        let bytes = self.arrived.remove(&id).expect("it has arrived");
        if bytes > 0 {
            self.wanted.push_back((id, bytes));
        } else {
            let software = self.net.costs.recv(0);
            self.spend(software, Cause::Software).await;
            self.news.push_back(News::Landed(id, Payload::from([])));
        }
        Ok(())
    }

    /// Looking at the queues takes as long as writing a word.
    async fn look(&mut self) -> Result<(), RunError> {
        self.spend(self.net.costs.inject, Cause::Software).await;
        while let Some(front) = self
            .net
            .earliest(self.rank)
            .filter(|(_, portion)| self.net.time(portion.first) <= self.now())
        {
            self.read(front, self.net.all).await;
        }
        self.progress().await;
        Ok(())
    }

    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError> {
        self.call = blocked.step;
        until_news(self, blocked).await
    }

    fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    async fn finish(&mut self, call: usize) -> Result<(), RunError> {
        until_sent(self, call).await
    }
}
