//! Communicators: what they are, without making new ones.

use std::ffi::c_int;

use super::{Comm, Out, call};
use crate::abi::Abi;

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
