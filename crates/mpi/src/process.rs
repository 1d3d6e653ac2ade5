//! One rank's library: its transport and its objects.
#![forbid(unsafe_code)]

use crate::comm::Communicator;
use crate::engine::Engine;
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::{CommId, GroupId};
use crate::table::Table;
use crate::transport::Transport;

/// One rank's library. See the documentation of the crate.
pub struct Process {
    /// Its messages.
    pub engine: Engine,
    /// Communicators.
    pub comms: Table<CommId, Communicator>,
    /// Groups.
    pub groups: Table<GroupId, Group>,
}

impl Process {
    /// The library of the rank that this transport is for.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>) -> Self {
        let (rank, ranks) = (transport.rank(), transport.ranks());
        let world = Group::new((0..ranks).collect());
        let comms = [
            (
                CommId::WORLD,
                Communicator::new(0, world, rank, "MPI_COMM_WORLD"),
            ),
            (
                CommId::SELF,
                Communicator::new(2, Group::new(vec![rank]), 0, "MPI_COMM_SELF"),
            ),
        ];
        Self {
            engine: Engine::new(transport),
            comms: Table::with(comms),
            groups: Table::with([(GroupId::EMPTY, Group::new(Vec::new()))]),
        }
    }

    /// A communicator.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle.
    #[inline]
    pub fn comm(&self, comm: CommId) -> Result<&Communicator> {
        self.comms.get(comm).ok_or_else(|| no_comm(comm))
    }
}

#[cold]
fn no_comm(comm: CommId) -> Error {
    let what = match comm {
        CommId::NULL => "the communicator is MPI_COMM_NULL".to_owned(),
        CommId(number) => format!("there is no communicator of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Comm, what)
}
