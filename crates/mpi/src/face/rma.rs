// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done in the memory of others: put, get, and accumulates.

use std::ffi::c_int;

use super::{Address, Count, Datatype, Op, Out, Request, Win, call};
use crate::abi::Abi;
use crate::buffer::Buffer;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, OpId, RequestId, TypeId};
use crate::process::Process;
use crate::rma::{Awaiting, Remote};

fn remote<A: Abi, N: Count>(
    rank: c_int,
    displacement: isize,
    (count, datatype): (N, Datatype<A>),
) -> Result<Remote> {
    Ok(Remote {
        rank: A::peer(rank),
        displacement: displacement as i64,
        count: count.count()?,
        datatype: datatype.id(),
    })
}

/// The request of something that is replied, or done.
fn request_of(process: &mut Process, awaiting: Option<Awaiting>) -> Result<RequestId> {
    let operation: Box<dyn crate::engine::Operation> = match awaiting {
        Some(awaiting) => Box::new(awaiting),
        None => Box::new(Nothing),
    };
    process.start_operation(CommId::SELF, operation)
}

/// What is done already.
struct Nothing;

impl crate::engine::Operation for Nothing {
    fn advance(&mut self, _engine: &mut crate::engine::Engine) -> Result<bool> {
        Ok(true)
    }
}

pub fn put<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    win: Win<A>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Put", win, |mpi| {
        let buffer = origin.buffer(origin_count, origin_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        mpi.process.put(win, &buffer, &remote)
    })
}

pub fn rput<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    win: Win<A>,
    request: Out<Request<A>>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Rput", win, |mpi| {
        let buffer = origin.buffer(origin_count, origin_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        mpi.process.put(win, &buffer, &remote)?;
        // The buffer may be used again: the data are there, or in a message.
        request.set(Request::of(request_of(&mut mpi.process, None)?))
    })
}

pub fn get<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    win: Win<A>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Get", win, |mpi| {
        let buffer = origin.buffer(origin_count, origin_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        mpi.process.get(win, &buffer, &remote).map(|_| ())
    })
}

pub fn rget<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    win: Win<A>,
    request: Out<Request<A>>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Rget", win, |mpi| {
        let buffer = origin.buffer(origin_count, origin_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        let awaiting = mpi.process.get(win, &buffer, &remote)?;
        request.set(Request::of(request_of(&mut mpi.process, awaiting)?))
    })
}

pub fn accumulate<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    win: Win<A>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Accumulate", win, |mpi| {
        let buffer = origin.buffer(origin_count, origin_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        mpi.process.accumulate(win, &buffer, &remote, op.id())
    })
}

pub fn raccumulate<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    win: Win<A>,
    request: Out<Request<A>>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Raccumulate", win, |mpi| {
        let buffer = origin.buffer(origin_count, origin_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        mpi.process.accumulate(win, &buffer, &remote, op.id())?;
        request.set(Request::of(request_of(&mut mpi.process, None)?))
    })
}

/// What `MPI_NO_OP` needs no buffer for.
fn operand<A: Abi, N: Count>(
    (origin, count, datatype): (Address, N, Datatype<A>),
    op: OpId,
) -> Result<Buffer> {
    match op {
        OpId::NO_OP => Ok(Buffer {
            address: std::ptr::null_mut(),
            count: 0,
            datatype: TypeId::BYTE,
        }),
        _ => origin.buffer(count, datatype.id()),
    }
}

pub fn get_accumulate<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    result: Address,
    result_count: N,
    result_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    win: Win<A>,
) -> c_int {
    let (win, op) = (win.id(), op.id());
    call::<A>("MPI_Get_accumulate", win, |mpi| {
        let buffer = operand((origin, origin_count, origin_type), op)?;
        let result = result.buffer(result_count, result_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        let buffers = (&buffer, &result);
        let process = &mut mpi.process;
        process
            .get_accumulate(win, buffers, &remote, op)
            .map(|_| ())
    })
}

pub fn rget_accumulate<A: Abi, N: Count>(
    origin: Address,
    origin_count: N,
    origin_type: Datatype<A>,
    result: Address,
    result_count: N,
    result_type: Datatype<A>,
    rank: c_int,
    displacement: isize,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
    win: Win<A>,
    request: Out<Request<A>>,
) -> c_int {
    let (win, op) = (win.id(), op.id());
    call::<A>("MPI_Rget_accumulate", win, |mpi| {
        let buffer = operand((origin, origin_count, origin_type), op)?;
        let result = result.buffer(result_count, result_type.id())?;
        let remote = remote::<A, N>(rank, displacement, (count, datatype))?;
        let buffers = (&buffer, &result);
        let awaiting = mpi.process.get_accumulate(win, buffers, &remote, op)?;
        request.set(Request::of(request_of(&mut mpi.process, awaiting)?))
    })
}

/// One predefined element at an address.
fn element(address: Address, datatype: TypeId) -> Result<Buffer> {
    if !datatype.is_predefined() {
        let what = "the datatype is derived; one predefined element is meant";
        return Err(Error::new(Class::Type, what));
    }
    address.buffer(1, datatype)
}

pub fn fetch_and_op<A: Abi>(
    origin: Address,
    result: Address,
    datatype: Datatype<A>,
    rank: c_int,
    displacement: isize,
    op: Op<A>,
    win: Win<A>,
) -> c_int {
    let (win, op) = (win.id(), op.id());
    call::<A>("MPI_Fetch_and_op", win, |mpi| {
        let buffer = match op {
            OpId::NO_OP => operand((origin, 1, datatype), op)?,
            _ => element(origin, datatype.id())?,
        };
        let result = element(result, datatype.id())?;
        let remote = remote::<A, i32>(rank, displacement, (1, datatype))?;
        let buffers = (&buffer, &result);
        let process = &mut mpi.process;
        process
            .get_accumulate(win, buffers, &remote, op)
            .map(|_| ())
    })
}

pub fn compare_and_swap<A: Abi>(
    origin: Address,
    compare: Address,
    result: Address,
    datatype: Datatype<A>,
    rank: c_int,
    displacement: isize,
    win: Win<A>,
) -> c_int {
    let win = win.id();
    call::<A>("MPI_Compare_and_swap", win, |mpi| {
        let one = |address| element(address, datatype.id());
        let (origin, compare, result) = (one(origin)?, one(compare)?, one(result)?);
        let remote = remote::<A, i32>(rank, displacement, (1, datatype))?;
        let buffers = [&origin, &compare, &result];
        mpi.process.compare_and_swap(win, buffers, &remote)
    })
}
