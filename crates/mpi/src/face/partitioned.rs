// SPDX-License-Identifier: MIT OR Apache-2.0
//! Partitioned messages.
#![forbid(unsafe_code)]

use std::ffi::c_int;
use std::sync::Arc;

use super::requests::call_request;
use super::{Address, Comm, Count, Datatype, Entered, In, Info, Out, Request, call, info};
use crate::abi::Abi;
use crate::error::Result;
use crate::partitioned::Partitioned;
use crate::pt2pt::Prepared;

fn init<A: Abi, N: Count>(
    name: &'static str,
    (address, partitions, count, datatype): (Address, c_int, N, Datatype<A>),
    (peer, tag, comm): (c_int, c_int, Comm<A>),
    hints: Info<A>,
    (request, is_send): (Out<Request<A>>, bool),
) -> c_int {
    let comm = comm.id();
    call::<A>(name, comm, |mpi| {
        info::check(hints.id())?;
        let part = address.buffer(count, datatype.id())?;
        let parts = (part, partitions.count()?);
        let to = (A::peer(peer), A::tag(tag), comm);
        let message = Partitioned::new(&mut mpi.process, parts, to, is_send)?;
        let prepared = Prepared::Operation(Arc::new(message));
        request.set(Request::of(mpi.process.prepare(comm, prepared)?))
    })
}

pub fn psend_init<A: Abi, N: Count>(
    buffer: Address,
    partitions: c_int,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    hints: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    let parts = (buffer, partitions, count, datatype);
    let to = (dest, tag, comm);
    init::<A, N>("MPI_Psend_init", parts, to, hints, (request, true))
}

pub fn precv_init<A: Abi, N: Count>(
    buffer: Address,
    partitions: c_int,
    count: N,
    datatype: Datatype<A>,
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    hints: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    let parts = (buffer, partitions, count, datatype);
    let from = (source, tag, comm);
    init::<A, N>("MPI_Precv_init", parts, from, hints, (request, false))
}

/// Parts are ready.
fn ready<A: Abi>(
    mpi: &mut Entered,
    request: Request<A>,
    parts: impl IntoIterator<Item = c_int>,
) -> Result<()> {
    let all = mpi.process.partitions(request.id())?;
    for part in parts {
        all.set_ready(part)?;
    }
    mpi.process.progress().map(|_| ())
}

pub fn pready<A: Abi>(partition: c_int, request: Request<A>) -> c_int {
    call_request::<A>("MPI_Pready", |mpi, _| ready(mpi, request, [partition]))
}

pub fn pready_range<A: Abi>(low: c_int, high: c_int, request: Request<A>) -> c_int {
    call_request::<A>("MPI_Pready_range", |mpi, _| ready(mpi, request, low..=high))
}

pub fn pready_list<A: Abi>(length: c_int, parts: In<c_int>, request: Request<A>) -> c_int {
    call_request::<A>("MPI_Pready_list", |mpi, _| {
        ready(mpi, request, parts.slice(length.count()?)?.iter().copied())
    })
}

pub fn parrived<A: Abi>(request: Request<A>, partition: c_int, flag: Out<c_int>) -> c_int {
    call_request::<A>("MPI_Parrived", |mpi, _| {
        let id = request.id();
        let arrived = mpi.look(|process| {
            let has = process.partitions(id)?.has_arrived(partition)?;
            Ok(has.then_some(()))
        })?;
        flag.set(arrived.is_some().into())
    })
}
