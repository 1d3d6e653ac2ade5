// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sessions: ways into the library that know nothing of each other.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::library::{self, Level};
use super::sessions::Made;
use super::{
    Entered, Errhandler, Group, In, Info, Out, Owner, Session, call, call_always, errors, group,
    handlers, info,
};
use crate::abi::{Abi, Raw};
use crate::error::{Class, Error, Result};
use crate::group::Group as Ranks;
use crate::handle::{ErrhandlerId, SessionId};

/// The sets of processes that there are.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// The processes of a set.
fn set(mpi: &mut Entered, name: &str) -> Result<Ranks> {
    let transport = mpi.process.engine.transport();
    match name {
        _ if name.eq_ignore_ascii_case(SETS[0]) => {
            let first = transport.first();
            Ok(Ranks::new((first..first + transport.ranks()).collect()))
        }
        _ if name.eq_ignore_ascii_case(SETS[1]) => Ok(Ranks::new(vec![transport.rank()])),
        _ => {
            let what = format!(
                "there is no set of processes {name:?}; there are {}",
                SETS.join(", ")
            );
            Err(Error::new(Class::Arg, what))
        }
    }
}

/// The hint that says what threads may do, and its values.
const THREAD_LEVEL: &str = "thread_level";
const LEVELS: [(&str, Level); 4] = [
    ("MPI_THREAD_SINGLE", Level::Single),
    ("MPI_THREAD_FUNNELED", Level::Funneled),
    ("MPI_THREAD_SERIALIZED", Level::Serialized),
    ("MPI_THREAD_MULTIPLE", Level::Multiple),
];

/// What threads may do in a session that its hints say nothing about: anything.
fn level_of(hints: &[(String, String)]) -> Result<Level> {
    let asked = hints.iter().find(|(key, _)| key == THREAD_LEVEL);
    let Some((_, asked)) = asked else {
        return Ok(Level::Multiple);
    };
    let found = LEVELS.iter().find(|(name, _)| name == asked);
    found.map(|&(_, level)| level).ok_or_else(|| {
        let what = format!("{THREAD_LEVEL} is {asked:?}; it is a name like MPI_THREAD_MULTIPLE");
        Error::new(Class::InfoValue, what)
    })
}

/// The hints of a session, with what threads may do as it turned out.
fn hints_in_use(mut hints: Vec<(String, String)>) -> Vec<(String, String)> {
    let level = library::level();
    let provided = LEVELS.iter().find(|&&(_, known)| known == level);
    let (name, _) = provided.expect("every level has a name");
    hints.retain(|(key, _)| key != THREAD_LEVEL);
    hints.push((THREAD_LEVEL.to_owned(), (*name).to_owned()));
    hints
}

pub fn session_init<A: Abi>(
    hints: Info<A>,
    errhandler: Errhandler<A>,
    session: Out<Session<A>>,
) -> c_int {
    const NAME: &str = "MPI_Session_init";
    call_always::<A>(NAME, || {
        let hints = info::pairs(hints.id())?;
        let level = level_of(&hints)?;
        let errhandler = match errhandler.id() {
            ErrhandlerId::NULL => ErrhandlerId::ARE_FATAL,
            other => other,
        };
        handlers::keep(errhandler)?;
        let begun = library::begin_session(level, Made { errhandler, hints });
        match begun {
            Ok(id) => session.set(Session::of(id)),
            // A process that cannot be a rank is none: as for `MPI_Init`.
            Err(error) if error.class == Class::Other && !library::stage().1 => {
                errors::cannot_begin(NAME, &error)
            }
            Err(error) => {
                handlers::leave(errhandler);
                Err(error)
            }
        }
    })
}

pub fn session_finalize<A: Abi>(session: Out<Session<A>>) -> c_int {
    let owner = session.get().map_or(SessionId::NULL, Raw::id);
    call::<A>("MPI_Session_finalize", owner, |mpi| {
        mpi.sessions.get(owner)?;
        if let Some(made) = mpi.sessions.table.remove(owner) {
            handlers::leave(made.errhandler);
        }
        session.set(Session::of(SessionId::NULL))?;
        library::end_unused(mpi)
    })
}

pub fn session_get_info<A: Abi>(session: Session<A>, place: Out<Info<A>>) -> c_int {
    let id = session.id();
    call::<A>("MPI_Session_get_info", id, |mpi| {
        let hints = mpi.sessions.get(id)?.hints.clone();
        place.set(Info::of(info::make(hints_in_use(hints))?))
    })
}

pub fn session_get_num_psets<A: Abi>(
    session: Session<A>,
    hints: Info<A>,
    count: Out<c_int>,
) -> c_int {
    let id = session.id();
    call::<A>("MPI_Session_get_num_psets", id, |mpi| {
        mpi.sessions.get(id)?;
        info::check(hints.id())?;
        count.set(SETS.len() as c_int)
    })
}

pub fn session_get_nth_pset<A: Abi>(
    session: Session<A>,
    hints: Info<A>,
    index: c_int,
    room: Out<c_int>,
    name: Out<c_char>,
) -> c_int {
    let id = session.id();
    call::<A>("MPI_Session_get_nth_pset", id, |mpi| {
        mpi.sessions.get(id)?;
        info::check(hints.id())?;
        let found = usize::try_from(index).ok().and_then(|at| SETS.get(at));
        let found = found.ok_or_else(|| {
            let what = format!("there is no set {index}; there are {}", SETS.len());
            Error::new(Class::Arg, what)
        })?;
        // No room asks for the length.
        let has = usize::try_from(room.get()?).unwrap_or(0);
        if has > 0 {
            name.set_string(found, has)?;
        }
        room.set(found.len() as c_int + 1)
    })
}

pub fn session_get_pset_info<A: Abi>(
    session: Session<A>,
    name: In<c_char>,
    place: Out<Info<A>>,
) -> c_int {
    let id = session.id();
    call::<A>("MPI_Session_get_pset_info", id, |mpi| {
        mpi.sessions.get(id)?;
        let size = set(mpi, &name.string()?)?.size().to_string();
        place.set(Info::of(info::make_of(&[("mpi_size", &size)])?))
    })
}

pub fn group_from_session_pset<A: Abi>(
    session: Session<A>,
    name: In<c_char>,
    place: Out<Group<A>>,
) -> c_int {
    let id = session.id();
    call::<A>("MPI_Group_from_session_pset", id, |mpi| {
        mpi.sessions.get(id)?;
        let ranks = set(mpi, &name.string()?)?;
        group::give(mpi, ranks, place)
    })
}

pub fn session_set_errhandler<A: Abi>(session: Session<A>, errhandler: Errhandler<A>) -> c_int {
    let (id, errhandler) = (session.id(), errhandler.id());
    call::<A>("MPI_Session_set_errhandler", id, |mpi| {
        mpi.sessions.get(id)?;
        handlers::keep(errhandler)?;
        let made = mpi.sessions.get_mut(id)?;
        handlers::leave(std::mem::replace(&mut made.errhandler, errhandler));
        Ok(())
    })
}

pub fn session_get_errhandler<A: Abi>(
    session: Session<A>,
    errhandler: Out<Errhandler<A>>,
) -> c_int {
    let id = session.id();
    call::<A>("MPI_Session_get_errhandler", id, |mpi| {
        let found = mpi.sessions.get(id)?.errhandler;
        handlers::give(found);
        errhandler.set(Errhandler::of(found))
    })
}

pub fn session_call_errhandler<A: Abi>(session: Session<A>, code: c_int) -> c_int {
    let id = session.id();
    let name = "MPI_Session_call_errhandler";
    let checked = call::<A>(name, id, |mpi| mpi.sessions.get(id).map(|_| ()));
    if checked == 0 {
        errors::raise::<A>(name, Owner::Session(id), code, "called by the program");
    }
    checked
}
