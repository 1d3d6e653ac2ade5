// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank in virtual time and its simulator pass each other: one mailbox per rank.
//!
//! Exactly one of the two has the turn. The rank writes what it wants done, item by item, and hands the
//! turn over with the last one, whose answer it needs to go on; the simulator writes the answer and hands
//! the turn back. Whoever has no turn touches nothing but the word that says so, and sleeps on it.
//!
//! ```text
//! | whose turn, lengths, time | items of the rank ..... | packets for the rank ..... | image ..... |
//! ```
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use corecast_mpi::transport::Head;

use crate::turn::{Side, Turn};

/// Most bytes of a packet's body.
pub const PACKET_MAX: usize = 64 << 10;
/// Bytes of each of the two areas.
pub const AREA_BYTES: usize = 128 << 10;
/// Where the first of them begins: in the same page as the words before it, and not in another one that a
/// rank would have to be told of anew at each of its turns.
pub const AREAS_OFFSET: usize = 128;
/// Where bytes of a collective lie that the simulator carries on ([`Errand::Carry`]).
pub const IMAGE_OFFSET: usize = (AREAS_OFFSET + 2 * AREA_BYTES).next_multiple_of(4096);
/// How many at most.
pub const IMAGE_BYTES: usize = 512 << 10;
/// Bytes of a mailbox.
pub const MAILBOX_BYTES: usize = IMAGE_OFFSET + IMAGE_BYTES;

/// What the time between two calls of the program counts as.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Compute {
    /// As what the program says by `MPI_Pcontrol`; nothing if it says nothing.
    Stated,
    /// As the processor time that it took, times this.
    Measured(f64),
}

/// What ranks in virtual time must know.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// Longest message that is sent without asking.
    pub eager_max: usize,
    /// What looking at the clock costs, so that a loop that waits for a time ends.
    pub tick_ps: u64,
    /// What the program's computing counts as.
    pub compute: Compute,
    /// The processor on which all of them run; none = wherever there is one.
    pub processor: Option<u32>,
    /// What ranks have of the machine's own broadcasts.
    pub broadcasts: Broadcasts,
    /// Whether the simulator carries collectives on ([`Errand::Carry`]).
    pub carries: bool,
}

/// What ranks have of broadcasts of the machine's own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Broadcasts {
    /// There are none.
    #[default]
    None,
    /// There are some, which are not used in this run.
    Unused,
    /// They use them.
    Used,
}

/// The beginning of a mailbox.
#[repr(C, align(64))]
pub struct Mailbox {
    turn: Turn,
    is_question: AtomicU32,
    items_bytes: AtomicU32,
    packets_bytes: AtomicU32,
    now_ps: AtomicU64,
    eager_max: AtomicU64,
    tick_ps: AtomicU64,
    /// Bits of the factor by which measured time counts; 0 if none is measured.
    factor: AtomicU64,
    /// One more than its number; 0 for none.
    processor: AtomicU32,
    broadcasts: AtomicU32,
    carries: AtomicU32,
}

impl Mailbox {
    pub fn begin(&self, terms: &Terms) {
        let factor = match terms.compute {
            Compute::Stated => 0.0,
            Compute::Measured(factor) => factor,
        };
        self.eager_max
            .store(terms.eager_max as u64, Ordering::Relaxed);
        self.tick_ps.store(terms.tick_ps, Ordering::Relaxed);
        self.factor.store(factor.to_bits(), Ordering::Relaxed);
        self.broadcasts
            .store(terms.broadcasts as u32, Ordering::Relaxed);
        self.carries.store(terms.carries.into(), Ordering::Relaxed);
        let processor = terms.processor.map_or(0, |processor| processor + 1);
        self.processor.store(processor, Ordering::Release);
    }

    pub fn terms(&self) -> Terms {
        let factor = f64::from_bits(self.factor.load(Ordering::Relaxed));
        Terms {
            eager_max: self.eager_max.load(Ordering::Relaxed) as usize,
            tick_ps: self.tick_ps.load(Ordering::Relaxed),
            compute: match factor {
                0.0 => Compute::Stated,
                factor => Compute::Measured(factor),
            },
            processor: self.processor.load(Ordering::Acquire).checked_sub(1),
            broadcasts: match self.broadcasts.load(Ordering::Relaxed) {
                0 => Broadcasts::None,
                1 => Broadcasts::Unused,
                _ => Broadcasts::Used,
            },
            carries: self.carries.load(Ordering::Relaxed) != 0,
        }
    }

    /// The rank hands the turn over with so many bytes of items.
    pub fn ask(&self, bytes: usize) {
        self.items_bytes.store(bytes as u32, Ordering::Relaxed);
        self.turn.pass_to(Side::Simulator);
    }

    /// The simulator hands it back.
    pub fn answer(&self, now_ps: u64, bytes: usize, is_question: bool) {
        self.now_ps.store(now_ps, Ordering::Relaxed);
        self.packets_bytes.store(bytes as u32, Ordering::Relaxed);
        self.is_question
            .store(is_question.into(), Ordering::Relaxed);
        self.turn.pass_to(Side::Rank);
    }

    /// Waits until it is the rank's turn: the time, bytes of packets, and whether it is to tell what it
    /// waits for. None if `is_over` says so.
    pub fn await_answer(&self, is_over: impl Fn() -> bool) -> Option<(u64, usize, bool)> {
        self.turn.wait(Side::Rank, is_over).then(|| {
            let bytes = self.packets_bytes.load(Ordering::Relaxed) as usize;
            let is_question = self.is_question.load(Ordering::Relaxed) != 0;
            let now_ps = self.now_ps.load(Ordering::Relaxed);
            (now_ps, bytes.min(AREA_BYTES), is_question)
        })
    }

    /// Waits until it is the simulator's turn: bytes of items. None if `is_over` says so.
    pub fn await_items(&self, is_over: impl Fn() -> bool) -> Option<usize> {
        let bytes = || self.items_bytes.load(Ordering::Relaxed) as usize;
        self.turn
            .wait(Side::Simulator, is_over)
            .then(|| bytes().min(AREA_BYTES))
    }

    /// Whether the rank waits for an answer.
    pub fn is_asking(&self) -> bool {
        self.turn.is_of(Side::Simulator)
    }

    /// Lets whoever sleeps look whether all is over.
    pub fn wake(&self) {
        self.turn.wake();
    }
}

/// What a rank wants done; the last of several is one that is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errand<'a> {
    /// It has begun. Answered.
    Begin,
    /// It has computed for so many picoseconds.
    Compute(u64),
    /// A packet is to be sent.
    Send {
        /// To this rank.
        to: u32,
        /// The words before its body.
        head: Head,
        /// Its body.
        body: &'a [u8],
    },
    /// It wants to know the time. Answered.
    Now,
    /// It looks for packets. Answered.
    Look,
    /// It waits for a packet. Answered with at least one.
    Wait,
    /// It has come to its end; the calls that it has made (`counts`). Answered.
    Finish(&'a [u8]),
    /// It takes part in a broadcast of the machine's own, and waits next.
    Broadcast {
        /// Who has the bytes.
        root: u32,
        /// How many take part.
        members: u32,
        /// The words before the packet in which it will come.
        head: Head,
        /// Who takes part, and behind that the root's bytes ([`broadcast_body`]).
        body: &'a [u8],
    },
    /// What is left of a collective, or of messages ([`Carried`](corecast_mpi::collective::carried::Carried)), is
    /// to be carried on as if it sent and waited; its bytes lie in the image. Answered with one of these,
    /// complete or as far as it came when something came that it does not hold.
    Carry(&'a [u8]),
    /// What it waits for, as it was asked ([`Wanted`](corecast_mpi::transport::Wanted)s as text).
    Tell(&'a [u8]),
}

/// An errand, and the call that it is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item<'a> {
    /// Number of the call ([`corecast_mpi::calls`]).
    pub call: u16,
    /// Which of the rank's calls it is.
    pub serial: u32,
    /// What is to be done.
    pub errand: Errand<'a>,
}

const ITEM_WORDS: usize = 5;
const ITEM_BYTES: usize = ITEM_WORDS * 8;

impl<'a> Item<'a> {
    /// Bytes that it takes in an area.
    pub fn bytes(&self) -> usize {
        let (_, _, _, body) = self.parts();
        ITEM_BYTES + body.len().next_multiple_of(8)
    }

    fn parts(&self) -> (u64, u64, Head, &'a [u8]) {
        const NO_HEAD: Head = (0, 0);
        match self.errand {
            Errand::Begin => (0, 0, NO_HEAD, &[]),
            Errand::Compute(ps) => (1, ps, NO_HEAD, &[]),
            Errand::Send { to, head, body } => (2, to.into(), head, body),
            Errand::Now => (3, 0, NO_HEAD, &[]),
            Errand::Look => (4, 0, NO_HEAD, &[]),
            Errand::Wait => (5, 0, NO_HEAD, &[]),
            Errand::Finish(counts) => (6, 0, NO_HEAD, counts),
            Errand::Tell(text) => (7, 0, NO_HEAD, text),
            Errand::Broadcast {
                root,
                members,
                head,
                body,
            } => (8, u64::from(root) | u64::from(members) << 32, head, body),
            Errand::Carry(carried) => (9, 0, NO_HEAD, carried),
        }
    }

    /// Writes it to the beginning of a stretch of an area, which has room for it.
    pub fn write(&self, area: &mut [u8]) {
        let (kind, number, head, body) = self.parts();
        let first = kind | u64::from(self.call) << 16 | u64::from(self.serial) << 32;
        let words = [first, number, head.0, head.1, body.len() as u64];
        let (into, rest) = area.split_at_mut(ITEM_BYTES);
        for (into, word) in into.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *into = word.to_le_bytes();
        }
        rest[..body.len()].copy_from_slice(body);
    }

    /// The first item of these bytes, and the rest; none if they hold none.
    pub fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (words, rest) = bytes.split_at_checked(ITEM_BYTES)?;
        let word = |at: usize| {
            let word = words[at * 8..at * 8 + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(word)
        };
        let length = usize::try_from(word(4)).ok()?;
        let body = rest.get(..length)?;
        let rest = rest.get(length.next_multiple_of(8)..)?;
        let errand = match word(0) as u8 {
            0 => Errand::Begin,
            1 => Errand::Compute(word(1)),
            2 => Errand::Send {
                to: word(1) as u32,
                head: (word(2), word(3)),
                body,
            },
            3 => Errand::Now,
            4 => Errand::Look,
            5 => Errand::Wait,
            6 => Errand::Finish(body),
            7 => Errand::Tell(body),
            8 => Errand::Broadcast {
                root: word(1) as u32,
                members: (word(1) >> 32) as u32,
                head: (word(2), word(3)),
                body,
            },
            9 => Errand::Carry(body),
            _ => return None,
        };
        let item = Self {
            call: (word(0) >> 16) as u16,
            serial: (word(0) >> 32) as u32,
            errand,
        };
        Some((item, rest))
    }
}

/// The body of [`Errand::Broadcast`].
pub fn broadcast_body(members: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut body: Vec<u8> = members.iter().flat_map(|rank| rank.to_le_bytes()).collect();
    body.extend_from_slice(bytes);
    body
}

/// The inverse of [`broadcast_body`]; fewer members where there are not so many.
pub fn broadcast_parts(members: u32, body: &[u8]) -> (Vec<u32>, &[u8]) {
    let end = (members as usize).saturating_mul(4).min(body.len());
    let (members, bytes) = body.split_at(end);
    let members = members.as_chunks::<4>().0.iter();
    (
        members.map(|rank| u32::from_le_bytes(*rank)).collect(),
        bytes,
    )
}

/// Bytes that a packet for a rank takes in an area.
pub fn packet_bytes(body: usize) -> usize {
    ITEM_BYTES + body.next_multiple_of(8)
}

/// Numbers of calls as the body of [`Errand::Finish`]: of each call that was made its number and how
/// often.
pub fn write_counts(counts: &[u64]) -> Vec<u8> {
    let made = (0_u64..).zip(counts).filter(|(_, count)| **count > 0);
    made.flat_map(|(call, count)| [call.to_le_bytes(), count.to_le_bytes()].concat())
        .collect()
}

/// The inverse of [`write_counts`].
pub fn counts(bytes: &[u8]) -> impl Iterator<Item = (u16, u64)> {
    let (pairs, _) = bytes.as_chunks::<16>();
    pairs.iter().map(|pair| {
        let (call, count) = pair.split_at(8);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        (word(call) as u16, word(count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_turn_goes_there_and_back() {
        // A fresh page is all zeros.
        let mailbox = Mailbox {
            turn: Turn::new(),
            is_question: AtomicU32::new(0),
            items_bytes: AtomicU32::new(0),
            packets_bytes: AtomicU32::new(0),
            now_ps: AtomicU64::new(0),
            eager_max: AtomicU64::new(0),
            tick_ps: AtomicU64::new(0),
            factor: AtomicU64::new(0),
            processor: AtomicU32::new(0),
            broadcasts: AtomicU32::new(0),
            carries: AtomicU32::new(0),
        };
        let terms = Terms {
            eager_max: 7936,
            tick_ps: 1876,
            compute: Compute::Measured(4.2),
            processor: Some(0),
            broadcasts: Broadcasts::Unused,
            carries: true,
        };
        mailbox.begin(&terms);
        assert_eq!(mailbox.terms(), terms);
        assert!(!mailbox.is_asking());
        assert_eq!(mailbox.await_items(|| true), None);
        mailbox.ask(80);
        assert!(mailbox.is_asking());
        assert_eq!(mailbox.await_answer(|| true), None);
        assert_eq!(mailbox.await_items(|| false), Some(80));
        mailbox.answer(12, 48, true);
        assert_eq!(mailbox.await_answer(|| false), Some((12, 48, true)));
        assert!(size_of::<Mailbox>() <= AREAS_OFFSET);
        assert!(2 * packet_bytes(PACKET_MAX) > AREA_BYTES && packet_bytes(PACKET_MAX) < AREA_BYTES);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 1..8),
            call: u16, serial: u32, head: Head, to: u32,
        ) {
            let mut area = vec![0; 4096];
            let mut at = 0;
            let errands: Vec<Item<'_>> = bodies.iter().enumerate().map(|(index, body)| Item {
                call,
                serial,
                errand: match index % 6 {
                    0 => Errand::Send { to, head, body },
                    1 => Errand::Compute(head.0),
                    2 => Errand::Wait,
                    3 => Errand::Broadcast { root: to, members: serial, head, body },
                    4 => Errand::Carry(body),
                    _ => Errand::Tell(body),
                },
            }).collect();
            for item in &errands {
                item.write(&mut area[at..]);
                at += item.bytes();
            }
            let mut rest = &area[..at];
            for item in errands {
                let (read, more) = Item::read(rest).expect("it was written");
                prop_assert_eq!(read, item);
                rest = more;
            }
            prop_assert_eq!(Item::read(rest), None);
        }

        #[test]
        fn members_and_bytes_of_a_broadcast_are_told_apart(
            members in prop::collection::vec(any::<u32>(), 0..9),
            bytes in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let body = broadcast_body(&members, &bytes);
            let parts = broadcast_parts(members.len() as u32, &body);
            prop_assert_eq!(parts, (members, &bytes[..]));
        }

        #[test]
        fn no_bytes_make_it_read_beyond_them(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = &bytes[..];
            while let Some((_, more)) = Item::read(rest) {
                prop_assert!(more.len() < rest.len());
                rest = more;
            }
        }

        #[test]
        fn calls_are_counted(made in prop::collection::vec(0_u64..3, 0..700)) {
            let told: Vec<(u16, u64)> = counts(&write_counts(&made)).collect();
            let expected = (0_u16..).zip(made).filter(|(_, count)| *count > 0);
            prop_assert_eq!(told, expected.collect::<Vec<_>>());
        }
    }
}
