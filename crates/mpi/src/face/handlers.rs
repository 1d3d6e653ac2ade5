// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error handlers by handle: predefined ones, and functions of the program.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::c::Function;
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

/// A function of the program: `void (*)(MPI_Comm *, int *, ...)`, or of another kind of handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UserFunction(usize);

impl UserFunction {
    fn pointer(self) -> Function {
        std::ptr::with_exposed_provenance(self.0)
    }
}

/// A handler of the program.
#[derive(Debug)]
struct Made {
    function: UserFunction,
    /// How many objects have it.
    uses: u32,
    /// How often the program got it and has not freed it since.
    held: u32,
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
    // What is predefined is in no table.
    let _ = change(id, |made| made.uses -= 1);
}

/// The program gets the handler of an object, and has to free it.
pub(super) fn give(id: ErrhandlerId) {
    let _ = change(id, |made| made.held += 1);
}

/// The program frees it; objects keep it.
///
/// # Errors
/// [`Class::Errhandler`] if there is none of this handle, or the program has freed it.
pub(super) fn free(id: ErrhandlerId) -> Result<()> {
    let is_freed = change(id, |made| {
        let is_held = made.held > 0;
        made.held -= u32::from(is_held);
        is_held
    });
    match is_freed {
        Some(true) => Ok(()),
        _ => Err(none(id)),
    }
}

/// Changes what is known of a handler of the program, and forgets one that nobody has any more; what the
/// change gave, if there is such a handler.
fn change<T>(id: ErrhandlerId, how: impl FnOnce(&mut Made) -> T) -> Option<T> {
    let mut table = made();
    let table = table.as_mut()?;
    let made = table.get_mut(id)?;
    let gave = how(made);
    if (made.uses, made.held) == (0, 0) {
        table.remove(id);
    }
    Some(gave)
}

#[cold]
pub(super) fn none(id: ErrhandlerId) -> Error {
    let what = match id {
        ErrhandlerId::NULL => "the error handler is MPI_ERRHANDLER_NULL".to_owned(),
        _ => format!(
            "there is no error handler of handle {:#x}, or no longer",
            id.0
        ),
    };
    Error::new(Class::Errhandler, what)
}

/// Tells a function of the program of an error; the code that it leaves, which the call returns (MPI 5.0,
/// 9.3.1).
pub(super) fn call_user<H: Copy>(function: UserFunction, object: H, code: c_int) -> c_int {
    type Handler<H> = unsafe extern "C" fn(*mut H, *mut c_int, ...);
    let (mut object, mut code) = (object, code);
    // SAFETY: `create` got it as a function of this type, and it was not null.
    let function: Handler<H> = unsafe { std::mem::transmute(function.pointer()) };
    // SAFETY: the arguments are as the standard says; it may call the library, which is not entered.
    unsafe { function(&raw mut object, &raw mut code) };
    code
}

/// Takes a function of the program in, which is not null.
///
/// # Errors
/// [`Class::NoMem`] if there are too many.
pub(super) fn make(function: Function) -> Result<ErrhandlerId> {
    let mut table = made();
    let id = table.get_or_insert_default().insert(Made {
        function: UserFunction(function.expose_provenance()),
        uses: 0,
        held: 1,
    });
    id.ok_or_else(|| Error::new(Class::NoMem, "there are too many error handlers"))
}
