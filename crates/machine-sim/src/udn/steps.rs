// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core's software: sending, receiving, and putting aside what is not expected yet.
//!
//! A million cores have a future each. An `async fn` keeps its arguments twice while it waits, as
//! given and as used, so the functions that wait inside each other are written without it.

#![expect(clippy::manual_async_fn, reason = "see the module's documentation")]

use std::rc::Rc;

use corecast_core::{Rank, RouteTree, Schedule, Step};
use corecast_machine::{
    Await, Cause, Message, MessageRecord, RunError, Steps, Time, message_bytes,
};

use super::costs::Cut;
use super::inbox::{Inbox, Inboxes, Packet};
use super::net::{CONTROL, DATA, FRONT, Injection, Label, Net, PacketKind};
use super::network::Portion;
use super::static_net::InFlight;
use crate::ranks::SimSteps;

/// The program's side of the message layer.
pub(crate) struct UdnSteps {
    net: Rc<Net>,
    rank: Rank,
    step: usize,
    has_flow_control: bool,
    /// Most words of payload in a packet.
    packet_words: u64,
    inboxes: Inboxes,
}

/// What [`UdnSteps::pump`] waits for.
#[derive(Clone, Copy)]
enum Until {
    /// A ready of this rank.
    Ready(Rank),
    /// A packet of this rank.
    Packet(Rank),
    /// This rank's word that it has received.
    Done(Rank),
    /// A ready of the first rank or a packet of the second, whichever comes first.
    ReadyOrPacket(Rank, Rank),
    /// All readies of this rank that nobody waits for.
    Settled(Rank),
}

impl UdnSteps {
    pub(crate) fn new(net: Rc<Net>, rank: Rank) -> Self {
        Self {
            packet_words: net.costs.packet_words,
            net,
            rank,
            step: 0,
            has_flow_control: true,
            inboxes: Inboxes::new(rank),
        }
    }

    /// Whether something of this kind is here.
    fn is_here(&self, until: Until) -> bool {
        let of = |peer| self.inboxes.of(peer);
        match until {
            Until::Ready(peer) => of(peer).is_some_and(|inbox| inbox.readies > 0),
            Until::Packet(peer) => of(peer).is_some_and(Inbox::has_packet),
            Until::Done(peer) => of(peer).is_some_and(|inbox| inbox.dones > 0),
            Until::Settled(peer) => of(peer).is_none_or(|inbox| inbox.spare_readies == 0),
            Until::ReadyOrPacket(to, from) => {
                self.is_here(Until::Ready(to)) || self.is_here(Until::Packet(from))
            }
        }
    }

    async fn spend(&self, duration: Time, cause: Cause) {
        self.net.kernel.sleep(duration).await;
        self.net.books.fill(self.rank, self.net.kernel.now(), cause);
    }

    /// Reads words until what is waited for has come.
    fn pump(&mut self, until: Until) -> impl Future<Output = ()> {
        async move {
            loop {
                if self.is_here(until) {
                    return;
                }
                let (peer, awaits) = match until {
                    Until::Ready(peer) | Until::Done(peer) | Until::Settled(peer) => {
                        (peer, Await::Send)
                    }
                    Until::Packet(peer) | Until::ReadyOrPacket(_, peer) => (peer, Await::Recv),
                };
                match self.net.earliest(self.rank) {
                    Some(front) => self.read(front, peer, self.net.all).await,
                    None => {
                        let now = self.net.kernel.now();
                        self.net
                            .books
                            .block(self.rank, peer, awaits, self.step, now);
                        self.net.listen(self.rank).await;
                        self.net.books.unblock(self.rank);
                    }
                }
            }
        }
    }

    /// Reads up to `most` words from the front of a queue; `peer` is waited for.
    ///
    /// Of what lives while time passes every rank has a copy, so there is little: the label stays
    /// with the network until the last word has been read.
    fn read(&mut self, front: (u32, Portion), peer: Rank, most: u64) -> impl Future<Output = ()> {
        let reading = self.net.begin_reading(self.rank, front, most);
        async move {
            self.net.kernel.sleep_until(reading.end).await;
            if let Some(label) = self.net.end_reading(self.rank, peer, &reading) {
                self.note_packet(label);
            }
        }
    }

    /// A packet has been read.
    fn note_packet(&mut self, label: Label) {
        let net = &self.net;
        let now = net.kernel.now();
        match label.kind {
            PacketKind::Ready => {
                let inbox = self.inboxes.of_mut(label.from);
                match inbox.spare_readies {
                    0 => inbox.readies += 1,
                    _ => inbox.spare_readies -= 1,
                }
                return;
            }
            PacketKind::Done => {
                self.inboxes.of_mut(label.from).dones += 1;
                return;
            }
            PacketKind::Data => {}
            PacketKind::Header => unreachable!("steps send no headers"),
        }
        if let Some(message) = &label.message {
            net.books.record(MessageRecord {
                from: label.from,
                to: self.rank,
                bytes: message_bytes(message),
                posted: label.posted,
                start: label.start,
                end: now,
            });
        }
        let packet = (label.words, label.message);
        self.inboxes.of_mut(label.from).put(packet);
    }

    /// Sends a packet without payload.
    fn send_control(&mut self, to: Rank, kind: PacketKind) -> impl Future<Output = ()> {
        async move {
            let label = self.label(kind, 0, None, self.net.kernel.now());
            self.inject(to, CONTROL, label).await;
        }
    }

    /// Tells `peer` that it may send a packet.
    async fn send_ready(&mut self, peer: Rank) {
        if self.has_flow_control {
            self.send_control(peer, PacketKind::Ready).await;
        }
    }

    /// Whether a sender waits until its message has been received.
    fn is_synchronous(&self) -> bool {
        self.has_flow_control && self.net.costs.is_synchronous
    }

    fn label(&self, kind: PacketKind, words: u64, message: Option<Message>, posted: Time) -> Label {
        Label {
            from: self.rank,
            kind,
            words,
            message,
            posted,
            start: self.net.kernel.now(),
        }
    }

    /// Writes a packet into the network.
    fn inject(&mut self, to: Rank, queue: u32, label: Label) -> impl Future<Output = ()> {
        // The label goes before anything waits: a future that kept it would be a line longer.
        let (rank, now) = (self.rank, self.net.kernel.now());
        let injection = self.net.send(to, queue, label);
        async move {
            match injection {
                Injection::Until(time) => self.net.kernel.sleep_until(time).await,
                Injection::IsTold(tag, alone) => {
                    let books = &self.net.books;
                    books.block(rank, to, Await::Send, self.step, now);
                    while !self.is_injected(to).await {}
                    self.net.books.unblock(rank);
                    self.net.account_injection(rank, tag, alone);
                }
            }
            self.net
                .books
                .fill(rank, self.net.kernel.now(), Cause::Transfer);
        }
    }

    /// Waits until the packet that is being written is in the network (true); or makes room in a full
    /// queue: with flow control the software promises that all words on their way are read, and a
    /// full queue interrupts it where it is held up. Otherwise cores that all write could wait for
    /// each other for ever.
    async fn is_injected(&mut self, to: Rank) -> bool {
        let full = match self.has_flow_control {
            true => self.net.full_queue(self.rank),
            false => None,
        };
        let Some(queue) = full else {
            return self.net.hear_injected(self.rank).await;
        };
        let now = self.net.kernel.now();
        self.net.books.fill(self.rank, now, Cause::Transfer);
        if let Some(portion) = self.net.front(self.rank, queue) {
            // Rare, and on the heap so that other futures are not longer for it.
            Box::pin(self.read((queue, portion), to, FRONT)).await;
        }
        false
    }

    /// The packets of a message.
    fn packets(&self, bytes: u64) -> impl Iterator<Item = Cut> + use<> {
        self.net.costs.packets(bytes, self.packet_words)
    }

    /// The software of a send, where it does not wait for the receiver first.
    async fn begin_send(&mut self, bytes: u64) {
        if !self.is_synchronous() {
            let software = self.net.costs.send(bytes);
            self.spend(software, Cause::Software).await;
        }
    }

    /// Whether a packet goes only after a ready.
    fn waits_for_ready(&self, packet: Cut) -> bool {
        let is_free = self.is_synchronous() && packet.words == 0;
        self.has_flow_control && !is_free
    }

    /// Sends one packet, waiting for its ready first.
    fn send_packet(
        &mut self,
        to: Rank,
        packet: Cut,
        message: Option<Message>,
        posted: Time,
    ) -> impl Future<Output = ()> {
        async move {
            let is_synchronous = self.is_synchronous();
            if self.waits_for_ready(packet) {
                self.pump(Until::Ready(to)).await;
                self.inboxes.of_mut(to).readies -= 1;
                self.inboxes.tidy(to);
            } else if self.has_flow_control {
                let inbox = self.inboxes.of_mut(to);
                match inbox.readies {
                    0 => inbox.spare_readies += 1,
                    _ => inbox.readies -= 1,
                }
                self.inboxes.tidy(to);
            }
            if is_synchronous && packet.is_first {
                let software = self.net.costs.send(packet.words);
                self.spend(software, Cause::Software).await;
            }
            let label = self.label(PacketKind::Data, packet.words, message, posted);
            self.inject(to, DATA, label).await;
        }
    }

    /// Waits until `to` has received a message of `bytes` bytes, where senders do.
    fn end_send(&mut self, to: Rank, bytes: u64) -> impl Future<Output = ()> {
        async move {
            if self.is_synchronous() && bytes > 0 {
                self.pump(Until::Done(to)).await;
                self.inboxes.of_mut(to).dones -= 1;
                self.inboxes.tidy(to);
            }
        }
    }

    /// Waits for the next packet of `from`, for which the ready must have been sent.
    fn recv_packet(&mut self, from: Rank) -> impl Future<Output = Packet> {
        async move {
            self.pump(Until::Packet(from)).await;
            let packet = self.inboxes.of_mut(from).take();
            self.inboxes.tidy(from);
            packet.expect("the packet has come")
        }
    }

    /// The software of a receive, after the last packet of `message`.
    fn end_recv(&mut self, from: Rank, message: &Message) -> impl Future<Output = ()> {
        async move {
            let bytes = message_bytes(message);
            let software = self.net.costs.recv(bytes);
            self.spend(software, Cause::Software).await;
            if self.is_synchronous() && bytes > 0 {
                self.send_control(from, PacketKind::Done).await;
            }
        }
    }
}

impl SimSteps for UdnSteps {
    async fn compute_until(&mut self, time: Time) {
        self.net.kernel.sleep_until(time).await;
        self.net.books.fill(self.rank, time, Cause::Compute);
    }
}

impl Steps for UdnSteps {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.net.ranks
    }

    fn now(&self) -> Time {
        self.net.kernel.now()
    }

    async fn launch(&mut self, schedule: &Schedule) -> Result<(), RunError> {
        self.has_flow_control = schedule.has_flow_control();
        self.packet_words = self.net.costs.packet_words_of(schedule);
        let busy_until = self.net.busy_until[self.rank.index()];
        self.net.kernel.sleep_until(busy_until).await;
        let cause = Cause::PortBusy(self.rank);
        self.net.books.fill(self.rank, busy_until, cause);
        self.spend(self.net.costs.call, Cause::Software).await;
        Ok(())
    }

    fn at_step(&mut self, _: &Schedule, index: usize, _: &Step) {
        self.step = index;
    }

    fn send(&mut self, to: Rank, message: Message) -> impl Future<Output = Result<(), RunError>> {
        async move {
            let posted = self.now();
            let bytes = message_bytes(&message);
            self.begin_send(bytes).await;
            let mut message = Some(message);
            for packet in self.packets(bytes) {
                let content = message.take_if(|_| packet.is_last);
                self.send_packet(to, packet, content, posted).await;
            }
            self.end_send(to, bytes).await;
            Ok(())
        }
    }

    fn recv(&mut self, from: Rank) -> impl Future<Output = Result<Message, RunError>> {
        async move {
            self.send_ready(from).await;
            loop {
                if let (_, Some(message)) = self.recv_packet(from).await {
                    self.end_recv(from, &message).await;
                    return Ok(message);
                }
                self.send_ready(from).await;
            }
        }
    }

    async fn multicast(
        &mut self,
        index: usize,
        tree: &RouteTree,
        message: Message,
    ) -> Result<(), RunError> {
        let net = Rc::clone(&self.net);
        let Some(static_net) = &net.static_net else {
            for (_, rank) in tree.edges() {
                // Rare, and on the heap so that other futures are not longer for it.
                Box::pin(self.send(rank, message.clone())).await?;
            }
            return Ok(());
        };
        let posted = self.now();
        self.spend(net.costs.route, Cause::Software).await;
        let words = net.costs.words(message_bytes(&message));
        let first = self.now() + net.costs.inject;
        let flow = InFlight {
            message,
            words,
            posted,
            start: self.now(),
        };
        static_net.start(index, self.rank, first, flow);
        self.spend(net.costs.inject * words, Cause::Transfer).await;
        Ok(())
    }

    async fn recv_multicast(
        &mut self,
        index: usize,
        tree: &RouteTree,
    ) -> Result<Message, RunError> {
        let net = Rc::clone(&self.net);
        let (root, rank) = (tree.root(), self.rank);
        let Some(static_net) = &net.static_net else {
            return Box::pin(self.recv(root)).await;
        };
        self.spend(net.costs.route, Cause::Software).await;
        let parent = tree.parent(rank).unwrap_or(root);
        net.books
            .block(rank, parent, Await::Recv, self.step, self.now());
        let (flow, first) = static_net.receive(index, tree, rank, &net.seats).await;
        net.books.unblock(rank);
        net.books.fill(rank, first, Cause::WaitPeer(parent));
        // Words come at the root's speed and are read at this core's; none is read before it comes.
        let after_first = flow.words.saturating_sub(1);
        let last = first + net.costs.inject * after_first;
        let end = (last + net.costs.extract).max(first + net.costs.extract * flow.words);
        net.kernel.sleep_until(end).await;
        net.books.fill(rank, end, Cause::Transfer);
        net.books.record(MessageRecord {
            from: root,
            to: rank,
            bytes: message_bytes(&flow.message),
            posted: flow.posted,
            start: flow.start,
            end,
        });
        Ok(flow.message)
    }

    fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> impl Future<Output = Result<Message, RunError>> {
        async move {
            let posted = self.now();
            let bytes = message_bytes(&message);
            self.begin_send(bytes).await;
            self.send_ready(from).await;
            let (mut message, mut received) = (Some(message), None);
            let mut is_ended = false;
            let mut packets = self.packets(bytes).peekable();
            // Neither direction waits for the other, whichever can go on first.
            loop {
                let next = packets.peek().copied();
                let can_send = next.is_some_and(|packet| {
                    !self.waits_for_ready(packet) || self.is_here(Until::Ready(to))
                });
                if let Some(packet) = next.filter(|_| can_send) {
                    packets.next();
                    let content = message.take_if(|_| packet.is_last);
                    self.send_packet(to, packet, content, posted).await;
                }
                if received.is_none() && self.is_here(Until::Packet(from)) {
                    received = self.recv_packet(from).await.1;
                    if received.is_none() {
                        self.send_ready(from).await;
                    }
                } else if !can_send {
                    match (next.is_some(), received.is_none()) {
                        (true, true) => self.pump(Until::ReadyOrPacket(to, from)).await,
                        // Who waits for the receipt may be the one that `to` waits for.
                        (true, false) if self.is_synchronous() && !is_ended => {
                            let received = received.as_ref().expect("it has come");
                            self.end_recv(from, received).await;
                            is_ended = true;
                        }
                        (true, false) => self.pump(Until::Ready(to)).await,
                        (false, true) => self.pump(Until::Packet(from)).await,
                        (false, false) => break,
                    }
                }
            }
            let received = received.expect("the loop ends when it has come");
            if !is_ended {
                self.end_recv(from, &received).await;
            }
            self.end_send(to, bytes).await;
            Ok(received)
        }
    }

    fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        _: Option<u64>, // the size of all packets of the schedule: see `launch`
    ) -> impl Future<Output = Result<Message, RunError>> {
        async move {
            let posted = self.now();
            let (mut is_first, mut sent_words) = (true, 0);
            self.send_ready(from).await;
            loop {
                let (words, message) = self.recv_packet(from).await;
                if is_first {
                    self.begin_send(words).await;
                }
                if let Some(message) = &message {
                    self.end_recv(from, message).await;
                }
                let packet = Cut {
                    words,
                    is_first,
                    is_last: message.is_some(),
                };
                (is_first, sent_words) = (false, sent_words + words);
                self.send_packet(to, packet, message.clone(), posted).await;
                if let Some(message) = message {
                    self.end_send(to, sent_words).await;
                    return Ok(message);
                }
                self.send_ready(from).await;
            }
        }
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let words = self.net.costs.words(bytes);
        self.spend(self.net.costs.combine * words, Cause::Compute)
            .await;
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        // Readies that nobody waited for are read all the same.
        while let Some(peer) = self.inboxes.owing() {
            self.pump(Until::Settled(peer)).await;
            self.inboxes.tidy(peer);
        }
        Ok(())
    }
}
