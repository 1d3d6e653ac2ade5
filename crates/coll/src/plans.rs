// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of `crates/coll/shim/plans.h`.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use corecast_mpi::collective::program::{Act, Span};
use corecast_mpi::collective::{Hardware, Shape};

use super::asked::Asked;
use super::group::{Group, collective};

/// A call, as every rank makes it.
#[repr(C)]
pub struct Call {
    name: *const c_char,
    bytes: usize,
    element_bytes: usize,
    collective: u32,
    root: u32,
    in_place: u32,
    is_ordered: u32,
}

/// What a rank does.
#[repr(C)]
pub struct Acts {
    acts: *const Act,
    acts_total: usize,
    scratch_bytes: usize,
    posts: u32,
}

/// What the environment asks for, in short.
#[repr(C)]
pub struct Wish {
    hash: u64,
    fault: *const c_char,
    scope: u32,
    left: u32,
    explains: u32,
    checks: u32,
}

// What `plans.h` says, too.
const _: () = assert!(size_of::<Span>() == 24 && size_of::<Act>() == 56);

/// # Safety
/// It is null or a text of C that lives for `'a`.
unsafe fn text<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "".into();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

/// `CORECAST_PLANS` of `plans.h`: another number for another meaning of what it declares.
const INTERFACE: u32 = 1;

/// What the environment asks for; only the first two fields for who was built for another interface.
///
/// # Safety
/// `into` may be written, as far as its interface has fields.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_wish(interface: u32, into: *mut Wish) {
    let asked = Asked::of_environment();
    let of = |fault: Option<&CStr>| fault.map_or(std::ptr::null(), CStr::as_ptr);
    if interface != INTERFACE {
        let fault = c"the preloaded library is of another version of corecast; build it again";
        // SAFETY: the caller's promise.
        unsafe {
            (*into).hash = asked.hash;
            (*into).fault = of(Some(fault));
        }
        return;
    }
    // SAFETY: as above.
    unsafe {
        *into = Wish {
            hash: asked.hash,
            fault: of(asked.fault.as_deref()),
            scope: asked.scope as u32,
            left: asked.left,
            explains: u32::from(asked.settings.explains),
            checks: u32::from(asked.settings.checks),
        };
    }
}

/// A group of ranks, for its rank `rank`; [`corecast_group_free`] takes it back.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_group_new(rank: u32, ranks: u32) -> *mut Group {
    Box::into_raw(Box::new(Group::new(rank, ranks)))
}

/// Says how long calls took, if that is asked for, and gives back the memory of a group.
///
/// # Safety
/// It is of [`corecast_group_new`], and used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_group_free(group: *mut Group) {
    // SAFETY: the caller's promise.
    let group = unsafe { Box::from_raw(group) };
    group.report();
}

/// What the rank does in a call, until the next one is asked for; 0, or 1 where there is no plan at any
/// rank.
///
/// # Safety
/// The group is of [`corecast_group_new`], and no other thread uses it. The call may be read and `into`
/// written; a call's name is a text of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_group_plan(
    group: *mut Group,
    call: *const Call,
    into: *mut Acts,
) -> u32 {
    // SAFETY: the caller's promise.
    let (group, call, into) = unsafe { (&mut *group, &*call, &mut *into) };
    // SAFETY: as above.
    let name = unsafe { text(call.name) };
    let Some(collective) = collective(call.collective) else {
        return 1;
    };
    let shape = Shape {
        collective,
        root: call.root,
        bytes: call.bytes,
        element_bytes: call.element_bytes,
        in_place: call.in_place != 0,
        is_ordered: call.is_ordered != 0,
        hardware: Hardware::None,
    };
    let Ok(program) = group.plan(Asked::of_environment(), &name, shape) else {
        return 1;
    };
    *into = Acts {
        acts: program.acts.as_ptr(),
        acts_total: program.acts.len(),
        scratch_bytes: program.scratch_bytes,
        posts: program.posts,
    };
    0
}

/// Notes how long a call took at this rank.
///
/// # Safety
/// As for [`corecast_group_plan`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_group_took(group: *mut Group, call: *const Call, seconds: f64) {
    // SAFETY: the caller's promise.
    let (group, call) = unsafe { (&mut *group, &*call) };
    // SAFETY: as above.
    let name = unsafe { text(call.name) };
    group.took(&name, call.bytes, seconds);
}

/// Says once that calls of this name are left to the library, for this reason.
///
/// # Safety
/// Both are texts of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_left(name: *const c_char, ranks: u32, why: *const c_char) {
    static SAID: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());
    // SAFETY: the caller's promise.
    let (name, why) = unsafe { (text(name), text(why)) };
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert((name.clone().into_owned(), why.clone().into_owned())) {
        let line = format!("corecast: {name}, {ranks} ranks: left to the library ({why})\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
