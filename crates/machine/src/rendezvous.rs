// SPDX-License-Identifier: MIT OR Apache-2.0
//! Envelopes first, payloads when they are wanted: what couriers with small buffers have in common.
//!
//! Everything that goes is a header, perhaps with a part of a payload behind it. A courier takes from
//! here what is to go next, moves it by its own mechanism, tells what its receiver has taken, and hands
//! in what comes.
//!
//! ```text
//! sender    Envelope ............ Grant > Part ... Part ...
//! receiver           > matched, Grant          > Landed
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use corecast_core::{Rank, Time};

use crate::ascending::Ascending;
use crate::endpoint::Tag;
use crate::header::{Header, HeaderKind};
use crate::matching::{ArrivalId, News, SendId};
use crate::payload::Payload;

/// A message that has arrived.
#[derive(Debug)]
struct Arrived {
    /// Its length.
    bytes: u64,
    /// What has come of it, if it is wanted.
    come: Option<Vec<u8>>,
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
    /// By their number.
    sends: Ascending<u32, Outgoing>,
    /// Headers that are to go, in order.
    outbox: VecDeque<(Rank, Header)>,
    /// Messages that their receivers want, in order; one goes after the other.
    granted: VecDeque<u32>,
    /// Messages that have arrived and are not all here.
    arrived: BTreeMap<ArrivalId, Arrived>,
    news: VecDeque<News>,
}

impl Rendezvous {
    /// Begins to send a message.
    pub fn start(&mut self, id: SendId, to: Rank, tag: Tag, payload: Payload, posted: Time) {
        let header = Header::new(HeaderKind::Envelope, id, tag, payload.len() as u64);
        let gone = 0;
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
        let arrived = self.arrived.get_mut(&id).expect("it has arrived");
        let bytes = arrived.bytes;
        if bytes == 0 {
            self.land(id);
            return;
        }
        arrived.come = Some(Vec::with_capacity(bytes as usize));
        let (from, number) = Header::sender(id);
        let header = Header::new(HeaderKind::Grant, number.into(), 0, bytes);
        self.outbox.push_back((from, header));
    }

    /// All of a message is here.
    fn land(&mut self, id: ArrivalId) {
        let arrived = self.arrived.remove(&id);
        let payload = arrived.and_then(|arrived| arrived.come).unwrap_or_default();
        self.news.push_back(News::Landed(id, payload.into()));
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
            HeaderKind::Envelope => message.payload.is_empty(),
            HeaderKind::Part => message.gone == message.payload.len(),
            HeaderKind::Grant | HeaderKind::Done => false,
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
            HeaderKind::Envelope => {
                let (bytes, come) = (header.bytes, None);
                self.arrived.insert(id, Arrived { bytes, come });
                self.news
                    .push_back(News::Arrived(id, header.envelope(from)));
                (header.bytes == 0).then_some(0)
            }
            HeaderKind::Grant => {
                self.granted.push_back(header.number);
                None
            }
            HeaderKind::Part => {
                let arrived = self.arrived.get_mut(&id);
                let wanted =
                    arrived.and_then(|arrived| Some((arrived.bytes, arrived.come.as_mut()?)));
                let (bytes, come) = wanted.expect("parts come when they are wanted");
                come.extend_from_slice(part);
                let is_whole = come.len() as u64 == bytes;
                is_whole.then(|| {
                    self.land(id);
                    bytes
                })
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

    /// For whom a message is that is not out of this rank's hands, if there is one.
    #[must_use]
    pub fn sending(&self) -> Option<Rank> {
        self.sends.first().map(|(_, message)| message.to)
    }
}
