// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mesh exact to the packet: cut-through with link occupancy, for very large meshes.
//!
//! Cost follows packets and hops: a packet has one entry in a calendar, for the cycle in which its
//! head can be granted the next output. Then everything about that hop is known, its tail included,
//! so no flit is ever looked at. A packet that nobody is in the way of takes exactly as long as on
//! [`FlitMesh`](super::FlitMesh), as long as the buffers there let a stream pass.
//!
//! * An output serves packets in the order in which their heads can be granted it; of several in
//!   one cycle first the one whose head was at its last router earlier, and so on back to the one
//!   sent first.
//! * The link is taken from the head to the tail, with a single virtual channel also until the next
//!   head has been allocated it: `vc_allocation` cannot begin before the tail has left.
//! * With a single virtual channel an input serves one packet after the other: the next head is
//!   routed when the tail before it has left, wherever that goes. With several, packets of one
//!   input pass each other.
//! * Flits that were injected slower than a link carries them catch up where their head waits.
//!
//! Models routers, links and injection as they are in [`RouterSpec`](super::RouterSpec), and
//! outputs and inputs that are taken.
//! Does not model the size of buffers: a packet that waits fits into its router as a whole (virtual
//! cut-through), and a core's queue takes any number of flits. So a packet that waits holds no link
//! behind it and no core that injects it, buffers too small for the round trip of their credits
//! limit no stream, and nothing can deadlock. That would need the flits. Does not model
//! [`VcChoice::Receiver`](super::VcChoice::Receiver) either: packets to one queue keep their order
//! here with any channel, and where there are several, those of one channel for different receivers
//! pass each other as if they had their own.
//!
//! How much this matters is measured: `corecast_machine_sim::Fidelity::Packet` has the numbers, at
//! most 17 % for any collective of the test there.

mod calendar;

use corecast_core::{LinkUse, Rank, Side};

use super::flit::{Delivery, Packet, QueueEvent};
use super::links::used_links;
use super::spec::{Ejection, MeshError, MeshSpec, SIDES};
use calendar::Calendar;

/// A packet in a core's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// The packet.
    pub packet: Packet,
    /// Cycle from which on the core can take its first flit; may lie ahead.
    pub first: u64,
    /// Cycle from which on the core can take its last flit, not before `first`.
    pub last: u64,
}

/// What the calendar needs of a packet on its way.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// The head has come to the router where it is in this cycle.
    arrival: u64,
    /// The tail can be granted the output from this cycle on.
    tail_from: u64,
    flits: u32,
    /// The packet behind it at the same input, plus one; 0 = none.
    behind: u32,
    from: (u16, u16),
    to: (u16, u16),
    at: (u16, u16),
    /// The input where it is, and the output that is next.
    input: u8,
    port: u8,
    /// That of the last router.
    last_port: u8,
}

/// The rest of a packet on its way or in a queue.
#[derive(Clone, Copy, Debug)]
struct Body {
    packet: Packet,
    sent: u64,
    injected: u64,
    first: u64,
    last: u64,
    /// The packet behind it in its queue, plus one; 0 = none.
    behind: u32,
}

/// The output can be granted again from this cycle on.
const OUTPUT_FREE: usize = 0;
/// With a single virtual channel: the input's next head can be routed from this cycle on.
const INPUT_FREE: usize = 1;
/// In the upper half the last packet that has come to the input and has not been granted its
/// output, plus one (0 = none); in the lower half the flits that have left by the output.
const LAST_AND_FLITS: usize = 2;
const FLITS: u64 = u32::MAX as u64;

/// Packets of one cycle whose state is fetched together.
const TOGETHER: usize = 16;

/// A queue is empty, or empty and watched, or holds the number of a packet plus one.
const EMPTY: u32 = 0;
const WATCHED: u32 = u32::MAX;

/// See the module's documentation.
///
/// Memory: 24 bytes per port of a router, 8 per core and 8 per queue, of which a system that hands
/// out zeroed memory on first use provides what is used; about 140 bytes per packet under way.
#[derive(Clone, Debug)]
pub struct PacketMesh {
    spec: MeshSpec,
    ports: u32,
    now: u64,
    /// Per port of every router, input and output together: see [`OUTPUT_FREE`] and below. Plain
    /// numbers, because zeroed memory is given out on first use.
    port_state: Vec<[u64; 3]>,
    /// Per core: the next flit can be injected from this cycle on.
    source_from: Vec<u64>,
    /// Queues per core; 0 = packets are sunk.
    lanes: u32,
    /// Per queue: its first packet, and its last.
    fronts: Vec<u32>,
    backs: Vec<u32>,
    heads: Vec<Head>,
    bodies: Vec<Body>,
    unused_packets: Vec<u32>,
    calendar: Calendar,
    deliveries: Vec<Delivery>,
    arrivals: Vec<QueueEvent>,
    flits_injected: u64,
    flits_ejected: u64,
    flit_hops: u64,
}

impl PacketMesh {
    /// An idle mesh at cycle 0.
    ///
    /// # Errors
    /// What [`MeshSpec::check`] refuses.
    pub fn new(spec: &MeshSpec) -> Result<Self, MeshError> {
        spec.check()?;
        let ports = SIDES + spec.grid.per_node;
        let (routers, cores) = (spec.routers() as usize, spec.cores() as usize);
        let lanes = match spec.ejection {
            Ejection::Sink => 0,
            Ejection::Queues { count, .. } => count,
        };
        Ok(Self {
            spec: *spec,
            ports,
            now: 0,
            port_state: vec![[0; 3]; routers * ports as usize],
            source_from: vec![0; cores],
            lanes,
            fronts: vec![EMPTY; cores * lanes as usize],
            backs: vec![EMPTY; cores * lanes as usize],
            heads: Vec::new(),
            bodies: Vec::new(),
            unused_packets: Vec::new(),
            calendar: Calendar::new(),
            deliveries: Vec::new(),
            arrivals: Vec::new(),
            flits_injected: 0,
            flits_ejected: 0,
            flit_hops: 0,
        })
    }

    /// The shape, routing and routers.
    #[must_use]
    pub fn spec(&self) -> &MeshSpec {
        &self.spec
    }

    /// The first cycle that has not been simulated.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Link crossings of flits so far, those of packets on their way counted whole; injection and
    /// ejection are no hops.
    #[must_use]
    pub fn flit_hops(&self) -> u64 {
        self.flit_hops
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.heads.len() == self.unused_packets.len()
    }

    /// Flits that have crossed the link that leaves `router` on `side`; stops counting at 2^32 - 1.
    #[must_use]
    pub fn link_flits(&self, router: u32, side: Side) -> u64 {
        let port = router * self.ports + side as u32;
        self.port_state[port as usize][LAST_AND_FLITS] & FLITS
    }

    /// Every link that has been used, with [`PacketMesh::link_flits`].
    pub fn links(&self) -> impl Iterator<Item = LinkUse> + '_ {
        used_links(self.spec.grid, |router, side| self.link_flits(router, side))
    }

    /// Queues a packet at its core in the current cycle; returns the cycle after the injection of
    /// its tail, which nothing can delay.
    ///
    /// # Panics
    /// If a core or queue does not exist, or the packet is empty.
    pub fn send(&mut self, packet: Packet) -> u64 {
        assert!(packet.flits > 0, "a packet has at least its head flit");
        let cores = self.spec.cores();
        assert!(
            packet.src < cores && packet.dst < cores,
            "{packet:?} of {cores} cores"
        );
        assert!(self.lanes == 0 || packet.queue < self.lanes, "{packet:?}");
        let (grid, router) = (self.spec.grid, self.spec.router);
        let position = |core: u32| {
            let (x, y) = grid.position(core / grid.per_node);
            (x as u16, y as u16) // at most 4096 each
        };
        let source = &mut self.source_from[packet.src as usize];
        let injected = self.now.max(*source);
        let to_tail = packet.flit_interval.after(packet.flits - 1);
        let after_tail = injected + packet.flit_interval.after(packet.flits);
        *source = after_tail;
        self.flits_injected += u64::from(packet.flits);
        let from = position(packet.src);
        let arrival = injected + u64::from(router.injection);
        let mut head = Head {
            arrival,
            tail_from: arrival + to_tail,
            flits: packet.flits,
            behind: 0,
            from,
            to: position(packet.dst),
            at: from,
            input: (SIDES + packet.src % grid.per_node) as u8,
            port: 0,
            last_port: (SIDES + packet.dst % grid.per_node) as u8,
        };
        head.port = self.output_of(&head);
        let body = Body {
            packet,
            sent: self.now,
            injected,
            first: 0,
            last: 0,
            behind: EMPTY,
        };
        let index = match self.unused_packets.pop() {
            Some(index) => {
                self.heads[index as usize] = head;
                self.bodies[index as usize] = body;
                index
            }
            None => {
                let index = self.heads.len() as u32;
                assert!(index < WATCHED - 1, "packets are numbered with 32 bits");
                self.heads.push(head);
                self.bodies.push(body);
                index
            }
        };
        self.come(index);
        after_tail
    }

    /// A packet comes to an input; it is routed when the tail before it has left.
    #[inline]
    fn come(&mut self, index: u32) {
        let head = self.heads[index as usize];
        if self.spec.router.vcs > 1 {
            self.route(index, head.arrival);
            return;
        }
        let input = (self.node_of(&head) * self.ports + u32::from(head.input)) as usize;
        let state = &mut self.port_state[input];
        let before = state[LAST_AND_FLITS] >> 32;
        state[LAST_AND_FLITS] = (u64::from(index + 1) << 32) | (state[LAST_AND_FLITS] & FLITS);
        if before == 0 {
            let cycle = head.arrival.max(state[INPUT_FREE]);
            self.route(index, cycle);
        } else {
            self.heads[before as usize - 1].behind = index + 1;
        }
    }

    /// The head of a packet can be routed from `cycle` on.
    #[inline]
    fn route(&mut self, index: u32, cycle: u64) {
        let head = &self.heads[index as usize];
        let router = &self.spec.router;
        let (input, port) = (u32::from(head.input), u32::from(head.port));
        let turns = input < SIDES && port < SIDES && input / 2 != port / 2;
        let turn = if turns { router.turn } else { 0 };
        let wait = router.routing + turn + router.vc_allocation;
        self.calendar.push(self.now, cycle + u64::from(wait), index);
    }

    #[inline]
    fn node_of(&self, head: &Head) -> u32 {
        let (x, y) = head.at;
        self.spec.grid.node_at(u32::from(x), u32::from(y))
    }

    /// The output that a packet needs at the router where it is.
    #[inline]
    fn output_of(&self, head: &Head) -> u8 {
        let wide = |(x, y): (u16, u16)| (u32::from(x), u32::from(y));
        let grid = &self.spec.grid;
        match grid.next_hop(wide(head.from), wide(head.to), wide(head.at)) {
            Some(hop) => hop.side as u8,
            None => head.last_port,
        }
    }

    /// The first cycle, from now on, in which something happens.
    #[must_use]
    pub fn next_event(&self) -> Option<u64> {
        self.calendar.next()
    }

    /// Simulates all cycles before `end`.
    pub fn run_until(&mut self, end: u64) {
        while self.now < end {
            match self.next_event() {
                Some(cycle) if cycle < end => self.cycle(cycle),
                _ => self.now = end,
            }
        }
    }

    /// Simulates until something has happened that cores want to know (a delivery, an arrival
    /// watched for) or nothing is left to happen before `end`; the current cycle is then the one
    /// after the last in which something did.
    pub fn run_to_news(&mut self, end: u64) {
        while self.arrivals.is_empty() && self.deliveries.is_empty() {
            match self.next_event() {
                Some(cycle) if cycle < end => self.cycle(cycle),
                _ => return,
            }
        }
    }

    /// Takes the deliveries found so far, in no order of time; a mesh with queues has none. Their
    /// times may lie ahead.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    /// Takes the arrivals that were watched for and are now known, cycles lying ahead.
    pub fn take_arrivals(&mut self) -> Vec<QueueEvent> {
        std::mem::take(&mut self.arrivals)
    }

    fn cycle(&mut self, cycle: u64) {
        self.now = cycle;
        let packets = self.calendar.take(cycle);
        for together in packets.chunks(TOGETHER) {
            self.look_ahead(together);
            for &packet in together {
                self.advance(packet);
            }
        }
        self.calendar.give_back(cycle, packets);
        self.now = cycle + 1;
    }

    /// Reads what packets are about to change, all at once: on a large mesh the processor waits for
    /// its memory most of the time, and it can wait for several places together.
    fn look_ahead(&self, packets: &[u32]) {
        if packets.len() < TOGETHER {
            return;
        }
        let mut seen = 0;
        for &packet in packets {
            let head = &self.heads[packet as usize];
            let output = self.node_of(head) * self.ports + u32::from(head.port);
            seen ^= self.port_state[output as usize][OUTPUT_FREE];
            if u32::from(head.port) < SIDES {
                let (x, y) = self.neighbour(head.at, u32::from(head.port));
                let next = self.spec.grid.node_at(u32::from(x), u32::from(y));
                seen ^= self.port_state[(next * self.ports) as usize][INPUT_FREE];
            }
        }
        std::hint::black_box(seen);
    }

    /// The head of a packet can be granted its output now: the link is taken from when it is free.
    #[inline]
    fn advance(&mut self, index: u32) {
        let router = self.spec.router;
        let mut head = self.heads[index as usize];
        let ports = self.node_of(&head) * self.ports;
        let interval = u64::from(router.link_interval);
        let between = if router.vcs == 1 {
            interval.max(1 + u64::from(router.vc_allocation))
        } else {
            interval
        };
        let output = &mut self.port_state[(ports + u32::from(head.port)) as usize];
        let start = self.now.max(output[OUTPUT_FREE]);
        let tail = (start + u64::from(head.flits - 1) * interval).max(head.tail_from);
        output[OUTPUT_FREE] = tail + between;
        let flits = (output[LAST_AND_FLITS] & FLITS) + u64::from(head.flits);
        output[LAST_AND_FLITS] = (output[LAST_AND_FLITS] & !FLITS) | flits.min(FLITS);
        if router.vcs == 1 {
            let input = &mut self.port_state[(ports + u32::from(head.input)) as usize];
            input[INPUT_FREE] = tail + 1;
            match head.behind {
                0 => input[LAST_AND_FLITS] &= FLITS,
                next => {
                    let arrival = self.heads[next as usize - 1].arrival;
                    self.route(next - 1, arrival.max(tail + 1));
                }
            }
        }
        let side = u32::from(head.port);
        if side >= SIDES {
            let ejection = u64::from(router.ejection);
            self.eject(index, start + ejection, tail + ejection);
            return;
        }
        let hop = u64::from(router.switch + router.link);
        self.flit_hops += u64::from(head.flits);
        head.arrival = start + hop;
        head.tail_from = tail + hop;
        head.behind = 0;
        head.at = self.neighbour(head.at, side);
        head.input = (side ^ 1) as u8; // the opposite side
        head.port = self.output_of(&head);
        self.heads[index as usize] = head;
        self.come(index);
    }

    #[inline]
    fn neighbour(&self, (x, y): (u16, u16), side: u32) -> (u16, u16) {
        let (width, height) = (self.spec.grid.width as u16, self.spec.grid.height as u16);
        let up = |at: u16, len: u16| if at + 1 == len { 0 } else { at + 1 };
        let down = |at: u16, len: u16| if at == 0 { len - 1 } else { at - 1 };
        match Side::ALL[side as usize] {
            Side::East => (up(x, width), y),
            Side::West => (down(x, width), y),
            Side::North => (x, up(y, height)),
            Side::South => (x, down(y, height)),
        }
    }

    /// A packet reaches its core.
    fn eject(&mut self, index: u32, first: u64, last: u64) {
        let body = &mut self.bodies[index as usize];
        (body.first, body.last) = (first, last);
        let Packet { dst, queue, .. } = body.packet;
        if self.lanes == 0 {
            let (from, to) = (body.packet.src, dst);
            let (packet, sent, injected) = (body.packet, body.sent, body.injected);
            self.flits_ejected += u64::from(packet.flits);
            self.deliveries.push(Delivery {
                packet,
                sent,
                injected,
                ejected: last,
                hops: self.spec.grid.hops(Rank(from), Rank(to)),
            });
            self.unused_packets.push(index);
            return;
        }
        let lane = (dst * self.lanes + queue) as usize;
        match self.fronts[lane] {
            EMPTY => self.fronts[lane] = index + 1,
            WATCHED => {
                self.fronts[lane] = index + 1;
                self.arrivals.push(QueueEvent {
                    core: dst,
                    queue,
                    cycle: first,
                });
            }
            _ => self.bodies[self.backs[lane] as usize - 1].behind = index + 1,
        }
        self.backs[lane] = index + 1;
    }

    fn lane(&self, core: u32, queue: u32) -> usize {
        assert!(queue < self.lanes, "queue {queue} of core {core}");
        (core * self.lanes + queue) as usize
    }

    /// The oldest packet of a core's queue; it may still be on its way.
    ///
    /// # Panics
    /// If the mesh has no queues, or not this one.
    #[must_use]
    pub fn front(&self, core: u32, queue: u32) -> Option<Queued> {
        let front = self.fronts[self.lane(core, queue)];
        if front == EMPTY || front == WATCHED {
            return None;
        }
        let body = &self.bodies[front as usize - 1];
        Some(Queued {
            packet: body.packet,
            first: body.first,
            last: body.last,
        })
    }

    /// Takes the oldest packet of a core's queue, whose last flit may not have come yet.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self, core: u32, queue: u32) -> Queued {
        let queued = self
            .front(core, queue)
            .expect("a packet is there to be taken");
        let lane = self.lane(core, queue);
        let index = self.fronts[lane] - 1;
        self.fronts[lane] = self.bodies[index as usize].behind;
        self.flits_ejected += u64::from(queued.packet.flits);
        self.unused_packets.push(index);
        queued
    }

    /// Asks to be told by [`PacketMesh::take_arrivals`] when a packet comes into a core's empty
    /// queue.
    ///
    /// # Panics
    /// If the mesh has no queues, or not this one, or it is not empty: then look at its front.
    pub fn watch(&mut self, core: u32, queue: u32) {
        let lane = self.lane(core, queue);
        let front = self.fronts[lane];
        let is_empty = front == EMPTY || front == WATCHED;
        assert!(is_empty, "only an empty queue is watched");
        self.fronts[lane] = WATCHED;
    }

    /// Whether nothing is left behind: flits in = flits out, no packet on its way or in a queue.
    ///
    /// # Errors
    /// What is left, in words.
    pub fn conservation(&self) -> Result<u64, String> {
        let (injected, ejected) = (self.flits_injected, self.flits_ejected);
        if injected != ejected {
            return Err(format!("{injected} flits were injected, {ejected} ejected"));
        }
        let left = self.heads.len() - self.unused_packets.len();
        if left > 0 {
            return Err(format!("{left} packets are under way"));
        }
        Ok(injected)
    }
}
