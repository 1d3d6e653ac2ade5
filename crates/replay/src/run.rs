// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program of messages that does what a call graph says.
//!
//! A rank that can do nothing waits for the first of its messages to end. While it computes it does nothing
//! else. Where several ranks share a core they take turns, as those of MPI programs do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use corecast_core::{Rank, Time};
use corecast_exchange::FileError;
use corecast_machine::{
    Blocked, CallLog, CoreLog, Endpoint, Payload, Program, ProgramRun, Programs, ResidentLog,
    RunError, RunOptions, Sharing, Source, Stretches, Tag, by_rank,
};
use corecast_mpi::collective::Settings;

use crate::collective::{self, Plans, TAG_BIT, Taken};
use crate::graph::{Call, CallGraph, What};
use crate::mail::Mail;
use crate::matching::{Owner, Wish};
use crate::rank::{OnRank, Post};
use crate::shared::{self, Waits};
use crate::stuck::StuckCall;

/// Why a program has not come to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Stopped {
    /// What ended it.
    pub error: RunError,
    /// Ranks that were waiting then, those that wait for each other in a circle first.
    pub stuck: Vec<StuckCall>,
}

/// A checked program, ready to run on any machine that runs programs of messages.
#[derive(Debug)]
pub struct Replay<'a> {
    pub(crate) graph: &'a CallGraph,
    pub(crate) plans: Plans,
    /// Which ranks share a core.
    pub(crate) sharing: Sharing,
    /// Numbers on the way of the program's tags, by group and tag, and the group of each.
    pub(crate) tags: BTreeMap<(u32, u32), u32>,
    pub(crate) groups: Vec<u32>,
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
            sharing: Sharing::new(graph.size(), 1),
            plans: collective::plan(graph, settings)?,
            tags,
            groups,
            zeroes: Mutex::default(),
        })
    }

    /// The same, of whose ranks every core has `per_core`.
    ///
    /// # Panics
    /// As [`Sharing::new`].
    #[must_use]
    pub fn sharing(self, per_core: u32) -> Self {
        Self {
            sharing: Sharing::new(self.graph.size(), per_core),
            ..self
        }
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

    /// Runs it on a machine, which needs a core for those ranks that share one.
    ///
    /// # Errors
    /// What ended it, with the calls that were waiting.
    pub fn run<M: Programs>(
        &self,
        machine: &M,
        options: &RunOptions,
    ) -> Result<ProgramRun<CallLog>, Stopped> {
        let (sharing, waits) = (self.sharing, Waits::default());
        let on_cores = OnCores {
            replay: self,
            waits: &waits,
        };
        let run = machine.run_programs(sharing.cores(), &on_cores, options);
        let run = run.map_err(|error| Stopped {
            stuck: match &error {
                RunError::Deadlock { blocked, .. }
                | RunError::TimeLimit { blocked, .. }
                | RunError::EventLimit { blocked, .. } => match sharing.is_alone() {
                    true => self.stuck(blocked),
                    false => self.stuck(&waits.circle_first()),
                },
                _ => Vec::new(),
            },
            error,
        })?;
        Ok(by_rank(run, sharing))
    }

    fn stuck(&self, blocked: &[Blocked]) -> Vec<StuckCall> {
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

/// What a core does: one program, whatever ranks it has.
struct OnCores<'a> {
    replay: &'a Replay<'a>,
    /// What ranks wait for that share cores.
    waits: &'a Waits,
}

impl Program for OnCores<'_> {
    type Output = CoreLog<CallLog>;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<CoreLog<CallLog>, RunError> {
        if !self.replay.sharing.is_alone() {
            return shared::run(self.replay, endpoint, self.waits).await;
        }
        let output = alone(self.replay, endpoint).await?;
        let of_rank = ResidentLog {
            output,
            finish: endpoint.now(),
            waits: Stretches::default(),
        };
        Ok(CoreLog {
            ranks: vec![of_rank],
            ..CoreLog::default()
        })
    }

    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let is_listening = match self.replay.sharing.is_alone() {
            true => {
                let calls = &self.replay.graph.ranks[endpoint.rank().index()];
                endpoint.at_call(calls.len());
                self.replay.listens(calls)
            }
            false => true,
        };
        match endpoint.finish().await {
            Err(RunError::NotWaitedFor { .. }) if is_listening => Ok(()),
            ended => ended,
        }
    }
}

/// Runs the rank that has a core to itself.
async fn alone<E: Endpoint>(replay: &Replay<'_>, endpoint: &mut E) -> Result<CallLog, RunError> {
    let rank = endpoint.rank();
    let is_listening = replay.listens(&replay.graph.ranks[rank.index()]);
    let mut of_rank = OnRank::new(replay, rank);
    let mut post = Alone {
        replay,
        endpoint,
        mail: Mail::new(&replay.groups, is_listening),
    };
    loop {
        let since = post.now();
        let call = match of_rank.next() {
            Some(call) => {
                post.endpoint.at_call(call as usize);
                of_rank.begin(&mut post, call).await?;
                call
            }
            None => {
                let Some(call) = post.mail.awaited() else {
                    break;
                };
                post.endpoint.at_call(call as usize);
                let Some(ended) = post.mail.next(post.endpoint).await? else {
                    break;
                };
                of_rank.ended(&mut post, &ended).await?;
                call
            }
        };
        of_rank.enter(call, since, post.now());
    }
    Ok(of_rank.into_log())
}

/// Messages of a rank with a core to itself.
struct Alone<'p, 'r, E> {
    replay: &'p Replay<'r>,
    endpoint: &'p mut E,
    mail: Mail<'p>,
}

impl<E: Endpoint> Post for Alone<'_, '_, E> {
    fn now(&self) -> Time {
        self.endpoint.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.endpoint.compute(time).await
    }

    async fn send(
        &mut self,
        (to, tag, bytes): (Rank, Tag, u64),
        owner: (Owner, bool),
    ) -> Result<(), RunError> {
        let message = (to, tag, self.replay.zeroes(bytes));
        self.mail.send(self.endpoint, message, owner).await
    }

    async fn recv(&mut self, wanted: (Source, Wish), owner: (Owner, bool)) -> Result<(), RunError> {
        self.mail.recv(self.endpoint, wanted, owner).await
    }
}
