//! A core's software: sending, receiving, and putting aside what is not expected yet.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_core::{Rank, RouteTree, Schedule, Step};
use corecast_machine::{
    Await, Cause, Endpoint, Message, MessageRecord, RunError, Time, message_bytes,
};
use corecast_sim::Latch;

use super::net::{CONTROL, DATA, Label, Net};
use super::network::Portion;
use super::static_net::Flow;
use crate::SimEndpoint;

/// What has arrived from one rank and is not consumed.
#[derive(Default)]
struct Inbox {
    /// Whole messages.
    messages: VecDeque<Message>,
    /// Packets of all messages: words of payload, and whether it is the last of its message.
    packets: VecDeque<(u64, bool)>,
    /// Readies: packets that this core may send.
    readies: u32,
}

/// The program's side of the message layer.
pub(crate) struct UdnEndpoint {
    net: Rc<Net>,
    rank: Rank,
    step: usize,
    has_flow_control: bool,
    /// Most words of payload in a packet.
    packet_words: u64,
    inbox: BTreeMap<Rank, Inbox>,
}

/// What [`UdnEndpoint::pump`] waits for.
#[derive(Clone, Copy)]
enum Until {
    /// A ready of this rank.
    Ready(Rank),
    /// A packet of this rank.
    Packet(Rank),
}

impl UdnEndpoint {
    pub(crate) fn new(net: Rc<Net>, rank: Rank) -> Self {
        Self {
            packet_words: net.costs.packet_words,
            net,
            rank,
            step: 0,
            has_flow_control: true,
            inbox: BTreeMap::new(),
        }
    }

    fn inbox(&mut self, peer: Rank) -> &mut Inbox {
        self.inbox.entry(peer).or_default()
    }

    async fn spend(&self, duration: Time, cause: Cause) {
        self.net.kernel.sleep(duration).await;
        self.net.books.fill(self.rank, self.net.kernel.now(), cause);
    }

    /// Reads words until what is waited for has come.
    async fn pump(&mut self, until: Until) {
        loop {
            let (peer, awaits, is_here) = match until {
                Until::Ready(peer) => (peer, Await::Send, self.inbox(peer).readies > 0),
                Until::Packet(peer) => (peer, Await::Recv, !self.inbox(peer).packets.is_empty()),
            };
            if is_here {
                return;
            }
            // Readies first: they are short, and let this core send.
            let fronts = [CONTROL, DATA].map(|queue| (queue, self.net.front(self.rank, queue)));
            let earliest = fronts
                .iter()
                .filter_map(|&(queue, front)| front.map(|(portion, time)| (time, queue, portion)))
                .min_by_key(|&(time, queue, _)| (time, std::cmp::Reverse(queue)));
            match earliest {
                Some((time, queue, portion)) => self.read(queue, portion, time, peer).await,
                None => {
                    let heard = Rc::new(Latch::new(&self.net.kernel));
                    self.net.listen(self.rank, DATA, &heard);
                    self.net.listen(self.rank, CONTROL, &heard);
                    let now = self.net.kernel.now();
                    self.net
                        .books
                        .block(self.rank, peer, awaits, self.step, now);
                    heard.wait().await;
                    self.net.books.unblock(self.rank);
                }
            }
        }
    }

    /// Reads the words in front of a queue, the first of which is there at `arrival`; `peer` is
    /// waited for.
    async fn read(&mut self, queue: u32, portion: Portion, arrival: Time, peer: Rank) {
        let net = Rc::clone(&self.net);
        net.kernel.sleep_until(arrival).await;
        net.books
            .fill(self.rank, net.kernel.now(), Cause::WaitPeer(peer));
        let label = net.take(self.rank, queue, &portion);
        // Each word takes `extract`, and none is read before it comes.
        let busy = net.costs.extract * portion.words;
        let last = net.time(portion.last) + net.costs.extract;
        let end = (net.kernel.now() + busy).max(last);
        net.kernel.sleep_until(end).await;
        net.books.fill(self.rank, end - busy, Cause::WaitPeer(peer));
        net.books.fill(self.rank, end, Cause::Transfer);
        let Some(label) = label else { return };
        let now = net.kernel.now();
        let inbox = self.inbox(label.from);
        if queue == CONTROL {
            inbox.readies += 1;
            return;
        }
        inbox.packets.push_back((label.words, label.is_last));
        if let Some(message) = label.message {
            net.books.record(MessageRecord {
                from: label.from,
                to: self.rank,
                bytes: message_bytes(&message),
                posted: label.posted,
                start: label.start,
                end: now,
            });
            self.inbox(label.from).messages.push_back(message);
        }
    }

    /// Tells `peer` that it may send a packet.
    async fn send_ready(&mut self, peer: Rank) {
        if self.has_flow_control {
            let now = self.net.kernel.now();
            let label = self.label(0, None, now);
            self.inject(peer, CONTROL, label).await;
        }
    }

    fn label(&self, words: u64, message: Option<Message>, posted: Time) -> Label {
        Label {
            from: self.rank,
            words,
            is_last: message.is_some(),
            message,
            posted,
            start: self.net.kernel.now(),
        }
    }

    /// Writes a packet into the network.
    async fn inject(&mut self, to: Rank, queue: u32, label: Label) {
        let net = Rc::clone(&self.net);
        let now = net.kernel.now();
        net.books.block(self.rank, to, Await::Send, self.step, now);
        net.send(to, queue, label).await;
        net.books.unblock(self.rank);
        net.books.fill(self.rank, net.kernel.now(), Cause::Transfer);
    }

    /// Payload words of every packet of a message; a message without payload is one packet.
    fn packets(&self, bytes: u64) -> impl Iterator<Item = (u64, bool)> + use<> {
        let words = bytes.div_ceil(self.net.costs.flit_bytes);
        let most = self.packet_words;
        let packets = words.div_ceil(most).max(1);
        (0..packets).map(move |index| {
            let rest = words - index * most;
            (rest.min(most), index + 1 == packets)
        })
    }

    /// Sends one packet, waiting for its ready first.
    async fn send_packet(&mut self, to: Rank, words: u64, message: Option<Message>, posted: Time) {
        if self.has_flow_control {
            self.pump(Until::Ready(to)).await;
            self.inbox(to).readies -= 1;
        }
        let label = self.label(words, message, posted);
        self.inject(to, DATA, label).await;
    }

    /// Waits for the next packet of `from`; returns its words of payload and whether it is the last
    /// of its message. The ready for it must have been sent.
    async fn recv_packet(&mut self, from: Rank) -> (u64, bool) {
        self.pump(Until::Packet(from)).await;
        let packet = self.inbox(from).packets.pop_front();
        packet.expect("the packet has come")
    }

    fn take_message(&mut self, from: Rank) -> Message {
        let message = self.inbox(from).messages.pop_front();
        message.expect("its last packet has come")
    }

    async fn start_to(&mut self, direction: Time) {
        self.spend(direction, Cause::Handshake).await;
    }
}

impl SimEndpoint for UdnEndpoint {
    async fn compute_until(&mut self, time: Time) {
        self.net.kernel.sleep_until(time).await;
        self.net.books.fill(self.rank, time, Cause::Compute);
    }
}

impl Endpoint for UdnEndpoint {
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
        let costs = self.net.costs;
        self.has_flow_control = schedule.has_flow_control();
        if !self.has_flow_control {
            // Packets need not fit into a queue: nobody promises to drain one at a time.
            self.packet_words = costs.packet_words_max;
        }
        if let Some(bytes) = schedule.piece_bytes() {
            // Packets are the pieces in which data are forwarded.
            let words = bytes.div_ceil(costs.flit_bytes).max(1);
            self.packet_words = self.packet_words.min(words);
        }
        let busy_until = self.net.busy_until[self.rank.index()];
        self.net.kernel.sleep_until(busy_until).await;
        let cause = Cause::PortBusy(self.rank);
        self.net.books.fill(self.rank, busy_until, cause);
        self.spend(self.net.costs.call, Cause::Handshake).await;
        Ok(())
    }

    fn at_step(&mut self, index: usize, _: &Step) {
        self.step = index;
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        let posted = self.now();
        self.start_to(self.net.costs.send).await;
        let mut message = Some(message);
        let bytes = message_bytes(message.as_deref().unwrap_or_default());
        for (words, is_last) in self.packets(bytes) {
            let content = message.take_if(|_| is_last);
            self.send_packet(to, words, content, posted).await;
        }
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        self.start_to(self.net.costs.recv).await;
        loop {
            self.send_ready(from).await;
            if self.recv_packet(from).await.1 {
                return Ok(self.take_message(from));
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
                self.send(rank, message.clone()).await?;
            }
            return Ok(());
        };
        let posted = self.now();
        self.spend(net.costs.route, Cause::Handshake).await;
        let words = message_bytes(&message).div_ceil(net.costs.flit_bytes);
        let first = self.now() + net.costs.inject;
        let flow = Flow {
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
            return self.recv(root).await;
        };
        self.spend(net.costs.route, Cause::Handshake).await;
        let parent = tree.parent(rank).unwrap_or(root);
        net.books
            .block(rank, parent, Await::Recv, self.step, self.now());
        let (flow, first) = static_net.receive(index, tree, rank, &net.grid).await;
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

    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        let posted = self.now();
        self.start_to(self.net.costs.send + self.net.costs.recv)
            .await;
        self.send_ready(from).await;
        let mut message = Some(message);
        let bytes = message_bytes(message.as_deref().unwrap_or_default());
        let mut is_received = false;
        // Packet by packet, so that neither direction waits for the other to end.
        for (words, is_last) in self.packets(bytes) {
            let content = message.take_if(|_| is_last);
            self.send_packet(to, words, content, posted).await;
            if !is_received {
                is_received = self.recv_packet(from).await.1;
                if !is_received {
                    self.send_ready(from).await;
                }
            }
        }
        while !is_received {
            is_received = self.recv_packet(from).await.1;
            if !is_received {
                self.send_ready(from).await;
            }
        }
        Ok(self.take_message(from))
    }

    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        _: Option<u64>, // the size of all packets of the schedule: see `launch`
    ) -> Result<Message, RunError> {
        let posted = self.now();
        self.start_to(self.net.costs.send + self.net.costs.recv)
            .await;
        loop {
            self.send_ready(from).await;
            let (words, is_last) = self.recv_packet(from).await;
            let message = is_last.then(|| self.take_message(from));
            self.send_packet(to, words, message.clone(), posted).await;
            if let Some(message) = message {
                return Ok(message);
            }
        }
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let words = bytes.div_ceil(self.net.costs.flit_bytes);
        self.spend(self.net.costs.combine * words, Cause::Compute)
            .await;
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }
}
