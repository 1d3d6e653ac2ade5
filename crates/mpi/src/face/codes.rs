// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error codes, classes and their texts, those of programs too.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{In, Out, call_always};
use crate::abi::{Abi, ERRORS, Standard};
use crate::error::{Class, Error, Result};

/// A class or code of the program, numbered from the last predefined one on.
#[derive(Debug)]
struct Made {
    /// The class of a code; `None`: it is a class itself.
    class: Option<c_int>,
    text: String,
    is_removed: bool,
}

static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

fn made() -> MutexGuard<'static, Vec<Made>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unknown(code: c_int) -> Error {
    Error::new(Class::Arg, format!("there is no error code {code}"))
}

/// Where a code of the program is.
fn index<A: Abi>(code: c_int) -> Option<usize> {
    usize::try_from(code.checked_sub(A::LASTCODE)?.checked_sub(1)?).ok()
}

/// The largest code in use, `MPI_LASTUSEDCODE`.
pub(super) fn last_used<A: Abi>() -> c_int {
    A::LASTCODE + made().len() as c_int
}

fn is_predefined<A: Abi>(code: c_int) -> bool {
    A::class(code).is_some() || tool_error::<A>(code).is_some()
}

/// The name of an error of the tool interface.
fn tool_error<A: Abi>(code: c_int) -> Option<&'static str> {
    let is_standard = A::LASTCODE == Standard::LASTCODE;
    let rows = ERRORS.iter().filter(|(name, _, _)| name.starts_with("T_"));
    let number = |&&(_, standard, mpich): &&(&str, c_int, c_int)| match is_standard {
        true => standard == code,
        false => mpich == code,
    };
    { rows }.find(number).map(|&(name, _, _)| name)
}

/// The class of a code.
fn class_of<A: Abi>(code: c_int) -> Result<c_int> {
    if is_predefined::<A>(code) {
        return Ok(code);
    }
    let table = made();
    let made = index::<A>(code).and_then(|at| table.get(at));
    let made = made.filter(|made| !made.is_removed);
    Ok(made.ok_or_else(|| unknown(code))?.class.unwrap_or(code))
}

fn add<A: Abi>(class: Option<c_int>) -> Result<c_int> {
    let mut table = made();
    let room = i32::MAX - A::LASTCODE;
    if table.len() as i64 >= i64::from(room.min(1 << 20)) {
        return Err(Error::new(Class::NoMem, "there are too many error codes"));
    }
    let made = Made {
        class,
        text: String::new(),
        is_removed: false,
    };
    // Numbers of those that were removed are used again.
    let at = match table.iter().position(|made| made.is_removed) {
        Some(at) => {
            table[at] = made;
            at
        }
        None => {
            table.push(made);
            table.len() - 1
        }
    };
    Ok(A::LASTCODE + 1 + at as c_int)
}

pub fn error_class<A: Abi>(code: c_int, class: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Error_class", || class.set(class_of::<A>(code)?))
}

pub fn error_string<A: Abi>(code: c_int, string: Out<c_char>, length: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Error_string", || {
        let text = match A::class(code) {
            Some(class) => {
                let (name, _, _) = ERRORS[class as usize];
                format!("MPI_{name}: {}", SENTENCES[class as usize])
            }
            None => match tool_error::<A>(code) {
                Some(name) => format!("MPI_{name}"),
                None => {
                    let table = made();
                    let made = index::<A>(code).and_then(|at| table.get(at));
                    made.ok_or_else(|| unknown(code))?.text.clone()
                }
            },
        };
        let room = A::MAX_ERROR_STRING as usize;
        length.set(string.set_string(&text, room)? as c_int)
    })
}

pub fn add_error_class<A: Abi>(class: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Add_error_class", || class.set(add::<A>(None)?))
}

pub fn add_error_code<A: Abi>(class: c_int, code: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Add_error_code", || {
        let class = class_of::<A>(class)?;
        code.set(add::<A>(Some(class))?)
    })
}

/// Changes a code or class of the program.
fn change<A: Abi>(code: c_int, body: impl FnOnce(&mut Made)) -> Result<()> {
    let mut table = made();
    let made = index::<A>(code).and_then(|at| table.get_mut(at));
    let made = made.filter(|made| !made.is_removed);
    body(made.ok_or_else(|| unknown(code))?);
    Ok(())
}

pub fn add_error_string<A: Abi>(code: c_int, string: In<c_char>) -> c_int {
    call_always::<A>("MPI_Add_error_string", || {
        let mut text = string.string()?;
        while text.len() >= A::MAX_ERROR_STRING as usize {
            text.pop();
        }
        change::<A>(code, |made| made.text = text)
    })
}

pub fn remove_error_string<A: Abi>(code: c_int) -> c_int {
    call_always::<A>("MPI_Remove_error_string", || {
        change::<A>(code, |made| made.text.clear())
    })
}

pub fn remove_error_code<A: Abi>(code: c_int) -> c_int {
    call_always::<A>("MPI_Remove_error_code", || remove::<A>(code, false))
}

pub fn remove_error_class<A: Abi>(class: c_int) -> c_int {
    call_always::<A>("MPI_Remove_error_class", || remove::<A>(class, true))
}

/// Removes a code, or a class, that nothing is known of any more.
fn remove<A: Abi>(code: c_int, is_class: bool) -> Result<()> {
    let has_codes = |made: &Made| made.class == Some(code) && !made.is_removed;
    if is_class && made().iter().any(has_codes) {
        let what = format!("the class {code} has codes; remove them first");
        return Err(Error::new(Class::Other, what));
    }
    let mut table = made();
    let made = index::<A>(code).and_then(|at| table.get_mut(at));
    let made = made.filter(|made| !made.is_removed && made.class.is_none() == is_class);
    let made = made.ok_or_else(|| unknown(code))?;
    if !made.text.is_empty() {
        let what = format!("{code} has a text; remove it first");
        return Err(Error::new(Class::Other, what));
    }
    made.is_removed = true;
    Ok(())
}

/// What the classes mean, in their order.
const SENTENCES: [&str; 63] = [
    "no error",
    "the buffer is wrong",
    "the count is wrong",
    "the datatype is wrong",
    "the tag is wrong",
    "the communicator is wrong",
    "the rank is wrong",
    "the request is wrong",
    "the root is wrong",
    "the group is wrong",
    "the operation is wrong",
    "the topology is wrong",
    "the dimensions are wrong",
    "an argument is wrong",
    "an unknown error",
    "the message is longer than the memory for it",
    "another error",
    "an error inside the library",
    "the request is still under way",
    "the error is in a status",
    "the file may not be accessed so",
    "the mode of access is wrong",
    "the assertion is wrong",
    "the name of the file is wrong",
    "the base is wrong",
    "the conversion failed",
    "the displacement is wrong",
    "the data representation is defined already",
    "the file exists",
    "the file is in use",
    "the file is wrong",
    "the key is too long or empty",
    "there is no such key",
    "the value is too long",
    "the info object is wrong",
    "input or output failed",
    "the key of attributes is wrong",
    "the kind of lock is wrong",
    "there is no such name",
    "there is no memory left",
    "the ranks' arguments are not the same",
    "there is no space left",
    "there is no such file",
    "the port is wrong",
    "the quota is exceeded",
    "the file or memory may only be read",
    "the memory cannot be attached",
    "accesses to a window conflict",
    "the memory is not in the window",
    "the memory cannot be shared",
    "the synchronisation of a window is wrong",
    "the service is wrong",
    "the size is wrong",
    "a process cannot be started",
    "the data representation is not known",
    "this is not implemented",
    "the window is wrong",
    "the window is of the wrong flavour",
    "a process has ended",
    "a value is too large for its type",
    "the session is wrong",
    "the error handler is wrong",
    "the ABI is wrong",
];
