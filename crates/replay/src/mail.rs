// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of a rank that are under way, each with the call that it belongs to.
//!
//! A receive is one of the machine's own, so that matching costs what it costs there. Only where a rank
//! takes messages with any tag beside those of collectives or other groups, whose tags it must not take,
//! the rank listens for every message and matches by itself ([`Mail::listening`]).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use corecast_machine::{
    Ascending, Done, Endpoint, Payload, Pending, Received, RunError, Source, Tag, TagFilter,
};

use crate::matching::{Come, Ended, Matching, Owner, Wish};

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Mail<'a> {
    is_listening: bool,
    /// The receive of a rank that listens.
    listening: Option<Pending>,
    /// Messages whose end a call waits for, and the others.
    awaited: Ascending<Pending, Owner>,
    others: Ascending<Pending, Owner>,
    /// What has ended and was not told: of those that are waited for the first that was asked for,
    /// then of the others.
    ended: BinaryHeap<Reverse<(bool, Pending, Ended)>>,
    /// While listening: what has come and was not matched.
    heard: VecDeque<Come>,
    matching: Matching<'a>,
    /// Receives that were served by what had come already.
    served: VecDeque<Ended>,
}

impl<'a> Mail<'a> {
    /// A rank that leaves matching to the machine, or `is_listening`.
    pub(crate) fn new(groups: &'a [u32], is_listening: bool) -> Self {
        Self {
            is_listening,
            listening: None,
            awaited: Ascending::default(),
            others: Ascending::default(),
            ended: BinaryHeap::new(),
            heard: VecDeque::new(),
            matching: Matching::new(groups),
            served: VecDeque::new(),
        }
    }

    fn push(&mut self, pending: Pending, owner: Owner, is_awaited: bool) {
        let open = match is_awaited {
            true => &mut self.awaited,
            false => &mut self.others,
        };
        open.insert(pending, owner);
    }

    /// Begins to send.
    pub(crate) async fn send<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        (to, tag, payload): (corecast_core::Rank, Tag, Payload),
        (owner, is_awaited): (Owner, bool),
    ) -> Result<(), RunError> {
        self.listen(endpoint).await?;
        let pending = endpoint.isend(to, tag, payload).await?;
        self.push(pending, owner, is_awaited);
        Ok(())
    }

    /// Begins to receive.
    pub(crate) async fn recv<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        (from, wish): (Source, Wish),
        (owner, is_awaited): (Owner, bool),
    ) -> Result<(), RunError> {
        if !self.is_listening {
            let tag = match wish {
                Wish::Is(tag) => TagFilter::Is(tag),
                Wish::OfGroup(_) => TagFilter::Any,
            };
            let pending = endpoint.irecv(from, tag).await?;
            self.push(pending, owner, is_awaited);
            return Ok(());
        }
        self.listen(endpoint).await?;
        let served = self.matching.want((from, wish), owner);
        self.served.extend(served);
        Ok(())
    }

    /// Sees to it that a rank that listens does.
    async fn listen<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        if self.is_listening && self.listening.is_none() {
            self.listening = Some(endpoint.irecv(Source::Any, TagFilter::Any).await?);
        }
        Ok(())
    }

    /// The call whose message is waited for first.
    pub(crate) fn awaited(&self) -> Option<u32> {
        if let Some(served) = self.served.front() {
            return Some(served.owner.call);
        }
        if let Some((.., owner)) = self.matching.first() {
            return Some(owner.call);
        }
        let awaited = self.awaited.first().map(|of| (false, of));
        let open = awaited.or_else(|| self.others.first().map(|of| (true, of)));
        let ended = self.ended.peek();
        let ended =
            ended.map(|Reverse((is_other, pending, ended))| (*is_other, (pending, &ended.owner)));
        let first = match (open, ended) {
            (Some(open), Some(ended)) => Some(open.min(ended)),
            _ => open.or(ended),
        };
        first.map(|(_, (_, owner))| owner.call)
    }

    /// Waits for the next message to end; none if no message is under way.
    pub(crate) async fn next<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
    ) -> Result<Option<Ended>, RunError> {
        if let Some(ended) = self.served.pop_front() {
            return Ok(Some(ended));
        }
        while self.is_under_way() {
            let open = || self.awaited.first().or_else(|| self.others.first());
            let open = || open().map(|(pending, _)| pending);
            let waits = self.heard.is_empty() && self.ended.is_empty();
            // Where something is to be told, what has ended meanwhile may be before it.
            let first = self.listening.as_ref().or_else(open).filter(|_| waits);
            let ended = endpoint.ended(first).await?;
            self.enter(ended);
            if let Some(message) = self.heard.pop_front() {
                self.listen(endpoint).await?;
                if let Some(ended) = self.matching.take(message) {
                    return Ok(Some(ended));
                }
            } else if let Some(Reverse((.., ended))) = self.ended.pop() {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Takes in what has ended.
    fn enter(&mut self, all: Vec<(Pending, Done)>) {
        for (pending, done) in all {
            if self.listening.as_ref() == Some(&pending) {
                self.listening = None;
                self.heard.extend(done.received().map(come));
                continue;
            }
            let awaited = self.awaited.remove(&pending);
            let is_awaited = awaited.is_some();
            let owner = awaited.or_else(|| self.others.remove(&pending));
            let owner = owner.expect("it was begun here");
            let bytes = done.received().map(|message| message.payload.len() as u64);
            let ended = Ended { owner, bytes };
            self.ended.push(Reverse((!is_awaited, pending, ended)));
        }
    }

    /// Whether any call waits for a message.
    fn is_under_way(&self) -> bool {
        let open =
            self.awaited.len() + self.others.len() + self.ended.len() + self.matching.wanted();
        open > 0
    }
}

fn come(message: Received) -> Come {
    Come {
        from: message.from,
        tag: message.tag,
        bytes: message.payload.len() as u64,
    }
}
