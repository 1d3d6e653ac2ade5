// SPDX-License-Identifier: MIT OR Apache-2.0
//! Envelopes first, payloads when they are wanted: what couriers with small buffers have in common.
//!
//! Everything that goes is a header, perhaps with a part of a payload behind it. A courier takes from
//! here what is to go next, moves it by its own mechanism, tells what its receiver has taken, and hands
//! in what comes. Short payloads go with their envelope, if the courier has room for them there.
//!
//! ```text
//! sender    Envelope ............ Grant > Part ... Part ...    Whole
//! receiver           > matched, Grant          > Landed             > matched, Landed
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use corecast_core::{Rank, Time};

use crate::ascending::Ascending;
use crate::endpoint::Tag;
use crate::header::{Header, HeaderKind};
use crate::matching::{ArrivalId, News, SendId};
use crate::payload::Payload;

/// What has come of a message that nobody has asked for.
#[derive(Debug)]
enum Arrived {
    /// Its length, in bytes.
    Envelope(u64),
    /// All of it.
    Whole(Payload),
}

/// A message on its way out.
#[derive(Clone, Debug)]
struct Outgoing {
    id: SendId,
    to: Rank,
    payload: Payload,
    /// Bytes that are out of this rank's hands, or on their way.
    gone: usize,
    posted: Time,
}

/// The next part of a message that its receiver wants.
#[derive(Clone, Debug)]
pub struct NextPart {
    /// For whom.
    pub to: Rank,
    /// What goes ahead of it.
    pub header: Header,
    /// The message.
    pub payload: Payload,
    /// Which of its bytes.
    pub range: Range<usize>,
    /// When the program asked to send it.
    pub posted: Time,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct Rendezvous {
    /// Bytes of the longest payload that goes with its envelope.
    whole_max: usize,
    /// By their number.
    sends: Ascending<u32, Outgoing>,
    /// Headers that are to go, in order.
    outbox: VecDeque<(Rank, Header)>,
    /// Messages that their receivers want, in order; one goes after the other.
    granted: VecDeque<u32>,
    arrived: BTreeMap<ArrivalId, Arrived>,
    /// Of messages that were asked for their length, and what has come.
    wanted: BTreeMap<ArrivalId, (u64, Vec<u8>)>,
    news: VecDeque<News>,
}

impl Rendezvous {
    /// One whose courier has room for so many bytes of a payload beside its envelope.
    #[must_use]
    pub fn with_room(whole_max: usize) -> Self {
        Self {
            whole_max,
            ..Self::default()
        }
    }

    /// Begins to send a message.
    pub fn start(&mut self, id: SendId, to: Rank, tag: Tag, payload: Payload, posted: Time) {
        let (kind, gone) = if payload.len() <= self.whole_max {
            (HeaderKind::Whole, payload.len())
        } else {
            (HeaderKind::Envelope, 0)
        };
        let header = Header::new(kind, id, tag, payload.len() as u64);
        let message = Outgoing {
            id,
            to,
            payload,
            gone,
            posted,
        };
        self.sends.insert(header.number, message);
        self.outbox.push_back((to, header));
    }

    /// Asks for the payload of a message that has arrived.
    ///
    /// # Panics
    /// If none has arrived under this name.
    pub fn fetch(&mut self, id: ArrivalId) {
        let bytes = match self.arrived.remove(&id).expect("it has arrived") {
            Arrived::Envelope(bytes) => bytes,
            Arrived::Whole(payload) => return self.news.push_back(News::Landed(id, payload)),
        };
        let come = Vec::with_capacity(bytes as usize);
        self.wanted.insert(id, (bytes, come));
        let (from, number) = Header::sender(id);
        let header = Header::new(HeaderKind::Grant, number.into(), 0, bytes);
        self.outbox.push_back((from, header));
    }

    /// The next header for a rank that can be sent to.
    pub fn next_header(&mut self, is_free: impl Fn(Rank) -> bool) -> Option<(Rank, Header)> {
        let index = self.outbox.iter().position(|&(to, _)| is_free(to))?;
        self.outbox.remove(index)
    }

    /// Takes the next part, of at most `most` bytes, of the first message that is wanted, if its
    /// receiver can be sent to and no header for that waits.
    pub fn next_part(&mut self, most: usize, is_free: impl Fn(Rank) -> bool) -> Option<NextPart> {
        let number = *self.granted.front()?;
        let message = self.sends.get_mut(&number);
        let message = message.expect("what is wanted was announced");
        let to = message.to;
        if !is_free(to) || self.outbox.iter().any(|&(other, _)| other == to) {
            return None;
        }
        let end = message.payload.len().min(message.gone.saturating_add(most));
        let range = message.gone..end;
        message.gone = end;
        if end == message.payload.len() {
            self.granted.pop_front();
        }
        Some(NextPart {
            to,
            header: Header::new(HeaderKind::Part, number.into(), 0, range.len() as u64),
            payload: Payload::clone(&message.payload),
            range,
            posted: message.posted,
        })
    }

    /// Its receiver has taken what went with this header.
    pub fn taken(&mut self, header: Header) {
        let is_over = |message: &Outgoing| match header.kind {
            HeaderKind::Part | HeaderKind::Whole => message.gone == message.payload.len(),
            HeaderKind::Envelope | HeaderKind::Grant | HeaderKind::Done => false,
        };
        if self.sends.get(&header.number).is_some_and(is_over)
            && let Some(message) = self.sends.remove(&header.number)
        {
            self.news.push_back(News::Sent(message.id));
        }
    }

    /// A header has come from a rank, with these bytes behind it. Returns the length of the message
    /// of which that was the last.
    ///
    /// # Panics
    /// If bytes come that were not asked for.
    pub fn heard(&mut self, from: Rank, header: Header, part: &[u8]) -> Option<u64> {
        let id = header.arrival(from);
        match header.kind {
            HeaderKind::Envelope | HeaderKind::Whole => {
                let is_whole = header.kind == HeaderKind::Whole;
                let arrived = if is_whole {
                    Arrived::Whole(part.into())
                } else {
                    Arrived::Envelope(header.bytes)
                };
                self.arrived.insert(id, arrived);
                self.news
                    .push_back(News::Arrived(id, header.envelope(from)));
                is_whole.then_some(header.bytes)
            }
            HeaderKind::Grant => {
                self.granted.push_back(header.number);
                None
            }
            HeaderKind::Part => {
                let wanted = self.wanted.get_mut(&id);
                let (bytes, come) = wanted.expect("parts come when they are wanted");
                come.extend_from_slice(part);
                if (come.len() as u64) < *bytes {
                    return None;
                }
                let (bytes, come) = self.wanted.remove(&id)?;
                self.news.push_back(News::Landed(id, come.into()));
                Some(bytes)
            }
            HeaderKind::Done => None,
        }
    }

    /// Whether there is something to tell.
    #[must_use]
    pub fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// What is to be told next.
    pub fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// When the message that a header speaks of was posted, if it is on its way out.
    #[must_use]
    pub fn posted(&self, header: Header) -> Option<Time> {
        self.sends.get(&header.number).map(|message| message.posted)
    }

    /// What goes with a header that has a whole message with it.
    #[must_use]
    pub fn whole(&self, header: Header) -> Option<Payload> {
        let message = self.sends.get(&header.number);
        let message = message.filter(|_| header.kind == HeaderKind::Whole)?;
        Some(Payload::clone(&message.payload))
    }

    /// For whom a message is that is not out of this rank's hands, if there is one.
    #[must_use]
    pub fn sending(&self) -> Option<Rank> {
        self.sends.first().map(|(_, message)| message.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes of a message of so many bytes, with room for eight, and what is told at both ends.
    fn goes(bytes: usize) -> (Vec<HeaderKind>, Vec<News>, Vec<News>) {
        let (me, other) = (Rank(0), Rank(1));
        let mut sender = Rendezvous::with_room(8);
        let mut receiver = Rendezvous::with_room(8);
        let payload: Payload = (0..bytes as u8).collect();
        sender.start(7, other, 5, Payload::clone(&payload), Time::ZERO);
        let (mut kinds, mut told) = (Vec::new(), Vec::new());
        loop {
            let (header, range) = match sender.next_header(|_| true) {
                Some((_, header)) => (header, 0..sender.whole(header).map_or(0, |all| all.len())),
                None => match sender.next_part(5, |_| true) {
                    Some(part) => (part.header, part.range),
                    None => break,
                },
            };
            kinds.push(header.kind);
            receiver.heard(me, header, &payload[range]);
            sender.taken(header);
            while let Some(news) = receiver.news() {
                if let News::Arrived(id, envelope) = news {
                    assert_eq!(envelope.bytes, bytes as u64);
                    receiver.fetch(id);
                }
                told.push(news);
            }
            while let Some((_, wish)) = receiver.next_header(|_| true) {
                kinds.push(wish.kind);
                sender.heard(other, wish, &[]);
            }
        }
        (kinds, std::iter::from_fn(|| sender.news()).collect(), told)
    }

    #[test]
    fn short_messages_go_with_their_envelope() {
        use HeaderKind::{Envelope, Grant, Part, Whole};
        for (bytes, expected) in [
            (0, &[Whole][..]),
            (1, &[Whole]),
            (8, &[Whole]),
            (9, &[Envelope, Grant, Part, Part]),
        ] {
            let (kinds, sent, told) = goes(bytes);
            assert_eq!(kinds, expected, "{bytes} bytes");
            assert!(matches!(sent[..], [News::Sent(7)]));
            let [News::Arrived(id, _), News::Landed(landed, ref payload)] = told[..] else {
                panic!("{told:?}");
            };
            assert_eq!(id, landed);
            assert!(payload.iter().copied().eq(0..bytes as u8));
        }
    }
}
