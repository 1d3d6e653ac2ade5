// SPDX-License-Identifier: MIT OR Apache-2.0
//! Non-blocking collectives.

use std::ffi::c_int;

use super::arguments::Caller;
use super::{Address, Comm, Count, Datatype, Entered, In, Op, Out, Request, call};
use crate::abi::Abi;
use crate::collective::Call;
use crate::error::Result;

/// Begins a call; it goes on whenever the library is entered.
fn begin<A: Abi>(mpi: &mut Entered, call: &Call, request: Out<Request<A>>) -> Result<()> {
    let job = call.job(&mut mpi.process)?;
    let begun = mpi.process.start_operation(call.comm, Box::new(job))?;
    request.set(Request::of(begun))
}

pub fn iallgather<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iallgather", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iallgather", comm)?.allgather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
        )?;
        begin(mpi, &call, request)
    })
}

pub fn iallgatherv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iallgatherv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iallgatherv", comm)?.allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, recvtype),
            displs,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn iallreduce<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iallreduce", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iallreduce", comm)?.allreduce(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ialltoall<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ialltoall", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ialltoall", comm)?.alltoall(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ialltoallv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ialltoallv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ialltoallv", comm)?.alltoallv(
            (sendbuf, sendcounts, sendtype),
            sdispls,
            (recvbuf, recvcounts, recvtype),
            rdispls,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ialltoallw<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtypes: In<Datatype<A>>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtypes: In<Datatype<A>>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ialltoallw", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ialltoallw", comm)?.alltoallw(
            (sendbuf, sendcounts, sendtypes),
            sdispls,
            (recvbuf, recvcounts, recvtypes),
            rdispls,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ibarrier<A: Abi>(comm: Comm<A>, request: Out<Request<A>>) -> c_int {
    call::<A>("MPI_Ibarrier", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ibarrier", comm)?.barrier()?;
        begin(mpi, &call, request)
    })
}

pub fn ibcast<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ibcast", comm.id(), |mpi| {
        let call =
            Caller::new(&mpi.process, "MPI_Ibcast", comm)?.bcast(buffer, count, datatype, root)?;
        begin(mpi, &call, request)
    })
}

pub fn iexscan<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iexscan", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iexscan", comm)?.exscan(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        begin(mpi, &call, request)
    })
}

pub fn igather<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Igather", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Igather", comm)?.gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn igatherv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Igatherv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Igatherv", comm)?.gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, recvtype),
            displs,
            root,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ireduce<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    root: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ireduce", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ireduce", comm)?.reduce(
            sendbuf,
            recvbuf,
            (count, datatype, op),
            root,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ireduce_scatter<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    recvcounts: In<N>,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ireduce_scatter", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ireduce_scatter", comm)?.reduce_scatter(
            sendbuf,
            recvbuf,
            (recvcounts, datatype, op),
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ireduce_scatter_block<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    recvcount: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ireduce_scatter_block", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Ireduce_scatter_block", comm)?
            .reduce_scatter_block(sendbuf, recvbuf, (recvcount, datatype, op))?;
        begin(mpi, &call, request)
    })
}

pub fn iscan<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iscan", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iscan", comm)?.scan(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        begin(mpi, &call, request)
    })
}

pub fn iscatter<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iscatter", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iscatter", comm)?.scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn iscatterv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    displs: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Iscatterv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Iscatterv", comm)?.scatterv(
            (sendbuf, sendcounts, sendtype),
            displs,
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        begin(mpi, &call, request)
    })
}

pub fn ineighbor_allgather<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ineighbor_allgather", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Ineighbor_allgather", comm)?
            .neighbor_allgather(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcount, recvtype),
            )?;
        begin(mpi, &call, request)
    })
}

pub fn ineighbor_allgatherv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ineighbor_allgatherv", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Ineighbor_allgatherv", comm)?
            .neighbor_allgatherv(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcounts, recvtype),
                displs,
            )?;
        begin(mpi, &call, request)
    })
}

pub fn ineighbor_alltoall<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ineighbor_alltoall", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Ineighbor_alltoall", comm)?
            .neighbor_alltoall(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcount, recvtype),
            )?;
        begin(mpi, &call, request)
    })
}

pub fn ineighbor_alltoallv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ineighbor_alltoallv", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Ineighbor_alltoallv", comm)?
            .neighbor_alltoallv(
                (sendbuf, sendcounts, sendtype),
                sdispls,
                (recvbuf, recvcounts, recvtype),
                rdispls,
            )?;
        begin(mpi, &call, request)
    })
}

pub fn ineighbor_alltoallw<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtypes: In<Datatype<A>>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtypes: In<Datatype<A>>,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Ineighbor_alltoallw", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Ineighbor_alltoallw", comm)?
            .neighbor_alltoallw(
                (sendbuf, sendcounts, sendtypes),
                sdispls,
                (recvbuf, recvcounts, recvtypes),
                rdispls,
            )?;
        begin(mpi, &call, request)
    })
}
