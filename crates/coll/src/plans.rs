// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of `crates/coll/shim/plans.h`.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use corecast_mpi::collective::program::{Act, Span};
use corecast_mpi::collective::{Hardware, Shape};

use super::asked::Asked;
use super::group::{Block, Group, Unplanned, Wanted, collective, wanted};
use super::tune::TuningJob;

/// A call, as every rank makes it.
#[repr(C)]
pub struct Call {
    name: *const c_char,
    bytes: usize,
    element_bytes: usize,
    give: *const Block,
    get: *const Block,
    collective: u32,
    root: u32,
    in_place: u32,
    is_ordered: u32,
    is_irregular: u32,
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
const _: () = assert!(size_of::<Call>() == 64);
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
const INTERFACE: u32 = 3;

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
    let settings = Arc::clone(&Asked::of_environment().settings);
    Box::into_raw(Box::new(Group::new(rank, ranks, settings)))
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

/// A table of so many blocks, if there is one.
///
/// # Safety
/// It is null, or of so many, for `'a`.
unsafe fn table<'a>(table: *const Block, blocks: u32) -> Option<&'a [Block]> {
    // SAFETY: the caller's promise.
    (!table.is_null()).then(|| unsafe { std::slice::from_raw_parts(table, blocks as usize) })
}

/// What the rank does in a call, until the next one is asked for; 0, or at all ranks 1 where there is no
/// plan, and 2 where a table leaves the call to the library, which is said.
///
/// # Safety
/// The group is of [`corecast_group_new`], and no other thread uses it. The call may be read and `into`
/// written; a call's name is a text of C, and its tables have as many blocks as the group has ranks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_group_plan(
    group: *mut Group,
    call: *const Call,
    into: *mut Acts,
) -> u32 {
    // SAFETY: the caller's promise.
    let (group, call, into) = unsafe { (&mut *group, &*call, &mut *into) };
    // SAFETY: as above.
    let name = || unsafe { text(call.name) };
    let in_place = call.in_place != 0;
    let planned = match wanted(call.collective) {
        None => Err(Unplanned::Unserved),
        Some(Wanted::Prefix(is_inclusive)) => {
            Ok(group.prefix(name, (call.bytes, in_place, is_inclusive)))
        }
        Some(Wanted::Known(collective)) => {
            let shape = Shape {
                collective,
                root: call.root,
                bytes: call.bytes,
                element_bytes: call.element_bytes,
                in_place,
                is_ordered: call.is_ordered != 0,
                hardware: Hardware::None,
            };
            let ranks = group.ranks();
            // SAFETY: as above.
            let sides = unsafe { (table(call.give, ranks), table(call.get, ranks)) };
            match call.is_irregular != 0 {
                true => group.irregular(name, shape, sides),
                false => group.plan(name, shape),
            }
        }
    };
    let program = match planned {
        Ok(program) => program,
        Err(Unplanned::Unserved) => return 1,
        Err(Unplanned::Left) => return 2,
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

/// What is measured.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CellWanted {
    collective: u32,
    bytes: usize,
}

/// A job that measures.
#[repr(C)]
pub struct JobWanted {
    rank: u32,
    ranks: u32,
    folder: *const c_char,
    library: *const c_char,
    computer: *const c_char,
    cells: *const CellWanted,
    cells_total: usize,
}

/// Seconds that one of so many calls takes, in buffers of so many bytes.
pub type Turn = unsafe extern "C" fn(*mut c_void, *mut Group, *const CellWanted, usize, u32) -> f64;

/// # Safety
/// Its texts are of C, and its cells may be read.
unsafe fn job(wanted: &JobWanted) -> TuningJob {
    // SAFETY: the caller's promise.
    let text = |it| unsafe { text(it) }.into_owned();
    // SAFETY: as above.
    let cells = unsafe { std::slice::from_raw_parts(wanted.cells, wanted.cells_total) };
    let of = |cell: &CellWanted| Some((collective(cell.collective)?, cell.bytes as u64));
    TuningJob {
        rank: wanted.rank,
        ranks: wanted.ranks,
        folder: text(wanted.folder).into(),
        library: text(wanted.library),
        computer: text(wanted.computer),
        cells: cells.iter().filter_map(of).collect(),
    }
}

fn ended(outcome: Result<(), String>) -> u32 {
    match outcome {
        Ok(()) => 0,
        Err(why) => {
            let _ = std::io::stderr().write_all(format!("corecast: {why}\n").as_bytes());
            1
        }
    }
}

/// Says what is wrong with the folder of a job: 0 if nothing is.
///
/// # Safety
/// The job may be read; its texts are of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_tune_check(wanted: *const JobWanted) -> u32 {
    // SAFETY: the caller's promise.
    ended(unsafe { job(&*wanted) }.check())
}

/// Measures, at all ranks; 0, or 1 at the first one if it cannot write the tables, which it says.
///
/// # Safety
/// The job may be read; its texts are of C. `turn` may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_tune(
    wanted: *const JobWanted,
    turn: Turn,
    context: *mut c_void,
) -> u32 {
    // SAFETY: the caller's promise.
    let job = unsafe { job(&*wanted) };
    ended(job.measure(|group, (collective, bytes), calls| {
        let cell = CellWanted {
            collective: collective as u32,
            bytes: bytes as usize,
        };
        let group = group.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let buffer_bytes = collective.buffer_bytes(job.ranks, bytes) as usize;
        // SAFETY: the caller's promise; the group is used by nobody else meanwhile.
        unsafe { turn(context, group, &raw const cell, buffer_bytes, calls) }
    }))
}
