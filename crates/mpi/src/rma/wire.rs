// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests as messages: what one rank asks another to do with its memory.
//!
//! Data, then the pieces of memory as pairs of words (displacement, bytes), then five words; of most puts
//! and gets, which are of one piece, three words ([`Brief`]): so one of a few bytes is one cache line on
//! its way. What the words are is behind the data, which begin where a line does. Long data of a put of one
//! piece are a message of their own ([`BriefKind::PutApart`]), which goes right from one memory to the other.
#![forbid(unsafe_code)]

/// The tag of requests.
pub const REQUEST: i32 = i32::MAX;
/// The tag by which a rank says that others may reach its memory.
pub const POST: i32 = i32::MAX - 1;
/// The tag by which a rank says that it has done what it wanted.
pub const COMPLETE: i32 = i32::MAX - 2;
/// Tags of replies are below; each request has another one for some time.
pub const REPLIES: i32 = 1 << 29;

/// The tag of the data of a put of this number, which go where replies come from.
pub const fn apart(number: i32) -> i32 {
    REPLIES + number
}

const _: () = assert!(apart(1) > REPLIES && apart(REPLIES - 1) < COMPLETE);

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
        let (_, words) = message.as_rchunks_mut::<8>();
        if let [.., word, _, _, _] = words {
            *word = u64::from(reply.cast_unsigned()).to_ne_bytes();
        }
    }

    /// The message, with its data.
    pub fn encode(&self, data: &[u8]) -> Vec<u8> {
        let pieces = &self.place.pieces;
        let mut message = Vec::with_capacity(data.len() + 8 * (WORDS + 2 * pieces.len()));
        message.extend_from_slice(data);
        let mut add = |word: u64| message.extend_from_slice(&word.to_ne_bytes());
        for &(at, bytes) in pieces {
            add(at as u64);
            add(bytes as u64);
        }
        add(u64::from(self.element));
        add(u64::from(self.reply.cast_unsigned()));
        add(self.place.base.cast_unsigned());
        add(pieces.len() as u64);
        add(self.kind as u64 | u64::from(self.op) << 32);
        message
    }

    /// A message, taken apart; `None` if it is none.
    pub fn decode(message: &[u8]) -> Option<(Self, &[u8])> {
        let (_, words) = message.as_rchunks::<8>();
        let (words, last) = words.split_last_chunk::<WORDS>()?;
        let [element, reply, base, count, kind] = last.map(u64::from_ne_bytes);
        let count = usize::try_from(count).ok()?.checked_mul(2)?;
        let rows = words.get(words.len().checked_sub(count)?..)?;
        let pieces = rows.as_chunks::<2>().0.iter().map(|[at, bytes]| {
            let at = u64::from_ne_bytes(*at) as isize;
            (at, u64::from_ne_bytes(*bytes) as usize)
        });
        let ask = Self {
            kind: *KINDS.get(kind as u32 as usize)?,
            op: (kind >> 32) as u32,
            element: element as u32,
            reply: reply as u32 as i32,
            place: Pieces {
                base: base.cast_signed(),
                pieces: pieces.collect(),
            },
        };
        let data = message.len() - 8 * (WORDS + count);
        Some((ask, &message[..data]))
    }
}

/// What is done with one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum BriefKind {
    /// It is replied.
    Get,
    /// The data go there.
    Put,
    /// Data go there that are a message of their own, [`apart`] by the number of the reply, of which there is
    /// none.
    PutApart,
}

const BRIEF_KINDS: [BriefKind; 3] = [BriefKind::Get, BriefKind::Put, BriefKind::PutApart];

/// A put or a get of one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brief {
    /// See there.
    pub kind: BriefKind,
    /// As of [`Ask`].
    pub reply: i32,
    /// Bytes from the beginning of the rank's memory; an address in that of a dynamic window.
    pub at: u64,
    pub bytes: u64,
}

const BRIEF_WORDS: usize = 3;
/// What a brief request is longer than its data.
pub const BRIEF_BYTES: usize = 8 * BRIEF_WORDS;
/// In the last word, where other requests have their kind.
const IS_BRIEF: u64 = 1 << 8;

impl Brief {
    /// What follows its data.
    pub fn words(self) -> [u8; BRIEF_BYTES] {
        let kind = IS_BRIEF | self.kind as u64 | u64::from(self.reply.cast_unsigned()) << 32;
        let mut words = [0; BRIEF_BYTES];
        let (all, _) = words.as_chunks_mut::<8>();
        for (bytes, word) in all.iter_mut().zip([self.at, self.bytes, kind]) {
            *bytes = word.to_ne_bytes();
        }
        words
    }

    /// A put whose data are a message of their own, if it is one.
    pub fn apart(message: &[u8]) -> Option<Self> {
        let (brief, _) = Self::decode(message)?;
        (brief.kind == BriefKind::PutApart).then_some(brief)
    }

    /// A message, taken apart; `None` if it is none of this kind.
    #[inline]
    pub fn decode(message: &[u8]) -> Option<(Self, &[u8])> {
        let (data, words) = message.split_last_chunk::<BRIEF_BYTES>()?;
        let (words, _) = words.as_chunks::<8>();
        let word = |at: usize| u64::from_ne_bytes(words[at]);
        let (kind, reply) = (word(2) as u32, (word(2) >> 32) as u32);
        let kind = kind.checked_sub(IS_BRIEF as u32)?;
        let brief = Self {
            kind: *BRIEF_KINDS.get(kind as usize)?,
            reply: reply.cast_signed(),
            at: word(0),
            bytes: word(1),
        };
        Some((brief, data))
    }
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
            let message = ask.encode(b"data");
            assert_eq!(Ask::decode(&message), Some((ask, &b"data"[..])));
            assert_eq!(Brief::decode(&message), None);
            for cut in 5..message.len() {
                assert_eq!(Ask::decode(&message[cut..]), None);
            }
            let mut message = message;
            Ask::set_reply(&mut message, 77);
            let found = Ask::decode(&message).map(|(ask, _)| ask.reply);
            assert_eq!(found, Some(77));
        }
    }

    #[test]
    fn what_is_asked_in_brief_arrives() {
        for kind in BRIEF_KINDS {
            let brief = Brief {
                kind,
                reply: REPLIES - 1,
                at: 1 << 40,
                bytes: 4,
            };
            let message = [b"data".as_slice(), &brief.words()].concat();
            assert_eq!(Brief::decode(&message), Some((brief, &b"data"[..])));
            assert_eq!(Ask::decode(&message), None);
            assert_eq!(Brief::decode(&message[5..]), None);
        }
    }
}
