//! The messages of a rank that are under way, each with the call that it belongs to.
//!
//! A receive is one of the machine's own, so that matching costs what it costs there. Only where a rank
//! takes messages with any tag beside those of collectives or other groups, whose tags it must not take,
//! the rank listens for every message and matches by itself ([`Mail::listening`]).

use std::collections::VecDeque;

use corecast_machine::{Endpoint, Payload, Pending, Received, RunError, Source, Tag, TagFilter};

/// What a message is for: a call, or one of a collective's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    /// Index of the call.
    pub call: u32,
    /// Number of the message in the collective.
    pub post: u32,
}

/// Which tags a receive takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// This one.
    Is(Tag),
    /// Those of a group.
    OfGroup(u32),
}

/// A message that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub owner: Owner,
    /// Its length, if it was received.
    pub bytes: Option<u64>,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Mail<'a> {
    /// Group of every tag of the program's own messages.
    groups: &'a [u32],
    is_listening: bool,
    pending: Vec<Pending>,
    owners: Vec<Owner>,
    /// How many of them calls wait for: these come first.
    awaited: usize,
    /// While listening: receives that nothing has come for, and what nobody has asked for.
    wanted: VecDeque<(Source, Wish, Owner)>,
    unexpected: VecDeque<Received>,
    /// Receives that were served by what had come already.
    served: VecDeque<Ended>,
}

/// The receive of a rank that listens.
const LISTEN: Owner = Owner {
    call: u32::MAX,
    post: u32::MAX,
};

impl<'a> Mail<'a> {
    /// A rank that leaves matching to the machine, or `is_listening`.
    pub(crate) fn new(groups: &'a [u32], is_listening: bool) -> Self {
        Self {
            groups,
            is_listening,
            pending: Vec::new(),
            owners: Vec::new(),
            awaited: 0,
            wanted: VecDeque::new(),
            unexpected: VecDeque::new(),
            served: VecDeque::new(),
        }
    }

    fn push(&mut self, pending: Pending, owner: Owner, is_awaited: bool) {
        let at = match is_awaited {
            true => self.awaited,
            false => self.pending.len(),
        };
        self.awaited += usize::from(is_awaited);
        self.pending.insert(at, pending);
        self.owners.insert(at, owner);
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
        let groups = self.groups;
        let mut unexpected = self.unexpected.iter();
        let found = unexpected.position(|message| takes(groups, (from, wish), message));
        match found.and_then(|index| self.unexpected.remove(index)) {
            Some(message) => self.served.push_back(Ended {
                owner,
                bytes: Some(message.payload.len() as u64),
            }),
            None => self.wanted.push_back((from, wish, owner)),
        }
        Ok(())
    }

    /// Sees to it that a rank that listens does.
    async fn listen<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        if self.is_listening && self.owners.first() != Some(&LISTEN) {
            let pending = endpoint.irecv(Source::Any, TagFilter::Any).await?;
            self.pending.insert(0, pending);
            self.owners.insert(0, LISTEN);
            self.awaited += 1;
        }
        Ok(())
    }

    /// The call whose message is waited for first.
    pub(crate) fn awaited(&self) -> Option<u32> {
        if let Some(served) = self.served.front() {
            return Some(served.owner.call);
        }
        match self.owners.first() {
            Some(&LISTEN) => {
                let wanted = self.wanted.front().map(|(.., owner)| owner);
                let owner = wanted.or(self.owners.get(1));
                owner.map(|owner| owner.call)
            }
            first => first.map(|owner| owner.call),
        }
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
            let (index, done) = endpoint.wait_any(&self.pending).await?;
            drop(self.pending.remove(index));
            let owner = self.owners.remove(index);
            self.awaited -= usize::from(index < self.awaited);
            let received = done.received();
            if owner != LISTEN {
                let bytes = received.map(|message| message.payload.len() as u64);
                return Ok(Some(Ended { owner, bytes }));
            }
            self.listen(endpoint).await?;
            let message = received.expect("who listens receives");
            if let Some(ended) = self.matched(message) {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Whether any call waits for a message.
    fn is_under_way(&self) -> bool {
        let listens = self.owners.first() == Some(&LISTEN);
        self.owners.len() > usize::from(listens) || !self.wanted.is_empty()
    }

    /// The earliest receive takes a message that has come.
    fn matched(&mut self, message: Received) -> Option<Ended> {
        let groups = self.groups;
        let mut wanted = self.wanted.iter();
        let found = wanted.position(|&(from, wish, _)| takes(groups, (from, wish), &message));
        let Some((.., owner)) = found.and_then(|index| self.wanted.remove(index)) else {
            self.unexpected.push_back(message);
            return None;
        };
        let bytes = Some(message.payload.len() as u64);
        Some(Ended { owner, bytes })
    }
}

/// Whether a receive takes a message.
fn takes(groups: &[u32], (from, wish): (Source, Wish), message: &Received) -> bool {
    let is_from = match from {
        Source::Any => true,
        Source::From(rank) => rank == message.from,
    };
    is_from
        && match wish {
            Wish::Is(tag) => tag == message.tag,
            Wish::OfGroup(group) => groups.get(message.tag as usize) == Some(&group),
        }
}
