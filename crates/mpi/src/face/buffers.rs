//! Memory that a program gives for buffered sends.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::composed::Composed;
use super::{Address, Count, Entered, Out, Owner, Request, call};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::pt2pt::Attached;

/// Bytes of memory that the library provides as it needs it.
const AUTOMATIC: usize = usize::MAX;

pub fn buffer_attach<A: Abi, N: Count>(buffer: Address, size: N) -> c_int {
    call::<A>("MPI_Buffer_attach", Owner::Nobody, |mpi| {
        let bytes = match buffer.number() == A::BUFFER_AUTOMATIC {
            true => AUTOMATIC,
            false => size.count()?,
        };
        mpi.process.attach_buffer(Attached {
            address: buffer.pointer(),
            bytes,
        })
    })
}

pub fn buffer_detach<A: Abi, N: Count>(buffer: Address, size: Out<N>) -> c_int {
    call::<A>("MPI_Buffer_detach", Owner::Nobody, |mpi| {
        let attached = mpi.wait(|process| process.detach_buffer())?;
        buffer.set_pointer(attached.address.cast())?;
        let bytes = match attached.bytes {
            AUTOMATIC => 0,
            bytes => bytes as i64,
        };
        let too_long = || Error::new(Class::ValueTooLarge, "the size needs a longer integer");
        size.set(N::narrow(bytes).ok_or_else(too_long)?)
    })
}

/// Waits until no buffered message is under way.
fn flush(mpi: &mut Entered) -> Result<()> {
    mpi.wait(|process| Ok((!process.is_buffering()).then_some(())))
}

pub fn buffer_flush<A: Abi>() -> c_int {
    call::<A>("MPI_Buffer_flush", Owner::Nobody, flush)
}

pub fn buffer_iflush<A: Abi>(request: Out<Request<A>>) -> c_int {
    call::<A>("MPI_Buffer_iflush", Owner::Nobody, |mpi| {
        let id = mpi.composed.insert(Composed::Flush)?;
        request.set(Request::of(id))
    })
}
