// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes ahead of a message as words, on machines whose hardware knows no tags.
//!
//! ```
//! use corecast_machine::{Header, HeaderKind};
//! let header = Header { kind: HeaderKind::Envelope, number: 3, tag: 7, bytes: 1000 };
//! assert_eq!(Header::decode(&header.encode()), header);
//! ```

use corecast_core::Rank;

use crate::endpoint::{Envelope, Tag};
use crate::matching::{ArrivalId, SendId};

/// What follows a header, or what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderKind {
    /// There is a message.
    Envelope,
    /// There is a message, and all of it comes with it.
    Whole,
    /// The receiver wants the message, or more of it.
    Grant,
    /// A part of the message comes with it, `bytes` long.
    Part,
    /// The receiver has the message.
    Done,
}

/// Says of which message it speaks, and how long and with which tag it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// What it is for.
    pub kind: HeaderKind,
    /// The sender's number of the message, different from those of its others under way.
    pub number: u32,
    /// The message's tag.
    pub tag: Tag,
    /// Length in bytes, below 2^56.
    pub bytes: u64,
}

impl Header {
    /// Bytes of a header.
    pub const BYTES: usize = 16;

    /// The header of message `id`: its lower half tells it apart from all others under way.
    #[must_use]
    pub fn new(kind: HeaderKind, id: SendId, tag: Tag, bytes: u64) -> Self {
        let number = id as u32;
        Self {
            kind,
            number,
            tag,
            bytes,
        }
    }

    /// What the receiver of a message from `from` calls it.
    #[must_use]
    pub fn arrival(&self, from: Rank) -> ArrivalId {
        (u64::from(from.0) << 32) | u64::from(self.number)
    }

    /// The sender and the number of a message, by what its receiver calls it.
    #[must_use]
    pub fn sender(id: ArrivalId) -> (Rank, u32) {
        (Rank((id >> 32) as u32), id as u32)
    }

    /// The envelope of a message from `from`.
    #[must_use]
    pub fn envelope(&self, from: Rank) -> Envelope {
        Envelope {
            from,
            tag: self.tag,
            bytes: self.bytes,
        }
    }

    /// The header as it is sent: little-endian, its kind in the highest byte.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let kind = match self.kind {
            HeaderKind::Envelope => 0_u64,
            HeaderKind::Grant => 1,
            HeaderKind::Part => 2,
            HeaderKind::Done => 3,
            HeaderKind::Whole => 4,
        };
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.tag.to_le_bytes());
        bytes[8..].copy_from_slice(&(self.bytes | kind << 56).to_le_bytes());
        bytes
    }

    /// The header that begins these bytes, of which there must be enough.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let word = |at: usize| bytes[at..at + 4].try_into().expect("four bytes");
        let long = bytes[8..16].try_into().expect("eight bytes");
        let long = u64::from_le_bytes(long);
        Self {
            kind: match long >> 56 {
                0 => HeaderKind::Envelope,
                1 => HeaderKind::Grant,
                2 => HeaderKind::Part,
                3 => HeaderKind::Done,
                _ => HeaderKind::Whole,
            },
            number: u32::from_le_bytes(word(0)),
            tag: u32::from_le_bytes(word(4)),
            bytes: long & ((1 << 56) - 1),
        }
    }
}
