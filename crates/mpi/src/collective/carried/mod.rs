// SPDX-License-Identifier: MIT OR Apache-2.0
//! A collective that somebody else carries on, or messages that somebody else brings to their ends, as a value.
//!
//! In virtual time a rank's process sleeps whenever it waits, and to wake it takes the host longer than to
//! simulate the message that it waited for. So it gives what is left of a collective away, or all its messages
//! that are under way ([`crate::transport::Carrier`]), and has it back complete, or as far as it came when
//! something came for the rank that its process must see. Whoever carries it on sends the same packets in the
//! same order and waits for the same ones as [`super::Run`] does over an [`Engine`](crate::Engine) whose
//! transport reads nobody's memory and sends no first bytes.
//!
//! All bytes lie in one image, whatever region of a program they are of: memory that both can reach, and that
//! is not part of the value. Ranks are those of the world.
#![forbid(unsafe_code)]

#[cfg(test)]
#[cfg(not(loom))]
mod tests;
mod written;

use crate::engine::packet::{Packet, PacketKind, bytes_of, words_of};
use crate::op::kernel_of_code;
use crate::transport::Head;

pub use written::{carried_bytes, early_bytes};

/// A range of the image.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Part {
    /// Where it begins.
    pub offset: u32,
    /// How long it is.
    pub bytes: u32,
}

/// One thing to do, as an act of a [`super::program::Program`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// Send to a rank.
    Send(u32, Part),
    /// Begin to receive from a rank.
    Recv(u32, Part),
    /// Wait for the message of this number.
    Wait(u32),
    /// Combine: the left operand begins here, and the part is the right one and the result.
    Combine(u32, Part),
    /// Copy what begins here.
    Copy(u32, Part),
}

/// How far a message under way has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It is to be received, and nothing has come for it.
    Posted,
    /// Its sender was asked for the bytes, which come under this name; so many are here.
    Coming {
        /// See there.
        name: u32,
        /// Bytes that have come.
        got: u32,
    },
    /// It is sent, was announced under this name, and waits to be asked for.
    Announced {
        /// See there.
        name: u32,
    },
}

/// A message that has begun and not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnderWay {
    /// Its number among the messages of the collective, or what else tells it from others.
    pub post: u32,
    /// The rank at its other end; [`ANYBODY`] where it is received from whoever sends it.
    pub peer: u32,
    /// Its context.
    pub context: u32,
    /// Its tag; [`ANY_TAG`] where it is received with whatever it has.
    pub tag: i32,
    /// Where it goes, or lies; what is still to come goes to the beginning of this.
    pub part: Part,
    /// How far it has come.
    pub stage: Stage,
}

/// The sender of what is received from anybody.
pub const ANYBODY: u32 = u32::MAX;
/// The tag of what is received with any.
pub const ANY_TAG: i32 = i32::MIN;
/// The context of no message.
pub const NO_CONTEXT: u32 = u32::MAX;

impl UnderWay {
    /// Whether it is a receive for such a message.
    fn takes(&self, packet: &Packet, from: u32) -> bool {
        self.stage == Stage::Posted
            && self.context == packet.context
            && [from, ANYBODY].contains(&self.peer)
            && [packet.tag, ANY_TAG].contains(&self.tag)
    }
}

/// A message that was received: who takes it back knows the receive alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// As [`UnderWay::post`].
    pub post: u32,
    /// Its sender.
    pub peer: u32,
    /// Its tag.
    pub tag: i32,
    /// Its length.
    pub bytes: u32,
}

/// A message that no receive has taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Early {
    /// All of it has come.
    Bytes(Box<[u8]>),
    /// It was announced.
    Announced {
        /// Its length.
        bytes: u32,
        /// What its sender calls it.
        name: u32,
    },
}

impl Early {
    fn bytes(&self) -> usize {
        match self {
            Self::Bytes(body) => body.len(),
            Self::Announced { bytes, .. } => *bytes as usize,
        }
    }
}

/// What was done meanwhile, for the counters of the rank's engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Done {
    /// Messages that were sent.
    pub sent: u32,
    /// Their bytes.
    pub sent_bytes: u32,
    /// Messages that have come, or were announced.
    pub arrived: u32,
    /// Of those the ones that no receive waited for.
    pub unexpected: u32,
    /// Of those that were sent the ones that were announced.
    pub announced: u32,
    /// Their bytes.
    pub announced_bytes: u32,
    /// Of those the ones that were asked for.
    pub streamed: u32,
    /// Their bytes.
    pub streamed_bytes: u32,
}

/// What it has to know of its rank's engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Longest message that goes along with its envelope.
    pub short: u32,
    /// Bytes of each packet of a longer one.
    pub packet: u32,
    /// Whether the process waits for no message by itself, so that what is announced to it may lie.
    pub is_alone: bool,
    /// What the next message is called for which the other end needs a name.
    pub name: u32,
}

/// Those of an engine to which every message is short.
impl Default for Terms {
    fn default() -> Self {
        Self {
            short: u32::MAX,
            packet: u32::MAX,
            is_alone: false,
            name: NAMED,
        }
    }
}

/// What the other end of a message waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// These bytes, under the receiver's name.
    Data(Part, u32),
    /// To be asked for what it has announced: its name and ours.
    Ask(u32, u32),
}

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Carried {
    /// Which messages are its own; [`NO_CONTEXT`] of messages of the program.
    pub context: u32,
    /// As well.
    pub tag: i32,
    /// The operator ([`kernel_of_code`]); 0 where nothing is combined.
    pub operator: u32,
    /// See there.
    pub terms: Terms,
    /// What is left to do; of one that is given back nothing, since who has given it away knows it.
    pub tasks: Vec<Task>,
    /// How many of them are done.
    pub next: u32,
    /// Messages that have begun so far, those before `tasks` included.
    pub posts: u32,
    /// Those that have not ended, in the order in which they began.
    pub under_way: Vec<UnderWay>,
    /// Those that have come since, if they are messages of the program.
    pub ended: Vec<Ended>,
    /// Messages that have come before their receives, and their senders.
    pub early: Vec<(u32, Early)>,
    /// See there.
    pub done: Done,
    /// Bytes of the image.
    pub image: u32,
    /// What others wait for, and is sent before anything else: nothing where it is given away or back.
    pub replies: Vec<(u32, Reply)>,
}

/// Bytes of early messages that it takes at most where ranks do not agree on lengths: with them, too, it is
/// given back in one piece. Where they agree there is room for all, since who gives it away knows them.
pub const EARLY_MAX: usize = 16 << 10;

/// How far [`Carried::advance`] came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// It waits for a message.
    Waits,
    /// It is complete, or a message has another length than the receive for it.
    Ended,
}

/// Sends a packet: receiver, head, body.
pub type Send<'a> = dyn FnMut(u32, Head, &[u8]) + 'a;

impl Carried {
    /// Goes on until it waits. The image has as many bytes as it says.
    pub fn advance(&mut self, image: &mut [u8], send: &mut Send<'_>) -> Pace {
        self.reply(image, send);
        if self.is_unfit() {
            return Pace::Ended;
        }
        while let Some(&task) = self.tasks.get(self.next as usize) {
            match task {
                Task::Send(to, part) => self.send(to, image, part, send),
                Task::Recv(from, part) => {
                    let early = self.early.iter().position(|(sender, _)| *sender == from);
                    if early.is_some_and(|at| !self.fits(self.early[at].1.bytes(), part)) {
                        return Pace::Ended;
                    }
                    self.begin(from, part, Stage::Posted);
                    if let Some(at) = early {
                        let (_, early) = self.early.remove(at);
                        self.accept(image, self.under_way.len() - 1, early);
                        self.reply(image, send);
                    }
                }
                Task::Wait(post) => {
                    if self.under_way.iter().any(|message| message.post == post) {
                        return Pace::Waits;
                    }
                }
                Task::Combine(left, into) => {
                    let left = image[into.from(left).range()].to_vec();
                    if let Some(kernel) = kernel_of_code(self.operator) {
                        kernel(&mut image[into.range()], &left);
                    }
                }
                Task::Copy(from, into) => {
                    let from = into.from(from).range();
                    image.copy_within(from, into.offset as usize);
                }
            }
            self.next += 1;
        }
        Pace::Ended
    }

    /// Sends what others wait for, as an engine does: bytes in the order in which they were asked for, and
    /// then wishes in the order of ranks.
    pub fn reply(&mut self, image: &[u8], send: &mut Send<'_>) {
        let mut replies = std::mem::take(&mut self.replies);
        replies.retain(|&(to, reply)| {
            let Reply::Data(part, name) = reply else {
                return true;
            };
            let head = Packet::control(PacketKind::Data, name.into()).head();
            for body in image[part.range()].chunks(self.terms.packet as usize) {
                send(to, head, body);
            }
            false
        });
        replies.sort_by_key(|&(to, _)| to);
        for (to, reply) in replies {
            if let Reply::Ask(theirs, ours) = reply {
                let word = u64::from(theirs) | u64::from(ours) << 32;
                send(to, Packet::control(PacketKind::Ask, word).head(), &[]);
            }
        }
    }

    fn send(&mut self, to: u32, image: &[u8], part: Part, send: &mut Send<'_>) {
        self.done.sent += 1;
        self.done.sent_bytes += part.bytes;
        if part.bytes <= self.terms.short {
            self.posts += 1;
            let head = Packet::eager(self.context, self.tag).head();
            return send(to, head, &image[part.range()]);
        }
        self.done.announced += 1;
        self.done.announced_bytes += part.bytes;
        let name = self.name();
        self.begin(to, part, Stage::Announced { name });
        let announced = Packet {
            kind: PacketKind::Announce,
            word: name.into(),
            ..Packet::eager(self.context, self.tag)
        };
        send(to, announced.head(), &bytes_of([part.bytes.into(), 0]));
    }

    fn begin(&mut self, peer: u32, part: Part, stage: Stage) {
        let post = self.posts;
        self.posts += 1;
        self.under_way.push(UnderWay {
            post,
            peer,
            context: self.context,
            tag: self.tag,
            part,
            stage,
        });
    }

    /// What a message is called that begins now.
    fn name(&mut self) -> u32 {
        let next = self.terms.name.wrapping_add(1) | NAMED;
        std::mem::replace(&mut self.terms.name, next)
    }

    /// Whether a message has come that does not fit its receive: that is the process' to tell.
    fn is_unfit(&self) -> bool {
        let own = Packet::eager(self.context, self.tag);
        let mut senders = self.early.iter().map(|(from, _)| *from);
        senders.any(|from| self.receives(&own, from).next().is_some())
    }

    /// Whether a message of so many bytes is one for a receive into there.
    fn fits(&self, bytes: usize, part: Part) -> bool {
        match self.is_of_messages() {
            true => bytes <= part.bytes as usize,
            false => bytes == part.bytes as usize,
        }
    }

    /// Receives that wait for such a message: where they are among those under way.
    fn receives(&self, packet: &Packet, from: u32) -> impl Iterator<Item = usize> {
        let all = self.under_way.iter().enumerate();
        all.filter_map(move |(at, message)| message.takes(packet, from).then_some(at))
    }

    /// A message under way between this rank and another, of a stage that is wanted.
    fn find(&self, peer: u32, is_wanted: impl Fn(Stage) -> bool) -> Option<usize> {
        let mut all = self.under_way.iter();
        all.position(|message| message.peer == peer && is_wanted(message.stage))
    }

    /// Whether these are messages of the program: they may be shorter than what they are received into, and
    /// it wants to know what has come.
    fn is_of_messages(&self) -> bool {
        self.context == NO_CONTEXT
    }

    fn is_own(&self, packet: &Packet) -> bool {
        packet.context == self.context && packet.tag == self.tag
    }

    /// Whether all of these packets are its own, or can lie until it is given back: the process would do
    /// nothing about them but keep them, and there is room for them.
    #[must_use]
    pub fn holds<'p>(&self, packets: impl IntoIterator<Item = (u32, Head, &'p [u8])>) -> bool {
        let mut room = EARLY_MAX.saturating_sub(self.early_bytes());
        let mut taken = Vec::new();
        // Whether there is room for a message, which takes some where no receive waits for it; `None` if it is
        // somebody else's.
        let mut has_room = |packet: &Packet, from: u32, length: usize, body: &[u8]| {
            let mut receives = self.receives(packet, from);
            let receive = receives.find(|at| !taken.contains(at));
            taken.extend(receive);
            if receive.is_some_and(|at| self.fits(length, self.under_way[at].part)) {
                return Some(true);
            }
            if !self.is_own(packet) {
                return receive.map(|_| false);
            }
            let left = room.checked_sub(body.len());
            room = left.unwrap_or(0);
            Some(left.is_some())
        };
        packets.into_iter().all(|(from, head, body)| {
            let packet = Packet::of(head);
            let name = packet.word as u32;
            match packet.kind {
                PacketKind::Eager => has_room(&packet, from, body.len(), body).unwrap_or(true),
                PacketKind::Announce => {
                    let [bytes, address] = words_of(body);
                    let is_long = (1..=u64::from(u32::MAX)).contains(&bytes) && address == 0;
                    let is_alone = self.terms.is_alone;
                    let holds = has_room(&packet, from, bytes as usize, body);
                    holds.map_or(is_alone, |holds| holds && is_long)
                }
                PacketKind::Ask => self.find(from, is_announced(name)).is_some(),
                PacketKind::Data => self.find(from, is_coming(name)).is_some(),
                PacketKind::EagerSync
                | PacketKind::First
                | PacketKind::Share
                | PacketKind::Done => false,
            }
        })
    }

    /// Takes a packet of those that it [`holds`](Carried::holds), if it is its own; whether it is.
    pub fn arrive(&mut self, image: &mut [u8], from: u32, head: Head, body: &[u8]) -> bool {
        let packet = Packet::of(head);
        let name = packet.word as u32;
        match packet.kind {
            PacketKind::Eager => self.take(image, from, &packet, Early::Bytes(body.into())),
            PacketKind::Announce => {
                let bytes = words_of(body)[0] as u32;
                self.take(image, from, &packet, Early::Announced { bytes, name })
            }
            PacketKind::Ask => match self.find(from, is_announced(name)) {
                Some(at) => {
                    let UnderWay { peer, part, .. } = self.under_way.remove(at);
                    self.done.streamed += 1;
                    self.done.streamed_bytes += part.bytes;
                    let theirs = (packet.word >> 32) as u32;
                    self.replies.push((peer, Reply::Data(part, theirs)));
                    true
                }
                None => false,
            },
            PacketKind::Data => match self.find(from, is_coming(name)) {
                Some(at) => {
                    self.append(image, at, body);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Takes a message if it is its own, or one of those under way; whether it is.
    fn take(&mut self, image: &mut [u8], from: u32, packet: &Packet, message: Early) -> bool {
        let receive = self.receives(packet, from).next();
        if receive.is_none() && !self.is_own(packet) {
            return false;
        }
        self.done.arrived += 1;
        self.done.unexpected += u32::from(receive.is_none());
        // None overtakes one that does not fit.
        let is_next = self.early.iter().all(|(sender, _)| *sender != from);
        match receive.filter(|_| is_next) {
            Some(at) if self.fits(message.bytes(), self.under_way[at].part) => {
                let receive = &mut self.under_way[at];
                (receive.peer, receive.tag) = (from, packet.tag);
                self.accept(image, at, message);
            }
            _ => self.early.push((from, message)),
        }
        true
    }

    /// Gives a receive the message for it, which fits there.
    fn accept(&mut self, image: &mut [u8], at: usize, message: Early) {
        self.under_way[at].part.bytes = message.bytes() as u32;
        match message {
            Early::Bytes(body) => {
                let receive = self.end(at);
                image[receive.part.range()].copy_from_slice(&body);
            }
            Early::Announced { name: theirs, .. } => {
                let name = self.name();
                let receive = &mut self.under_way[at];
                receive.stage = Stage::Coming { name, got: 0 };
                self.replies.push((receive.peer, Reply::Ask(theirs, name)));
            }
        }
    }

    /// A message has come.
    fn end(&mut self, at: usize) -> UnderWay {
        let message = self.under_way.remove(at);
        if self.is_of_messages() {
            self.ended.push(Ended {
                post: message.post,
                peer: message.peer,
                tag: message.tag,
                bytes: message.part.bytes,
            });
        }
        message
    }

    /// The next bytes of a message.
    fn append(&mut self, image: &mut [u8], at: usize, body: &[u8]) {
        let UnderWay { part, stage, .. } = &mut self.under_way[at];
        let Stage::Coming { got, .. } = stage else {
            return;
        };
        let room = &mut image[part.range()][*got as usize..];
        let bytes = room.len().min(body.len());
        room[..bytes].copy_from_slice(&body[..bytes]);
        *got += bytes as u32;
        if *got == part.bytes {
            self.end(at);
        }
    }

    /// Bytes of messages that have come before their receives.
    #[must_use]
    pub fn early_bytes(&self) -> usize {
        let all = self.early.iter().map(|(_, early)| match early {
            Early::Bytes(body) => body.len(),
            Early::Announced { .. } => 0,
        });
        all.sum()
    }
}

fn is_announced(name: u32) -> impl Fn(Stage) -> bool {
    move |stage| stage == Stage::Announced { name }
}

fn is_coming(wanted: u32) -> impl Fn(Stage) -> bool {
    move |stage| matches!(stage, Stage::Coming { name, .. } if name == wanted)
}

/// Names of messages that begin where a collective is carried on have this bit; the others are numbers of an
/// engine's flights.
pub(crate) const NAMED: u32 = 1 << 31;

impl Part {
    /// Where it lies.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        let start = self.offset as usize;
        start..start + self.bytes as usize
    }

    /// As many bytes that begin elsewhere.
    fn from(self, offset: u32) -> Self {
        Self { offset, ..self }
    }

    fn is_within(self, bytes: usize) -> bool {
        let end = u64::from(self.offset) + u64::from(self.bytes);
        end <= bytes as u64
    }
}
