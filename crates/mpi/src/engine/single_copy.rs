// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long messages in one copy: read by the receiver, or some of it written by the sender
//! ([`crate::joint`]).

use std::ops::Range;

use super::packet::{Packet, PacketKind};
use super::ways::{Company, Way};
use super::{Engine, Load, Matter, Memory};
use crate::joint::Joint;

/// Pieces of a message that both ends copy, unless they would be very long: one for each, so that what an end
/// copies lies together and takes one call of the system. In windows of 64 messages of 1 MiB two pieces made
/// 33 and 34 GB/s, eight 21, and one end alone 11 and 15 (2026-11-28, Intel Xeon, two starts each).
const PIECES: usize = 2;
/// The longest piece, in shortest messages that both ends copy: where they are not there from the beginning
/// shorter pieces let them end at the same time.
const PIECE_MAX: usize = 2;

/// A receive that reads from the sender's memory.
pub(super) struct Pull {
    pub from: u32,
    pub address: u64,
    pub bytes: usize,
    pub theirs: u32,
    pub flight: u32,
}

/// A send some of whose bytes are written to the receiver's memory, unless it has read all of them.
pub(super) struct Push {
    pub to: u32,
    address: u64,
    memory: Memory,
    flight: u32,
    theirs: u32,
    /// Which of the joints of these two, and the number there.
    joint: usize,
    number: u32,
}

/// Of messages of which others are under way so many are timed together: each alone takes as long as those
/// before it let it.
const CROWD: u32 = 16;

/// Messages that are timed: in which way they come, and for how long some of them have been under way.
pub(super) struct Timed {
    company: Company,
    way: Way,
    /// Those that are under way.
    flights: Vec<u32>,
    messages: u32,
    /// Of the first of them, and of all.
    length: usize,
    bytes: usize,
    /// Since when some are under way, and how long some were before, in seconds.
    start: f64,
    before: f64,
}

impl Timed {
    fn new(company: Company, way: Way, length: usize) -> Self {
        Self {
            company,
            way,
            flights: Vec::new(),
            messages: 0,
            length,
            bytes: 0,
            start: 0.0,
            before: 0.0,
        }
    }

    /// Whether some of them are under way.
    pub fn is_running(&self) -> bool {
        !self.flights.is_empty()
    }

    fn is_full(&self) -> bool {
        self.company == Company::None || self.messages >= CROWD
    }

    /// Whether a message is to be timed with them.
    fn takes(&self, company: Company, bytes: usize) -> bool {
        let is_alike = bytes.max(1).ilog2() == self.length.max(1).ilog2();
        self.company == company && !self.is_full() && is_alike
    }

    fn add(&mut self, pull: &Pull, now: f64) {
        if !self.is_running() {
            self.start = now;
        }
        self.flights.push(pull.flight);
        self.messages += 1;
        self.bytes += pull.bytes;
    }
}

/// A message that both ends copy.
#[derive(Clone, Copy)]
struct JointCopy {
    from: u32,
    to: u32,
    joint: usize,
    number: u32,
    bytes: usize,
    piece_bytes: usize,
}

/// How far a message has come that is read.
enum Read {
    Complete,
    /// The sender has taken what is left.
    LeftToSender,
    /// It takes less to ask for it.
    Never,
    Impossible,
}

impl JointCopy {
    fn pieces(&self) -> u32 {
        self.bytes.div_ceil(self.piece_bytes) as u32
    }

    /// Takes a piece, if there is one left: where it begins and ends.
    fn take(&self, joints: &[Joint]) -> Option<Range<usize>> {
        let piece = joints.get(self.joint)?.take(self.number, self.pieces())?;
        let start = piece as usize * self.piece_bytes;
        Some(start..(start + self.piece_bytes).min(self.bytes))
    }
}

impl Matter {
    /// The other end of a message says that this one may copy some of it, or that it cannot do so itself.
    pub(super) fn share(&mut self, from: u32, word: u64, [address, copy]: [u64; 2]) {
        let (ours, theirs) = (word as u32, (word >> 32) as u32);
        if address == 0 {
            // Its joint stays taken, and no other will be.
            self.shares = false;
            let is_it = |pull: &mut Pull| pull.flight == ours;
            let given_up = self.left_to_senders.extract_if(.., is_it);
            self.pulls.extend(given_up);
            return;
        }
        self.pushes.push(Push {
            to: from,
            address,
            memory: self.flights.memory(ours),
            flight: ours,
            theirs,
            joint: copy as u32 as usize,
            number: (copy >> 32) as u32,
        });
    }
}

impl Engine {
    /// Bytes of a piece of a message that both ends copy.
    fn piece_bytes(&self, bytes: usize) -> usize {
        let longest = self.transport.joint_min().saturating_mul(PIECE_MAX);
        bytes.div_ceil(PIECES).min(longest)
    }

    /// Reads what lies in the memory of others.
    pub(super) fn pull(&mut self) -> bool {
        let has_some = !self.matter.pulls.is_empty();
        let pulls = std::mem::take(&mut self.matter.pulls);
        // One message each way, as in an exchange, takes as long as one.
        let company = match pulls.len() == 1 && !self.matter.flights.are_more_under_way_than(2) {
            true => Company::None,
            false => Company::Others,
        };
        for pull in pulls {
            let memory = self.matter.flights.memory(pull.flight);
            let memory = memory.prefix(pull.bytes);
            match self.bring(&pull, memory, company) {
                Read::Never => {
                    self.transport.prepare(pull.from);
                    self.matter.ask(pull.from, pull.theirs, pull.flight);
                }
                Read::Complete => {
                    self.matter.counters.read.count(memory.bytes);
                    self.matter.flights.complete(pull.flight);
                    self.matter.acknowledge(pull.from, pull.theirs);
                }
                Read::LeftToSender => {
                    self.matter.counters.read.count(memory.bytes);
                    self.matter.left_to_senders.push(pull);
                }
                Read::Impossible => {
                    // It was possible a moment ago; from now on bytes are sent.
                    self.matter.read_min = usize::MAX;
                    self.matter.ask(pull.from, pull.theirs, pull.flight);
                }
            }
        }
        has_some
    }

    /// Reads a message, unless packets take less.
    fn bring(&mut self, pull: &Pull, memory: Memory, company: Company) -> Read {
        if memory.is_apart() {
            return self.read_apart(pull, memory);
        }
        let way = self.way(pull, company);
        if way == Way::Stream {
            return Read::Never;
        }
        match self.begin(pull, memory) {
            Some(copy) => self.read_some(pull, memory, copy),
            None if way == Way::ReadTwice => self.read_twice(pull, memory, company),
            None => self.read_all(pull, memory),
        }
    }

    /// The way of a message, which is timed if no other is.
    fn way(&mut self, pull: &Pull, company: Company) -> Way {
        let now = self.transport.now();
        let matter = &mut self.matter;
        let takes = |timed: &&mut Timed| timed.takes(company, pull.bytes);
        if let Some(timed) = matter.timed.as_mut().filter(takes) {
            timed.add(pull, now);
            return match timed.way {
                Way::Stream => Way::Stream,
                Way::Read | Way::ReadTwice => Way::Read,
            };
        }
        // A crowd of which no more have come is given up.
        let is_timed = !matter.timed.as_ref().is_some_and(Timed::is_running);
        let is_clear = pull.bytes >= self.transport.clear_min();
        let ways = &mut matter.ways[company as usize];
        let way = ways.choose(pull.bytes, (is_timed, is_clear));
        if is_timed {
            let timed = Timed::new(company, way, pull.bytes);
            matter.timed.insert(timed).add(pull, now);
        }
        way
    }

    /// Begins to copy a message together with its sender, if it is long enough.
    fn begin(&mut self, pull: &Pull, memory: Memory) -> Option<JointCopy> {
        if !self.matter.shares || pull.bytes < self.transport.joint_min() {
            return None;
        }
        let (from, to) = (pull.from, self.matter.rank);
        let mut copy = JointCopy {
            from,
            to,
            joint: 0,
            number: 0,
            bytes: pull.bytes,
            piece_bytes: self.piece_bytes(pull.bytes),
        };
        // What lies apart is unpacked, and what is cut off is none of the sender's.
        let is_plain = memory.readable_at() != 0 && memory.bytes == pull.bytes;
        if !is_plain {
            return None;
        }
        let joints = self.transport.joints(from, to);
        let mut begun = (0..).zip(joints).filter_map(|(index, joint)| {
            let number = joint.begin(copy.pieces())?;
            Some((index, number))
        });
        (copy.joint, copy.number) = begun.next()?;
        let word = u64::from(pull.theirs) | u64::from(pull.flight) << 32;
        let which = copy.joint as u64 | u64::from(copy.number) << 32;
        let words = [memory.readable_at(), which];
        let packet = Packet::control(PacketKind::Share, word);
        self.matter.push(from, packet, Load::Words(words));
        self.flush();
        Some(copy)
    }

    /// Reads the pieces that the sender does not write.
    fn read_some(&mut self, pull: &Pull, memory: Memory, copy: JointCopy) -> Read {
        let (mut taken, mut is_possible) = (0, true);
        // Where a piece cannot be read no other is left to the sender, who is to send them.
        while let Some(range) = copy.take(self.transport.joints(copy.from, copy.to)) {
            let address = pull.address + range.start as u64;
            // SAFETY: who receives vouches for the memory; nobody else has taken the piece.
            let into = unsafe { memory.piece_mut(range) };
            is_possible = is_possible && self.transport.read(pull.from, address, into);
            taken += 1;
        }
        if !is_possible {
            return Read::Impossible;
        }
        let joint = &self.transport.joints(copy.from, copy.to)[copy.joint];
        match joint.has_copied(taken) {
            true => Read::Complete,
            false => Read::LeftToSender,
        }
    }

    /// Reads all bytes of a message.
    fn read_all(&mut self, pull: &Pull, memory: Memory) -> Read {
        // SAFETY: who receives vouches for the memory.
        let into = unsafe { memory.bytes_mut() };
        match self.transport.read(pull.from, pull.address, into) {
            true => Read::Complete,
            false => Read::Impossible,
        }
    }

    /// The same twice, to see whether it takes less the second time.
    fn read_twice(&mut self, pull: &Pull, memory: Memory, company: Company) -> Read {
        let times = [(); 2].map(|()| {
            let start = self.transport.now();
            let read = self.read_all(pull, memory);
            matches!(read, Read::Complete).then(|| self.transport.now() - start)
        });
        let [Some(first), Some(second)] = times else {
            return Read::Impossible;
        };
        // As a whole the message has taken what nobody else does.
        self.matter.timed = None;
        let ways = &mut self.matter.ways[company as usize];
        ways.note_fresh(pull.bytes, first - second);
        Read::Complete
    }

    /// Looks whether the messages have come that are timed.
    pub(super) fn look_at_timed(&mut self) {
        let (matter, transport) = (&mut self.matter, &mut self.transport);
        let Some(timed) = matter.timed.as_mut().filter(|timed| timed.is_running()) else {
            return;
        };
        let flights = &matter.flights;
        let mut have_landed = true;
        timed.flights.retain(|&flight| {
            let is_coming = flights.is_coming(flight);
            have_landed &= is_coming || flights.landed(flight).is_some();
            is_coming
        });
        if !have_landed {
            matter.timed = None;
            return;
        }
        if timed.is_running() {
            return;
        }
        timed.before += transport.now() - timed.start;
        if timed.is_full() {
            let each = timed.before / timed.bytes.max(1) as f64;
            matter.ways[timed.company as usize].note(timed.length, timed.way, each);
            matter.timed = None;
        }
    }

    /// The same of bytes that go to several places.
    fn read_apart(&mut self, pull: &Pull, memory: Memory) -> Read {
        let packet = self.transport.stream_packet(0);
        self.scratch.resize(packet, 0);
        let is_read = (0..memory.bytes).step_by(packet).all(|offset| {
            let bytes = packet.min(memory.bytes - offset);
            let into = &mut self.scratch[..bytes];
            let address = pull.address + offset as u64;
            let is_read = self.transport.read(pull.from, address, into);
            if is_read {
                // SAFETY: who receives vouches for the memory.
                unsafe { memory.put(offset, into) };
            }
            is_read
        });
        match is_read {
            true => Read::Complete,
            false => Read::Impossible,
        }
    }

    /// Writes to the memory of others what they have not read yet.
    pub(super) fn push(&mut self) -> bool {
        let has_some = !self.matter.pushes.is_empty();
        for push in std::mem::take(&mut self.matter.pushes) {
            let control = |kind| Packet::control(kind, u64::from(push.theirs));
            let copy = JointCopy {
                from: self.matter.rank,
                to: push.to,
                joint: push.joint,
                number: push.number,
                bytes: push.memory.bytes,
                piece_bytes: self.piece_bytes(push.memory.bytes),
            };
            let Some(taken) = self.write_some(&push, copy) else {
                let packet = control(PacketKind::Share);
                self.matter.push(push.to, packet, Load::Words([0; 2]));
                continue;
            };
            let joints = self.transport.joints(copy.from, copy.to);
            let joint = joints.get(copy.joint);
            if joint.is_some_and(|joint| joint.has_copied(taken)) {
                self.matter.flights.complete(push.flight);
                let packet = control(PacketKind::Done);
                self.matter.push(push.to, packet, Load::None);
            }
        }
        has_some
    }

    /// Writes the pieces that the receiver does not read: how many, or none if that is not possible.
    fn write_some(&mut self, push: &Push, copy: JointCopy) -> Option<u32> {
        let mut taken = 0;
        while let Some(range) = copy.take(self.transport.joints(copy.from, copy.to)) {
            let address = push.address + range.start as u64;
            // SAFETY: who sends vouches for the memory until the message is complete, which it is not while a
            // piece is not copied.
            let from = unsafe { push.memory.piece(range) };
            // SAFETY: the receiver has said that the bytes go there, and has not taken this piece.
            if !unsafe { self.transport.write(push.to, address, from) } {
                return None;
            }
            taken += 1;
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(flight: u32, bytes: usize) -> Pull {
        Pull {
            from: 0,
            address: 0,
            bytes,
            theirs: 0,
            flight,
        }
    }

    #[test]
    fn messages_of_a_crowd_are_timed_together_and_one_alone_by_itself() {
        let bytes = 1 << 16;
        let mut alone = Timed::new(Company::None, Way::Read, bytes);
        alone.add(&pull(0, bytes), 1.0);
        assert!(alone.is_full() && !alone.takes(Company::None, bytes));
        let mut crowd = Timed::new(Company::Others, Way::Stream, bytes);
        for flight in 0..CROWD {
            assert!(crowd.takes(Company::Others, bytes + 1));
            assert!(!crowd.takes(Company::Others, bytes / 2), "another length");
            assert!(!crowd.takes(Company::None, bytes));
            crowd.add(&pull(flight, bytes), f64::from(flight));
            assert_eq!(crowd.start, 0.0, "some are under way since then");
        }
        assert!(crowd.is_full() && !crowd.takes(Company::Others, bytes));
        assert_eq!(crowd.bytes, CROWD as usize * bytes);
    }

    #[test]
    fn time_in_which_none_is_under_way_does_not_count() {
        let mut crowd = Timed::new(Company::Others, Way::Stream, 1);
        crowd.add(&pull(7, 1), 1.0);
        crowd.flights.clear();
        crowd.add(&pull(8, 1), 5.0);
        assert_eq!(crowd.start, 5.0);
    }
}
