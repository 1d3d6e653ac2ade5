// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages with the addresses of their bytes.

use std::ops::Range;

use corecast_core::Rank;
use corecast_machine::Payload;

use crate::core::{Announcement, CopyLoop, Core, MpbPlace};

/// A message on its way out: parts of private memory that follow each other in it.
#[derive(Clone, Debug)]
pub struct Outgoing {
    parts: Vec<Part>,
    at: Cursor,
    envelope: Option<Announcement>,
}

/// Bytes of a payload that lie together in private memory.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where.
    pub address: u64,
    /// The payload.
    pub data: Payload,
    /// Which bytes of it.
    pub range: Range<usize>,
}

/// A message on its way in.
#[derive(Clone, Debug)]
pub struct Incoming {
    parts: Vec<(u64, Vec<u8>)>,
    at: Cursor,
}

/// How far a message is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Cursor {
    part: usize,
    byte: usize,
}

impl Cursor {
    /// The next range of at most `most` bytes in a part of `len` bytes; none at its end.
    fn next(&mut self, len: usize, most: usize) -> Option<Range<usize>> {
        let here = self.byte..len.min(self.byte + most);
        if here.is_empty() {
            *self = Self {
                part: self.part + 1,
                byte: 0,
            };
            return None;
        }
        self.byte = here.end;
        Some(here)
    }
}

impl Outgoing {
    /// A message of these parts.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Self {
        Self {
            parts,
            at: Cursor::default(),
            envelope: None,
        }
    }

    /// The same message, announced to its receiver when it starts.
    #[must_use]
    pub fn with_announcement(self, envelope: Announcement) -> Self {
        let envelope = Some(envelope);
        Self { envelope, ..self }
    }

    /// Announces the message to `to`, once.
    pub(crate) fn announce<C: Core>(&mut self, core: &mut C, to: Rank) {
        if let Some(envelope) = self.envelope.take() {
            core.announce(to, envelope);
        }
    }

    /// Bytes that are not put yet.
    #[must_use]
    pub fn left(&self) -> usize {
        let lens = self.parts[self.at.part.min(self.parts.len())..].iter();
        lens.map(|part| part.range.len()).sum::<usize>() - self.at.byte
    }

    /// Copies the next bytes, at most `most`, into the core's own buffer from `offset` on; returns
    /// how many.
    pub async fn put<C: Core>(&mut self, core: &mut C, offset: usize, most: usize) -> usize {
        let mut put = 0;
        while put < most && self.at.part < self.parts.len() {
            let part = &self.parts[self.at.part];
            if let Some(range) = self.at.next(part.range.len(), most - put) {
                let place = MpbPlace {
                    core: core.id(),
                    offset: offset + put,
                };
                let address = part.address + range.start as u64;
                let bytes = &part.data[part.range.clone()][range];
                core.put(place, bytes, address).await;
                put += bytes.len();
            }
        }
        put
    }
}

impl Incoming {
    /// A message whose parts go to these addresses and have these sizes.
    #[must_use]
    pub fn new(parts: impl IntoIterator<Item = (u64, usize)>) -> Self {
        let parts = parts.into_iter();
        Self {
            parts: parts
                .map(|(address, len)| (address, vec![0; len]))
                .collect(),
            at: Cursor::default(),
        }
    }

    /// Bytes of the whole message.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|(_, data)| data.len()).sum()
    }

    /// Whether a part of it has come.
    pub(crate) fn is_started(&self) -> bool {
        self.at != Cursor::default()
    }

    /// Bytes that have not come yet.
    #[must_use]
    pub fn left(&self) -> usize {
        let lens = self.parts[self.at.part.min(self.parts.len())..].iter();
        lens.map(|(_, data)| data.len()).sum::<usize>() - self.at.byte
    }

    /// Copies the next bytes, at most `most`, out of the buffer of `from` from `offset` on; returns
    /// how many.
    pub async fn get<C: Core>(
        &mut self,
        core: &mut C,
        from: Rank,
        offset: usize,
        most: usize,
        copy: CopyLoop,
    ) -> usize {
        let mut got = 0;
        while got < most && self.at.part < self.parts.len() {
            let (address, data) = &mut self.parts[self.at.part];
            if let Some(range) = self.at.next(data.len(), most - got) {
                let place = MpbPlace {
                    core: from,
                    offset: offset + got,
                };
                let address = *address + range.start as u64;
                let bytes = &mut data[range];
                core.get(place, bytes, address, copy).await;
                got += bytes.len();
            }
        }
        got
    }

    /// Address and contents of its parts, as far as they have come.
    #[must_use]
    pub fn parts(&self) -> &[(u64, Vec<u8>)] {
        &self.parts
    }

    /// As [`Incoming::parts`].
    #[must_use]
    pub fn into_parts(self) -> Vec<(u64, Vec<u8>)> {
        self.parts
    }
}
