// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error handlers of the program, and of communicators.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::c::null;
use super::handlers::{self, Handler};
use super::{Comm, Errhandler, Function, Out, Owner, call, call_always, errors};
use crate::abi::Abi;
use crate::handle::ErrhandlerId;

fn create<A: Abi>(name: &'static str, function: Function, errhandler: Out<Errhandler<A>>) -> c_int {
    call_always::<A>(name, || {
        if function.is_null() {
            return Err(null("the function"));
        }
        errhandler.set(Errhandler::of(handlers::make(function)?))
    })
}

pub fn comm_create_errhandler<A: Abi>(function: Function, errhandler: Out<Errhandler<A>>) -> c_int {
    create::<A>("MPI_Comm_create_errhandler", function, errhandler)
}

pub fn win_create_errhandler<A: Abi>(function: Function, errhandler: Out<Errhandler<A>>) -> c_int {
    create::<A>("MPI_Win_create_errhandler", function, errhandler)
}

pub fn file_create_errhandler<A: Abi>(function: Function, errhandler: Out<Errhandler<A>>) -> c_int {
    create::<A>("MPI_File_create_errhandler", function, errhandler)
}

pub fn session_create_errhandler<A: Abi>(
    function: Function,
    errhandler: Out<Errhandler<A>>,
) -> c_int {
    create::<A>("MPI_Session_create_errhandler", function, errhandler)
}

pub fn comm_set_errhandler<A: Abi>(comm: Comm<A>, errhandler: Errhandler<A>) -> c_int {
    let (comm, errhandler) = (comm.id(), errhandler.id());
    call::<A>("MPI_Comm_set_errhandler", comm, |mpi| {
        mpi.process.comm(comm)?;
        handlers::keep(errhandler)?;
        if let Some(comm) = mpi.process.comms.get_mut(comm) {
            handlers::leave(std::mem::replace(&mut comm.errhandler, errhandler));
        }
        Ok(())
    })
}

pub fn comm_get_errhandler<A: Abi>(comm: Comm<A>, errhandler: Out<Errhandler<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_get_errhandler", comm, |mpi| {
        let id = mpi.process.comm(comm)?.errhandler;
        handlers::give(id);
        errhandler.set(Errhandler::of(id))
    })
}

pub fn comm_call_errhandler<A: Abi>(comm: Comm<A>, code: c_int) -> c_int {
    let comm = comm.id();
    let name = "MPI_Comm_call_errhandler";
    let checked = call::<A>(name, comm, |mpi| mpi.process.comm(comm).map(|_| ()));
    if checked == 0 {
        errors::raise::<A>(name, Owner::Comm(comm), code, "called by the program");
    }
    checked
}

pub fn errhandler_free<A: Abi>(errhandler: Out<Errhandler<A>>) -> c_int {
    call_always::<A>("MPI_Errhandler_free", || {
        let id = errhandler.get()?.id();
        match handlers::handler(id) {
            None => return Err(handlers::none(id)),
            Some(Handler::User(_)) => handlers::free(id)?,
            // What get_errhandler gave may be freed, predefined or not.
            Some(_) => {}
        }
        errhandler.set(Errhandler::of(ErrhandlerId::NULL))
    })
}
