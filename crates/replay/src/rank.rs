// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank of a program: which of its calls can begin, and what becomes of those that have.
//!
//! What can begin begins in the order in which it became possible, messages and collectives before
//! computing. Where messages go is a [`Post`]'s: that of a rank with a core to itself, or of one that shares
//! it.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::{Rank, Time};
use corecast_machine::{CallLog, RunError, Source, Tag};
use corecast_mpi::collective::program::Act;

use crate::collective::Planned;
use crate::graph::{Call, Event, KINDS, What};
use crate::matching::{Ended, Owner, Wish};
use crate::progress::Progress;
use crate::run::Replay;

/// What carries a rank's messages and spends its time.
pub(crate) trait Post {
    fn now(&self) -> Time;

    async fn compute(&mut self, time: Time) -> Result<(), RunError>;

    /// Begins to send so many bytes; the flag says whether a call waits for the end.
    async fn send(
        &mut self,
        message: (Rank, Tag, u64),
        owner: (Owner, bool),
    ) -> Result<(), RunError>;

    /// Begins to receive.
    async fn recv(&mut self, wanted: (Source, Wish), owner: (Owner, bool)) -> Result<(), RunError>;
}

/// A collective that a rank is in.
#[derive(Debug)]
struct Running {
    planned: Planned,
    next: usize,
    /// Messages that have begun, and whether they have ended.
    posts: Vec<bool>,
}

/// One rank.
pub(crate) struct OnRank<'r> {
    replay: &'r Replay<'r>,
    rank: Rank,
    calls: &'r [Call],
    progress: Progress,
    /// Calls that can begin: messages and collectives, and computing.
    messages: VecDeque<u32>,
    computing: VecDeque<u32>,
    /// Number among the rank's collectives of those calls that are some.
    collectives: BTreeMap<u32, usize>,
    running: BTreeMap<u32, Running>,
    pub log: CallLog,
}

impl<'r> OnRank<'r> {
    /// At its begin.
    pub(crate) fn new(replay: &'r Replay<'r>, rank: Rank) -> Self {
        let calls = &replay.graph.ranks[rank.index()][..];
        let numbers = (0..).zip(calls);
        let collectives = numbers.filter(|(_, call)| matches!(call.what, What::Collective(_)));
        let collectives = collectives.map(|(index, _)| index).zip(0..).collect();
        let mut counts = [0; KINDS.len()];
        for call in calls {
            counts[usize::from(call.what.number())] += 1;
        }
        let counts = (0..).zip(counts).filter(|&(_, count)| count > 0);
        let mut rank = Self {
            replay,
            rank,
            calls,
            progress: Progress::new(calls),
            messages: VecDeque::new(),
            computing: VecDeque::new(),
            collectives,
            running: BTreeMap::new(),
            log: CallLog {
                spans: Vec::new(),
                counts: counts.collect(),
            },
        };
        let free: Vec<u32> = rank.progress.free().collect();
        free.into_iter().for_each(|call| rank.ready(call));
        rank
    }

    fn ready(&mut self, call: u32) {
        match self.calls[call as usize].what {
            What::Compute(_) => self.computing.push_back(call),
            _ => self.messages.push_back(call),
        }
    }

    fn happened(&mut self, event: Event) {
        let (calls, messages, computing) = (self.calls, &mut self.messages, &mut self.computing);
        self.progress.happened(event, |call| {
            let ready = match calls[call as usize].what {
                What::Compute(_) => &mut *computing,
                _ => &mut *messages,
            };
            ready.push_back(call);
        });
    }

    /// The call that can begin next.
    pub(crate) fn next(&mut self) -> Option<u32> {
        let message = self.messages.pop_front();
        message.or_else(|| self.computing.pop_front())
    }

    /// It was in a call from `since` to `now`.
    pub(crate) fn enter(&mut self, call: u32, since: Time, now: Time) {
        let kind = self.calls[call as usize].what.number();
        self.log.enter(kind, call, since, now);
    }

    /// What it tells when nothing is left to do.
    pub(crate) fn into_log(self) -> CallLog {
        assert!(
            self.progress.is_over(),
            "rank {}: no call waits in a circle",
            self.rank
        );
        self.log
    }

    /// World rank of a rank of a call's group.
    fn member(&self, call: u32, rank: u32) -> Rank {
        let group = self.calls[call as usize].group;
        Rank(self.replay.graph.groups[group as usize].ranks[rank as usize])
    }

    /// Begins a call that can.
    pub(crate) async fn begin<P: Post>(
        &mut self,
        post: &mut P,
        index: u32,
    ) -> Result<(), RunError> {
        let call = &self.calls[index as usize];
        let owner = (
            Owner {
                call: index,
                post: 0,
            },
            self.progress.is_awaited(index),
        );
        match call.what {
            What::Compute(time) => {
                self.happened(Event::Start(index));
                if time > Time::ZERO {
                    post.compute(time).await?;
                }
                self.happened(Event::End(index));
            }
            What::Wait => {
                self.happened(Event::Start(index));
                self.happened(Event::End(index));
            }
            What::Send { to, tag, bytes } => {
                let tag = self.replay.tags[&(call.group, tag)];
                post.send((self.member(index, to), tag, bytes), owner)
                    .await?;
                self.happened(Event::Start(index));
            }
            What::Recv { from, tag, .. } => {
                let from = from.map_or(Source::Any, |from| Source::From(self.member(index, from)));
                let wish = match tag {
                    Some(tag) => Wish::Is(self.replay.tags[&(call.group, tag)]),
                    None => Wish::OfGroup(call.group),
                };
                post.recv((from, wish), owner).await?;
                self.happened(Event::Start(index));
            }
            What::Collective(_) => {
                let plans = &self.replay.plans.of_rank[self.rank.index()];
                let planned = plans[self.collectives[&index]].clone();
                let posts = Vec::with_capacity(planned.program.posts as usize);
                let running = Running {
                    planned,
                    next: 0,
                    posts,
                };
                self.running.insert(index, running);
                self.advance(post, index).await?;
                self.happened(Event::Start(index));
            }
        }
        Ok(())
    }

    /// A message has ended.
    pub(crate) async fn ended<P: Post>(
        &mut self,
        post: &mut P,
        ended: &Ended,
    ) -> Result<(), RunError> {
        let call = ended.owner.call;
        if let Some(running) = self.running.get_mut(&call) {
            running.posts[ended.owner.post as usize] = true;
            return self.advance(post, call).await;
        }
        if let (What::Recv { bytes: most, .. }, Some(bytes)) =
            (&self.calls[call as usize].what, ended.bytes)
            && bytes > *most
        {
            return Err(self.too_long(call, bytes));
        }
        self.happened(Event::End(call));
        Ok(())
    }

    #[cold]
    fn too_long(&self, call: u32, bytes: u64) -> RunError {
        let call = &self.calls[call as usize];
        let place = self.replay.graph.place(call.at);
        RunError::RankFailed {
            rank: self.rank,
            reason: format!("{place}: {} got a message of {bytes} bytes", call.what),
            help: "let the receive take as many bytes as are sent, or change tags".to_owned(),
        }
    }

    /// A collective goes on as far as it can.
    async fn advance<P: Post>(&mut self, post: &mut P, call: u32) -> Result<(), RunError> {
        loop {
            let running = self.running.get_mut(&call).expect("it has begun");
            let tag = running.planned.tag;
            let Some(&act) = running.planned.program.acts.get(running.next) else {
                self.running.remove(&call);
                self.happened(Event::End(call));
                return Ok(());
            };
            let owner = |running: &mut Running| {
                running.posts.push(false);
                let post = running.posts.len() as u32 - 1;
                (Owner { call, post }, true)
            };
            match act {
                Act::Wait { post } if !running.posts[post as usize] => return Ok(()),
                Act::Wait { .. } | Act::Combine { .. } | Act::Copy { .. } => running.next += 1,
                Act::Send { to, span } => {
                    running.next += 1;
                    let owner = owner(running);
                    let message = (self.member(call, to), tag, span.bytes as u64);
                    post.send(message, owner).await?;
                }
                Act::Broadcast { .. } => unreachable!("planned over messages"),
                Act::Recv { from, .. } => {
                    running.next += 1;
                    let owner = owner(running);
                    let from = Source::From(self.member(call, from));
                    post.recv((from, Wish::Is(tag)), owner).await?;
                }
            }
        }
    }
}
