// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank's handle on a machine, and the programs of messages that run on it.
//!
//! ```
//! use corecast_core::Rank;
//! use corecast_machine::{Endpoint, Oracle, Program, Programs, RunError, RunOptions, Source, TagFilter};
//!
//! /// Every rank but 0 sends its number there, which takes them as they come.
//! struct Sum;
//!
//! impl Program for Sum {
//!     type Output = u32;
//!
//!     async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<u32, RunError> {
//!         let (rank, mut sum) = (endpoint.rank(), 0);
//!         if rank != Rank(0) {
//!             endpoint.send(Rank(0), 7, rank.0.to_le_bytes()[..].into()).await?;
//!             return Ok(0);
//!         }
//!         for _ in 1..endpoint.ranks() {
//!             let number = endpoint.recv(Source::Any, TagFilter::Is(7)).await?;
//!             assert_eq!(number.payload.len(), 4);
//!             sum += number.from.0;
//!         }
//!         Ok(sum)
//!     }
//! }
//!
//! let run = Oracle.run_programs(5, &Sum, &RunOptions::default()).unwrap();
//! assert_eq!(run.outputs[0], 1 + 2 + 3 + 4);
//! ```

use std::future::Future;

use corecast_core::{LinkUse, Rank, Time};

use crate::activity::Activity;
use crate::error::RunError;
use crate::job::RunOptions;
use crate::payload::Payload;
use crate::report::{BackgroundUse, LinkHold, MessageRecord};

/// A number that a sender gives its message and by which the receiver chooses.
pub type Tag = u32;

/// Whose messages a receive takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Anybody's.
    Any,
    /// This rank's.
    From(Rank),
}

/// Messages of which tags a receive takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagFilter {
    /// Of every tag.
    Any,
    /// Of this one.
    Is(Tag),
}

/// What is known of a message before its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// Who sent it.
    pub from: Rank,
    /// Its tag.
    pub tag: Tag,
    /// Its length.
    pub bytes: u64,
}

impl Envelope {
    /// Whether a receive of this kind takes it.
    #[must_use]
    pub fn matches(&self, from: Source, tag: TagFilter) -> bool {
        let is_from = match from {
            Source::Any => true,
            Source::From(rank) => self.from == rank,
        };
        is_from
            && match tag {
                TagFilter::Any => true,
                TagFilter::Is(tag) => self.tag == tag,
            }
    }
}

/// A message that has been received, as long as it was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Who sent it.
    pub from: Rank,
    /// Its tag.
    pub tag: Tag,
    /// Its bytes.
    pub payload: Payload,
}

/// One rank's part in a broadcast that the machine itself carries out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broadcast {
    /// Who has the bytes.
    pub root: Rank,
    /// All ranks that take part, the root and this one among them, in ascending order.
    pub members: Vec<Rank>,
    /// The same number at all of them, and another one than that of any other broadcast of this root to
    /// these members which may be under way.
    pub number: u64,
    /// The root's bytes; nothing at the others.
    pub payload: Payload,
}

/// A send or receive that a rank has asked for and not seen the end of.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
#[must_use = "a receive has to be waited for"]
pub struct Pending(pub(crate) u64);

/// How a send or receive has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Done {
    /// The message is out of the sender's hands.
    Sent,
    /// The message that has come.
    Received(Received),
}

impl Done {
    /// The message, if it was a receive.
    #[must_use]
    pub fn received(self) -> Option<Received> {
        match self {
            Self::Sent => None,
            Self::Received(message) => Some(message),
        }
    }
}

/// One rank's handle on a machine: tagged messages, by the rules of MPI.
///
/// Calls take effect in program order. A receive takes the earliest message that has arrived and
/// that it matches; a message that comes later goes to the earliest receive that was asked for and
/// that it matches. Messages of one sender that the same receive matches are taken in the order in
/// which they were sent. A rank may send to itself.
///
/// A send ends when its message is out of the sender's hands: a machine may keep it in buffers, or
/// wait until it is received. So a program must not count on either; where ranks send to each other,
/// [`Endpoint::isend`] is right on every machine. A machine moves messages on while a program is in
/// calls; whether it also does while the program computes is the machine's.
#[allow(
    async_fn_in_trait,
    reason = "endpoints are used generically, never as trait objects"
)]
pub trait Endpoint {
    /// This rank.
    fn rank(&self) -> Rank;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Time since the start of the run. Simulated ranks take no time to ask: a loop that waits for a
    /// time spends it with [`Endpoint::compute`].
    fn now(&self) -> Time;

    /// Gives the call that follows this number instead of counting, for who reads of a deadlock.
    fn at_call(&mut self, index: usize);

    /// Computes for so long. Simulated ranks spend the time; real ones spin.
    ///
    /// # Errors
    /// Whatever ended the run meanwhile.
    async fn compute(&mut self, time: Time) -> Result<(), RunError>;

    /// Spends the time that combining `bytes` bytes with as many others takes. Real ranks spend it by
    /// doing so.
    ///
    /// # Errors
    /// As [`Endpoint::compute`].
    async fn combine(&mut self, bytes: u64) -> Result<(), RunError>;

    /// The same for copying them.
    ///
    /// # Errors
    /// As [`Endpoint::compute`].
    async fn copy(&mut self, bytes: u64) -> Result<(), RunError>;

    /// Asks to send a message, which is taken as it is now.
    ///
    /// # Errors
    /// [`RunError::UnknownRank`], or whatever ended the run.
    async fn isend(&mut self, to: Rank, tag: Tag, payload: Payload) -> Result<Pending, RunError>;

    /// Asks to receive a message.
    ///
    /// # Errors
    /// As [`Endpoint::isend`].
    async fn irecv(&mut self, from: Source, tag: TagFilter) -> Result<Pending, RunError>;

    /// How a send or receive has ended, if it has; that is told once. Looking takes simulated ranks
    /// time, so that a loop of looks has an end.
    ///
    /// # Errors
    /// [`RunError::NotPending`] after it was told, or whatever ended the run.
    async fn test(&mut self, pending: &Pending) -> Result<Option<Done>, RunError>;

    /// Waits for the first of several to end; returns its index and how it has ended. Of several
    /// that have ended it is the first of the list. A list without entries never ends: it is a
    /// deadlock.
    ///
    /// # Errors
    /// As [`Endpoint::test`].
    async fn wait_any(&mut self, pending: &[Pending]) -> Result<(usize, Done), RunError>;

    /// All sends and receives that have ended and were not told, in the order in which they were asked
    /// for: for ranks with so many that a list of them takes long to look through. Waits for one to end
    /// if `first` says for which, as a deadlock tells it; with none it takes no time.
    ///
    /// # Errors
    /// As [`Endpoint::test`].
    async fn ended(&mut self, first: Option<&Pending>) -> Result<Vec<(Pending, Done)>, RunError>;

    /// The envelope of the message that a receive of this kind would take now, if there is one.
    ///
    /// # Errors
    /// As [`Endpoint::isend`].
    async fn iprobe(&mut self, from: Source, tag: TagFilter) -> Result<Option<Envelope>, RunError>;

    /// As [`Endpoint::iprobe`], waiting for one.
    ///
    /// # Errors
    /// As [`Endpoint::isend`].
    async fn probe(&mut self, from: Source, tag: TagFilter) -> Result<Envelope, RunError>;

    /// Whether the machine has broadcasts of its own.
    fn has_broadcasts(&self) -> bool {
        false
    }

    /// Asks to take part in a broadcast of the machine's own, one at a time. It begins when all members
    /// wait in a call that lets it, and meets no message: at the root it ends as a send does, at the others
    /// with a message from the root, whose tag is the lower half of the broadcast's number.
    ///
    /// # Errors
    /// As [`Endpoint::isend`].
    ///
    /// # Panics
    /// If the machine has none ([`Endpoint::has_broadcasts`]), or another one is under way at this rank.
    async fn ibroadcast(&mut self, broadcast: Broadcast) -> Result<Pending, RunError> {
        panic!("rank {} has no hardware for {broadcast:?}", self.rank())
    }

    /// Ends the rank's part: waits until all it has sent is out of its hands.
    ///
    /// # Errors
    /// [`RunError::Unreceived`] and [`RunError::NotWaitedFor`], or whatever ended the run.
    async fn finish(&mut self) -> Result<(), RunError>;

    /// Waits for a send or receive.
    ///
    /// # Errors
    /// As [`Endpoint::test`].
    async fn wait(&mut self, pending: Pending) -> Result<Done, RunError> {
        Ok(self.wait_any(&[pending]).await?.1)
    }

    /// Sends a message and waits until it is out of this rank's hands.
    ///
    /// # Errors
    /// As [`Endpoint::isend`].
    async fn send(&mut self, to: Rank, tag: Tag, payload: Payload) -> Result<(), RunError> {
        let pending = self.isend(to, tag, payload).await?;
        self.wait(pending).await.map(drop)
    }

    /// Receives a message.
    ///
    /// # Errors
    /// As [`Endpoint::isend`].
    async fn recv(&mut self, from: Source, tag: TagFilter) -> Result<Received, RunError> {
        let pending = self.irecv(from, tag).await?;
        let done = self.wait(pending).await?;
        Ok(done.received().expect("a receive ends with a message"))
    }
}

/// A program of messages that every rank runs.
#[allow(
    async_fn_in_trait,
    reason = "programs are used generically, never as trait objects"
)]
pub trait Program: Sync {
    /// What a rank returns.
    type Output: Send;

    /// Runs one rank. The machine calls [`Program::end`] afterwards.
    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Self::Output, RunError>;

    /// Ends a rank's part: [`Endpoint::finish`], unless the program is content with less.
    ///
    /// # Errors
    /// As [`Endpoint::finish`].
    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        endpoint.finish().await
    }
}

/// What running a program on all ranks gave.
#[derive(Clone, Debug)]
pub struct ProgramRun<T> {
    /// Output of each rank.
    pub outputs: Vec<T>,
    /// When each rank finished.
    pub finish: Vec<Time>,
    /// Where each rank's time went, up to its finish.
    pub activity: Vec<Activity>,
    /// Every message, in order of completion.
    pub messages: Vec<MessageRecord>,
    /// Every link of a mesh that carried something; empty on other machines.
    pub links: Vec<LinkUse>,
    /// What [`crate::Cause::LinkBusy`] speaks of.
    pub holds: Vec<LinkHold>,
    /// What other traffic has sent meanwhile.
    pub background: BackgroundUse,
    /// Simulated events; 0 on real machines.
    pub events: u64,
    /// Hash of all simulated events; 0 on real machines.
    pub trace_hash: u64,
}

/// A machine that runs programs of messages.
pub trait Programs {
    /// Runs `program` on `ranks` ranks.
    ///
    /// # Errors
    /// The first failure of any rank, a deadlock, or a limit of `options`.
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError>;
}

/// Runs a future that never waits for anything outside its own calls (endpoints that block).
///
/// # Panics
/// If the future is pending: then it is not of that kind.
pub fn run_blocking<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a blocking endpoint is never pending"),
    }
}
