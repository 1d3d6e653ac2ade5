// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank's library: its transport and its objects.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::collective::lane::{Lane, Lanes};
use crate::collective::{Contexts, Tally, Unsettled};
use crate::comm::{CONTEXTS, Communicator};
use crate::datatype::Type;
use crate::engine::Engine;
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::{CommId, GroupId, MessageId, OpId, RequestId, TypeId};
use crate::op::{Op, Predefined};
use crate::pt2pt::{Attached, Holder, Probed};
use crate::request::{Operations, Request};
use crate::rma::Windows;
use crate::status::Status;
use crate::table::Table;
use crate::transport::{Transport, Wanted};

/// One rank's library. See the documentation of the crate.
pub struct Process {
    /// Its messages.
    pub engine: Engine,
    /// Communicators.
    pub comms: Table<CommId, Communicator>,
    /// Groups.
    pub groups: Table<GroupId, Group>,
    /// Contexts for communicators that are made.
    pub contexts: Contexts,
    /// Shares of the boards for them.
    pub lanes: Lanes,
    /// Those that have no context yet.
    pub(crate) unsettled: Unsettled,
    /// Shares of the boards of those that were freed, with what waits for their other ranks.
    pub(crate) parting: Vec<(RequestId, Lane)>,
    /// Datatypes.
    pub types: Table<TypeId, Arc<Type>>,
    /// Operators of reductions.
    pub ops: Table<OpId, Arc<Op>>,
    pub(crate) requests: Table<RequestId, Request>,
    /// The one of all requests that are complete with nothing to tell.
    pub(crate) complete: RequestId,
    /// Requests under way that the program has forgotten.
    pub(crate) orphans: Vec<Request>,
    /// Number of the next buffered send.
    pub(crate) buffered_begun: u64,
    pub(crate) operations: Operations,
    /// Number of the next partitioned message that this process sends.
    pub(crate) partitioned: i32,
    pub(crate) messages: Table<MessageId, Probed>,
    /// Source, tag and communicator of the message that a call waits to see, and does not receive.
    pub(crate) probing: Option<(i32, i32, CommId)>,
    pub(crate) attached: Vec<(Holder, Attached)>,
    /// Windows.
    pub wins: Windows,
    /// Which ways collective calls have gone.
    pub tally: Tally,
}

impl Process {
    /// The library of the rank that this transport is for.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>) -> Self {
        let (rank, series) = (transport.rank(), transport.series());
        let first = transport.first();
        let group = Group::new((first..first + transport.ranks()).collect());
        let mut engine = Engine::new(transport);
        let mut world = Communicator::new(0, group, rank - first, "MPI_COMM_WORLD");
        if let Some(boards) = engine.transport().boards() {
            world.collectives.lane = Lane::new(boards, &world.group, world.rank, (0, 0));
        }
        let comms = [
            (CommId::WORLD, world),
            (
                CommId::SELF,
                Communicator::new(CONTEXTS, Group::new(vec![rank]), 0, "MPI_COMM_SELF"),
            ),
        ];
        let mut requests = Table::new();
        let complete = requests.insert(Request::done(CommId::SELF, Status::EMPTY));
        Self {
            unsettled: Unsettled::new(),
            parting: Vec::new(),
            lanes: Lanes::new(engine.transport().boards()),
            engine,
            comms: Table::with(comms),
            groups: Table::with([(GroupId::EMPTY, Group::new(Vec::new()))]),
            contexts: Contexts::new(series),
            types: Table::with(Type::all_named().map(|named| (named.handle(), Arc::new(named)))),
            ops: Table::with(
                Predefined::ALL.map(|op| (OpId(op as u32), Arc::new(Op::predefined(op)))),
            ),
            requests,
            complete: complete.expect("the first of many"),
            orphans: Vec::new(),
            buffered_begun: 0,
            operations: Operations::default(),
            partitioned: 0,
            messages: Table::new(),
            probing: None,
            attached: Vec::new(),
            wins: Windows::default(),
            tally: Tally::default(),
        }
    }

    /// What this rank waits for, for who reads of a deadlock. Messages of collectives have no tag that
    /// the program knows.
    #[must_use]
    pub fn waits_for(&self) -> Vec<Wanted> {
        let name = |(context, wanted): (u32, Wanted)| {
            let predefined = [CommId::WORLD, CommId::SELF];
            let predefined = predefined
                .into_iter()
                .filter_map(|comm| self.comms.get(comm));
            let mut comms = predefined.chain(self.comms.dynamic().map(|(_, comm)| comm));
            let of = comms.find(|comm| (comm.context..comm.context + CONTEXTS).contains(&context));
            let comm = match of {
                None => "a communicator that was freed".to_owned(),
                // Its number is the same at all of its ranks: two of them may wait in different ones.
                Some(comm) if comm.name.is_empty() => {
                    let number = comm.context / CONTEXTS;
                    format!("communicator {number} of {} ranks", comm.group.size())
                }
                Some(comm) => comm.name.clone(),
            };
            let is_of_program = of.is_none_or(|comm| comm.context == context);
            Wanted {
                comm,
                tag: wanted.tag.filter(|_| is_of_program),
                ..wanted
            }
        };
        let probed = self.probing.and_then(|probing| self.probed(probing));
        let wanted = probed.into_iter().chain(self.engine.waits_for());
        wanted.map(name).collect()
    }

    /// A communicator.
    ///
    /// # Errors
    /// [`Class::Comm`] if there is none of this handle.
    #[inline]
    pub fn comm(&self, comm: CommId) -> Result<&Communicator> {
        self.comms.get(comm).ok_or_else(|| no_comm(comm))
    }

    /// A datatype, committed or not.
    ///
    /// # Errors
    /// [`Class::Type`] if there is none of this handle.
    #[inline]
    pub fn datatype(&self, datatype: TypeId) -> Result<&Arc<Type>> {
        self.types.get(datatype).ok_or_else(|| no_type(datatype))
    }

    /// A datatype that messages can be of.
    ///
    /// # Errors
    /// [`Class::Type`] if there is none of this handle, or it is not committed.
    #[inline]
    pub fn committed(&self, datatype: TypeId) -> Result<&Arc<Type>> {
        let found = self.datatype(datatype)?;
        match found.is_committed() {
            true => Ok(found),
            false => Err(not_committed(found)),
        }
    }

    /// An operator.
    ///
    /// # Errors
    /// [`Class::Op`] if there is none of this handle.
    #[inline]
    pub fn op(&self, op: OpId) -> Result<&Arc<Op>> {
        self.ops.get(op).ok_or_else(|| no_op(op))
    }
}

#[cold]
fn no_op(op: OpId) -> Error {
    let what = match op {
        OpId::NULL => "the operator is MPI_OP_NULL".to_owned(),
        OpId(number) => format!("there is no operator of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Op, what)
}

#[cold]
fn no_type(datatype: TypeId) -> Error {
    let what = match datatype {
        TypeId::NULL => "the datatype is MPI_DATATYPE_NULL".to_owned(),
        TypeId(number) => format!("there is no datatype of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Type, what)
}

#[cold]
fn not_committed(datatype: &Type) -> Error {
    let name = match datatype.name() {
        "" => format!("of handle {:#x}", datatype.handle().0),
        name => name.to_owned(),
    };
    let what = format!("the datatype {name} is not committed; call MPI_Type_commit first");
    Error::new(Class::Type, what)
}

#[cold]
fn no_comm(comm: CommId) -> Error {
    let what = match comm {
        CommId::NULL => "the communicator is MPI_COMM_NULL".to_owned(),
        CommId(number) => format!("there is no communicator of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Comm, what)
}
