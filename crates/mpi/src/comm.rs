// SPDX-License-Identifier: MIT OR Apache-2.0
//! Communicators.
#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};

use crate::collective::{Settings, State};
use crate::group::Group;
use crate::handle::{CommId, ErrhandlerId};

/// Contexts that a communicator has: for messages of the program, its collectives, partitioned messages,
/// and what windows tell each other.
pub const CONTEXTS: u32 = 4;

/// A context and the group of processes that share it.
#[derive(Debug)]
pub struct Communicator {
    /// Distinguishes its messages from those of all others: the first of `CONTEXTS` in a row.
    pub context: u32,
    /// Who is in it.
    pub group: Group,
    /// The other group, if it is an intercommunicator.
    pub remote: Option<Group>,
    /// This process' rank in `group`.
    pub rank: u32,
    /// What is done about errors.
    pub errhandler: ErrhandlerId,
    /// Its name.
    pub name: String,
    /// Hints of the program.
    pub hints: Vec<(String, String)>,
    /// Its collectives.
    pub collectives: State,
    /// Both groups of an intercommunicator, that with the smaller first process first, so that all of
    /// them number all of them alike; of others the group.
    everybody: Group,
    /// Its handle since it was freed: its persistent calls go on.
    pub(crate) kept_as: Arc<OnceLock<CommId>>,
}

impl Communicator {
    /// A communicator of this group.
    #[must_use]
    pub fn new(context: u32, group: Group, rank: u32, name: &str) -> Self {
        Self {
            context,
            everybody: group.clone(),
            group,
            remote: None,
            rank,
            errhandler: ErrhandlerId::ARE_FATAL,
            name: name.to_owned(),
            hints: Vec::new(),
            collectives: State::new(Settings::of_environment()),
            kept_as: Arc::default(),
        }
    }

    /// As it is, with another group to speak to.
    #[must_use]
    pub fn with_remote(mut self, remote: Option<Group>) -> Self {
        self.everybody = everybody(&self.group, remote.as_ref());
        self.remote = remote;
        self
    }

    /// The context of its collectives.
    #[must_use]
    pub fn collective_context(&self) -> u32 {
        self.context + 1
    }

    /// The context of its partitioned messages.
    #[must_use]
    pub fn partitioned_context(&self) -> u32 {
        self.context + 2
    }

    /// The context of what windows over it tell each other.
    #[must_use]
    pub fn window_context(&self) -> u32 {
        self.context + 3
    }

    /// Whom messages are sent to: the group, or the other one of an intercommunicator.
    #[must_use]
    pub fn peers(&self) -> &Group {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// All processes, of both groups if there are two, in the same order everywhere.
    #[must_use]
    pub fn everybody(&self) -> &Group {
        &self.everybody
    }

    /// This process among [`Communicator::everybody`], and how many they are.
    #[must_use]
    pub fn place(&self) -> (u32, u32) {
        let all = self.everybody.size() as u32;
        (self.first_local() + self.rank, all)
    }

    /// The place of the first process of this group among everybody.
    #[must_use]
    pub fn first_local(&self) -> u32 {
        match &self.remote {
            Some(remote) if is_first(remote, &self.group) => remote.size() as u32,
            _ => 0,
        }
    }

    /// The place of the first process of the other group among everybody.
    #[must_use]
    pub fn first_remote(&self) -> u32 {
        match &self.remote {
            Some(remote) if is_first(remote, &self.group) => 0,
            _ => self.group.size() as u32,
        }
    }
}

fn is_first(one: &Group, other: &Group) -> bool {
    one.world_ranks().first() < other.world_ranks().first()
}

/// The processes of one or two groups, in an order that both know.
#[must_use]
pub fn everybody(group: &Group, remote: Option<&Group>) -> Group {
    let Some(remote) = remote else {
        return group.clone();
    };
    let (first, second) = match is_first(remote, group) {
        true => (remote, group),
        false => (group, remote),
    };
    Group::new([first.world_ranks(), second.world_ranks()].concat())
}
