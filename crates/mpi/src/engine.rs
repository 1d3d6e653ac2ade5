// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages of bytes between ranks: matching, and the protocols by which they travel.
//!
//! Ranks are world ranks here. A message is matched by context, sender and tag; messages of one
//! sender and context are matched in the order in which they were sent. It travels in one of three
//! ways, chosen by its length:
//!
//! - **eager**: the bytes go along with the envelope, at once;
//! - **single copy**: the envelope says where the bytes lie, and the receiver reads them; of very long ones it
//!   says where they go, so that the sender writes some of them if it waits ([`crate::joint`]), and who
//!   copies the last says so;
//! - **stream**: where memory cannot be read, the first bytes go along with the envelope, and the
//!   receiver asks for the rest, which then comes in packets. It also does so where that takes less
//!   ([`ways`]).
//!
//! What the shortest of these ways is made of is always inlined, here and above: a structure that is handed
//! over in memory is written word by word and read in larger pieces, and such a read waits until all that
//! the core has stored before has left it, the last packet included. In registers `MPI_Irecv` takes 24 ns
//! instead of 40, and a window of 8-byte messages a fifth less (by hand, 2026-11-28, Intel Xeon).

mod away;
mod broadcast;
mod brought;
mod counters;
mod flight;
mod following;
mod memory;
mod moves;
pub(crate) mod packet;
mod queues;
mod reach;
mod single_copy;
mod under_way;
mod ways;

use std::collections::VecDeque;

use crate::copy::copy_slice;
use crate::error::Result;
use crate::status::Status;
use crate::transport::{Head, Transport};

use flight::{Flights, State};
use packet::{Packet, PacketKind};
use queues::{Arrived, Body, Posted, Queues};
use single_copy::{Pull, Push, Timed};
use ways::Ways;

pub use counters::Counters;
pub use flight::{Flight, Landed};
pub use following::Following;
pub use memory::Memory;
pub use packet::{CONTEXT_MAX, Eager, packet_words};

/// When a send is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// When the memory may be used again.
    Standard,
    /// Not before the receive has begun.
    Synchronous,
}

/// Something that goes on by itself over messages, like a non-blocking collective.
pub trait Operation: Send {
    /// Goes on as far as it can without waiting; `true` when it is complete.
    ///
    /// # Errors
    /// Why it failed; it is not called again.
    fn advance(&mut self, engine: &mut Engine) -> Result<bool>;

    /// What is told of it when it is complete.
    fn status(&self) -> Status {
        Status::EMPTY
    }
}

/// A message that a probe took out of the queue: only who took it can receive it.
#[derive(Debug)]
pub struct Taken(Arrived);

/// What is known of a message before it is received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// World rank of the sender.
    pub from: u32,
    /// Tag.
    pub tag: i32,
    /// Length in bytes.
    pub bytes: usize,
}

/// Matching and protocols over a transport.
pub struct Engine {
    transport: Box<dyn Transport>,
    /// Longest message that is sent eagerly.
    eager_max: usize,
    first_max: usize,
    /// What lies apart is packed here, a packet at a time.
    scratch: Vec<u8>,
    matter: Matter,
}

/// What arrivals change: everything but the transport, which is busy handing them over.
struct Matter {
    rank: u32,
    /// From how many bytes on messages are read from their sender's memory.
    read_min: usize,
    queues: Queues,
    /// Of every rank the flight that it announced last, and ours for it if a receive has taken it: its
    /// first bytes follow at once, if they do.
    announced: Vec<(u32, Option<u32>)>,
    /// First bytes of messages that no receive has taken, as they came: from whom, their flight.
    firsts: Vec<(u32, u32, Box<[u8]>)>,
    flights: Flights,
    outboxes: Vec<VecDeque<Outgoing>>,
    /// Number of entries in all outboxes.
    waiting: usize,
    pulls: Vec<Pull>,
    /// Those of them that wait for their sender, who copies the last pieces.
    left_to_senders: Vec<Pull>,
    pushes: Vec<Push>,
    /// Whether senders are to copy some of what is read.
    shares: bool,
    /// By the company of messages.
    ways: [Ways; 2],
    timed: Option<Timed>,
    streams: Vec<Stream>,
    counters: Counters,
}

/// A packet that there was no room for yet.
struct Outgoing {
    head: Head,
    body: Load,
}

enum Load {
    None,
    Words([u64; 2]),
    /// The bytes of a send, and its flight if that ends when they are in the transport's hands.
    Memory(Memory, Option<u32>),
}

/// A send whose bytes go in packets.
struct Stream {
    to: u32,
    memory: Memory,
    offset: usize,
    flight: u32,
    theirs: u32,
}

impl Engine {
    /// The messages of the rank that this transport is for.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>) -> Self {
        let rank = transport.rank();
        let ranks = transport.first() + transport.ranks();
        let packet_max = transport.packet_max();
        let read_min = transport.read_min();
        Self {
            first_max: transport.first_max().min(u32::MAX as usize),
            eager_max: packet_max.min(transport.eager_max()),
            transport,
            scratch: Vec::new(),
            matter: Matter {
                rank,
                read_min,
                queues: Queues::new(ranks),
                announced: vec![(0, None); ranks as usize],
                firsts: Vec::new(),
                flights: Flights::default(),
                outboxes: (0..ranks).map(|_| VecDeque::new()).collect(),
                waiting: 0,
                pulls: Vec::new(),
                left_to_senders: Vec::new(),
                pushes: Vec::new(),
                shares: true,
                ways: [(); 2].map(|()| Ways::default()),
                timed: None,
                streams: Vec::new(),
                counters: Counters::default(),
            },
        }
    }

    /// What carries the packets.
    #[must_use]
    pub fn transport(&mut self) -> &mut dyn Transport {
        self.transport.as_mut()
    }

    /// Sends a message. `None`: it is complete, its memory may be used again.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline]
    pub fn send(
        &mut self,
        context: u32,
        to: u32,
        tag: i32,
        memory: Memory,
        mode: Mode,
    ) -> Result<Option<Flight>> {
        if mode == Mode::Standard && self.send_now(context, to, tag, memory) {
            return Ok(None);
        }
        Ok(self.send_later(context, to, tag, memory, mode))
    }

    /// Sends a short message, if that can be done at once; `false`: not so.
    #[inline]
    pub fn send_now(&mut self, context: u32, to: u32, tag: i32, memory: Memory) -> bool {
        if !self.goes_now(to, memory.bytes) {
            return false;
        }
        let head = Packet::eager(context, tag).head();
        // SAFETY: who sends vouches for the memory.
        let body = unsafe { memory.part(0..memory.bytes, &mut self.scratch) };
        let is_sent = self.transport.send(to, head, body);
        self.count_sent(is_sent, memory.bytes)
    }

    /// Whether a message may go before all that waits, because nothing does.
    #[inline]
    fn goes_now(&self, to: u32, bytes: usize) -> bool {
        bytes <= self.eager_max && to != self.matter.rank && self.matter.waiting == 0
    }

    /// Counts a message if it is sent; whether it is.
    #[inline]
    fn count_sent(&mut self, is_sent: bool, bytes: usize) -> bool {
        if is_sent {
            self.matter.counters.sent += 1;
            self.matter.counters.sent_bytes += bytes as u64;
        }
        is_sent
    }

    /// As [`Engine::send_now`], of bytes in two places, the second of which follow the first.
    #[inline]
    pub fn send_joined(&mut self, context: u32, to: u32, tag: i32, parts: [&[u8]; 2]) -> bool {
        let bytes = parts[0].len() + parts[1].len();
        if !self.goes_now(to, bytes) {
            return false;
        }
        let head = Packet::eager(context, tag).head();
        let is_sent = self.transport.send_joined(to, head, parts);
        self.count_sent(is_sent, bytes)
    }

    /// Receives a short message of one rank, if it is the next that comes from there before the core
    /// would be handed over, and no other receive waits for one. It goes right from the transport to its
    /// place. A receive that has room for a long one is better asked for first, so that its first bytes
    /// have a place.
    #[inline]
    pub fn recv_now(
        &mut self,
        context: u32,
        from: u32,
        tag: Option<i32>,
        memory: Memory,
    ) -> Option<Landed> {
        let is_long = memory.bytes > self.eager_max;
        if is_long
            || from == self.matter.rank
            || !self.is_quiet()
            || self.matter.queues.concern(from)
        {
            return None;
        }
        let matter = &mut self.matter;
        let (mut landed, mut is_passed) = (None, false);
        let mut take = |from, head, body: &[u8]| {
            let packet = Packet::of(head);
            let is_ours = packet.context == context
                && packet.kind.is_message()
                && tag.is_none_or(|tag| tag == packet.tag);
            if !is_ours || is_passed {
                return matter.arrive(from, head, body);
            }
            is_passed = true;
            if packet.kind != PacketKind::Eager {
                return matter.arrive(from, head, body);
            }
            matter.counters.arrived += 1;
            let room = memory.prefix(body.len());
            // SAFETY: who receives vouches for the memory.
            copy_slice(&body[..room.bytes], unsafe { room.bytes_mut() });
            landed = Some(Landed::sent(from, packet.tag, body.len()));
        };
        for _ in 0..self.transport.patience() {
            if self.transport.receive(Some(from), &mut take) {
                break;
            }
            std::hint::spin_loop();
        }
        landed
    }

    fn send_later(
        &mut self,
        context: u32,
        to: u32,
        tag: i32,
        memory: Memory,
        mode: Mode,
    ) -> Option<Flight> {
        let landed = Landed::sent(self.matter.rank, tag, memory.bytes);
        let matter = &mut self.matter;
        matter.counters.sent += 1;
        matter.counters.sent_bytes += memory.bytes as u64;
        if to == matter.rank {
            matter.counters.to_self.count(memory.bytes);
            let flight = (mode == Mode::Synchronous).then(|| {
                matter.flights.add(State::Sending {
                    memory,
                    landed,
                    first: 0,
                    to,
                    context,
                })
            });
            let kind = flight.map_or(PacketKind::Eager, |_| PacketKind::EagerSync);
            let word = u64::from(flight.unwrap_or_default());
            let packet = Packet {
                kind,
                context,
                tag,
                word,
            };
            // It may be long, which what is kept for packets has not to be.
            let mut packed = Vec::new();
            // SAFETY: who sends vouches for the memory.
            let body = unsafe { memory.part(0..memory.bytes, &mut packed) };
            matter.arrive(to, packet.head(), body);
            return flight.map(Flight);
        }
        let flight = matter.flights.add(State::Sending {
            memory,
            landed,
            first: 0,
            to,
            context,
        });
        let is_eager = memory.bytes <= self.eager_max;
        let (kind, body) = match (is_eager, mode) {
            (true, Mode::Standard) => (PacketKind::Eager, Load::Memory(memory, Some(flight))),
            (true, Mode::Synchronous) => (PacketKind::EagerSync, Load::Memory(memory, None)),
            (false, _) => {
                matter.counters.announced.count(memory.bytes);
                // Where nobody is to read it, the first bytes follow instead of an address.
                let address = match memory.bytes >= matter.read_min {
                    true => memory.readable_at(),
                    false => 0,
                };
                let words = [memory.bytes as u64, address];
                (PacketKind::Announce, Load::Words(words))
            }
        };
        let packet = Packet {
            kind,
            context,
            tag,
            word: u64::from(flight),
        };
        matter.push(to, packet, body);
        self.flush();
        if !is_eager {
            self.send_first(to, memory, flight);
        }
        Some(Flight(flight))
    }

    /// Sends the first bytes of a message that was just announced, if there is room, and if nobody will
    /// read them from here: they are on their way while its receiver asks for the rest.
    fn send_first(&mut self, to: u32, memory: Memory, flight: u32) {
        let matter = &mut self.matter;
        let is_read = memory.bytes >= matter.read_min && memory.readable_at() != 0;
        if is_read || matter.waiting != 0 || self.first_max == 0 {
            return;
        }
        let first = memory.prefix(self.first_max);
        let packet = self.transport.stream_packet(first.bytes);
        let head = Packet::control(PacketKind::First, u64::from(flight)).head();
        let mut sent = 0;
        while sent < first.bytes {
            let end = (sent + packet).min(first.bytes);
            // SAFETY: who sends vouches for the memory.
            let body = unsafe { first.part(sent..end, &mut self.scratch) };
            if !self.transport.send(to, head, body) {
                break;
            }
            sent = end;
        }
        self.matter.flights.has_sent(flight, sent);
    }

    /// Asks for a message; of anybody, of any tag where `from` or `tag` is `None`.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline(always)]
    pub fn recv(
        &mut self,
        context: u32,
        from: Option<u32>,
        tag: Option<i32>,
        memory: Memory,
    ) -> Result<Flight> {
        let (flight, has_come) = self.matter.recv(context, from, tag, memory);
        if has_come {
            self.follow_up();
        }
        Ok(flight)
    }

    /// Receives a message that a probe took.
    ///
    /// # Errors
    /// What ends all ranks.
    pub fn recv_taken(&mut self, taken: Taken, memory: Memory) -> Result<Flight> {
        let flight = self.matter.flights.add(State::Posted { memory });
        self.matter.accept(taken.0, flight);
        self.follow_up();
        Ok(Flight(flight))
    }

    /// All of a message that a probe took, if it has come with its bytes and nobody waits for it to be
    /// received; else the message.
    ///
    /// # Errors
    /// The message.
    pub fn bytes_taken(taken: Taken) -> std::result::Result<Box<[u8]>, Taken> {
        match taken.0.body {
            Body::Bytes(bytes) => Ok(bytes),
            _ => Err(taken),
        }
    }

    /// The message that a receive of this kind would take now.
    #[must_use]
    pub fn probe(&self, context: u32, from: Option<u32>, tag: Option<i32>) -> Option<Envelope> {
        let arrived = self.matter.queues.peek(context, from, tag)?;
        Some(arrived.envelope())
    }

    /// Takes it out of the queue, for [`Engine::recv_taken`].
    #[must_use]
    pub fn take(
        &mut self,
        context: u32,
        from: Option<u32>,
        tag: Option<i32>,
    ) -> Option<(Taken, Envelope)> {
        let arrived = self.matter.queues.take(context, from, tag)?;
        let envelope = arrived.envelope();
        Some((Taken(arrived), envelope))
    }

    /// How a message has ended, if it has.
    #[inline]
    #[must_use]
    pub fn landed(&self, flight: &Flight) -> Option<Landed> {
        self.matter.flights.landed(flight.0)
    }

    /// Forgets a message that has landed.
    ///
    /// # Panics
    /// If it has not.
    #[inline]
    pub fn release(&mut self, flight: Flight) -> Landed {
        self.matter.flights.remove(flight.0)
    }

    /// As [`Engine::release`], for who drops the flight in its place.
    #[inline]
    pub(crate) fn forget(&mut self, flight: &Flight) {
        self.matter.flights.remove(flight.0);
    }

    /// Takes back a receive that no message has matched; it has landed then, as cancelled. Sends and
    /// receives that have begun go on.
    pub fn cancel(&mut self, flight: &Flight) {
        let matter = &mut self.matter;
        if matter.flights.is_posted(flight.0) && matter.queues.withdraw(flight.0) {
            let landed = Landed {
                is_cancelled: true,
                ..Landed::sent(matter.rank, 0, 0)
            };
            matter.flights.land(flight.0, landed);
        }
    }

    /// Takes what has come and moves what waits; whether anything happened.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        self.progress_from(None)
    }

    /// As [`Engine::progress`], but looks for packets of one rank only.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline]
    pub fn progress_from(&mut self, from: Option<u32>) -> Result<bool> {
        let matter = &mut self.matter;
        let mut take = |from, head, body: &[u8]| matter.arrive(from, head, body);
        let mut has_moved = self.transport.receive(from, &mut take);
        if !self.is_quiet() {
            has_moved |= self.follow_up();
        }
        Ok(has_moved)
    }
}

impl Matter {
    /// As [`Engine::recv`]; also whether a message for it has come, or been announced.
    #[inline(always)]
    fn recv(
        &mut self,
        context: u32,
        from: Option<u32>,
        tag: Option<i32>,
        memory: Memory,
    ) -> (Flight, bool) {
        let flight = self.flights.add(State::Posted { memory });
        let posted = Posted {
            context,
            from,
            tag,
            flight,
        };
        let arrived = self.queues.post(posted);
        let has_come = arrived.is_some();
        if let Some(arrived) = arrived {
            self.accept(arrived, flight);
        }
        (Flight(flight), has_come)
    }

    fn push(&mut self, to: u32, packet: Packet, body: Load) {
        let head = packet.head();
        self.outboxes[to as usize].push_back(Outgoing { head, body });
        self.waiting += 1;
    }

    /// Asks the sender of a message for its bytes in packets.
    fn ask(&mut self, from: u32, theirs: u32, flight: u32) {
        let word = u64::from(theirs) | u64::from(flight) << 32;
        self.push(from, Packet::control(PacketKind::Ask, word), Load::None);
    }

    /// Takes a packet from the transport.
    #[inline]
    fn arrive(&mut self, from: u32, head: Head, body: &[u8]) {
        let packet = Packet::of(head);
        self.counters.arrived += u64::from(packet.kind.is_message());
        match packet.kind {
            PacketKind::Eager => match self.queues.matching(packet.context, from, packet.tag) {
                Some(flight) => self.flights.fill(flight, from, packet.tag, body),
                None => self.keep(from, packet, Body::Bytes(body.into())),
            },
            _ => self.arrive_other(from, packet, body),
        }
    }

    fn arrive_other(&mut self, from: u32, packet: Packet, body: &[u8]) {
        let ours = packet.word as u32;
        match packet.kind {
            PacketKind::Eager => unreachable!("taken by `arrive`"),
            PacketKind::EagerSync => match self.queues.matching(packet.context, from, packet.tag) {
                Some(flight) => {
                    self.flights.fill(flight, from, packet.tag, body);
                    self.acknowledge(from, ours);
                }
                None => self.keep(from, packet, Body::Sync(body.into(), ours)),
            },
            PacketKind::Announce => {
                let [bytes, address] = packet::words_of(body);
                let arrived = Body::Announced {
                    bytes: bytes as usize,
                    address,
                    theirs: ours,
                };
                self.announced[from as usize] = (ours, None);
                match self.queues.matching(packet.context, from, packet.tag) {
                    Some(flight) => {
                        let arrived = Arrived::new(from, packet, arrived);
                        self.accept(arrived, flight);
                    }
                    None => self.keep(from, packet, arrived),
                }
            }
            PacketKind::First => match self.announced[from as usize] {
                (_, Some(flight)) => self.flights.append(flight, body),
                (_, None) => self.firsts.push((from, ours, body.into())),
            },
            PacketKind::Ask => {
                let theirs = (packet.word >> 32) as u32;
                let flight = self.flights.number(ours);
                let memory = self.flights.memory(flight);
                let offset = self.flights.sent(flight);
                self.counters.streamed.count(memory.bytes);
                self.streams.push(Stream {
                    to: from,
                    memory,
                    offset,
                    flight,
                    theirs,
                });
            }
            PacketKind::Data => self.flights.append(self.flights.number(ours), body),
            PacketKind::Share => self.share(from, packet.word, packet::words_of(body)),
            PacketKind::Done => {
                self.left_to_senders.retain(|pull| pull.flight != ours);
                self.flights.complete(ours);
            }
        }
    }

    fn keep(&mut self, from: u32, packet: Packet, body: Body) {
        self.counters.unexpected += 1;
        self.queues.keep(Arrived::new(from, packet, body));
    }

    fn acknowledge(&mut self, from: u32, theirs: u32) {
        if from == self.rank {
            self.flights.complete(theirs);
        } else {
            let packet = Packet::control(PacketKind::Done, u64::from(theirs));
            self.push(from, packet, Load::None);
        }
    }

    /// Gives a message that has come, or been announced, to a receive.
    fn accept(&mut self, arrived: Arrived, flight: u32) {
        let (from, tag) = (arrived.from, arrived.tag);
        match arrived.body {
            Body::Bytes(bytes) => self.flights.fill(flight, from, tag, &bytes),
            Body::Sync(bytes, theirs) => {
                self.flights.fill(flight, from, tag, &bytes);
                self.acknowledge(from, theirs);
            }
            Body::Announced {
                bytes,
                address,
                theirs,
            } => {
                let landed = Landed::sent(from, tag, bytes);
                self.flights.begin(flight, landed);
                let last = &mut self.announced[from as usize];
                if last.0 == theirs {
                    last.1 = Some(flight);
                }
                let is_of_it = |first: &(u32, u32, _)| first.0 == from && first.1 == theirs;
                for (_, _, bytes) in self.firsts.extract_if(.., |first| is_of_it(first)) {
                    self.flights.append(flight, &bytes);
                }
                if bytes >= self.read_min && address != 0 {
                    self.pulls.push(Pull {
                        from,
                        address,
                        bytes,
                        theirs,
                        flight,
                    });
                } else {
                    self.ask(from, theirs, flight);
                }
            }
        }
    }
}
