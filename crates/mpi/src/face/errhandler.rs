//! Error handlers: predefined ones, and functions of the program.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::c::null;
use super::{Comm, Errhandler, Function, Out, Owner, call, call_always, errors};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::ErrhandlerId;
use crate::table::Table;

/// What is done about an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Handler {
    /// A line, and the end of all ranks.
    Fatal,
    /// The program gets the code.
    Return,
    /// A function of the program is called.
    User(UserFunction),
}

/// A function of the program: `void (*)(MPI_Comm *, int *, ...)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UserFunction(usize);

impl UserFunction {
    fn pointer(self) -> Function {
        std::ptr::with_exposed_provenance(self.0)
    }
}

/// A handler of the program, how many objects have it, and whether the program still does.
#[derive(Debug)]
struct Made {
    function: UserFunction,
    uses: u32,
}

// Programs may make some before the library runs, so that they are not in it.
static MADE: Mutex<Option<Table<ErrhandlerId, Made>>> = Mutex::new(None);

fn made() -> MutexGuard<'static, Option<Table<ErrhandlerId, Made>>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a handle stands for.
pub(super) fn handler(id: ErrhandlerId) -> Option<Handler> {
    match id {
        ErrhandlerId::ARE_FATAL | ErrhandlerId::ABORT => Some(Handler::Fatal),
        ErrhandlerId::RETURN => Some(Handler::Return),
        _ => {
            let table = made();
            let made = table.as_ref()?.get(id)?;
            Some(Handler::User(made.function))
        }
    }
}

/// One more object has it.
///
/// # Errors
/// [`Class::Errhandler`] if there is none of this handle.
pub(super) fn keep(id: ErrhandlerId) -> Result<()> {
    if matches!(
        id,
        ErrhandlerId::ARE_FATAL | ErrhandlerId::ABORT | ErrhandlerId::RETURN
    ) {
        return Ok(());
    }
    let mut table = made();
    let found = table.as_mut().and_then(|table| table.get_mut(id));
    found.ok_or_else(|| none(id))?.uses += 1;
    Ok(())
}

/// One object less has it.
pub(super) fn leave(id: ErrhandlerId) {
    let mut table = made();
    let Some(table) = table.as_mut() else { return };
    let Some(made) = table.get_mut(id) else {
        return;
    };
    made.uses -= 1;
    if made.uses == 0 {
        table.remove(id);
    }
}

#[cold]
fn none(id: ErrhandlerId) -> Error {
    let what = match id {
        ErrhandlerId::NULL => "the error handler is MPI_ERRHANDLER_NULL".to_owned(),
        _ => format!(
            "there is no error handler of handle {:#x}, or no longer",
            id.0
        ),
    };
    Error::new(Class::Errhandler, what)
}

/// Tells a function of the program of an error.
pub(super) fn call_user<A: Abi>(function: UserFunction, comm: Comm<A>, code: c_int) {
    type Handler<A> = unsafe extern "C" fn(*mut Comm<A>, *mut c_int, ...);
    let (mut comm, mut code) = (comm, code);
    // SAFETY: `create` got it as a function of this type, and it was not null.
    let function: Handler<A> = unsafe { std::mem::transmute(function.pointer()) };
    // SAFETY: the arguments are as the standard says; it may call the library, which is not entered.
    unsafe { function(&raw mut comm, &raw mut code) };
}

fn create<A: Abi>(name: &'static str, function: Function, errhandler: Out<Errhandler<A>>) -> c_int {
    call_always::<A>(name, || {
        if function.is_null() {
            return Err(null("the function"));
        }
        let mut table = made();
        let id = table.get_or_insert_default().insert(Made {
            function: UserFunction(function.expose_provenance()),
            uses: 1,
        });
        errhandler.set(Errhandler::of(id.ok_or_else(full)?))
    })
}

#[cold]
fn full() -> Error {
    Error::new(Class::NoMem, "there are too many error handlers")
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
        keep(errhandler)?;
        if let Some(comm) = mpi.process.comms.get_mut(comm) {
            leave(std::mem::replace(&mut comm.errhandler, errhandler));
        }
        Ok(())
    })
}

pub fn comm_get_errhandler<A: Abi>(comm: Comm<A>, errhandler: Out<Errhandler<A>>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Comm_get_errhandler", comm, |mpi| {
        let id = mpi.process.comm(comm)?.errhandler;
        keep(id)?;
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
        match handler(id) {
            None => return Err(none(id)),
            Some(Handler::User(_)) => leave(id),
            // What get_errhandler gave may be freed, predefined or not.
            Some(_) => {}
        }
        errhandler.set(Errhandler::of(ErrhandlerId::NULL))
    })
}
