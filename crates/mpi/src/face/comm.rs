// SPDX-License-Identifier: MIT OR Apache-2.0
//! Communicators: what they are, without making new ones.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::group::compared;
use super::{Comm, Entered, In, Info, Out, attribute, call, handlers, info};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::CommId;

/// Gives a communicator that was duplicated what its model has: attributes, as their keys say, and
/// the topology.
///
/// # Errors
/// That of a function of the program.
pub(super) fn inherit<A: Abi>(mpi: &mut Entered, model: CommId, new: CommId) -> Result<()> {
    if let Some(topology) = mpi.topologies.get(&model).cloned() {
        mpi.topologies.insert(new, topology);
    }
    attribute::copy_all::<A, _>(mpi, model, new)
}

/// Takes from a communicator that goes what it has.
///
/// # Errors
/// That of a function of the program: the communicator stays then.
pub(super) fn disown<A: Abi>(mpi: &mut Entered, comm: CommId) -> Result<()> {
    attribute::delete_all::<A, _>(mpi, comm)?;
    mpi.topologies.remove(&comm);
    handlers::leave(mpi.process.comm(comm)?.errhandler);
    Ok(())
}

pub fn comm_rank<A: Abi>(comm: Comm<A>, rank: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_rank", comm, |mpi| {
        rank.set(mpi.process.comm(comm)?.rank as c_int)
    })
}

pub fn comm_size<A: Abi>(comm: Comm<A>, size: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_size", comm, |mpi| {
        size.set(mpi.process.comm(comm)?.group.size() as c_int)
    })
}

pub fn comm_remote_size<A: Abi>(comm: Comm<A>, size: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_remote_size", comm, |mpi| {
        let remote = mpi.process.comm(comm)?.remote.as_ref();
        let not_one = || Error::new(Class::Comm, "the communicator has no remote group");
        size.set(remote.ok_or_else(not_one)?.size() as c_int)
    })
}

pub fn comm_test_inter<A: Abi>(comm: Comm<A>, flag: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_test_inter", comm, |mpi| {
        flag.set(mpi.process.comm(comm)?.remote.is_some().into())
    })
}

pub fn comm_compare<A: Abi>(one: Comm<A>, other: Comm<A>, result: Out<c_int>) -> c_int {
    let ids = (one.id(), other.id());
    call::<A>("MPI_Comm_compare", ids.0, |mpi| {
        let (one, other) = (mpi.process.comm(ids.0)?, mpi.process.comm(ids.1)?);
        if ids.0 == ids.1 {
            return result.set(A::IDENT);
        }
        let local = compared::<A>(&one.group, &other.group);
        let remote = match (&one.remote, &other.remote) {
            (None, None) => A::IDENT,
            (Some(one), Some(other)) => compared::<A>(one, other),
            _ => A::UNEQUAL,
        };
        // The same processes in another context are congruent.
        let order = [A::CONGRUENT, A::SIMILAR, A::UNEQUAL];
        let place = |found| order.iter().position(|&it| it == found).unwrap_or(0);
        result.set(order[place(local).max(place(remote))])
    })
}

pub fn comm_set_name<A: Abi>(comm: Comm<A>, name: In<c_char>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_set_name", comm, |mpi| {
        mpi.process.comm(comm)?;
        let name = name.string()?;
        if let Some(comm) = mpi.process.comms.get_mut(comm) {
            comm.name = name;
        }
        Ok(())
    })
}

pub fn comm_get_name<A: Abi>(comm: Comm<A>, name: Out<c_char>, length: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_get_name", comm, |mpi| {
        let room = A::MAX_OBJECT_NAME as usize;
        let text = match comm {
            CommId::NULL => "MPI_COMM_NULL",
            _ => &mpi.process.comm(comm)?.name,
        };
        length.set(name.set_string(text, room)? as c_int)
    })
}

pub fn comm_set_info<A: Abi>(comm: Comm<A>, info: Info<A>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_set_info", comm, |mpi| {
        // No key has a meaning for communicators here; they are kept for who asks.
        let new = info::pairs(info.id())?;
        info::keep(&mut mpi.process.comm_mut(comm)?.hints, new);
        Ok(())
    })
}

pub fn comm_get_info<A: Abi>(comm: Comm<A>, info: Out<Info<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_get_info", comm, |mpi| {
        let hints = mpi.process.comm(comm)?.hints.clone();
        info.set(Info::of(info::make(hints)?))
    })
}

pub fn comm_get_parent<A: Abi>(parent: Out<Comm<A>>) -> c_int {
    call::<A>("MPI_Comm_get_parent", CommId::SELF, |mpi| {
        parent.set(Comm::of(mpi.parent))
    })
}
