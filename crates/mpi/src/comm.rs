//! Communicators.
#![forbid(unsafe_code)]

use crate::collective::{Settings, State};
use crate::group::Group;
use crate::handle::ErrhandlerId;

/// A context and the group of processes that share it.
#[derive(Debug)]
pub struct Communicator {
    /// Distinguishes its messages from those of all others; collectives use `context + 1`.
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
    /// Its collectives.
    pub collectives: State,
}

impl Communicator {
    /// A communicator of this group.
    #[must_use]
    pub fn new(context: u32, group: Group, rank: u32, name: &str) -> Self {
        Self {
            context,
            group,
            remote: None,
            rank,
            errhandler: ErrhandlerId::ARE_FATAL,
            name: name.to_owned(),
            collectives: State::new(Settings::of_environment()),
        }
    }

    /// Whom messages are sent to: the group, or the other one of an intercommunicator.
    #[must_use]
    pub fn peers(&self) -> &Group {
        self.remote.as_ref().unwrap_or(&self.group)
    }
}
