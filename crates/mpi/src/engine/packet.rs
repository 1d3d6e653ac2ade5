// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the two words before a packet's body mean.
//!
//! Word 0: kind in bits 0 to 2, context in bits 3 to 31, tag in bits 32 to 63. Word 1 names flights:
//! the sender's or the receiver's, as the kind says.
#![forbid(unsafe_code)]

use crate::transport::Head;

/// Largest context that fits into a head.
pub const CONTEXT_MAX: u32 = (1 << 29) - 1;

const KIND_BITS: u32 = 3;

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PacketKind {
    /// A message with its bytes.
    Eager,
    /// The same; its sender (word 1: its flight) wants to know when it is received.
    EagerSync,
    /// A message whose bytes (body: how many, at which address; 0: they cannot be read there) stay with
    /// the sender (word 1: its flight) until they are read or asked for.
    Announce,
    /// The first bytes of the message that was announced right before (word 1: its sender's flight),
    /// which go along unasked.
    First,
    /// The receiver asks for them, or for the rest: the sender's flight below, its own above.
    Ask,
    /// Some of the bytes that the receiver (word 1: its flight) has asked for, in order.
    Data,
    /// The other end may copy, too: its flight below, that of who asks above. The body says where the
    /// receiver's bytes go, and which copy this is ([`crate::joint`]); address 0: the sender cannot write
    /// there, and the receiver is to read all.
    Share,
    /// The other end's flight (word 1) is complete.
    Done,
}

impl PacketKind {
    /// Whether it is matched with a receive.
    #[inline]
    pub const fn is_message(self) -> bool {
        matches!(self, Self::Eager | Self::EagerSync | Self::Announce)
    }
}

/// A head, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    pub kind: PacketKind,
    pub context: u32,
    pub tag: i32,
    pub word: u64,
}

impl Packet {
    #[inline]
    pub const fn eager(context: u32, tag: i32) -> Self {
        Self {
            kind: PacketKind::Eager,
            context,
            tag,
            word: 0,
        }
    }

    pub const fn control(kind: PacketKind, word: u64) -> Self {
        Self {
            kind,
            context: 0,
            tag: 0,
            word,
        }
    }

    #[inline]
    pub const fn head(self) -> Head {
        let low = self.kind as u32 | self.context << KIND_BITS;
        (low as u64 | (self.tag as u32 as u64) << 32, self.word)
    }

    #[inline]
    pub fn of(head: Head) -> Self {
        let kind = match head.0 as u8 & ((1 << KIND_BITS) - 1) {
            0 => PacketKind::Eager,
            1 => PacketKind::EagerSync,
            2 => PacketKind::Announce,
            3 => PacketKind::First,
            4 => PacketKind::Ask,
            5 => PacketKind::Data,
            6 => PacketKind::Share,
            _ => PacketKind::Done,
        };
        Self {
            kind,
            context: head.0 as u32 >> KIND_BITS,
            tag: (head.0 >> 32) as i32,
            word: head.1,
        }
    }
}

/// The envelope of a short message, whose bytes go along with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eager {
    context: u32,
    tag: i32,
}

impl Eager {
    /// That of a context and a tag.
    #[must_use]
    pub fn of(context: u32, tag: i32) -> Self {
        Self { context, tag }
    }

    /// As the head of a packet.
    #[must_use]
    pub fn head(self) -> Head {
        Packet::eager(self.context, self.tag).head()
    }

    /// The envelope of a packet with this head, if it is such a message.
    #[must_use]
    pub fn read(head: Head) -> Option<Self> {
        let Packet {
            kind, context, tag, ..
        } = Packet::of(head);
        (kind == PacketKind::Eager).then_some(Self { context, tag })
    }
}

/// What a packet is, by the first word of its head, for who reads a list of packets.
#[must_use]
pub fn packet_words(word: u64) -> String {
    let Packet {
        kind, context, tag, ..
    } = Packet::of((word, 0));
    let what = match kind {
        PacketKind::Eager => "a message",
        PacketKind::EagerSync => "a message that is answered",
        PacketKind::Announce => "a long message announced",
        PacketKind::First => return "the first bytes of a long message".to_owned(),
        PacketKind::Ask => return "asking for a long message".to_owned(),
        PacketKind::Data => return "bytes of a long message".to_owned(),
        PacketKind::Share => return "copying a long message together".to_owned(),
        PacketKind::Done => return "telling that a message is complete".to_owned(),
    };
    format!("{what}, tag {tag} in context {context}")
}

/// Two words as the body of a packet.
pub fn bytes_of([a, b]: [u64; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&a.to_le_bytes());
    bytes[8..].copy_from_slice(&b.to_le_bytes());
    bytes
}

/// The inverse of [`bytes_of`]; zeros where the body is too short.
pub fn words_of(body: &[u8]) -> [u64; 2] {
    let mut bytes = [0; 16];
    let len = body.len().min(16);
    bytes[..len].copy_from_slice(&body[..len]);
    let word = |at: usize| {
        let word = bytes[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(word)
    };
    [word(0), word(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_went_into_it() {
        for kind in [
            PacketKind::Eager,
            PacketKind::EagerSync,
            PacketKind::Announce,
            PacketKind::First,
            PacketKind::Ask,
            PacketKind::Data,
            PacketKind::Share,
            PacketKind::Done,
        ] {
            let packet = Packet {
                kind,
                context: CONTEXT_MAX,
                tag: i32::MAX,
                word: u64::MAX - 1,
            };
            assert_eq!(Packet::of(packet.head()), packet);
        }
        assert_eq!(words_of(&bytes_of([3, u64::MAX])), [3, u64::MAX]);
    }
}
