// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests as messages: what one rank asks another to do with its memory.
//!
//! Five words, then the pieces of memory as pairs of words (displacement, bytes), then data.
#![forbid(unsafe_code)]

/// The tag of requests.
pub const REQUEST: i32 = i32::MAX;
/// The tag by which a rank says that others may reach its memory.
pub const POST: i32 = i32::MAX - 1;
/// The tag by which a rank says that it has done what it wanted.
pub const COMPLETE: i32 = i32::MAX - 2;
/// Tags of replies are below; each request has another one for some time.
pub const REPLIES: i32 = 1 << 30;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum AskKind {
    /// The data go into the pieces.
    Put,
    /// The pieces are replied.
    Get,
    /// The data are combined with the pieces.
    Accumulate,
    /// The same, and what was there before is replied.
    GetAccumulate,
    /// The data are what to compare with and what to put there if it is the same; what was there is
    /// replied.
    CompareAndSwap,
    /// A reply when all that was asked before is done: the class of the first error since the last time.
    Flush,
    /// A reply when the lock is had together with others.
    LockShared,
    /// A reply when the lock is had alone.
    LockAlone,
    /// The lock is given up.
    Unlock,
}

const KINDS: [AskKind; 9] = [
    AskKind::Put,
    AskKind::Get,
    AskKind::Accumulate,
    AskKind::GetAccumulate,
    AskKind::CompareAndSwap,
    AskKind::Flush,
    AskKind::LockShared,
    AskKind::LockAlone,
    AskKind::Unlock,
];

/// Pieces of memory from some address or displacement on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Pieces {
    /// Added to the displacements of all pieces.
    pub base: i64,
    /// Displacement and bytes.
    pub pieces: Vec<(isize, usize)>,
}

impl Pieces {
    /// Bytes of all pieces.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|&(_, bytes)| bytes).sum()
    }
}

/// A request without its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    pub kind: AskKind,
    /// Number of a predefined operator, or 0.
    pub op: u32,
    /// Number of the predefined datatype of elements, or 0.
    pub element: u32,
    /// The tag of the reply; 0 for none. With one what is otherwise not replied is followed by a
    /// [`AskKind::Flush`].
    pub reply: i32,
    pub place: Pieces,
}

const WORDS: usize = 5;

impl Ask {
    /// A request without memory.
    pub fn plain(kind: AskKind, reply: i32) -> Self {
        Self {
            kind,
            op: 0,
            element: 0,
            reply,
            place: Pieces::default(),
        }
    }

    /// Asks for a reply in a message that asked for none.
    pub fn set_reply(message: &mut [u8], reply: i32) {
        let (words, _) = message.as_chunks_mut::<8>();
        words[2] = u64::from(reply.cast_unsigned()).to_ne_bytes();
    }

    /// The message, with data behind it.
    pub fn encode(&self, data: &[u8]) -> Vec<u8> {
        let words = [
            self.kind as u64 | u64::from(self.op) << 32,
            u64::from(self.element),
            u64::from(self.reply.cast_unsigned()),
            self.place.base.cast_unsigned(),
        ];
        message_of(words, &self.place.pieces, data)
    }

    /// The message of what is asked for with one piece of memory and takes no operator.
    pub fn encode_piece(
        (kind, reply): (AskKind, i32),
        piece: (isize, usize),
        data: &[u8],
    ) -> Vec<u8> {
        let words = [kind as u64, 0, u64::from(reply.cast_unsigned()), 0];
        message_of(words, &[piece], data)
    }

    /// A message, taken apart; `None` if it is none.
    pub fn decode(message: &[u8]) -> Option<(Self, &[u8])> {
        let (words, _) = message.as_chunks::<8>();
        let word = |at: usize| Some(u64::from_ne_bytes(*words.get(at)?));
        let kind = *KINDS.get(word(0)? as u32 as usize)?;
        let count = usize::try_from(word(4)?).ok()?;
        let end = WORDS.checked_add(count.checked_mul(2)?)?;
        let rows = words.get(WORDS..end)?;
        let pieces = rows.as_chunks::<2>().0.iter().map(|[at, bytes]| {
            let at = u64::from_ne_bytes(*at) as isize;
            (at, u64::from_ne_bytes(*bytes) as usize)
        });
        let ask = Self {
            kind,
            op: (word(0)? >> 32) as u32,
            element: word(1)? as u32,
            reply: word(2)? as u32 as i32,
            place: Pieces {
                base: word(3)?.cast_signed(),
                pieces: pieces.collect(),
            },
        };
        Some((ask, &message[8 * end..]))
    }
}

fn message_of(words: [u64; WORDS - 1], pieces: &[(isize, usize)], data: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(8 * (WORDS + 2 * pieces.len()) + data.len());
    let mut add = |word: u64| message.extend_from_slice(&word.to_ne_bytes());
    words.into_iter().for_each(&mut add);
    add(pieces.len() as u64);
    for &(at, bytes) in pieces {
        add(at as u64);
        add(bytes as u64);
    }
    message.extend_from_slice(data);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_arrives() {
        for kind in KINDS {
            let ask = Ask {
                kind,
                op: 0x21,
                element: 0x209,
                reply: REPLIES - 1,
                place: Pieces {
                    base: -5,
                    pieces: vec![(-8, 4), (16, 12)],
                },
            };
            let plain = Ask {
                place: Pieces {
                    base: 0,
                    pieces: vec![(-8, 4)],
                },
                ..Ask::plain(kind, 7)
            };
            let short = Ask::encode_piece((kind, 7), (-8, 4), b"data");
            assert_eq!(short, plain.encode(b"data"));
            let message = ask.encode(b"data");
            assert_eq!(Ask::decode(&message), Some((ask, &b"data"[..])));
            for cut in 0..message.len() - 4 {
                assert_eq!(Ask::decode(&message[..cut]), None);
            }
            let mut message = message;
            Ask::set_reply(&mut message, 77);
            let found = Ask::decode(&message).map(|(ask, _)| ask.reply);
            assert_eq!(found, Some(77));
        }
    }
}
