// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocking collectives.

use std::ffi::c_int;

use super::arguments::Caller;
use super::{Address, Comm, Count, Datatype, Entered, In, Op, call};
use crate::abi::Abi;
use crate::collective::shared::What;
use crate::collective::{Buffers, Call, Meeting, Recalled, RunningCall, Signature, Through};
use crate::engine::Operation;
use crate::error::Result;
use crate::handle::{CommId, OpId, TypeId};
use crate::process::Process;

/// Carries a call out.
pub(super) fn wait(mpi: &mut Entered, call: &Call) -> Result<()> {
    carry_out(mpi, call, None)
}

fn carry_out(mpi: &mut Entered, call: &Call, signature: Option<Signature>) -> Result<()> {
    if let Some(through) = call.through_boards(&mut mpi.process, signature)? {
        return end(mpi, through);
    }
    let mut job = call.job_now(&mut mpi.process)?;
    if mpi.process.engine.transport().carrier().is_none() {
        return mpi.wait(|process| Ok(job.advance(&mut process.engine)?.then_some(())));
    }
    let mut carry = |job: &mut RunningCall, process: &mut Process| job.carry(process, call);
    // What would be begun here first begins where it is carried on.
    if job.will_wait(&mpi.process.engine) {
        mpi.instead(&mut job, &mut carry)?;
    }
    let advance = |job: &mut RunningCall, process: &mut Process| job.advance(&mut process.engine);
    mpi.wait_or(&mut job, advance, carry)
}

#[inline(never)]
fn end(mpi: &mut Entered, mut through: Through) -> Result<()> {
    mpi.wait(|process| Ok(through.advance(process)?.then_some(())))
}

/// Carries out a call that is perhaps known from the time before; else `call` makes it.
#[inline]
fn again(
    mpi: &mut Entered,
    comm: CommId,
    signature: Signature,
    (send, recv): (Address, Address),
    call: impl FnOnce(&Process) -> Result<Call>,
) -> Result<()> {
    let buffers = Buffers {
        send: send.pointer(),
        recv: recv.pointer(),
    };
    // SAFETY: the program's promise for the buffers of this call, which is one of the signature.
    let recalled = unsafe { Recalled::new(&mut mpi.process, comm, &signature, buffers) };
    match recalled {
        Some(Recalled::Lines(mut lines)) => {
            return mpi.wait(|process| Ok(lines.advance(process)?.then_some(())));
        }
        Some(Recalled::Slots(through)) => return end(mpi, through),
        None => {}
    }
    let call = call(&mpi.process)?;
    carry_out(mpi, &call, Some(signature))
}

/// Carries out a call with two sides, which is perhaps known if both have blocks of the same elements.
#[inline]
fn exchange<A: Abi, N: Count>(
    mpi: &mut Entered,
    (name, what): (&'static str, What),
    comm: Comm<A>,
    (send, recv): (Blocks<A, N>, Blocks<A, N>),
    call: impl FnOnce(&Caller<'_>) -> Result<Call>,
) -> Result<()> {
    let call = |process: &Process| call(&Caller::new(process, name, comm)?);
    let signature = Signature {
        what,
        count: recv.1.wide(),
        datatype: recv.2.id(),
        op: OpId::NULL,
        root: 0,
    };
    if (send.1.wide(), send.2.id()) != (signature.count, signature.datatype) {
        let call = call(&mpi.process)?;
        return wait(mpi, &call);
    }
    again(mpi, comm.id(), signature, (send.0, recv.0), call)
}

/// Blocks of so many elements, one after the other.
type Blocks<A, N> = (Address, N, Datatype<A>);

pub fn allgather<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Allgather", comm.id(), |mpi| {
        let (send, recv) = (
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
        );
        exchange(
            mpi,
            ("MPI_Allgather", What::Allgather),
            comm,
            (send, recv),
            |caller| caller.allgather(send, recv),
        )
    })
}

pub fn allgatherv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Allgatherv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Allgatherv", comm)?.allgatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, recvtype),
            displs,
        )?;
        wait(mpi, &call)
    })
}

pub fn allreduce<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Allreduce", comm.id(), |mpi| {
        let signature = Signature {
            what: What::Allreduce,
            count: count.wide(),
            datatype: datatype.id(),
            op: op.id(),
            root: 0,
        };
        again(mpi, comm.id(), signature, (sendbuf, recvbuf), |process| {
            let caller = Caller::new(process, "MPI_Allreduce", comm)?;
            caller.allreduce(sendbuf, recvbuf, (count, datatype, op))
        })
    })
}

pub fn alltoall<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Alltoall", comm.id(), |mpi| {
        let (send, recv) = (
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
        );
        exchange(
            mpi,
            ("MPI_Alltoall", What::Alltoall),
            comm,
            (send, recv),
            |caller| caller.alltoall(send, recv),
        )
    })
}

pub fn alltoallv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Alltoallv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Alltoallv", comm)?.alltoallv(
            (sendbuf, sendcounts, sendtype),
            sdispls,
            (recvbuf, recvcounts, recvtype),
            rdispls,
        )?;
        wait(mpi, &call)
    })
}

pub fn alltoallw<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtypes: In<Datatype<A>>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtypes: In<Datatype<A>>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Alltoallw", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Alltoallw", comm)?.alltoallw(
            (sendbuf, sendcounts, sendtypes),
            sdispls,
            (recvbuf, recvcounts, recvtypes),
            rdispls,
        )?;
        wait(mpi, &call)
    })
}

/// Waits for all ranks, within a call of this name.
#[inline]
pub(super) fn meet<A: Abi>(mpi: &mut Entered, name: &'static str, comm: Comm<A>) -> Result<()> {
    let signature = Signature {
        what: What::Barrier,
        count: 0,
        datatype: TypeId::NULL,
        op: OpId::NULL,
        root: 0,
    };
    let nowhere = (Address::opaque(0), Address::opaque(0));
    again(mpi, comm.id(), signature, nowhere, |process| {
        Caller::new(process, name, comm)?.barrier()
    })
}

pub fn barrier<A: Abi>(comm: Comm<A>) -> c_int {
    const NAME: &str = "MPI_Barrier";
    call::<A>(NAME, comm.id(), |mpi| meet(mpi, NAME, comm))
}

pub fn bcast<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Bcast", comm.id(), |mpi| {
        let signature = Signature {
            what: What::Bcast,
            count: count.wide(),
            datatype: datatype.id(),
            op: OpId::NULL,
            root,
        };
        let buffers = (Address::opaque(0), buffer);
        again(mpi, comm.id(), signature, buffers, |process| {
            Caller::new(process, "MPI_Bcast", comm)?.bcast(buffer, count, datatype, root)
        })
    })
}

pub fn exscan<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Exscan", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Exscan", comm)?.exscan(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        wait(mpi, &call)
    })
}

pub fn gather<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Gather", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Gather", comm)?.gather(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        wait(mpi, &call)
    })
}

pub fn gatherv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Gatherv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Gatherv", comm)?.gatherv(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcounts, recvtype),
            displs,
            root,
        )?;
        wait(mpi, &call)
    })
}

pub fn reduce<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    root: c_int,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Reduce", comm.id(), |mpi| {
        let signature = Signature {
            what: What::Reduce,
            count: count.wide(),
            datatype: datatype.id(),
            op: op.id(),
            root,
        };
        again(mpi, comm.id(), signature, (sendbuf, recvbuf), |process| {
            let caller = Caller::new(process, "MPI_Reduce", comm)?;
            caller.reduce(sendbuf, recvbuf, (count, datatype, op), root)
        })
    })
}

pub fn reduce_scatter<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    recvcounts: In<N>,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Reduce_scatter", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Reduce_scatter", comm)?.reduce_scatter(
            sendbuf,
            recvbuf,
            (recvcounts, datatype, op),
        )?;
        wait(mpi, &call)
    })
}

pub fn reduce_scatter_block<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    recvcount: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Reduce_scatter_block", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Reduce_scatter_block", comm)?
            .reduce_scatter_block(sendbuf, recvbuf, (recvcount, datatype, op))?;
        wait(mpi, &call)
    })
}

pub fn scan<A: Abi, N: Count>(
    sendbuf: Address,
    recvbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Scan", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Scan", comm)?.scan(
            sendbuf,
            recvbuf,
            (count, datatype, op),
        )?;
        wait(mpi, &call)
    })
}

pub fn scatter<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Scatter", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Scatter", comm)?.scatter(
            (sendbuf, sendcount, sendtype),
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        wait(mpi, &call)
    })
}

pub fn scatterv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    displs: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    root: c_int,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Scatterv", comm.id(), |mpi| {
        let call = Caller::new(&mpi.process, "MPI_Scatterv", comm)?.scatterv(
            (sendbuf, sendcounts, sendtype),
            displs,
            (recvbuf, recvcount, recvtype),
            root,
        )?;
        wait(mpi, &call)
    })
}

/// A buffer of a call.
type Elements<A, N> = (Address, N, Datatype<A>);

/// Carries out a call to neighbours that is perhaps the one of the time before; else `call` makes it.
fn meet_neighbours<A: Abi, N: Count>(
    mpi: &mut Entered,
    (name, comm): (&'static str, Comm<A>),
    (send, recv): (Elements<A, N>, Elements<A, N>),
    call: impl FnOnce(&Caller<'_>) -> Result<Call>,
) -> Result<()> {
    let meeting = Meeting {
        name,
        send: (send.1.wide(), send.2.id()),
        recv: (recv.1.wide(), recv.2.id()),
    };
    let buffers = Buffers {
        send: send.0.pointer(),
        recv: recv.0.pointer(),
    };
    // SAFETY: the program's promise for the buffers of this call.
    if let Some(mut run) = unsafe { meeting.again(&mut mpi.process, comm.id(), buffers) } {
        return mpi.wait(|process| Ok(run.advance(&mut process.engine)?.then_some(())));
    }
    let call = call(&Caller::among_neighbours(mpi, name, comm)?)?;
    let mut job = meeting.begin(&mut mpi.process, &call)?;
    mpi.wait(|process| Ok(job.advance(&mut process.engine)?.then_some(())))
}

pub fn neighbor_allgather<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    const NAME: &str = "MPI_Neighbor_allgather";
    let (send, recv) = (
        (sendbuf, sendcount, sendtype),
        (recvbuf, recvcount, recvtype),
    );
    call::<A>(NAME, comm.id(), |mpi| {
        meet_neighbours(mpi, (NAME, comm), (send, recv), |caller| {
            caller.neighbor_allgather(send, recv)
        })
    })
}

pub fn neighbor_allgatherv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    displs: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Neighbor_allgatherv", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_allgatherv", comm)?
            .neighbor_allgatherv(
                (sendbuf, sendcount, sendtype),
                (recvbuf, recvcounts, recvtype),
                displs,
            )?;
        wait(mpi, &call)
    })
}

pub fn neighbor_alltoall<A: Abi, N: Count>(
    sendbuf: Address,
    sendcount: N,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcount: N,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    const NAME: &str = "MPI_Neighbor_alltoall";
    let (send, recv) = (
        (sendbuf, sendcount, sendtype),
        (recvbuf, recvcount, recvtype),
    );
    call::<A>(NAME, comm.id(), |mpi| {
        meet_neighbours(mpi, (NAME, comm), (send, recv), |caller| {
            caller.neighbor_alltoall(send, recv)
        })
    })
}

pub fn neighbor_alltoallv<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtype: Datatype<A>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtype: Datatype<A>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Neighbor_alltoallv", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_alltoallv", comm)?
            .neighbor_alltoallv(
                (sendbuf, sendcounts, sendtype),
                sdispls,
                (recvbuf, recvcounts, recvtype),
                rdispls,
            )?;
        wait(mpi, &call)
    })
}

pub fn neighbor_alltoallw<A: Abi, N: Count, D: Count>(
    sendbuf: Address,
    sendcounts: In<N>,
    sdispls: In<D>,
    sendtypes: In<Datatype<A>>,
    recvbuf: Address,
    recvcounts: In<N>,
    rdispls: In<D>,
    recvtypes: In<Datatype<A>>,
    comm: Comm<A>,
) -> c_int {
    call::<A>("MPI_Neighbor_alltoallw", comm.id(), |mpi| {
        let call = Caller::among_neighbours(mpi, "MPI_Neighbor_alltoallw", comm)?
            .neighbor_alltoallw(
                (sendbuf, sendcounts, sendtypes),
                sdispls,
                (recvbuf, recvcounts, recvtypes),
                rdispls,
            )?;
        wait(mpi, &call)
    })
}
