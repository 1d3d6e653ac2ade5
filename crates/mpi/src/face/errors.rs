// SPDX-License-Identifier: MIT OR Apache-2.0
//! What becomes of errors: the error handlers of the objects that calls are on.

use std::ffi::c_int;
use std::io::Write;

use super::handlers::{self, Handler};
use super::library::{self, Entered};
use super::opened;
use crate::abi::{Abi, ERRORS, Raw};
use crate::error::{Class, Error};
use crate::handle::{CommId, ErrhandlerId, FileId, SessionId, WinId};

/// On which object a call is: its error handler is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// None; that of `MPI_COMM_SELF` is asked, or of `MPI_COMM_WORLD` where that is still
    /// `MPI_ERRORS_ARE_FATAL`.
    Nobody,
    /// A communicator, if there is one of this handle.
    Comm(CommId),
    /// A window, if there is one of this handle.
    Win(WinId),
    /// A session, if there is one of this handle.
    Session(SessionId),
    /// A file; those that are none stand for what files begin with.
    File(FileId),
    /// None yet: the error handler that the object to be made would have.
    Handler(ErrhandlerId),
}

impl From<CommId> for Owner {
    #[inline]
    fn from(comm: CommId) -> Self {
        Self::Comm(comm)
    }
}

impl From<SessionId> for Owner {
    #[inline]
    fn from(session: SessionId) -> Self {
        Self::Session(session)
    }
}

impl From<FileId> for Owner {
    #[inline]
    fn from(file: FileId) -> Self {
        Self::File(file)
    }
}

impl From<WinId> for Owner {
    #[inline]
    fn from(win: WinId) -> Self {
        Self::Win(win)
    }
}

/// Treats the error of a call as its owner's error handler says; the code for the program.
#[cold]
pub fn failed<A: Abi>(name: &str, owner: Owner, error: &Error) -> c_int {
    let code = error.code.unwrap_or_else(|| A::code(error.class));
    raise::<A>(name, owner, code, &error.what)
}

/// As [`failed`], with a code of the ABI.
#[cold]
pub(super) fn raise<A: Abi>(name: &str, owner: Owner, code: c_int, what: &str) -> c_int {
    let (handler, object) = handler_of(owner);
    match handler {
        Some(Handler::Return) => code,
        Some(Handler::User(function)) => match object {
            Owner::Win(win) => handlers::call_user(function, Raw::<A, WinId>::of(win), code),
            Owner::Session(id) => handlers::call_user(function, Raw::<A, SessionId>::of(id), code),
            Owner::File(id) => handlers::call_user(function, opened::raw::<A>(id), code),
            Owner::Comm(comm) => handlers::call_user(function, Raw::<A, CommId>::of(comm), code),
            Owner::Nobody | Owner::Handler(_) => {
                handlers::call_user(function, Raw::<A, CommId>::of(CommId::SELF), code)
            }
        },
        Some(Handler::Fatal) | None => abort(name, code, &class_name::<A>(code), what),
    }
}

/// The error handler for calls on this object, and the object that it is told.
fn handler_of(owner: Owner) -> (Option<Handler>, Owner) {
    let Some(mpi) = Entered::enter() else {
        // Not fatal: what may be called without the library returns codes.
        return (Some(Handler::Return), Owner::Nobody);
    };
    let of = |comm| Some(mpi.process.comms.get(comm)?.errhandler);
    let of_win = |win| Some(mpi.process.wins.get(win)?.errhandler);
    let (id, object) = match owner {
        Owner::Comm(comm) if of(comm).is_some() => (of(comm), owner),
        Owner::Win(win) if of_win(win).is_some() => (of_win(win), owner),
        Owner::Session(id) if mpi.sessions.get(id).is_ok() => {
            (mpi.sessions.get(id).ok().map(|made| made.errhandler), owner)
        }
        Owner::File(id) => (Some(mpi.files.errhandler(id)), owner),
        Owner::Handler(id) if handlers::handler(id).is_some() => (Some(id), Owner::Nobody),
        _ => {
            let of_self = of(CommId::SELF).filter(|&id| id != ErrhandlerId::ARE_FATAL);
            match of_self {
                Some(id) => (Some(id), Owner::Comm(CommId::SELF)),
                None => (of(CommId::WORLD), Owner::Comm(CommId::WORLD)),
            }
        }
    };
    drop(mpi);
    (id.and_then(handlers::handler), object)
}

/// `MPI_ERR_TAG` and so on.
pub(super) fn class_name<A: Abi>(code: c_int) -> String {
    let class = A::class(code);
    let row = class.and_then(|class| ERRORS.get(class as usize));
    row.map_or(format!("error {code}"), |(name, _, _)| {
        format!("MPI_{name}")
    })
}

/// Says one line and ends all ranks.
fn abort(name: &str, code: c_int, class: &str, what: &str) -> ! {
    let Some(mut mpi) = Entered::enter() else {
        say(&format!("{name}: {what} ({class})"));
        std::process::exit(1);
    };
    let transport = mpi.process.engine.transport();
    say(&format!(
        "rank {}: {name}: {what} ({class})",
        transport.rank()
    ));
    transport.abort(if code == 0 { 1 } else { code })
}

/// Says why the library cannot begin, and ends the process.
pub(super) fn cannot_begin(name: &str, error: &Error) -> ! {
    say(&format!("{name}: {error}"));
    std::process::exit(1)
}

/// A line for people.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "corecast: {line}");
}

/// A call while the library does not run: there is no object whose error handler could be asked, and the
/// initial one ends the program.
#[cold]
pub(super) fn outside<A: Abi>(name: &str) -> ! {
    let when = match library::stage() {
        (_, true) => "after MPI_Finalize",
        (false, false) if library::has_rested() => "after its last session had ended",
        (_, false) => "before MPI_Init",
    };
    let class = class_name::<A>(A::code(Class::Other));
    say(&format!("{name} was called {when} ({class})"));
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    if let [first, second, ..] = libraries(&maps)[..] {
        say(&format!(
            "this program has loaded {first} and {second}: all of its parts have to be built for one ABI"
        ));
    }
    std::process::exit(1)
}

/// Files of MPI libraries among those that are mapped, as `/proc/PID/maps` names them, each once.
fn libraries(maps: &str) -> Vec<&str> {
    let files = maps.lines().filter_map(|line| line.rsplit('/').next());
    let is_ours = |file: &&str| file.starts_with("libmpi.so") || file.starts_with("libmpi_abi.so");
    let mut files: Vec<&str> = files.filter(is_ours).collect();
    files.sort_unstable();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::libraries;

    #[test]
    fn libraries_of_a_process_are_named_once() {
        let maps = "7f01-7f02 r--p 00000000 fe:00 1 /usr/lib/libmpi_abi.so.1\n\
                    7f02-7f03 r-xp 00001000 fe:00 1 /usr/lib/libmpi_abi.so.1\n\
                    7f03-7f04 rw-p 00000000 00:00 0\n\
                    7f05-7f06 r--p 00000000 fe:00 2 /opt/corecast/lib/libmpi.so.12\n\
                    7f07-7f08 r--p 00000000 fe:00 3 /usr/lib/libmpifort.so.12\n";
        assert_eq!(libraries(maps), ["libmpi.so.12", "libmpi_abi.so.1"]);
        assert!(libraries("").is_empty());
    }
}
