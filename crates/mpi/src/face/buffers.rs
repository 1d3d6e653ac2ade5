// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that a program gives for buffered sends: of the process, of a communicator, of a session.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::composed::Composed;
use super::{Address, Comm, Count, Entered, Out, Owner, Request, Session, call};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::pt2pt::{Attached, Holder};

/// Bytes of memory that the library provides as it needs it.
const AUTOMATIC: usize = usize::MAX;

/// Refuses what is not there.
fn check(mpi: &Entered, holder: Holder) -> Result<()> {
    match holder {
        Holder::Process => Ok(()),
        Holder::Comm(comm) => mpi.process.comm(comm).map(|_| ()),
        Holder::Session(session) => mpi.sessions.get(session).map(|_| ()),
    }
}

fn owner(holder: Holder) -> Owner {
    match holder {
        Holder::Process => Owner::Nobody,
        Holder::Comm(comm) => Owner::Comm(comm),
        Holder::Session(session) => Owner::Session(session),
    }
}

fn attach<A: Abi, N: Count>(name: &'static str, holder: Holder, buffer: Address, size: N) -> c_int {
    call::<A>(name, owner(holder), |mpi| {
        check(mpi, holder)?;
        let bytes = match buffer.number() == A::BUFFER_AUTOMATIC {
            true => AUTOMATIC,
            false => size.count()?,
        };
        let address = buffer.pointer();
        mpi.process
            .attach_buffer(holder, Attached { address, bytes })
    })
}

fn detach<A: Abi, N: Count>(
    name: &'static str,
    holder: Holder,
    buffer: Address,
    size: Out<N>,
) -> c_int {
    call::<A>(name, owner(holder), |mpi| {
        check(mpi, holder)?;
        let attached = mpi.wait(|process| process.detach_buffer(holder))?;
        buffer.set_pointer(attached.address.cast())?;
        let bytes = match attached.bytes {
            AUTOMATIC => 0,
            bytes => bytes as i64,
        };
        let too_long = || Error::new(Class::ValueTooLarge, "the size needs a longer integer");
        size.set(N::narrow(bytes).ok_or_else(too_long)?)
    })
}

/// Waits until no buffered message is under way that has begun by now.
fn flush<A: Abi>(name: &'static str, holder: Holder) -> c_int {
    call::<A>(name, owner(holder), |mpi| {
        check(mpi, holder)?;
        let begun = mpi.process.buffered_begun();
        mpi.wait(|process| Ok((!process.is_buffering(holder, begun)).then_some(())))
    })
}

fn iflush<A: Abi>(name: &'static str, holder: Holder, request: Out<Request<A>>) -> c_int {
    call::<A>(name, owner(holder), |mpi| {
        check(mpi, holder)?;
        let begun = mpi.process.buffered_begun();
        let id = mpi.composed.insert(Composed::Flush { holder, begun })?;
        request.set(Request::of(id))
    })
}

pub fn buffer_attach<A: Abi, N: Count>(buffer: Address, size: N) -> c_int {
    attach::<A, N>("MPI_Buffer_attach", Holder::Process, buffer, size)
}

pub fn buffer_detach<A: Abi, N: Count>(buffer: Address, size: Out<N>) -> c_int {
    detach::<A, N>("MPI_Buffer_detach", Holder::Process, buffer, size)
}

pub fn buffer_flush<A: Abi>() -> c_int {
    flush::<A>("MPI_Buffer_flush", Holder::Process)
}

pub fn buffer_iflush<A: Abi>(request: Out<Request<A>>) -> c_int {
    iflush("MPI_Buffer_iflush", Holder::Process, request)
}

pub fn comm_attach_buffer<A: Abi, N: Count>(comm: Comm<A>, buffer: Address, size: N) -> c_int {
    let holder = Holder::Comm(comm.id());
    attach::<A, N>("MPI_Comm_attach_buffer", holder, buffer, size)
}

pub fn comm_detach_buffer<A: Abi, N: Count>(comm: Comm<A>, buffer: Address, size: Out<N>) -> c_int {
    let holder = Holder::Comm(comm.id());
    detach::<A, N>("MPI_Comm_detach_buffer", holder, buffer, size)
}

pub fn comm_flush_buffer<A: Abi>(comm: Comm<A>) -> c_int {
    flush::<A>("MPI_Comm_flush_buffer", Holder::Comm(comm.id()))
}

pub fn comm_iflush_buffer<A: Abi>(comm: Comm<A>, request: Out<Request<A>>) -> c_int {
    iflush("MPI_Comm_iflush_buffer", Holder::Comm(comm.id()), request)
}

pub fn session_attach_buffer<A: Abi, N: Count>(
    session: Session<A>,
    buffer: Address,
    size: N,
) -> c_int {
    let holder = Holder::Session(session.id());
    attach::<A, N>("MPI_Session_attach_buffer", holder, buffer, size)
}

pub fn session_detach_buffer<A: Abi, N: Count>(
    session: Session<A>,
    buffer: Address,
    size: Out<N>,
) -> c_int {
    let holder = Holder::Session(session.id());
    detach::<A, N>("MPI_Session_detach_buffer", holder, buffer, size)
}

pub fn session_flush_buffer<A: Abi>(session: Session<A>) -> c_int {
    flush::<A>("MPI_Session_flush_buffer", Holder::Session(session.id()))
}

pub fn session_iflush_buffer<A: Abi>(session: Session<A>, request: Out<Request<A>>) -> c_int {
    let holder = Holder::Session(session.id());
    iflush("MPI_Session_iflush_buffer", holder, request)
}
