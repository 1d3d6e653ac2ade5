// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done in the memory of others: put, get, and accumulates.

use std::ffi::c_int;

use super::{Address, Count, Datatype, Entered, Op, Out, Request, Win, call};
use crate::abi::Abi;
use crate::buffer::Buffer;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, OpId, RequestId, TypeId, WinId};
use crate::process::Process;
use crate::rma::{Awaiting, Remote};

/// Elements at both ends of a call.
struct Ends<A: Abi, N: Count> {
    origin: (Address, N, Datatype<A>),
    rank: c_int,
    displacement: isize,
    target: (N, Datatype<A>),
}

impl<A: Abi, N: Count> Ends<A, N> {
    #[inline(always)]
    fn new(
        origin: (Address, N, Datatype<A>),
        (rank, displacement): (c_int, isize),
        target: (N, Datatype<A>),
    ) -> Self {
        Self {
            origin,
            rank,
            displacement,
            target,
        }
    }

    #[inline(always)]
    fn remote_of(&self, count: usize) -> Remote {
        Remote {
            rank: A::peer(self.rank),
            displacement: self.displacement as i64,
            count,
            datatype: self.target.1.id(),
        }
    }

    /// For what is done straight away, or not at all if something is wrong.
    #[inline(always)]
    fn plain(&self) -> Option<(Buffer, Remote)> {
        let count = usize::try_from(self.target.0.wide()).ok()?;
        Some((plain(self.origin)?, self.remote_of(count)))
    }

    fn buffer(&self) -> Result<Buffer> {
        self.origin.0.buffer(self.origin.1, self.origin.2.id())
    }

    fn remote(&self) -> Result<Remote> {
        Ok(self.remote_of(self.target.0.count()?))
    }

    /// Puts straight away, or else by what does more; what to wait for before the buffer is used again.
    #[inline(always)]
    fn put_or(
        &self,
        mpi: &mut Entered,
        win: WinId,
        otherwise: impl FnOnce(&Self, &mut Entered, WinId) -> Result<Option<Awaiting>>,
    ) -> Result<Option<Awaiting>> {
        match self.plain() {
            Some((buffer, remote)) if mpi.process.put_straight(win, &buffer, &remote) => Ok(None),
            _ => otherwise(self, mpi, win),
        }
    }

    /// Puts what the program leaves alone until a flush.
    #[inline(never)]
    fn put_away(&self, mpi: &mut Entered, win: WinId) -> Result<Option<Awaiting>> {
        if let Some((buffer, remote)) = self.plain()
            && mpi.process.put_away(win, &buffer, &remote)?
        {
            return Ok(None);
        }
        self.put_anyhow(mpi, win)
    }

    #[inline(never)]
    fn put_anyhow(&self, mpi: &mut Entered, win: WinId) -> Result<Option<Awaiting>> {
        mpi.process.put(win, &self.buffer()?, &self.remote()?)
    }

    /// Gets what nobody waits for but by a flush.
    #[inline(always)]
    fn get_for_flush(&self, mpi: &mut Entered, win: WinId) -> Result<()> {
        if let Some((buffer, remote)) = self.plain()
            && mpi.process.get_straight(win, &buffer, &remote)
        {
            return Ok(());
        }
        self.get_away(mpi, win)
    }

    #[inline(never)]
    fn get_away(&self, mpi: &mut Entered, win: WinId) -> Result<()> {
        if let Some((buffer, remote)) = self.plain()
            && mpi.process.get_away(win, &buffer, &remote)?
        {
            return Ok(());
        }
        self.get_anyhow(mpi, win).map(|_| ())
    }

    #[inline(always)]
    fn get(&self, mpi: &mut Entered, win: WinId) -> Result<Option<Awaiting>> {
        if let Some((buffer, remote)) = self.plain()
            && mpi.process.get_straight(win, &buffer, &remote)
        {
            return Ok(None);
        }
        self.get_anyhow(mpi, win)
    }

    #[inline(never)]
    fn get_anyhow(&self, mpi: &mut Entered, win: WinId) -> Result<Option<Awaiting>> {
        mpi.process.get(win, &self.buffer()?, &self.remote()?)
    }

    #[inline(always)]
    fn accumulate(&self, mpi: &mut Entered, win: WinId, op: OpId) -> Result<()> {
        if let Some((buffer, remote)) = self.plain()
            && mpi.process.accumulate_straight(win, &buffer, &remote, op)?
        {
            return Ok(());
        }
        self.accumulate_anyhow(mpi, win, op)
    }

    #[inline(never)]
    fn accumulate_anyhow(&self, mpi: &mut Entered, win: WinId, op: OpId) -> Result<()> {
        let (buffer, remote) = (self.buffer()?, self.remote()?);
        mpi.process.accumulate(win, &buffer, &remote, op)
    }

    #[inline(always)]
    fn get_accumulate(
        &self,
        result: (Address, N, Datatype<A>),
        mpi: &mut Entered,
        (win, op): (WinId, OpId),
    ) -> Result<Option<Awaiting>> {
        let own = match op {
            OpId::NO_OP => Some(NOTHING),
            _ => plain(self.origin),
        };
        let count = usize::try_from(self.target.0.wide()).ok();
        if let (Some(buffer), Some(result), Some(count)) = (own, plain(result), count) {
            let (buffers, remote) = ((&buffer, &result), self.remote_of(count));
            let process = &mut mpi.process;
            if process.get_accumulate_straight(win, buffers, &remote, op)? {
                return Ok(None);
            }
        }
        self.get_accumulate_anyhow(result, mpi, (win, op))
    }

    #[inline(never)]
    fn get_accumulate_anyhow(
        &self,
        (result, count, datatype): (Address, N, Datatype<A>),
        mpi: &mut Entered,
        (win, op): (WinId, OpId),
    ) -> Result<Option<Awaiting>> {
        let buffer = match op {
            OpId::NO_OP => NOTHING,
            _ => self.buffer()?,
        };
        let (result, remote) = (result.buffer(count, datatype.id())?, self.remote()?);
        let process = &mut mpi.process;
        process.get_accumulate(win, (&buffer, &result), &remote, op)
    }
}

/// Elements at an address, whatever lies there; `None` if the count is negative.
#[inline(always)]
fn plain<A: Abi, N: Count>(
    (address, count, datatype): (Address, N, Datatype<A>),
) -> Option<Buffer> {
    Some(Buffer {
        address: address.pointer(),
        count: usize::try_from(count.wide()).ok()?,
        datatype: datatype.id(),
    })
}

/// `MPI_NO_OP` needs no elements.
const NOTHING: Buffer = Buffer {
    address: std::ptr::null_mut(),
    count: 0,
    datatype: TypeId::BYTE,
};

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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    call::<A>("MPI_Put", win, |mpi| {
        ends.put_or(mpi, win, Ends::put_away).map(|_| ())
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    call::<A>("MPI_Rput", win, |mpi| {
        let awaiting = ends.put_or(mpi, win, Ends::put_anyhow)?;
        request.set(Request::of(request_of(&mut mpi.process, awaiting)?))
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    call::<A>("MPI_Get", win, |mpi| ends.get_for_flush(mpi, win))
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    call::<A>("MPI_Rget", win, |mpi| {
        let awaiting = ends.get(mpi, win)?;
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    call::<A>("MPI_Accumulate", win, |mpi| {
        ends.accumulate(mpi, win, op.id())
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    call::<A>("MPI_Raccumulate", win, |mpi| {
        ends.accumulate(mpi, win, op.id())?;
        request.set(Request::of(request_of(&mut mpi.process, None)?))
    })
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    let result = (result, result_count, result_type);
    call::<A>("MPI_Get_accumulate", win, |mpi| {
        let got = ends.get_accumulate(result, mpi, (win, op));
        got.map(|_| ())
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
    let origin = (origin, origin_count, origin_type);
    let ends = Ends::new(origin, (rank, displacement), (count, datatype));
    let result = (result, result_count, result_type);
    call::<A>("MPI_Rget_accumulate", win, |mpi| {
        let awaiting = ends.get_accumulate(result, mpi, (win, op))?;
        request.set(Request::of(request_of(&mut mpi.process, awaiting)?))
    })
}

/// Refuses datatypes that are derived where one predefined element is meant.
#[inline(always)]
fn check_predefined(datatype: TypeId) -> Result<()> {
    match datatype.is_predefined() {
        true => Ok(()),
        false => Err(derived()),
    }
}

#[cold]
fn derived() -> Error {
    let what = "the datatype is derived; one predefined element is meant";
    Error::new(Class::Type, what)
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
    let ends = Ends {
        origin: (origin, 1, datatype),
        rank,
        displacement,
        target: (1, datatype),
    };
    call::<A>("MPI_Fetch_and_op", win, |mpi| {
        check_predefined(datatype.id())?;
        let got = ends.get_accumulate((result, 1, datatype), mpi, (win, op));
        got.map(|_| ())
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
    let remote = Remote {
        rank: A::peer(rank),
        displacement: displacement as i64,
        count: 1,
        datatype: datatype.id(),
    };
    call::<A>("MPI_Compare_and_swap", win, |mpi| {
        check_predefined(datatype.id())?;
        let [new, expected, old] = [origin, compare, result].map(|address| Buffer {
            address: address.pointer(),
            count: 1,
            datatype: datatype.id(),
        });
        let process = &mut mpi.process;
        if process.swap_straight(win, [&new, &expected, &old], &remote)? {
            return Ok(());
        }
        swap_anyhow(mpi, win, [origin, compare, result], remote)
    })
}

#[inline(never)]
fn swap_anyhow(
    mpi: &mut Entered,
    win: WinId,
    addresses: [Address; 3],
    remote: Remote,
) -> Result<()> {
    let one = |address: Address| address.buffer(1, remote.datatype);
    let [origin, compare, result] = addresses;
    let (origin, compare, result) = (one(origin)?, one(compare)?, one(result)?);
    let buffers = [&origin, &compare, &result];
    mpi.process.compare_and_swap(win, buffers, &remote)
}
