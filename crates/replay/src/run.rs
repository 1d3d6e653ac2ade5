// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program of messages that does what a call graph says.
//!
//! What can begin begins in the order in which it became possible, messages and collectives before
//! computing; a rank that can do nothing waits for the first of its messages to end. While it computes
//! it does nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use corecast_core::{Rank, Time};
use corecast_exchange::FileError;
use corecast_machine::{CallLog, Endpoint, Payload, Program, RunError, Source};
use corecast_mpi::collective::program::Act;
use corecast_mpi::collective::{Settings, program};

use crate::collective::{self, Planned, Plans, TAG_BIT, Taken};
use crate::graph::{Call, CallGraph, Event, KINDS, What};
use crate::mail::{Ended, Mail, Owner, Wish};
use crate::progress::Progress;
use crate::stuck::StuckCall;

/// A checked program, ready to run on any machine that runs programs of messages.
#[derive(Debug)]
pub struct Replay<'a> {
    graph: &'a CallGraph,
    plans: Plans,
    /// Numbers on the way of the program's tags, by group and tag, and the group of each.
    tags: BTreeMap<(u32, u32), u32>,
    groups: Vec<u32>,
    /// Messages of zeroes by their length: content changes no time.
    zeroes: Mutex<BTreeMap<u64, Payload>>,
}

impl<'a> Replay<'a> {
    /// Of a program that was checked ([`crate::check()`]); `settings` say which algorithms collectives take.
    ///
    /// # Errors
    /// Where there is no schedule for a collective.
    pub fn new(graph: &'a CallGraph, settings: &Settings) -> Result<Self, FileError> {
        let (mut tags, mut groups) = (BTreeMap::new(), Vec::new());
        for call in graph.ranks.iter().flatten() {
            let (What::Send { tag, .. } | What::Recv { tag: Some(tag), .. }) = call.what else {
                continue;
            };
            tags.entry((call.group, tag)).or_insert_with(|| {
                groups.push(call.group);
                groups.len() as u32 - 1
            });
        }
        assert!(groups.len() < TAG_BIT as usize, "a tag is a call at least");
        Ok(Self {
            graph,
            plans: collective::plan(graph, settings)?,
            tags,
            groups,
            zeroes: Mutex::default(),
        })
    }

    /// The program.
    #[must_use]
    pub fn graph(&self) -> &'a CallGraph {
        self.graph
    }

    /// Which algorithms its collectives take.
    #[must_use]
    pub fn taken(&self) -> &[Taken] {
        &self.plans.taken
    }

    /// The calls in which ranks waited when a run ended.
    #[must_use]
    pub fn stuck(&self, blocked: &[corecast_machine::Blocked]) -> Vec<StuckCall> {
        let of = |blocked| StuckCall::new(self.graph, blocked);
        blocked.iter().map(of).collect()
    }

    fn zeroes(&self, bytes: u64) -> Payload {
        let mut zeroes = self.zeroes.lock().unwrap_or_else(PoisonError::into_inner);
        let made = zeroes
            .entry(bytes)
            .or_insert_with(|| vec![0; bytes as usize].into());
        Arc::clone(made)
    }

    /// Whether a rank takes messages with any tag beside some that are not meant for that.
    fn listens(&self, calls: &[Call]) -> bool {
        let any = calls
            .iter()
            .find(|call| matches!(call.what, What::Recv { tag: None, .. }));
        let Some(any) = any else {
            return false;
        };
        calls.iter().any(|call| match call.what {
            What::Collective(_) => true,
            What::Send { .. } | What::Recv { .. } => call.group != any.group,
            What::Compute(_) | What::Wait => false,
        })
    }
}

impl Program for Replay<'_> {
    type Output = CallLog;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<CallLog, RunError> {
        OnRank::new(self, endpoint.rank()).run(endpoint).await
    }

    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let calls = &self.graph.ranks[endpoint.rank().index()];
        endpoint.at_call(calls.len());
        match endpoint.finish().await {
            Err(RunError::NotWaitedFor { .. }) if self.listens(calls) => Ok(()),
            ended => ended,
        }
    }
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
struct OnRank<'r> {
    replay: &'r Replay<'r>,
    rank: Rank,
    calls: &'r [Call],
    progress: Progress,
    mail: Mail<'r>,
    /// Calls that can begin: messages and collectives, and computing.
    messages: VecDeque<u32>,
    computing: VecDeque<u32>,
    /// Number among the rank's collectives of those calls that are some.
    collectives: BTreeMap<u32, usize>,
    running: BTreeMap<u32, Running>,
    log: CallLog,
}

impl<'r> OnRank<'r> {
    fn new(replay: &'r Replay<'r>, rank: Rank) -> Self {
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
            mail: Mail::new(&replay.groups, replay.listens(calls)),
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

    async fn run<E: Endpoint>(mut self, endpoint: &mut E) -> Result<CallLog, RunError> {
        loop {
            let next = self
                .messages
                .pop_front()
                .or_else(|| self.computing.pop_front());
            let since = endpoint.now();
            let call = match next {
                Some(call) => {
                    endpoint.at_call(call as usize);
                    self.begin(endpoint, call).await?;
                    call
                }
                None => {
                    let Some(call) = self.mail.awaited() else {
                        break;
                    };
                    endpoint.at_call(call as usize);
                    let Some(ended) = self.mail.next(endpoint).await? else {
                        break;
                    };
                    self.ended(endpoint, &ended).await?;
                    call
                }
            };
            let kind = self.calls[call as usize].what.number();
            self.log.enter(kind, call, since, endpoint.now());
        }
        assert!(
            self.progress.is_over(),
            "rank {}: no call waits in a circle",
            self.rank
        );
        Ok(self.log)
    }

    /// World rank of a rank of a call's group.
    fn member(&self, call: u32, rank: u32) -> Rank {
        let group = self.calls[call as usize].group;
        Rank(self.replay.graph.groups[group as usize].ranks[rank as usize])
    }

    async fn begin<E: Endpoint>(&mut self, endpoint: &mut E, index: u32) -> Result<(), RunError> {
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
                    endpoint.compute(time).await?;
                }
                self.happened(Event::End(index));
            }
            What::Wait => {
                self.happened(Event::Start(index));
                self.happened(Event::End(index));
            }
            What::Send { to, tag, bytes } => {
                let tag = self.replay.tags[&(call.group, tag)];
                let message = (self.member(index, to), tag, self.replay.zeroes(bytes));
                self.mail.send(endpoint, message, owner).await?;
                self.happened(Event::Start(index));
            }
            What::Recv { from, tag, .. } => {
                let from = from.map_or(Source::Any, |from| Source::From(self.member(index, from)));
                let wish = match tag {
                    Some(tag) => Wish::Is(self.replay.tags[&(call.group, tag)]),
                    None => Wish::OfGroup(call.group),
                };
                self.mail.recv(endpoint, (from, wish), owner).await?;
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
                self.advance(endpoint, index).await?;
                self.happened(Event::Start(index));
            }
        }
        Ok(())
    }

    /// A message has ended.
    async fn ended<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        ended: &Ended,
    ) -> Result<(), RunError> {
        let Owner { call, post } = ended.owner;
        if let Some(running) = self.running.get_mut(&call) {
            running.posts[post as usize] = true;
            return self.advance(endpoint, call).await;
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
    async fn advance<E: Endpoint>(&mut self, endpoint: &mut E, call: u32) -> Result<(), RunError> {
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
                    let message = (self.member(call, to), tag, self.payload(span));
                    self.mail.send(endpoint, message, owner).await?;
                }
                Act::Broadcast { .. } => unreachable!("planned over messages"),
                Act::Recv { from, .. } => {
                    running.next += 1;
                    let owner = owner(running);
                    let from = Source::From(self.member(call, from));
                    self.mail
                        .recv(endpoint, (from, Wish::Is(tag)), owner)
                        .await?;
                }
            }
        }
    }

    fn payload(&self, span: program::Span) -> Payload {
        self.replay.zeroes(span.bytes as u64)
    }
}
