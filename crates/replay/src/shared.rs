// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core that several ranks share: they take turns, and its messages are theirs.
//!
//! As in MPI programs in virtual time, one rank goes on until it can do nothing; then the next one that
//! can. The core listens for every message of others, which says of which ranks it is
//! ([`Sharing::places`]); a message between two of its own ranks it copies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_core::{Rank, Time};
use corecast_machine::{
    Ascending, Await, Blocked, CallLog, CoreLog, CoreMessage, Done, Endpoint, MessageRecord,
    Payload, Pending, Received, ResidentLog, Residents, RunError, Sharing, Source, Stretches, Tag,
    TagFilter, cycle_first,
};

use crate::matching::{Come, Ended, Matching, Owner, Wish};
use crate::rank::{OnRank, Post};
use crate::run::Replay;

/// What ranks wait for between their turns, for who reads of a deadlock: the machine knows only cores.
#[derive(Debug, Default)]
pub(crate) struct Waits(Mutex<BTreeMap<Rank, Blocked>>);

impl Waits {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Rank, Blocked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that wait now, those that wait for each other in a circle first.
    pub(crate) fn circle_first(&self) -> Vec<Blocked> {
        cycle_first(self.lock().values().copied().collect())
    }
}

/// Runs the ranks of a core.
pub(crate) async fn run<E: Endpoint>(
    replay: &Replay<'_>,
    endpoint: &mut E,
    waits: &Waits,
) -> Result<CoreLog<CallLog>, RunError> {
    let mut mail = Mail::new(replay, endpoint.rank().0);
    let resident = |rank| Resident {
        rank: Rank(rank),
        of_rank: OnRank::new(replay, Rank(rank)),
        wait: None,
        waits: Stretches::default(),
    };
    let mut residents = Residents::new(mail.ranks().map(resident));
    let (mut log, mut ended) = (CoreLog::default(), Vec::new());
    loop {
        let Some(mut resident) = residents.next(|one| mail.inbox(one.rank).has_come()) else {
            if !residents.is_anybody_waiting() {
                break;
            }
            mail.next(endpoint).await?;
            continue;
        };
        let (rank, start) = (resident.rank, endpoint.now());
        waits.lock().remove(&rank);
        resident.turn(endpoint, &mut mail).await?;
        let now = endpoint.now();
        log.turns.push_turn(rank.0, start, now);
        match mail.inbox(rank).awaited(rank, now) {
            Some(blocked) => {
                resident.wait = Some((blocked.step as u32, now));
                waits.lock().insert(rank, blocked);
                residents.wait(resident);
            }
            None => {
                let of_rank = ResidentLog {
                    output: resident.of_rank.into_log(),
                    finish: now,
                    waits: resident.waits,
                };
                ended.push((rank, of_rank));
            }
        }
    }
    ended.sort_by_key(|&(rank, _)| rank);
    log.ranks = ended.into_iter().map(|(_, of_rank)| of_rank).collect();
    (log.within, log.sent) = (mail.within, mail.sent);
    Ok(log)
}

/// A rank on its core.
struct Resident<'r> {
    rank: Rank,
    of_rank: OnRank<'r>,
    /// The call in which it waits, and since when.
    wait: Option<(u32, Time)>,
    /// When it waited, and for whom as it turned out.
    waits: Stretches,
}

impl Resident<'_> {
    /// Goes on until it can do nothing.
    async fn turn<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        mail: &mut Mail<'_>,
    ) -> Result<(), RunError> {
        let Self { rank, of_rank, .. } = self;
        if let Some((call, since)) = self.wait.take() {
            let now = endpoint.now();
            of_rank.enter(call, since, now);
            if let Some(peer) = mail.inbox(*rank).woken_by() {
                self.waits.push(peer.0, since, now);
            }
        }
        let mut post = Shared {
            endpoint,
            mail,
            rank: *rank,
        };
        loop {
            let since = post.now();
            let call = if let Some(call) = of_rank.next() {
                of_rank.begin(&mut post, call).await?;
                call
            } else if let Some(end) = post.mail.inbox(*rank).ends.pop_front() {
                of_rank.ended(&mut post, &end.ended).await?;
                end.ended.owner.call
            } else {
                return Ok(());
            };
            of_rank.enter(call, since, post.now());
        }
    }
}

/// A message of a rank that has ended.
struct End {
    ended: Ended,
    /// The rank at its other end.
    peer: Rank,
    /// Whether the rank may wait for it: a receive, or a send whose end a call waits for.
    is_awaited: bool,
}

/// Messages of one rank.
struct Inbox<'r> {
    matching: Matching<'r>,
    /// What has ended and was not told.
    ends: VecDeque<End>,
    /// Sends that have not: those whose end a call waits for first, then in order.
    sends: BTreeMap<(bool, u64), (Owner, Rank)>,
}

impl Inbox<'_> {
    /// Whether the rank can go on: what it waits for has come, or nothing else will.
    fn has_come(&self) -> bool {
        let is_all = self.sends.is_empty() && self.matching.wanted() == 0;
        is_all || self.ends.iter().any(|end| end.is_awaited)
    }

    /// Who lets it go on.
    fn woken_by(&self) -> Option<Rank> {
        let awaited = self.ends.iter().find(|end| end.is_awaited);
        Some(awaited.or(self.ends.front())?.peer)
    }

    /// What the rank waits for first; none if no message is under way.
    fn awaited(&self, rank: Rank, now: Time) -> Option<Blocked> {
        let (peer, awaits, owner) = match self.matching.first() {
            Some((Source::From(from), _, owner)) => (from, Await::Recv, owner),
            Some((Source::Any, _, owner)) => (rank, Await::Any(None), owner),
            None => {
                let (_, &(owner, to)) = self.sends.first_key_value()?;
                (to, Await::Send, owner)
            }
        };
        Some(Blocked {
            rank,
            peer,
            awaits,
            step: owner.call as usize,
            since: now,
            call: None,
        })
    }
}

/// Messages of a core.
struct Mail<'r> {
    sharing: Sharing,
    core: u32,
    inboxes: Vec<Inbox<'r>>,
    /// The receive that takes the next message of another core.
    listening: Option<Pending>,
    /// Sends to other cores that have not ended: of which rank, and their place in its inbox.
    open: Ascending<Pending, (Rank, (bool, u64))>,
    /// Those that have ended and were not told.
    gone: BTreeSet<Pending>,
    /// Number of the next send.
    next: u64,
    within: Vec<MessageRecord>,
    sent: Vec<CoreMessage>,
}

impl<'r> Mail<'r> {
    fn new(replay: &'r Replay<'_>, core: u32) -> Self {
        let sharing = replay.sharing;
        let inbox = |_| Inbox {
            matching: Matching::new(&replay.groups),
            ends: VecDeque::new(),
            sends: BTreeMap::new(),
        };
        Self {
            sharing,
            core,
            inboxes: sharing.ranks_of(core).map(inbox).collect(),
            listening: None,
            open: Ascending::default(),
            gone: BTreeSet::new(),
            next: 0,
            within: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn ranks(&self) -> std::ops::Range<u32> {
        self.sharing.ranks_of(self.core)
    }

    fn inbox(&mut self, rank: Rank) -> &mut Inbox<'r> {
        let first = self.ranks().start;
        &mut self.inboxes[(rank.0 - first) as usize]
    }

    /// Sees to it that there is a receive for the next message.
    async fn listen<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        if self.listening.is_none() {
            self.listening = Some(endpoint.irecv(Source::Any, TagFilter::Any).await?);
        }
        Ok(())
    }

    /// Waits until something ends. What has come is told before what is gone.
    async fn next<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<(), RunError> {
        let listening = self.listening.as_ref().filter(|_| self.gone.is_empty());
        let mut heard = None;
        for (pending, done) in endpoint.ended(listening).await? {
            match done {
                Done::Received(message) => heard = Some(message),
                Done::Sent => {
                    self.gone.insert(pending);
                }
            }
        }
        if let Some(message) = heard {
            self.listening = Some(endpoint.irecv(Source::Any, TagFilter::Any).await?);
            self.arrive(&message);
        } else if let Some(pending) = self.gone.pop_first() {
            let (rank, place) = self.open.remove(&pending).expect("it was begun here");
            let inbox = self.inbox(rank);
            let (owner, peer) = inbox.sends.remove(&place).expect("it has not ended");
            let (is_other, _) = place;
            inbox.ends.push_back(End {
                ended: Ended { owner, bytes: None },
                peer,
                is_awaited: !is_other,
            });
        }
        Ok(())
    }

    /// A message of another core has come.
    fn arrive(&mut self, message: &Received) {
        let Received { from, tag, payload } = message;
        let ranks = self.sharing.at_places([from.0, self.core], payload);
        let [from, to] = ranks.map(Rank);
        let bytes = (payload.len() - Sharing::PLACES_BYTES) as u64;
        let tag = *tag;
        self.give(to, Come { from, tag, bytes });
    }

    /// A message is there for a rank.
    fn give(&mut self, to: Rank, come: Come) {
        let inbox = self.inbox(to);
        if let Some(ended) = inbox.matching.take(come) {
            inbox.ends.push_back(End {
                ended,
                peer: come.from,
                is_awaited: true,
            });
        }
    }
}

/// Messages of a rank that has its turn.
struct Shared<'p, 'r, E> {
    endpoint: &'p mut E,
    mail: &'p mut Mail<'r>,
    rank: Rank,
}

impl<E: Endpoint> Shared<'_, '_, E> {
    /// Copies a message to a rank of the same core, or leaves it where it is.
    async fn hand(&mut self, to: Rank, bytes: u64) -> Result<(), RunError> {
        let from = self.rank;
        if from != to {
            let posted = self.endpoint.now();
            self.endpoint.copy(bytes).await?;
            self.mail.within.push(MessageRecord {
                from,
                to,
                bytes,
                posted,
                start: posted,
                end: self.endpoint.now(),
            });
        }
        Ok(())
    }
}

impl<E: Endpoint> Post for Shared<'_, '_, E> {
    fn now(&self) -> Time {
        self.endpoint.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.endpoint.compute(time).await
    }

    async fn send(
        &mut self,
        (to, tag, bytes): (Rank, Tag, u64),
        (owner, is_awaited): (Owner, bool),
    ) -> Result<(), RunError> {
        let (from, sharing) = (self.rank, self.mail.sharing);
        self.mail.listen(self.endpoint).await?;
        let core = sharing.core_of(to.0);
        if core == self.mail.core {
            self.hand(to, bytes + Sharing::PLACES_BYTES as u64).await?;
            self.mail.give(to, Come { from, tag, bytes });
            self.mail.inbox(from).ends.push_back(End {
                ended: Ended { owner, bytes: None },
                peer: to,
                is_awaited,
            });
            return Ok(());
        }
        let mut payload = vec![0; Sharing::PLACES_BYTES + bytes as usize];
        payload[..Sharing::PLACES_BYTES].copy_from_slice(&sharing.places(from.0, to.0));
        self.mail.sent.push(CoreMessage {
            core,
            ranks: (from.0, to.0),
            bytes: payload.len() as u64,
        });
        let pending = self
            .endpoint
            .isend(Rank(core), tag, Payload::from(payload))
            .await?;
        let place = (!is_awaited, self.mail.next);
        self.mail.next += 1;
        self.mail.open.insert(pending, (from, place));
        self.mail.inbox(from).sends.insert(place, (owner, to));
        Ok(())
    }

    async fn recv(
        &mut self,
        wanted: (Source, Wish),
        (owner, _): (Owner, bool),
    ) -> Result<(), RunError> {
        self.mail.listen(self.endpoint).await?;
        let peer = self.rank;
        let inbox = self.mail.inbox(peer);
        if let Some(ended) = inbox.matching.want(wanted, owner) {
            inbox.ends.push_back(End {
                ended,
                peer,
                is_awaited: true,
            });
        }
        Ok(())
    }
}
