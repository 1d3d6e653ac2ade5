// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matching of sends and receives, written once for all machines.
//!
//! A machine gives a [`Courier`]: what moves envelopes and payloads for one rank, by its own
//! mechanism and at its own cost. [`Matched`] keeps the two lists of MPI over it, receives that wait
//! for a message and messages that wait for a receive, and is an [`Endpoint`].
//!
//! ```text
//! sender   start > envelope ..............> payload ...... > Sent
//! receiver                  Arrived, fetch         Landed
//! ```
//!
//! An envelope goes to its receiver whatever that waits for, so a message that nobody wants yet holds
//! up no other one; a courier that has no room for payloads that nobody has asked for moves them
//! when they are fetched.

use std::collections::BTreeMap;

use corecast_core::{Rank, Time};

use crate::ascending::Ascending;
use crate::endpoint::{
    Broadcast, Done, Endpoint, Envelope, Pending, Received, Source, Tag, TagFilter,
};
use crate::error::{Await, Blocked, RunError};
use crate::line::Line;
use crate::payload::Payload;

/// Number that a courier gives a message that has arrived, different from those of all others that
/// have arrived at the same rank.
pub type ArrivalId = u64;

/// Number of a message that is sent, counted by [`Matched`].
pub type SendId = u64;

/// What a courier tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// An envelope has come. Those of one sender come in the order of its sends.
    Arrived(ArrivalId, Envelope),
    /// The payload that was fetched is here.
    Landed(ArrivalId, Payload),
    /// A message that was sent is out of this rank's hands; the same of a broadcast of which it is the
    /// root.
    Sent(SendId),
    /// The bytes of a broadcast are here.
    Broadcast(SendId, Payload),
}

/// What moves envelopes and payloads for one rank: a machine's own part of an [`Endpoint`].
///
/// No call waits for another rank but [`Courier::wait`] and [`Courier::finish`]; both, and
/// [`Courier::look`], do whatever others wait for that can be done.
#[allow(
    async_fn_in_trait,
    reason = "couriers are used generically, never as trait objects"
)]
pub trait Courier {
    /// This rank.
    fn rank(&self) -> Rank;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Time since the start of the run.
    fn now(&self) -> Time;

    /// Spends `time` computing.
    ///
    /// # Errors
    /// Here and below: whatever ended the run meanwhile.
    async fn compute(&mut self, time: Time) -> Result<(), RunError>;

    /// Spends the time that combining so many bytes takes; nothing where it is really done.
    async fn combine(&mut self, bytes: u64) -> Result<(), RunError>;

    /// The same for copying them: that of combining, where nothing says how much less it is.
    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        self.combine(bytes).await
    }

    /// Begins to send a message to another rank; [`News::Sent`] follows.
    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError>;

    /// Asks for the payload of a message that has arrived; [`News::Landed`] follows.
    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError>;

    /// Whether the machine has broadcasts of its own.
    fn has_broadcasts(&self) -> bool {
        false
    }

    /// Begins to take part in one; [`News::Sent`] follows at its root, [`News::Broadcast`] elsewhere.
    fn broadcast(&mut self, id: SendId, broadcast: Broadcast) {
        panic!("{id}: there is no hardware for {broadcast:?}");
    }

    /// Looks once for what has come. Takes simulated ranks some time.
    async fn look(&mut self) -> Result<(), RunError>;

    /// Waits until there are news; `blocked` says of whom, for who reads of a deadlock.
    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError>;

    /// The next news, in the order in which they came.
    fn news(&mut self) -> Option<News>;

    /// What a rank tells that waits in call `call` until `peer` has taken what it sent.
    fn unsent(&self, peer: Rank, call: usize) -> Blocked {
        Blocked {
            rank: self.rank(),
            peer,
            awaits: Await::Send,
            step: call,
            since: self.now(),
            call: None,
        }
    }

    /// Waits until everything that was sent is out of this rank's hands; what comes meanwhile is told
    /// by [`Courier::news`] as ever. `call` is the number of the call, for who reads of a deadlock.
    async fn finish(&mut self, call: usize) -> Result<(), RunError>;
}

/// Where the payload of a message is.
#[derive(Debug)]
enum Content {
    /// It is here: the rank has sent it to itself.
    Here(Payload),
    /// The courier has it, or gets it.
    At(ArrivalId),
}

/// What a pending send or receive waits for.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Send(Rank),
    Recv(Source, TagFilter),
    Broadcast { root: Rank, number: u64 },
}

/// See the module's documentation.
#[derive(Debug)]
pub struct Matched<C> {
    courier: C,
    /// Receives that match nothing so far, in the order of the calls.
    posted: Line<(Source, TagFilter), u64>,
    /// Messages that no receive has matched so far, in the order of arrival.
    unexpected: Line<Envelope, Content>,
    /// Receives whose payload is on its way.
    landing: BTreeMap<ArrivalId, (u64, Envelope)>,
    /// Sends and receives that have ended, and those that have not; the program has waited for
    /// neither.
    done: BTreeMap<u64, Done>,
    open: Ascending<u64, Wanted>,
    next: u64,
    call: usize,
    is_numbered: bool,
}

impl<C: Courier> Matched<C> {
    /// An endpoint over `courier`.
    pub fn new(courier: C) -> Self {
        Self {
            courier,
            posted: Line::default(),
            unexpected: Line::default(),
            landing: BTreeMap::new(),
            done: BTreeMap::new(),
            open: Ascending::default(),
            next: 0,
            call: 0,
            is_numbered: false,
        }
    }

    /// The courier, to prepare it before the program begins.
    pub fn courier_mut(&mut self) -> &mut C {
        &mut self.courier
    }

    /// The courier, when the program is over.
    pub fn into_courier(self) -> C {
        self.courier
    }

    /// Begins a call that names these ranks.
    fn enter(&mut self, named: Option<Rank>) -> Result<(), RunError> {
        if !self.is_numbered {
            self.call += 1;
        }
        let ranks = self.courier.ranks();
        match named.filter(|rank| rank.0 >= ranks) {
            None => Ok(()),
            Some(rank) => Err(RunError::UnknownRank {
                option: "a message",
                rank,
                ranks,
            }),
        }
    }

    fn open(&mut self, wanted: Wanted) -> u64 {
        let id = self.next;
        self.next += 1;
        self.open.insert(id, wanted);
        id
    }

    fn end(&mut self, id: u64, done: Done) {
        let wanted = self.open.remove(&id);
        assert!(wanted.is_some(), "{done:?} of {id} is told once");
        self.done.insert(id, done);
    }

    /// Gives a message to the receive of this number.
    async fn give(
        &mut self,
        id: u64,
        (envelope, content): (Envelope, Content),
    ) -> Result<(), RunError> {
        match content {
            Content::Here(payload) => self.end(id, Done::Received(received(envelope, payload))),
            Content::At(arrival) => {
                self.landing.insert(arrival, (id, envelope));
                self.courier.fetch(arrival).await?;
            }
        }
        Ok(())
    }

    /// A message has come: the earliest receive that it matches takes it.
    async fn arrive(&mut self, envelope: Envelope, content: Content) -> Result<(), RunError> {
        match self.posted.take_for(&envelope) {
            Some(id) => self.give(id, (envelope, content)).await,
            None => {
                self.unexpected.push(envelope, content);
                Ok(())
            }
        }
    }

    /// Takes in what the courier tells.
    async fn settle(&mut self) -> Result<(), RunError> {
        while let Some(news) = self.courier.news() {
            match news {
                News::Arrived(arrival, envelope) => {
                    self.arrive(envelope, Content::At(arrival)).await?;
                }
                News::Landed(arrival, payload) => {
                    let landing = self.landing.remove(&arrival);
                    let (id, envelope) = landing.expect("what lands was fetched");
                    assert_eq!(payload.len() as u64, envelope.bytes, "no message is cut");
                    self.end(id, Done::Received(received(envelope, payload)));
                }
                News::Sent(id) => self.end(id, Done::Sent),
                News::Broadcast(id, payload) => {
                    let Some(&Wanted::Broadcast { root, number }) = self.open.get(&id) else {
                        panic!("broadcast {id} ends once");
                    };
                    let message = Received {
                        from: root,
                        tag: number as Tag,
                        payload,
                    };
                    self.end(id, Done::Received(message));
                }
            }
        }
        Ok(())
    }

    /// Whether these are pending, or have ended and were not told.
    fn check(&self, pending: &[Pending]) -> Result<(), RunError> {
        let mut near = 0;
        for Pending(id) in pending {
            if let Some(place) = self.open.place(id, near) {
                near = place + 1;
            } else if !self.done.contains_key(id) {
                return Err(RunError::NotPending {
                    rank: self.courier.rank(),
                    call: self.call,
                });
            }
        }
        Ok(())
    }

    /// What the rank waits for, as a deadlock tells it.
    fn blocked(&self, wanted: Option<Wanted>) -> Blocked {
        let me = self.courier.rank();
        let (peer, awaits) = match wanted {
            Some(Wanted::Send(to)) => (to, Await::Send),
            Some(Wanted::Broadcast { root, .. }) => (root, Await::Launch),
            Some(Wanted::Recv(Source::From(from), TagFilter::Any)) => (from, Await::Recv),
            Some(Wanted::Recv(Source::From(from), TagFilter::Is(tag))) => (from, Await::Tag(tag)),
            Some(Wanted::Recv(Source::Any, TagFilter::Is(tag))) => (me, Await::Any(Some(tag))),
            Some(Wanted::Recv(Source::Any, TagFilter::Any)) | None => (me, Await::Any(None)),
        };
        Blocked {
            rank: me,
            peer,
            awaits,
            step: self.call,
            since: self.courier.now(),
            call: None,
        }
    }
}

fn received(envelope: Envelope, payload: Payload) -> Received {
    let Envelope { from, tag, .. } = envelope;
    Received { from, tag, payload }
}

/// The rank that a source names.
fn named(from: Source) -> Option<Rank> {
    match from {
        Source::Any => None,
        Source::From(rank) => Some(rank),
    }
}

impl<C: Courier> Endpoint for Matched<C> {
    fn rank(&self) -> Rank {
        self.courier.rank()
    }

    fn ranks(&self) -> u32 {
        self.courier.ranks()
    }

    fn now(&self) -> Time {
        self.courier.now()
    }

    fn at_call(&mut self, index: usize) {
        self.call = index;
        self.is_numbered = true;
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.courier.compute(time).await
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        self.courier.combine(bytes).await
    }

    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        self.courier.copy(bytes).await
    }

    async fn isend(&mut self, to: Rank, tag: Tag, payload: Payload) -> Result<Pending, RunError> {
        self.enter(Some(to))?;
        let id = self.open(Wanted::Send(to));
        let me = self.courier.rank();
        if to == me {
            // It stays where it is.
            self.end(id, Done::Sent);
            let (from, bytes) = (me, payload.len() as u64);
            let envelope = Envelope { from, tag, bytes };
            self.arrive(envelope, Content::Here(payload)).await?;
        } else {
            self.courier.start(id, to, tag, payload).await?;
        }
        Ok(Pending(id))
    }

    async fn irecv(&mut self, from: Source, tag: TagFilter) -> Result<Pending, RunError> {
        self.enter(named(from))?;
        // What has come before this call is earlier than what comes later.
        self.settle().await?;
        let id = self.open(Wanted::Recv(from, tag));
        match self.unexpected.take_by(from, tag) {
            Some(message) => self.give(id, message).await?,
            None => self.posted.push((from, tag), id),
        }
        Ok(Pending(id))
    }

    fn has_broadcasts(&self) -> bool {
        self.courier.has_broadcasts()
    }

    async fn ibroadcast(&mut self, broadcast: Broadcast) -> Result<Pending, RunError> {
        // In ascending order: the last one is the highest.
        self.enter(broadcast.members.last().copied())?;
        let (root, number) = (broadcast.root, broadcast.number);
        let id = self.open(Wanted::Broadcast { root, number });
        self.courier.broadcast(id, broadcast);
        Ok(Pending(id))
    }

    async fn test(&mut self, pending: &Pending) -> Result<Option<Done>, RunError> {
        self.enter(None)?;
        self.check(std::slice::from_ref(pending))?;
        if !self.done.contains_key(&pending.0) {
            self.courier.look().await?;
            self.settle().await?;
        }
        Ok(self.done.remove(&pending.0))
    }

    async fn wait_any(&mut self, pending: &[Pending]) -> Result<(usize, Done), RunError> {
        self.enter(None)?;
        self.check(pending)?;
        loop {
            self.settle().await?;
            let has_ended = |Pending(id): &Pending| self.done.contains_key(id);
            if !self.done.is_empty()
                && let Some(index) = pending.iter().position(has_ended)
                && let Some(done) = self.done.remove(&pending[index].0)
            {
                return Ok((index, done));
            }
            let first = pending.first();
            let wanted = first.and_then(|first| self.open.get(&first.0).copied());
            let blocked = self.blocked(wanted);
            self.courier.wait(blocked).await?;
        }
    }

    async fn ended(&mut self, first: Option<&Pending>) -> Result<Vec<(Pending, Done)>, RunError> {
        self.enter(None)?;
        self.settle().await?;
        if let Some(first) = first {
            self.check(std::slice::from_ref(first))?;
            while self.done.is_empty() {
                let wanted = self.open.get(&first.0).copied();
                let blocked = self.blocked(wanted);
                self.courier.wait(blocked).await?;
                self.settle().await?;
            }
        }
        // One by one: a map that is given away would make a node anew for the next one.
        let mut all = Vec::with_capacity(self.done.len());
        while let Some((id, done)) = self.done.pop_first() {
            all.push((Pending(id), done));
        }
        Ok(all)
    }

    async fn iprobe(&mut self, from: Source, tag: TagFilter) -> Result<Option<Envelope>, RunError> {
        self.enter(named(from))?;
        self.courier.look().await?;
        self.settle().await?;
        Ok(self.unexpected.probe(from, tag))
    }

    async fn probe(&mut self, from: Source, tag: TagFilter) -> Result<Envelope, RunError> {
        self.enter(named(from))?;
        loop {
            self.settle().await?;
            if let Some(envelope) = self.unexpected.probe(from, tag) {
                return Ok(envelope);
            }
            let blocked = self.blocked(Some(Wanted::Recv(from, tag)));
            self.courier.wait(blocked).await?;
        }
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        self.enter(None)?;
        self.courier.finish(self.call).await?;
        self.settle().await?;
        if let Some(&envelope) = self.unexpected.first() {
            return Err(RunError::Unreceived {
                to: self.courier.rank(),
                envelope,
            });
        }
        let receives = self.open.iter();
        let receives = receives.filter(|(_, wanted)| matches!(wanted, Wanted::Recv(..)));
        match receives.count() {
            0 => Ok(()),
            receives => Err(RunError::NotWaitedFor {
                rank: self.courier.rank(),
                receives,
            }),
        }
    }
}
