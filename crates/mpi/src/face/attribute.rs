// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attributes that programs attach to communicators, datatypes and windows.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use super::attributes::{Key, Of};
use super::c::Function;
use super::{Address, Comm, Datatype, Entered, Out, Owner, Win, call, codes};
use crate::abi::{Abi, HandleKind, Raw};
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, KeyvalId, TypeId, WinId};
use crate::table::Handle;

/// A kind of handle that attributes can be attached to.
pub(super) trait Attributed: HandleKind + PartialEq + 'static {
    const OF: Of;

    /// Whether there is such an object.
    fn check(mpi: &Entered, id: Self) -> Result<()>;
}

impl Attributed for CommId {
    const OF: Of = Of::Comm;

    fn check(mpi: &Entered, id: Self) -> Result<()> {
        mpi.process.comm(id).map(|_| ())
    }
}

impl Attributed for TypeId {
    const OF: Of = Of::Datatype;

    fn check(mpi: &Entered, id: Self) -> Result<()> {
        mpi.process.datatype(id).map(|_| ())
    }
}

impl Attributed for WinId {
    const OF: Of = Of::Win;

    fn check(mpi: &Entered, id: Self) -> Result<()> {
        mpi.process.win(id).map(|_| ())
    }
}

fn pointer(address: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

fn refused(code: c_int, what: &str) -> Result<()> {
    match code {
        0 => Ok(()),
        _ => Err(Error::new(
            Class::Other,
            format!("the {what} function of a key returned {code}"),
        )
        .with_code(code)),
    }
}

/// Asks a key's function whether, and as what, an attribute is copied.
fn ask_copy<A: Abi, K>(
    mpi: &mut Entered,
    key: &Key,
    object: Raw<A, K>,
    id: KeyvalId,
    value: usize,
) -> Result<Option<usize>> {
    type Copy<H> =
        extern "C" fn(H, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
    if key.copy == 0 {
        return Ok(None);
    }
    if Some(key.copy) == A::DUP_FN {
        return Ok(Some(value));
    }
    let address: Function = pointer(key.copy);
    // SAFETY: the program gave it as a function of this type, and it is no name for one.
    let copy: Copy<Raw<A, K>> = unsafe { std::mem::transmute(address) };
    let (mut new, mut flag) = (std::ptr::null_mut::<c_void>(), 0);
    let place = (&raw mut new).cast();
    let (key, extra) = (A::raw_keyval(id), pointer(key.extra));
    let code = mpi.apart(|| copy(object, key, extra, pointer(value), place, &raw mut flag));
    refused(code, "copy")?;
    Ok((flag != 0).then(|| new.expose_provenance()))
}

/// Tells a key's function that an attribute goes.
fn ask_delete<A: Abi, K>(
    mpi: &mut Entered,
    key: &Key,
    object: Raw<A, K>,
    id: KeyvalId,
    value: usize,
) -> Result<()> {
    type Delete<H> = extern "C" fn(H, c_int, *mut c_void, *mut c_void) -> c_int;
    if key.delete == 0 {
        return Ok(());
    }
    let address: Function = pointer(key.delete);
    // SAFETY: the program gave it as a function of this type, and it is not null.
    let delete: Delete<Raw<A, K>> = unsafe { std::mem::transmute(address) };
    let (key, extra) = (A::raw_keyval(id), pointer(key.extra));
    let code = mpi.apart(|| delete(object, key, pointer(value), extra));
    refused(code, "delete")
}

/// Copies the attributes of an object to one that was made from it, as their keys say.
///
/// # Errors
/// If a function of the program says so; the attributes before it are copied then.
pub(super) fn copy_all<A: Abi, K: Attributed>(mpi: &mut Entered, old: K, new: K) -> Result<()> {
    let (of, from, to) = (K::OF, old.number(), new.number());
    let all = mpi.attributes.of.get(&(of, from)).cloned();
    for (id, value) in all.unwrap_or_default() {
        let Some(key) = mpi.attributes.keys.get(id).copied() else {
            continue;
        };
        if let Some(copy) = ask_copy::<A, K>(mpi, &key, Raw::of(old), id, value)? {
            mpi.attributes.put(of, to, id, copy);
        }
    }
    Ok(())
}

/// Deletes the attributes of an object that goes, the last one first.
///
/// # Errors
/// If a function of the program says so; the object stays then.
pub(super) fn delete_all<A: Abi, K: Attributed>(mpi: &mut Entered, object: K) -> Result<()> {
    let (of, number) = (K::OF, object.number());
    let all = mpi.attributes.of.get(&(of, number)).cloned();
    for (id, value) in all.unwrap_or_default().into_iter().rev() {
        if let Some(key) = mpi.attributes.keys.get(id).copied() {
            ask_delete::<A, K>(mpi, &key, Raw::of(object), id, value)?;
        }
        mpi.attributes.take(of, number, id);
    }
    Ok(())
}

fn create<A: Abi>(
    name: &'static str,
    of: Of,
    (copy, delete): (Function, Function),
    keyval: Out<c_int>,
    extra: Address,
) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        let key = Key {
            of,
            copy: copy.expose_provenance(),
            delete: delete.expose_provenance(),
            extra: extra.pointer().expose_provenance(),
            uses: 1,
            is_freed: false,
        };
        let full = || Error::new(Class::NoMem, "there are too many keys");
        let id = mpi.attributes.keys.insert(key).ok_or_else(full)?;
        keyval.set(A::raw_keyval(id))
    })
}

fn free<A: Abi>(name: &'static str, of: Of, keyval: Out<c_int>) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        let id = A::keyval(keyval.get()?);
        let is_freed = mpi.attributes.key(id, of)?.is_freed;
        if let Some(key) = mpi.attributes.keys.get_mut(id) {
            key.is_freed = true;
        }
        // A copy of the handle may be freed again, for example by the function that deletes attributes.
        if !is_freed {
            mpi.attributes.leave(id);
        }
        keyval.set(A::KEYVAL_INVALID)
    })
}

fn owner_of<K: Attributed>(object: K) -> Owner {
    match K::OF {
        Of::Comm => Owner::Comm(CommId::from_number(object.number())),
        Of::Win => Owner::Win(WinId::from_number(object.number())),
        Of::Datatype => Owner::Nobody,
    }
}

fn set<A: Abi, K: Attributed>(
    name: &'static str,
    object: K,
    keyval: c_int,
    value: Address,
) -> c_int {
    call::<A>(name, owner_of(object), |mpi| {
        K::check(mpi, object)?;
        let (id, number) = (A::keyval(keyval), object.number());
        let key = mpi.attributes.key(id, K::OF)?;
        if let Some(old) = mpi.attributes.find(K::OF, number, id) {
            ask_delete::<A, K>(mpi, &key, Raw::of(object), id, old)?;
            mpi.attributes.take(K::OF, number, id);
        }
        let value = value.pointer().expose_provenance();
        mpi.attributes.put(K::OF, number, id, value);
        Ok(())
    })
}

fn get<A: Abi, K: Attributed>(
    name: &'static str,
    object: K,
    keyval: c_int,
    value: Address,
    flag: Out<c_int>,
) -> c_int {
    call::<A>(name, owner_of(object), |mpi| {
        K::check(mpi, object)?;
        let id = A::keyval(keyval);
        let found = match K::OF {
            Of::Comm => predefined::<A>(mpi, id),
            Of::Win => of_window(mpi, WinId::from_number(object.number()), id)?,
            Of::Datatype => None,
        };
        if let Some(found) = found {
            value.set_pointer(found)?;
            return flag.set(1);
        }
        mpi.attributes.key(id, K::OF)?;
        let found = mpi.attributes.find(K::OF, object.number(), id);
        if let Some(found) = found {
            value.set_pointer(pointer(found))?;
        }
        flag.set(found.is_some().into())
    })
}

fn delete<A: Abi, K: Attributed>(name: &'static str, object: K, keyval: c_int) -> c_int {
    call::<A>(name, owner_of(object), |mpi| {
        K::check(mpi, object)?;
        let (id, number) = (A::keyval(keyval), object.number());
        let key = mpi.attributes.key(id, K::OF)?;
        let Some(old) = mpi.attributes.find(K::OF, number, id) else {
            let what = "the object has no attribute of this key";
            return Err(Error::new(Class::Keyval, what));
        };
        ask_delete::<A, K>(mpi, &key, Raw::of(object), id, old)?;
        mpi.attributes.take(K::OF, number, id);
        Ok(())
    })
}

/// Where a predefined attribute of a window lies.
fn of_window(mpi: &Entered, win: WinId, key: KeyvalId) -> Result<Option<*mut c_void>> {
    let window = mpi.process.win(win)?;
    let base = window.members[window.rank as usize].address();
    let facts = mpi.facts.get(&win);
    Ok(facts.and_then(|facts| facts.place(key, base)))
}

/// Where a predefined attribute lies, a pointer to an `int`.
fn predefined<A: Abi>(mpi: &mut Entered, key: KeyvalId) -> Option<*mut c_void> {
    static VALUES: [AtomicI32; 7] = [const { AtomicI32::new(0) }; 7];
    // The keys of the standard ABI, which are those inside, are 501 and so on.
    let index = (key.0 as usize).checked_sub(501)?;
    let place = VALUES.get(index)?;
    let value = match index {
        0 => i32::MAX,
        1 => A::ANY_SOURCE,
        2 => A::PROC_NULL,
        3 => 1,
        4 => mpi.process.engine.transport().program() as i32,
        5 => codes::last_used::<A>(),
        _ => {
            let world = mpi.process.comm(CommId::WORLD).ok()?;
            let asked = world.collectives.settings.universe;
            let found = || mpi.process.engine.transport().universe();
            asked.unwrap_or_else(found) as i32
        }
    };
    place.store(value, Ordering::Relaxed);
    Some(place.as_ptr().cast())
}

pub fn comm_create_keyval<A: Abi>(
    copy: Function,
    delete: Function,
    keyval: Out<c_int>,
    extra: Address,
) -> c_int {
    let name = "MPI_Comm_create_keyval";
    create::<A>(name, Of::Comm, (copy, delete), keyval, extra)
}

pub fn type_create_keyval<A: Abi>(
    copy: Function,
    delete: Function,
    keyval: Out<c_int>,
    extra: Address,
) -> c_int {
    let name = "MPI_Type_create_keyval";
    create::<A>(name, Of::Datatype, (copy, delete), keyval, extra)
}

pub fn win_create_keyval<A: Abi>(
    copy: Function,
    delete: Function,
    keyval: Out<c_int>,
    extra: Address,
) -> c_int {
    let name = "MPI_Win_create_keyval";
    create::<A>(name, Of::Win, (copy, delete), keyval, extra)
}

pub fn comm_free_keyval<A: Abi>(keyval: Out<c_int>) -> c_int {
    free::<A>("MPI_Comm_free_keyval", Of::Comm, keyval)
}

pub fn type_free_keyval<A: Abi>(keyval: Out<c_int>) -> c_int {
    free::<A>("MPI_Type_free_keyval", Of::Datatype, keyval)
}

pub fn win_free_keyval<A: Abi>(keyval: Out<c_int>) -> c_int {
    free::<A>("MPI_Win_free_keyval", Of::Win, keyval)
}

pub fn comm_set_attr<A: Abi>(comm: Comm<A>, keyval: c_int, value: Address) -> c_int {
    set::<A, _>("MPI_Comm_set_attr", comm.id(), keyval, value)
}

pub fn type_set_attr<A: Abi>(datatype: Datatype<A>, keyval: c_int, value: Address) -> c_int {
    set::<A, _>("MPI_Type_set_attr", datatype.id(), keyval, value)
}

pub fn win_set_attr<A: Abi>(win: Win<A>, keyval: c_int, value: Address) -> c_int {
    set::<A, _>("MPI_Win_set_attr", win.id(), keyval, value)
}

pub fn comm_get_attr<A: Abi>(
    comm: Comm<A>,
    keyval: c_int,
    value: Address,
    flag: Out<c_int>,
) -> c_int {
    get::<A, _>("MPI_Comm_get_attr", comm.id(), keyval, value, flag)
}

pub fn type_get_attr<A: Abi>(
    datatype: Datatype<A>,
    keyval: c_int,
    value: Address,
    flag: Out<c_int>,
) -> c_int {
    get::<A, _>("MPI_Type_get_attr", datatype.id(), keyval, value, flag)
}

pub fn win_get_attr<A: Abi>(win: Win<A>, keyval: c_int, value: Address, flag: Out<c_int>) -> c_int {
    get::<A, _>("MPI_Win_get_attr", win.id(), keyval, value, flag)
}

pub fn comm_delete_attr<A: Abi>(comm: Comm<A>, keyval: c_int) -> c_int {
    delete::<A, _>("MPI_Comm_delete_attr", comm.id(), keyval)
}

pub fn type_delete_attr<A: Abi>(datatype: Datatype<A>, keyval: c_int) -> c_int {
    delete::<A, _>("MPI_Type_delete_attr", datatype.id(), keyval)
}

pub fn win_delete_attr<A: Abi>(win: Win<A>, keyval: c_int) -> c_int {
    delete::<A, _>("MPI_Win_delete_attr", win.id(), keyval)
}
