//! Memory that a program gives for buffered sends.
//!
//! The library keeps its own copies; the memory says how many bytes of them there may be.

use std::ffi::{c_int, c_void};

use super::composed::Composed;
use super::{Address, Comm, Count, Entered, Out, Owner, Request, call};
use crate::abi::Abi;
use crate::buffer::Buffer;
use crate::error::{Class, Error, Result};
use crate::handle::CommId;
use crate::pt2pt::SendMode;

/// Memory by the object that it is for; that of the process is for [`Owner::Nobody`].
#[derive(Debug, Default)]
pub struct Buffers(Vec<Attached>);

#[derive(Clone, Copy, Debug)]
struct Attached {
    owner: Owner,
    address: usize,
    /// `None`: as much as is needed.
    room: Option<usize>,
    size: i64,
}

impl Buffers {
    fn of(&self, owner: Owner) -> Option<&Attached> {
        self.0.iter().find(|attached| attached.owner == owner)
    }
}

#[cold]
fn none() -> Error {
    Error::new(Class::Buffer, "no memory is attached for buffered sends")
}

#[cold]
fn exhausted(room: usize) -> Error {
    let what = format!("the {room} bytes attached for buffered sends do not suffice");
    Error::new(Class::Buffer, what)
}

impl Entered {
    /// Whether there is room for a send, if it is buffered.
    #[inline]
    pub(super) fn check_buffered<A: Abi>(
        &mut self,
        buffer: &Buffer,
        comm: CommId,
        mode: SendMode,
    ) -> Result<()> {
        match mode {
            SendMode::Buffered => self.check_room::<A>(buffer, comm),
            _ => Ok(()),
        }
    }

    #[cold]
    fn check_room<A: Abi>(&mut self, buffer: &Buffer, comm: CommId) -> Result<()> {
        let of_comm = self.buffers.of(Owner::Comm(comm));
        let attached = of_comm.or(self.buffers.of(Owner::Nobody));
        let Some(room) = attached.ok_or_else(none)?.room else {
            return Ok(());
        };
        let bytes = self.process.packed_bytes(buffer)?;
        let needed = bytes.saturating_add(A::BSEND_OVERHEAD as usize);
        if self.process.buffered_bytes().saturating_add(needed) <= room {
            return Ok(());
        }
        // Those that have gone meanwhile make room.
        self.process.progress()?;
        match self.process.buffered_bytes().saturating_add(needed) <= room {
            true => Ok(()),
            false => Err(exhausted(room)),
        }
    }

    /// Waits until no buffered send is under way.
    fn flush(&mut self) -> Result<()> {
        self.wait(|process| Ok((process.buffered_bytes() == 0).then_some(())))
    }
}

fn attach<A: Abi, N: Count>(
    mpi: &mut Entered,
    owner: Owner,
    buffer: Address,
    size: N,
) -> Result<()> {
    let is_automatic = buffer.number() == A::BUFFER_AUTOMATIC;
    let room = match is_automatic {
        true => None,
        false => Some(size.count()?),
    };
    if mpi.buffers.of(owner).is_some() {
        let what = "memory for buffered sends is attached already";
        return Err(Error::new(Class::Buffer, what));
    }
    let attached = Attached {
        owner,
        address: buffer.pointer().expose_provenance(),
        room,
        size: size.wide(),
    };
    mpi.buffers.0.push(attached);
    Ok(())
}

fn detach<N: Count>(mpi: &mut Entered, owner: Owner, buffer: Address, size: Out<N>) -> Result<()> {
    let attached = *mpi.buffers.of(owner).ok_or_else(none)?;
    mpi.flush()?;
    mpi.buffers.0.retain(|attached| attached.owner != owner);
    let address = std::ptr::with_exposed_provenance_mut::<c_void>(attached.address);
    buffer.set_pointer(address)?;
    let too_long = || Error::new(Class::ValueTooLarge, "the size needs a longer integer");
    size.set(N::narrow(attached.size).ok_or_else(too_long)?)
}

fn iflush<A: Abi>(mpi: &mut Entered, request: Out<Request<A>>) -> Result<()> {
    let id = mpi.composed.insert(Composed::Flush)?;
    request.set(Request::of(id))
}

pub fn buffer_attach<A: Abi, N: Count>(buffer: Address, size: N) -> c_int {
    let owner = Owner::Nobody;
    call::<A>("MPI_Buffer_attach", owner, |mpi| {
        attach::<A, N>(mpi, owner, buffer, size)
    })
}

pub fn buffer_detach<A: Abi, N: Count>(buffer: Address, size: Out<N>) -> c_int {
    let owner = Owner::Nobody;
    call::<A>("MPI_Buffer_detach", owner, |mpi| {
        detach(mpi, owner, buffer, size)
    })
}

pub fn buffer_flush<A: Abi>() -> c_int {
    call::<A>("MPI_Buffer_flush", Owner::Nobody, Entered::flush)
}

pub fn buffer_iflush<A: Abi>(request: Out<Request<A>>) -> c_int {
    call::<A>("MPI_Buffer_iflush", Owner::Nobody, |mpi| {
        iflush(mpi, request)
    })
}

pub fn comm_attach_buffer<A: Abi, N: Count>(comm: Comm<A>, buffer: Address, size: N) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_attach_buffer", comm, |mpi| {
        mpi.process.comm(comm)?;
        attach::<A, N>(mpi, Owner::Comm(comm), buffer, size)
    })
}

pub fn comm_detach_buffer<A: Abi, N: Count>(comm: Comm<A>, buffer: Address, size: Out<N>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_detach_buffer", comm, |mpi| {
        mpi.process.comm(comm)?;
        detach(mpi, Owner::Comm(comm), buffer, size)
    })
}

pub fn comm_flush_buffer<A: Abi>(comm: Comm<A>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_flush_buffer", comm, |mpi| {
        mpi.process.comm(comm)?;
        mpi.flush()
    })
}

pub fn comm_iflush_buffer<A: Abi>(comm: Comm<A>, request: Out<Request<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_iflush_buffer", comm, |mpi| {
        mpi.process.comm(comm)?;
        iflush(mpi, request)
    })
}
