// SPDX-License-Identifier: MIT OR Apache-2.0
//! Info objects: ordered pairs of strings.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Address, In, Info, Out, call_always};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::InfoId;
use crate::table::Table;

type Pairs = Vec<(String, String)>;

// A program may have some before the library runs, so that they are not in it.
static MADE: Mutex<Option<Table<InfoId, Pairs>>> = Mutex::new(None);

fn made() -> MutexGuard<'static, Option<Table<InfoId, Pairs>>> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.get_or_insert_with(|| Table::with([(InfoId::ENV, of_environment())]));
    made
}

/// What is known of how the program was started (MPI 5.0, 11.2.1).
fn of_environment() -> Pairs {
    let mut pairs = Pairs::new();
    let mut arguments = std::env::args();
    if let Some(command) = arguments.next() {
        pairs.push(("command".to_owned(), command));
    }
    let arguments: Vec<String> = arguments.collect();
    if !arguments.is_empty() {
        pairs.push(("argv".to_owned(), arguments.join(" ")));
    }
    if let Ok(folder) = std::env::current_dir() {
        pairs.push(("wdir".to_owned(), folder.display().to_string()));
    }
    pairs.push(("arch".to_owned(), std::env::consts::ARCH.to_owned()));
    pairs
}

fn none(id: InfoId) -> Error {
    let what = match id {
        InfoId::NULL => "the info object is MPI_INFO_NULL".to_owned(),
        InfoId(number) => format!("there is no info object of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Info, what)
}

/// Does something with the pairs of an info object.
fn with<T>(id: InfoId, body: impl FnOnce(&mut Pairs) -> Result<T>) -> Result<T> {
    let mut table = made();
    let found = table.as_mut().and_then(|table| table.get_mut(id));
    body(found.ok_or_else(|| none(id))?)
}

pub(super) fn make(pairs: Pairs) -> Result<InfoId> {
    let mut table = made();
    let id = table.get_or_insert_default().insert(pairs);
    id.ok_or_else(|| Error::new(Class::NoMem, "there are too many info objects"))
}

/// A new info object without pairs.
pub(super) fn make_empty() -> Result<InfoId> {
    make(Pairs::new())
}

/// A new info object with these pairs.
pub(super) fn make_of(pairs: &[(&str, &str)]) -> Result<InfoId> {
    let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    make(pairs.iter().map(own).collect())
}

/// The pairs of an argument that is an info object, or none.
pub(super) fn pairs(id: InfoId) -> Result<Vec<(String, String)>> {
    match id {
        InfoId::NULL => Ok(Pairs::new()),
        _ => with(id, |pairs| Ok(pairs.clone())),
    }
}

/// Whether an argument is an info object, or none.
pub(super) fn check(id: InfoId) -> Result<()> {
    match id {
        InfoId::NULL => Ok(()),
        _ => with(id, |_| Ok(())),
    }
}

/// Takes hints into those that an object has.
pub(super) fn keep(hints: &mut Pairs, new: Pairs) {
    for (key, value) in new {
        match hints.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => hints.push((key, value)),
        }
    }
}

fn key_of<A: Abi>(key: In<c_char>) -> Result<String> {
    let key = key.string()?;
    match key.len() {
        0 => Err(Error::new(Class::InfoKey, "the key is empty")),
        length if length >= A::MAX_INFO_KEY as usize => {
            let what = format!(
                "the key has {length} bytes; less than {} fit",
                A::MAX_INFO_KEY
            );
            Err(Error::new(Class::InfoKey, what))
        }
        _ => Ok(key),
    }
}

fn refuse_environment(id: InfoId) -> Result<()> {
    match id {
        InfoId::ENV => Err(Error::new(Class::Info, "MPI_INFO_ENV cannot be changed")),
        _ => Ok(()),
    }
}

pub fn info_create<A: Abi>(info: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Info_create", || info.set(Info::of(make_empty()?)))
}

pub fn info_create_env<A: Abi>(_argc: c_int, _argv: Address, info: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Info_create_env", || {
        info.set(Info::of(make(of_environment())?))
    })
}

pub fn info_dup<A: Abi>(info: Info<A>, new: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Info_dup", || {
        let pairs = with(info.id(), |pairs| Ok(pairs.clone()))?;
        new.set(Info::of(make(pairs)?))
    })
}

pub fn info_free<A: Abi>(info: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Info_free", || {
        let id = info.get()?.id();
        refuse_environment(id)?;
        with(id, |_| Ok(()))?;
        made().get_or_insert_default().remove(id);
        info.set(Info::of(InfoId::NULL))
    })
}

pub fn info_set<A: Abi>(info: Info<A>, key: In<c_char>, value: In<c_char>) -> c_int {
    call_always::<A>("MPI_Info_set", || {
        refuse_environment(info.id())?;
        let (key, value) = (key_of::<A>(key)?, value.string()?);
        if value.len() >= A::MAX_INFO_VAL as usize {
            let what = format!(
                "the value has {} bytes; less than {} fit",
                value.len(),
                A::MAX_INFO_VAL
            );
            return Err(Error::new(Class::InfoValue, what));
        }
        with(info.id(), |pairs| {
            match pairs.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => pairs.push((key, value)),
            }
            Ok(())
        })
    })
}

pub fn info_delete<A: Abi>(info: Info<A>, key: In<c_char>) -> c_int {
    call_always::<A>("MPI_Info_delete", || {
        refuse_environment(info.id())?;
        let key = key_of::<A>(key)?;
        with(info.id(), |pairs| {
            let at = pairs.iter().position(|(known, _)| *known == key);
            let none = || Error::new(Class::InfoNokey, format!("there is no key {key:?}"));
            pairs.remove(at.ok_or_else(none)?);
            Ok(())
        })
    })
}

/// The value of a key.
fn value_of<A: Abi>(info: Info<A>, key: In<c_char>) -> Result<Option<String>> {
    let key = key_of::<A>(key)?;
    with(info.id(), |pairs| {
        let found = pairs.iter().find(|(known, _)| *known == key);
        Ok(found.map(|(_, value)| value.clone()))
    })
}

pub fn info_get<A: Abi>(
    info: Info<A>,
    key: In<c_char>,
    room: c_int,
    value: Out<c_char>,
    flag: Out<c_int>,
) -> c_int {
    call_always::<A>("MPI_Info_get", || {
        let found = value_of(info, key)?;
        let bad = |_| Error::new(Class::Arg, format!("the length of the value is {room}"));
        let room = usize::try_from(room).map_err(bad)?;
        if let Some(found) = &found {
            // The end of the string is not counted.
            value.set_string(found, room.saturating_add(1))?;
        }
        flag.set(found.is_some().into())
    })
}

pub fn info_get_string<A: Abi>(
    info: Info<A>,
    key: In<c_char>,
    room: Out<c_int>,
    value: Out<c_char>,
    flag: Out<c_int>,
) -> c_int {
    call_always::<A>("MPI_Info_get_string", || {
        let found = value_of(info, key)?;
        if let Some(found) = &found {
            let has = room.get()?;
            value.set_string(found, usize::try_from(has).unwrap_or(0))?;
            room.set(found.len() as c_int + 1)?;
        }
        flag.set(found.is_some().into())
    })
}

pub fn info_get_valuelen<A: Abi>(
    info: Info<A>,
    key: In<c_char>,
    length: Out<c_int>,
    flag: Out<c_int>,
) -> c_int {
    call_always::<A>("MPI_Info_get_valuelen", || {
        let found = value_of(info, key)?;
        if let Some(found) = &found {
            length.set(found.len() as c_int)?;
        }
        flag.set(found.is_some().into())
    })
}

pub fn info_get_nkeys<A: Abi>(info: Info<A>, count: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Info_get_nkeys", || {
        count.set(with(info.id(), |pairs| Ok(pairs.len()))? as c_int)
    })
}

pub fn info_get_nthkey<A: Abi>(info: Info<A>, index: c_int, key: Out<c_char>) -> c_int {
    call_always::<A>("MPI_Info_get_nthkey", || {
        let found = with(info.id(), |pairs| {
            let pair = usize::try_from(index).ok().and_then(|at| pairs.get(at));
            let none = || {
                let what = format!("there is no key {index}; there are {}", pairs.len());
                Error::new(Class::Arg, what)
            };
            Ok(pair.ok_or_else(none)?.0.clone())
        })?;
        key.set_string(&found, A::MAX_INFO_KEY as usize).map(|_| ())
    })
}
