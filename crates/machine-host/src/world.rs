// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks that exchange tagged messages: whoever wants to be one attaches, from a thread of its own.
//!
//! A machine that is given a program attaches a thread per rank ([`crate::HostMachine`]); a program
//! with threads of its own attaches them itself, and is given nothing.
//!
//! ```
//! use corecast_core::Rank;
//! use corecast_machine::{Endpoint, RunOptions, Source, TagFilter, run_blocking};
//! use corecast_machine_host::HostWorld;
//! let world = HostWorld::new(2, &RunOptions::default()).unwrap();
//! let mut sender = world.attach(Rank(0)).unwrap();
//! let thread = std::thread::spawn(move || {
//!     run_blocking(async move {
//!         sender.send(Rank(1), 7, b"hello"[..].into()).await?;
//!         sender.finish().await
//!     })
//! });
//! let mut receiver = world.attach(Rank(1)).unwrap();
//! let message = run_blocking(receiver.recv(Source::Any, TagFilter::Any)).unwrap();
//! assert_eq!((message.tag, &message.payload[..]), (7, &b"hello"[..]));
//! run_blocking(receiver.finish()).unwrap();
//! thread.join().unwrap().unwrap();
//! world.outcome().unwrap();
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use corecast_core::Rank;
use corecast_machine::{
    Activity, ArrivalId, Blocked, Cause, Courier, Envelope, Matched, MessageRecord, News, Payload,
    RunError, RunOptions, SendId, Tag, Time,
};

use crate::shared::{Shared, State};
use crate::threads::{check, failed};

/// Longest message that a sender leaves with its receiver and forgets, in bytes: a page. It waits
/// until a longer one has been asked for, so what nobody asks for is never much.
pub const EAGER_BYTES: usize = 4096;

/// What comes to a rank.
enum Parcel {
    /// A message; the sender knows it by this number.
    Message {
        id: SendId,
        envelope: Envelope,
        payload: Payload,
        posted: Time,
    },
    /// The receiver has taken a message of this rank.
    Taken(SendId),
}

/// Everything behind the lock.
struct Contents {
    inboxes: Vec<VecDeque<Parcel>>,
    is_attached: Vec<bool>,
}

/// See the module's documentation.
pub struct HostWorld(Arc<Shared<Contents>>);

/// One rank's handle. Every call blocks; no future is ever pending
/// ([`corecast_machine::run_blocking`]).
///
/// A handle that is dropped before [`corecast_machine::Endpoint::finish`] ends the run of all.
pub type HostEndpoint = Matched<HostCourier>;

impl HostWorld {
    /// A world of `ranks` ranks, none of which is attached. The limit of `options` begins now.
    ///
    /// # Errors
    /// [`RunError::TooManyRanks`], and what threads cannot do.
    pub fn new(ranks: u32, options: &RunOptions) -> Result<Self, RunError> {
        check(ranks, options)?;
        let contents = Contents {
            inboxes: (0..ranks).map(|_| VecDeque::new()).collect(),
            is_attached: vec![false; ranks as usize],
        };
        let shared = Shared::new(ranks, options.limits.time, contents);
        Ok(Self(Arc::new(shared)))
    }

    /// Becomes a rank.
    ///
    /// # Errors
    /// [`RunError::UnknownRank`]; [`RunError::RankFailed`] if somebody has become it before.
    pub fn attach(&self, rank: Rank) -> Result<HostEndpoint, RunError> {
        let mut state = self.0.lock();
        let ranks = self.0.ranks();
        match state.is_attached.get_mut(rank.index()) {
            None => Err(RunError::UnknownRank {
                option: "attach",
                rank,
                ranks,
            }),
            Some(is_attached) if *is_attached => {
                let reason = "another one is attached as this rank";
                Err(failed(rank, reason))
            }
            Some(is_attached) => {
                *is_attached = true;
                Ok(Matched::new(HostCourier::new(Arc::clone(&self.0), rank)))
            }
        }
    }

    /// Ends the run of all ranks with an error, unless it has one already.
    pub fn fail(&self, error: RunError) {
        self.0.fail(error);
    }

    /// The failure of the run, if there was one. Asked when all ranks have finished, it also tells
    /// of a message that came after its receiver's end.
    ///
    /// # Errors
    /// The first failure of any rank; [`RunError::Unreceived`].
    pub fn outcome(&self) -> Result<(), RunError> {
        self.0.outcome()?;
        let state = self.0.lock();
        for (to, inbox) in (0..).map(Rank).zip(&state.inboxes) {
            let mut left = inbox.iter();
            let left = left.find_map(|parcel| match parcel {
                Parcel::Message { envelope, .. } => Some(*envelope),
                Parcel::Taken(_) => None,
            });
            if let Some(envelope) = left {
                return Err(RunError::Unreceived { to, envelope });
            }
        }
        Ok(())
    }
}

/// A message that has arrived.
struct Here {
    id: SendId,
    envelope: Envelope,
    payload: Payload,
    posted: Time,
}

/// What moves the messages of one thread.
pub struct HostCourier {
    shared: Arc<Shared<Contents>>,
    rank: Rank,
    news: VecDeque<News>,
    here: BTreeMap<ArrivalId, Here>,
    arrivals: ArrivalId,
    /// Messages that are not out of the rank's hands, and for whom they are.
    sending: BTreeMap<SendId, Rank>,
    is_finished: bool,
    activity: Activity,
    messages: Vec<MessageRecord>,
}

impl HostCourier {
    fn new(shared: Arc<Shared<Contents>>, rank: Rank) -> Self {
        Self {
            shared,
            rank,
            news: VecDeque::new(),
            here: BTreeMap::new(),
            arrivals: 0,
            sending: BTreeMap::new(),
            is_finished: false,
            activity: Activity::default(),
            messages: Vec::new(),
        }
    }

    /// Where the rank's time went, and the messages that it has received.
    pub(crate) fn take_books(&mut self) -> (Activity, Vec<MessageRecord>) {
        let books = (&mut self.activity, &mut self.messages);
        (std::mem::take(books.0), std::mem::take(books.1))
    }

    fn fill(&mut self, cause: Cause) {
        self.activity.fill(self.shared.now(), cause);
    }

    /// Puts something into the inbox of a rank, which need not wait any longer.
    fn post(&self, to: Rank, parcel: Parcel) {
        let mut state = self.shared.lock();
        state.inboxes[to.index()].push_back(parcel);
        if state.blocked(to).is_some() {
            self.shared.release(&mut state, to);
        }
    }

    /// Takes what has come.
    fn empty_inbox(&mut self) {
        let parcels = std::mem::take(&mut self.shared.lock().inboxes[self.rank.index()]);
        for parcel in parcels {
            let news = match parcel {
                Parcel::Message {
                    id,
                    envelope,
                    payload,
                    posted,
                } => {
                    let here = Here {
                        id,
                        envelope,
                        payload,
                        posted,
                    };
                    self.here.insert(self.arrivals, here);
                    self.arrivals += 1;
                    News::Arrived(self.arrivals - 1, envelope)
                }
                Parcel::Taken(id) => {
                    self.sending.remove(&id);
                    News::Sent(id)
                }
            };
            self.news.push_back(news);
        }
    }

    /// Waits until something is in the inbox.
    fn wait_now(&mut self, blocked: Blocked) -> Result<(), RunError> {
        self.fill(Cause::Compute);
        let is_empty = |state: &State<Contents>| state.inboxes[self.rank.index()].is_empty();
        let mut state = self.shared.lock();
        while is_empty(&state) {
            state = self.shared.wait(state, blocked)?;
        }
        drop(state);
        self.fill(Cause::WaitPeer(blocked.peer));
        Ok(())
    }
}

impl Drop for HostCourier {
    fn drop(&mut self) {
        if !self.is_finished {
            let (rank, reason) = (self.rank, "it left before its end");
            self.shared.fail(failed(rank, reason));
        }
    }
}

impl Courier for HostCourier {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.shared.ranks()
    }

    fn now(&self) -> Time {
        self.shared.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        let start = self.shared.now();
        while self.shared.now() - start < time {
            std::hint::spin_loop();
        }
        self.fill(Cause::Compute);
        self.shared.check()
    }

    async fn combine(&mut self, _: u64) -> Result<(), RunError> {
        Ok(())
    }

    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError> {
        self.shared.check()?;
        let (from, bytes, posted) = (self.rank, payload.len() as u64, self.shared.now());
        if payload.len() <= EAGER_BYTES {
            self.news.push_back(News::Sent(id));
        } else {
            self.sending.insert(id, to);
        }
        let envelope = Envelope { from, tag, bytes };
        let parcel = Parcel::Message {
            id,
            envelope,
            payload,
            posted,
        };
        self.post(to, parcel);
        Ok(())
    }

    /// Copies the message into memory of its own, as a receiver must.
    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError> {
        self.fill(Cause::Compute);
        let here = self.here.remove(&id).expect("it has arrived");
        let (start, from) = (self.shared.now(), here.envelope.from);
        let payload: Payload = here.payload[..].into();
        let end = self.shared.now();
        self.activity.fill(end, Cause::Transfer);
        self.messages.push(MessageRecord {
            from,
            to: self.rank,
            bytes: here.envelope.bytes,
            posted: here.posted,
            start,
            end,
        });
        if payload.len() > EAGER_BYTES {
            self.post(from, Parcel::Taken(here.id));
        }
        self.news.push_back(News::Landed(id, payload));
        Ok(())
    }

    async fn look(&mut self) -> Result<(), RunError> {
        self.shared.check()?;
        std::thread::yield_now();
        Ok(())
    }

    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError> {
        self.wait_now(blocked)
    }

    fn news(&mut self) -> Option<News> {
        if self.news.is_empty() {
            self.empty_inbox();
        }
        self.news.pop_front()
    }

    async fn finish(&mut self, call: usize) -> Result<(), RunError> {
        while let Some((_, &peer)) = self.sending.first_key_value() {
            self.wait_now(self.unsent(peer, call))?;
            self.empty_inbox();
        }
        self.fill(Cause::Compute);
        self.is_finished = true;
        // What this end brings about, a deadlock of those who still wait, is no failure of this rank.
        let before = self.shared.outcome();
        self.shared.finish();
        before
    }
}
