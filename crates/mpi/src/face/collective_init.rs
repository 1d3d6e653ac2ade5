// SPDX-License-Identifier: MIT OR Apache-2.0
//! Persistent collectives.

use std::ffi::c_int;
use std::sync::Arc;

use super::arguments::Caller;
use super::{Address, Comm, Count, Datatype, Entered, In, Info, Op, Out, Request, call};
use crate::abi::Abi;
use crate::collective::{Call, Persistent};
use crate::error::Result;
use crate::pt2pt::Prepared;

/// A call that `MPI_Start` begins.
fn prepare<A: Abi>(mpi: &mut Entered, call: Call, request: Out<Request<A>>) -> Result<()> {
    let comm = call.comm;
    let persistent = Persistent::new(&mut mpi.process, call)?;
    let prepared = Prepared::Operation(Arc::new(persistent));
    let made = mpi.process.prepare(comm, prepared)?;
    request.set(Request::of(made))
}

pub fn allgather_init<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Allgather_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Allgather_init", comm)?.allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
        )?;
        prepare(mpi, call, request)
    })
}

pub fn allgatherv_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Allgatherv_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Allgatherv_init", comm)?.allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, recvtype),
            displs,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn allreduce_init<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Allreduce_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Allreduce_init", comm)?.allreduce(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        prepare(mpi, call, request)
    })
}

pub fn alltoall_init<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Alltoall_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Alltoall_init", comm)?.alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
        )?;
        prepare(mpi, call, request)
    })
}

pub fn alltoallv_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Alltoallv_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Alltoallv_init", comm)?.alltoallv(
            (sendbuf, sendcounts, sendtype),
            sdispls,
            (recvbuf, recvcounts, recvtype),
            rdispls,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn alltoallw_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtypes: In<Datatype<A>>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtypes: In<Datatype<A>>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Alltoallw_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Alltoallw_init", comm)?.alltoallw(
            (sendbuf, sendcounts, sendtypes),
            sdispls,
            (recvbuf, recvcounts, recvtypes),
            rdispls,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn barrier_init<A: Abi>(comm: Comm<A>, _info: Info<A>, request: Out<Request<A>>) -> c_int {
    call::<A>("MPI_Barrier_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Barrier_init", comm)?.barrier()?;
        prepare(mpi, call, request)
    })
}

pub fn bcast_init<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Bcast_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Bcast_init", comm)?
            .bcast(buffer, count, datatype, root)?;
        prepare(mpi, call, request)
    })
}

pub fn exscan_init<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Exscan_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Exscan_init", comm)?.exscan(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        prepare(mpi, call, request)
    })
}

pub fn gather_init<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Gather_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Gather_init", comm)?.gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn gatherv_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Gatherv_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Gatherv_init", comm)?.gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, recvtype),
            displs,
            root,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn reduce_init<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    root: c_int,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Reduce_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Reduce_init", comm)?.reduce(
            sendbuf,
            recvbuf,
            (count, datatype, op),
            root,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn reduce_scatter_init<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    recvcounts: In<N>,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Reduce_scatter_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Reduce_scatter_init", comm)?.reduce_scatter(
            sendbuf,
            recvbuf,
            (recvcounts, datatype, op),
        )?;
        prepare(mpi, call, request)
    })
}

pub fn reduce_scatter_block_init<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    recvcount: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Reduce_scatter_block_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Reduce_scatter_block_init", comm)?
            .reduce_scatter_block(sendbuf, recvbuf, (recvcount, datatype, op))?;
        prepare(mpi, call, request)
    })
}

pub fn scan_init<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Scan_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Scan_init", comm)?.scan(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        prepare(mpi, call, request)
    })
}

pub fn scatter_init<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Scatter_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Scatter_init", comm)?.scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn scatterv_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    displs: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Scatterv_init", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Scatterv_init", comm)?.scatterv(
            (sendbuf, sendcounts, sendtype),
            displs,
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        prepare(mpi, call, request)
    })
}

pub fn neighbor_allgather_init<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Neighbor_allgather_init", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_allgather_init", comm)?
            .neighbor_allgather(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcount, recvtype),
            )?;
        prepare(mpi, call, request)
    })
}

pub fn neighbor_allgatherv_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Neighbor_allgatherv_init", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_allgatherv_init", comm)?
            .neighbor_allgatherv(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcounts, recvtype),
                displs,
            )?;
        prepare(mpi, call, request)
    })
}

pub fn neighbor_alltoall_init<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Neighbor_alltoall_init", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_alltoall_init", comm)?
            .neighbor_alltoall(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcount, recvtype),
            )?;
        prepare(mpi, call, request)
    })
}

pub fn neighbor_alltoallv_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Neighbor_alltoallv_init", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_alltoallv_init", comm)?
            .neighbor_alltoallv(
                (sendbuf, sendcounts, sendtype),
                sdispls,
                (recvbuf, recvcounts, recvtype),
                rdispls,
            )?;
        prepare(mpi, call, request)
    })
}

pub fn neighbor_alltoallw_init<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtypes: In<Datatype<A>>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtypes: In<Datatype<A>>,
    comm: Comm<A>,
    _info: Info<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Neighbor_alltoallw_init", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_alltoallw_init", comm)?
            .neighbor_alltoallw(
                (sendbuf, sendcounts, sendtypes),
                sdispls,
                (recvbuf, recvcounts, recvtypes),
                rdispls,
            )?;
        prepare(mpi, call, request)
    })
}
