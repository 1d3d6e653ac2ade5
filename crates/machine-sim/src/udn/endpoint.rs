//! A core's software: sending, receiving, and putting aside what is not expected yet.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use corecast_core::{Rank, RouteTree, Schedule, Step};
use corecast_machine::{
    Await, Cause, Endpoint, Message, MessageRecord, RunError, Time, message_bytes,
};

use super::net::{CONTROL, DATA, Injection, Label, Net};
use super::network::Portion;
use super::static_net::Flow;
use crate::SimEndpoint;

/// A packet that has been read: words of payload, and the message if it is the last one of it.
type Packet = (u64, Option<Message>);

/// What has arrived from one rank and is not consumed.
#[derive(Default)]
struct Inbox {
    /// Packets of all messages.
    packets: VecDeque<Packet>,
    /// Readies: packets that this core may send.
    readies: u32,
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.readies == 0 && self.packets.is_empty()
    }
}

/// The program's side of the message layer.
pub(crate) struct UdnEndpoint {
    net: Rc<Net>,
    rank: Rank,
    step: usize,
    has_flow_control: bool,
    /// Most words of payload in a packet.
    packet_words: u64,
    /// What came from one rank, which is all there is nearly always, and from the others; a rank is
    /// in one of them.
    near: (Rank, Inbox),
    far: BTreeMap<Rank, Inbox>,
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
            near: (rank, Inbox::default()),
            far: BTreeMap::new(),
        }
    }

    fn inbox(&mut self, peer: Rank) -> &mut Inbox {
        if self.near.0 != peer {
            if !self.near.1.is_empty() || self.far.contains_key(&peer) {
                return self.far.entry(peer).or_default();
            }
            self.near.0 = peer;
        }
        &mut self.near.1
    }

    /// Whether something of this kind is here.
    fn is_here(&self, until: Until) -> bool {
        let of = |peer: Rank| match self.near.0 == peer {
            true => Some(&self.near.1),
            false => self.far.get(&peer),
        };
        match until {
            Until::Ready(peer) => of(peer).is_some_and(|inbox| inbox.readies > 0),
            Until::Packet(peer) => of(peer).is_some_and(|inbox| !inbox.packets.is_empty()),
        }
    }

    /// Forgets a rank of which nothing is left: a root hears from many, one after the other.
    fn tidy_inbox(&mut self, peer: Rank) {
        if self.near.0 != peer && self.far.get(&peer).is_some_and(Inbox::is_empty) {
            self.far.remove(&peer);
        }
    }

    async fn spend(&self, duration: Time, cause: Cause) {
        self.net.kernel.sleep(duration).await;
        self.net.books.fill(self.rank, self.net.kernel.now(), cause);
    }

    /// Reads words until what is waited for has come.
    async fn pump(&mut self, until: Until) {
        loop {
            if self.is_here(until) {
                return;
            }
            let (peer, awaits) = match until {
                Until::Ready(peer) => (peer, Await::Send),
                Until::Packet(peer) => (peer, Await::Recv),
            };
            // Readies first: they are short, and let this core send.
            let fronts = [CONTROL, DATA].map(|queue| (queue, self.net.front(self.rank, queue)));
            let earliest = fronts
                .iter()
                .filter_map(|&(queue, front)| front.map(|(portion, time)| (time, queue, portion)))
                .min_by_key(|&(time, queue, _)| (time, std::cmp::Reverse(queue)));
            match earliest {
                Some((time, queue, portion)) => self.read(queue, portion, time, peer).await,
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
        if queue == CONTROL {
            self.inbox(label.from).readies += 1;
            return;
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
        self.inbox(label.from).packets.push_back(packet);
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
            message,
            posted,
            start: self.net.kernel.now(),
        }
    }

    /// Writes a packet into the network.
    fn inject(&mut self, to: Rank, queue: u32, label: Label) -> impl Future<Output = ()> + use<> {
        // The label goes before anything waits: a future that kept it would be a line longer.
        let (net, rank) = (Rc::clone(&self.net), self.rank);
        let (step, now) = (self.step, net.kernel.now());
        let injection = net.send(to, queue, label);
        async move {
            match injection {
                Injection::Until(time) => net.kernel.sleep_until(time).await,
                Injection::IsTold => {
                    net.books.block(rank, to, Await::Send, step, now);
                    net.hear_injected(rank).await;
                    net.books.unblock(rank);
                }
            }
            net.books.fill(rank, net.kernel.now(), Cause::Transfer);
        }
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
            self.tidy_inbox(to);
        }
        let label = self.label(words, message, posted);
        self.inject(to, DATA, label).await;
    }

    /// Waits for the next packet of `from`, for which the ready must have been sent.
    async fn recv_packet(&mut self, from: Rank) -> Packet {
        self.pump(Until::Packet(from)).await;
        let packet = self.inbox(from).packets.pop_front();
        self.tidy_inbox(from);
        packet.expect("the packet has come")
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
            if let (_, Some(message)) = self.recv_packet(from).await {
                return Ok(message);
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
        let mut received = None;
        // Packet by packet, so that neither direction waits for the other to end.
        for (words, is_last) in self.packets(bytes) {
            let content = message.take_if(|_| is_last);
            self.send_packet(to, words, content, posted).await;
            if received.is_none() {
                received = self.recv_packet(from).await.1;
                if received.is_none() {
                    self.send_ready(from).await;
                }
            }
        }
        loop {
            if let Some(message) = received {
                return Ok(message);
            }
            received = self.recv_packet(from).await.1;
            if received.is_none() {
                self.send_ready(from).await;
            }
        }
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
            let (words, message) = self.recv_packet(from).await;
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
