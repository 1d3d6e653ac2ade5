// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mesh exact to the flit: wormhole routers with virtual channels and credits.
//!
//! Cost follows the packets that move: every agent (an input's virtual channel, or a core's
//! injection) has at most one entry in a timing wheel, and sleeps while it waits for a flit, a
//! place downstream or an output. A cycle in which nobody acts is skipped.
//!
//! What happens in cycle `t`:
//!
//! 1. every core whose turn it is injects, then every other agent acts: a head flit asks for an
//!    output's virtual channel, and is given one at once if nobody else can ask in this cycle; a
//!    flit whose packet has one asks for the switch;
//! 2. every output with requests allocates its free virtual channels (iSLIP, one iteration:
//!    each free channel offers itself to the first request at or after its pointer, each request
//!    accepts the first offer at or after its own); where cores have queues, those are the
//!    channels of their ejection ports, so that a queue takes one packet after the other;
//! 3. every router with several virtual channels allocates its switch (iSLIP again: each output
//!    offers itself to one input, each input accepts one output). With a single virtual channel
//!    an output has one holder and an input one packet, so nothing is left to decide.
//!
//! Credits are not counted but read off the buffer itself: the place that flit `k` will take is
//! free from the cycle on that the departure of flit `k - buffer` has written into it, credit
//! delay included.
//!
//! So every place says from which cycle on its flit can go, or a flit can take it, and a cycle may
//! lie ahead: flits are moved before their time where nothing can change it any more. With one
//! virtual channel that is everything a packet has in its buffer (`stream`), and, once its head is in its
//! core's queue, all of it but the tail (`convoy`). With several it is what
//! nobody else can get in the way of (`claims`), and the rest goes one by one (`traverse`). Tests
//! compare both with meshes that move nothing ahead.

mod allocate;
mod bits;
mod build;
mod claims;
mod convoy;
mod cores;
mod interface;
mod look;
mod places;
mod records;
mod stream;
mod switch;
mod traverse;
mod waits;

use std::collections::VecDeque;

use corecast_core::{LinkUse, Side};

use super::interval::Interval;
use super::links::used_links;
use super::spec::{MeshSpec, SIDES};
use super::wheel::Wheel;
use bits::{Divisor, first_from, for_each_bit, is_before};
pub use interface::{Delivery, Flit, Packet, QueueEvent};
use places::{FREE, Places, TAIL, TIME_SHIFT, free_from, place_of, retimed, wrapped};
use records::{Channel, Leg, Output, Source, State, UnderWay, Way};
use switch::Switch;
pub use waits::LinkWait;
use waits::Waits;

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;
/// Most virtual channels of an output: those of a link, or the queues of an ejection port.
const VCS_MAX: usize = 16;
/// Most cycles of a run; times have 39 bits.
pub const CYCLES_MAX: u64 = (1 << (63 - TIME_SHIFT)) - 1;
/// How far a flit may be moved ahead of the clock where its times are known: about a buffer.
const AHEAD: u64 = 64;
/// How far ahead of the clock flits of a convoy reach their queue, and are taken from there: long packets go in
/// several.
const CONVOY: u64 = 256;
/// Meshes with more channels than this, of about 100 bytes each, do not fit into the processor's
/// cache: what is needed next is read all at once, because the processor can wait for several places
/// of its memory together.
const LARGE: u32 = 1 << 13;
/// Agents and routers of which that is done at once.
const TOGETHER: usize = 32;
/// Most packets under way at once.
pub const PACKETS_MAX: usize = FREE as usize - 1;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct FlitMesh {
    spec: MeshSpec,
    ports: u32,
    vcs: u32,
    /// Input channels of a router: ports times virtual channels.
    inputs: u32,
    capacity: u32,
    now: u64,
    /// Coordinates of the routers.
    positions: Vec<(u16, u16)>,
    channels: Vec<Channel>,
    places: Places,
    /// First channel of the ejection ports, and how many each of them has.
    ejection: u32,
    lanes: u32,
    /// Flits that each of them holds.
    lane_capacity: u32,
    /// Whether flits stay there until they are taken.
    has_queues: bool,
    outputs: Vec<Output>,
    /// Last cycle, from the current one, until which nobody asks for a switch who has no claim yet;
    /// 0 if nothing is moved ahead of the clock or there is one virtual channel. See `claims`.
    ahead: u64,
    /// The same where a further packet waits in one of the router's buffers behind another.
    ahead_of_next: u64,
    /// Fewest cycles from now to the arrival of a flit that has not been moved yet.
    next_arrival: u64,
    /// Per router; only with several virtual channels.
    switches: Vec<Switch>,
    /// Per input channel of a router: its port, and its number there.
    port_of: [[u8; 2]; 64],
    /// Input channels and ports of a router.
    by_inputs: Divisor,
    by_ports: Divisor,
    /// Whether some packet may not have every channel of an output.
    is_restricted: bool,
    /// Whether flits on a link are more than a cycle apart.
    has_slow_links: bool,
    /// See [`LARGE`].
    is_large: bool,
    packets: Vec<UnderWay>,
    ways: Vec<Way>,
    unused_packets: Vec<u32>,
    sources: Vec<Source>,
    /// When agents act: cores, and all others.
    injections: Wheel,
    wheel: Wheel,
    spare: Vec<u32>,
    /// Outputs that allocate in this cycle.
    allocating: Vec<u32>,
    /// Routers whose switch is asked for.
    switching: Vec<u32>,
    deliveries: Vec<Delivery>,
    arrivals: Vec<QueueEvent>,
    injected: Vec<(u64, u64)>,
    flits_injected: u64,
    flits_ejected: u64,
    flit_hops: u64,
    turns: u64,
    /// Per channel turns in the wheel that are void; only where there are convoys: see `convoy`.
    void_turns: Vec<u8>,
    /// The way of a convoy, and when the last of its flits were injected: memory for it.
    legs: Vec<Leg>,
    starts: VecDeque<u64>,
    /// Who waits for whom, if it is recorded.
    waits: Option<Box<Waits>>,
}

/// A bit for each of `vcs` virtual channels, of which there are at most 16.
const fn all_of(vcs: u32) -> u16 {
    ((1_u32 << vcs) - 1) as u16
}

impl FlitMesh {
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

    /// Link crossings of flits so far; injection and ejection are no hops.
    #[must_use]
    pub fn flit_hops(&self) -> u64 {
        self.flit_hops - self.all_later().0
    }

    /// How often a flit, an output or a switch has been attended to so far: what the simulation costs,
    /// told without a clock. Flits that are moved ahead of the clock take fewer.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Flits injected and ejected so far. Those whose times are known already may be counted among
    /// them: any that a core injects, and with one virtual channel those ejected as well.
    #[must_use]
    pub fn flits(&self) -> (u64, u64) {
        let ejected = self.flits_ejected - self.all_later().1;
        (self.flits_injected, ejected)
    }

    /// Packets of `core` that are not wholly injected.
    #[must_use]
    pub fn waiting(&self, core: u32) -> usize {
        self.sources[core as usize].queue.len()
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.packets.len() == self.unused_packets.len()
    }

    /// Flits that have crossed the link that leaves `router` on `side`; stops counting at 2^32 - 1
    /// per virtual channel.
    #[must_use]
    pub fn link_flits(&self, router: u32, side: Side) -> u64 {
        let output = &self.outputs[(router * self.ports + side as u32) as usize];
        if output.down == NONE {
            return 0;
        }
        let channels = output.down..output.down + self.vcs;
        let flits = channels.map(|channel| u64::from(self.channels[channel as usize].flits));
        flits.sum::<u64>() - self.crossing_later(output)
    }

    /// Every link that has been used, with [`FlitMesh::link_flits`].
    pub fn links(&self) -> impl Iterator<Item = LinkUse> + '_ {
        used_links(self.spec.grid, |router, side| self.link_flits(router, side))
    }

    /// Queues a packet at its core in the current cycle.
    ///
    /// # Panics
    /// If a core does not exist, the packet is empty, or [`PACKETS_MAX`] packets are under way.
    pub fn send(&mut self, packet: Packet) {
        assert!(packet.flits > 0, "a packet has at least its head flit");
        let interval = packet.flit_interval.parts();
        assert!(interval >= Interval::CYCLE, "{packet:?}");
        let cores = self.spec.cores();
        assert!(
            packet.src < cores && packet.dst < cores,
            "{packet:?} of {cores} cores"
        );
        let position = |core: u32| self.positions[(core / self.spec.grid.per_node) as usize];
        let under_way = UnderWay {
            packet,
            sent: self.now,
            injected: 0,
            has_way: false,
        };
        let to = position(packet.dst);
        let last_port = SIDES + packet.dst % self.spec.grid.per_node;
        let way = Way {
            from: position(packet.src),
            to,
            receiver: u32::from(to.0) + u32::from(to.1) + last_port + packet.queue,
            last_port: last_port as u8,
        };
        let index = match self.unused_packets.pop() {
            Some(index) => {
                self.packets[index as usize] = under_way;
                self.ways[index as usize] = way;
                index
            }
            None => {
                assert!(
                    self.packets.len() < PACKETS_MAX,
                    "{PACKETS_MAX} packets are under way"
                );
                self.packets.push(under_way);
                self.ways.push(way);
                self.packets.len() as u32 - 1
            }
        };
        let source = &mut self.sources[packet.src as usize];
        source.queue.push_back(index);
        if !source.is_scheduled {
            source.is_scheduled = true;
            let at = self.now.max(source.next_at);
            self.injections.push(at, packet.src);
        }
    }

    fn agent_of_output(&self, output: u32) -> u32 {
        self.channels.len() as u32 + output
    }

    /// Of a packet whose tail has been moved to its core ahead of the clock.
    fn agent_of_packet(&self, packet: u32) -> u32 {
        self.agent_of_output(self.outputs.len() as u32) + packet
    }

    /// The first cycle, from now on, in which something happens.
    #[must_use]
    pub fn next_event(&self) -> Option<u64> {
        if !self.switching.is_empty() {
            return Some(self.now);
        }
        let wheels = [&self.injections, &self.wheel];
        wheels.into_iter().filter_map(Wheel::next).min()
    }

    /// Simulates all cycles before `end`.
    ///
    /// # Panics
    /// If `end` is beyond [`CYCLES_MAX`].
    pub fn run_until(&mut self, end: u64) {
        assert!(end <= CYCLES_MAX, "cycle {end} is beyond {CYCLES_MAX}");
        while self.now < end {
            match self.next_event() {
                Some(cycle) if cycle < end => {
                    self.now = cycle;
                    self.cycle();
                    self.now += 1;
                }
                _ => self.now = end,
            }
        }
    }

    /// Simulates until something has happened that cores want to know (a delivery, the end of an
    /// injection, an arrival watched for) or nothing is left to happen before `end`; the current
    /// cycle is then the one after the last in which something did.
    ///
    /// # Panics
    /// If `end` is beyond [`CYCLES_MAX`].
    pub fn run_to_news(&mut self, end: u64) {
        assert!(end <= CYCLES_MAX, "cycle {end} is beyond {CYCLES_MAX}");
        while !self.has_news() {
            match self.next_event() {
                Some(cycle) if cycle < end => {
                    self.now = cycle;
                    self.cycle();
                    self.now += 1;
                }
                _ => return,
            }
        }
    }

    /// Whether there are deliveries, injections or arrivals to be taken.
    #[must_use]
    pub fn has_news(&self) -> bool {
        !(self.deliveries.is_empty() && self.arrivals.is_empty() && self.injected.is_empty())
    }

    /// Takes the deliveries found so far. Their times may lie up to the ejection delay ahead.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    /// Moves the deliveries found so far to the end of `into`.
    pub fn drain_deliveries(&mut self, into: &mut Vec<Delivery>) {
        into.append(&mut self.deliveries);
    }

    fn cycle(&mut self) {
        // Cores come first, so that nobody else has to reckon with what they inject in this cycle.
        let spare = std::mem::take(&mut self.spare);
        let mut cores = self.injections.take(self.now, spare);
        for &core in &cores {
            self.inject(core);
        }
        self.turns += cores.len() as u64;
        cores.clear();
        let mut agents = self.wheel.take(self.now, cores);
        for together in agents.chunks(TOGETHER) {
            self.look_ahead(together);
            for &agent in together {
                self.act(agent);
            }
        }
        self.turns += agents.len() as u64;
        agents.clear();
        self.spare = agents;
        let mut allocating = std::mem::take(&mut self.allocating);
        for &output in &allocating {
            self.allocate(output);
        }
        self.turns += (allocating.len() + self.switching.len()) as u64;
        allocating.clear();
        self.allocating = allocating;
        if !self.switching.is_empty() {
            self.switch_all();
        }
    }

    #[inline]
    fn act(&mut self, agent: u32) {
        let Some(channel) = self.channels.get(agent as usize) else {
            let output = agent - self.channels.len() as u32;
            return match output.checked_sub(self.outputs.len() as u32) {
                Some(packet) => {
                    self.deliver(packet, self.now + u64::from(self.spec.router.ejection));
                }
                None => self.allocating.push(output),
            };
        };
        let (state, local) = (channel.state, u32::from(channel.local));
        if self.is_void_turn(agent) {
            return;
        }
        // Compared one by one: a jump by a table is hard to foresee for the processor.
        if state == State::Routing || state == State::Turning {
            self.route(agent);
        } else if self.vcs == 1 {
            debug_assert_eq!(state, State::Active, "a waiting agent is not scheduled");
            self.stream(agent);
        } else if state == State::Ready {
            self.request_switch(self.by_inputs.of(agent), local);
        } else {
            debug_assert_eq!(state, State::Active, "a waiting agent is not scheduled");
            self.ask_for_switch(agent);
        }
    }

    /// First place of a channel, and their number.
    #[inline]
    fn places_of(&self, channel: u32) -> (u32, u32) {
        match channel.checked_sub(self.ejection) {
            None => (channel * self.capacity, self.capacity),
            Some(lane) => {
                let base = self.ejection * self.capacity + lane * self.lane_capacity;
                (base, self.lane_capacity)
            }
        }
    }

    /// Where the next flit of `channel` will be put.
    #[inline]
    fn next_place(&self, channel: u32) -> usize {
        let (base, capacity) = self.places_of(channel);
        let Channel { first, len, .. } = self.channels[channel as usize];
        let offset = wrapped(u32::from(first) + u32::from(len), capacity);
        (base + offset) as usize
    }

    /// Whether `channel` takes a flit now; if not, `agent` is woken when it may.
    #[inline]
    fn has_place(&mut self, channel: u32, agent: u32) -> bool {
        let place = self.places[self.next_place(channel)];
        if place & FREE != FREE {
            self.wait_for_place(channel, agent, self.now);
            return false;
        }
        let from = place >> TIME_SHIFT;
        if from > self.now {
            self.wheel.push(from, agent);
            return false;
        }
        true
    }

    /// Wakes `agent`, which has a flit for `channel` from `cycle` on, when a place is free there.
    #[inline]
    fn wait_for_place(&mut self, channel: u32, agent: u32, cycle: u64) {
        let into = &mut self.channels[channel as usize];
        into.waiter = agent;
        if channel >= self.ejection {
            into.next_at = cycle;
        }
        if into.state == State::Watched {
            into.state = State::Idle;
            self.arrivals.push(self.arrival_of(channel, cycle + 1));
        }
    }

    /// Who waits for a place in `channel`, if anybody does, gets one in cycle `at`.
    #[inline]
    fn wake_for_place(&mut self, channel: u32, at: u64) {
        let waiter = std::mem::replace(&mut self.channels[channel as usize].waiter, NONE);
        if waiter != NONE {
            self.wake(waiter, at);
        }
    }

    /// What a core is called that waits for a place: see [`Channel::waiter`].
    fn waiter_of_core(&self, core: u32) -> u32 {
        self.channels.len() as u32 + core
    }

    fn wake(&mut self, waiter: u32, at: u64) {
        match waiter.checked_sub(self.channels.len() as u32) {
            None => self.wheel.push(at, waiter),
            Some(core) => self.injections.push(at, core),
        }
    }

    fn deliver(&mut self, packet: u32, ejected: u64) {
        let UnderWay {
            packet: of,
            sent,
            injected,
            ..
        } = self.packets[packet as usize];
        let Way { from, to, .. } = self.ways[packet as usize];
        let distance = |from: u16, to: u16, len: u32| {
            let direct = u32::from(from.abs_diff(to));
            if self.spec.grid.is_torus {
                direct.min(len - direct)
            } else {
                direct
            }
        };
        let hops = distance(from.0, to.0, self.spec.grid.width)
            + distance(from.1, to.1, self.spec.grid.height);
        self.deliveries.push(Delivery {
            packet: of,
            sent,
            injected,
            ejected,
            hops,
        });
        self.unused_packets.push(packet);
    }

    /// Wakes a router's channel in which flits of `packet` have been put, the first of them to act
    /// from `arrival` on.
    #[inline]
    fn arrive(&mut self, channel: u32, packet: u32, flits: u16, arrival: u64) {
        let into = &mut self.channels[channel as usize];
        into.len += flits;
        into.flits = into.flits.saturating_add(u32::from(flits));
        let start = arrival.max(into.next_at);
        match into.state {
            State::Idle => {
                self.note_behind_last(channel, [arrival, start]);
                self.claim(channel, packet, start);
            }
            State::Starved => {
                into.state = State::Active;
                into.next_at = start;
                self.wheel.push(start, channel);
            }
            _ if self.ahead > 0 => {
                let before = into.len - flits;
                self.note_if_behind(channel, packet, before);
            }
            _ => {}
        }
    }
}
