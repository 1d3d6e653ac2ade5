// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library of this process: when it runs, and who is in it.
//!
//! A program enters it with every call. With `MPI_THREAD_MULTIPLE` a lock is held until the call
//! returns or waits; with less there is no lock and no atomic change on the path, since the program
//! promises that only one of its threads calls at a time.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;

use super::attributes::Attributes;
use super::composed::Requests;
use super::facts::Facts;
use super::lock::Locked;
use super::opened::Files;
use super::sessions::{Made, Sessions};
use super::watch;
use crate::collective::Settings;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, SessionId, WinId};
use crate::process::Process;
use crate::request::Request;
use crate::status::Status;
use crate::topology::Topology;
use crate::transport::{Alone, Transport};

/// Gives the transport of this process.
pub type Attach = fn() -> Result<Box<dyn Transport>>;

/// What `MPI_Init` makes and `MPI_Finalize` takes away.
pub struct Library {
    /// Objects and messages.
    pub process: Process,
    /// The thread that initialised it.
    pub main: thread::ThreadId,
    /// Requests that are none of `process`.
    pub composed: Requests,
    /// What programs attach to objects.
    pub attributes: Attributes,
    /// Sessions.
    pub sessions: Sessions,
    /// Files.
    pub files: Files,
    /// What attributes of windows point to.
    pub facts: BTreeMap<WinId, Box<Facts>>,
    /// Those who have started this process, as long as they are not let go.
    pub parent: CommId,
    /// Topologies of communicators.
    pub topologies: BTreeMap<CommId, Topology>,
}

/// Calls of [`Transport::idle_awake`] above which a thread leaves its core to others of its process.
const IDLE_CALLS_AWAKE: u32 = 16;

/// How far this process is.
const BEFORE: u8 = 0;
const RUNNING: u8 = 1;
const AFTER: u8 = 2;
/// Of the library: a session may take it up again.
const RESTING: u8 = 3;

static ATTACH: OnceLock<Attach> = OnceLock::new();
/// Of the library.
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);
/// Of `MPI_Init` and `MPI_Finalize`; sessions need neither.
static WORLD: AtomicU8 = AtomicU8::new(BEFORE);
static IS_SHARED: AtomicBool = AtomicBool::new(false);
static PROVIDED: AtomicU8 = AtomicU8::new(0);
static LIBRARY: LibraryCell = LibraryCell(UnsafeCell::new(None));

struct LibraryCell(UnsafeCell<Option<Library>>);

// SAFETY: only `Entered` and `begin` and `end` reach it, from one thread at a time: by the lock, or
// because the program promised so when it asked for less than `MPI_THREAD_MULTIPLE`.
unsafe impl Sync for LibraryCell {}

/// What threads of a program may do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(super) enum Level {
    /// There is one.
    Single,
    /// The main one calls.
    Funneled,
    /// One at a time calls.
    Serialized,
    /// Any calls at any time.
    Multiple,
}

/// Says where transports come from. Without it every process is alone.
pub fn set_transport(attach: Attach) {
    ATTACH.get_or_init(|| attach);
}

/// Begins as `MPI_Init` does; `false` if that was done already.
pub(super) fn begin(level: Level) -> Result<bool> {
    let _locked = Locked::take();
    if WORLD.load(Ordering::Acquire) != BEFORE {
        return Ok(false);
    }
    match STAGE.load(Ordering::Acquire) {
        BEFORE => start(level)?,
        // A session has begun.
        RUNNING => {}
        RESTING => resume(level)?,
        _ => return Err(is_over()),
    }
    WORLD.store(RUNNING, Ordering::Release);
    Ok(true)
}

/// Begins a session, and for it the library if nobody has: none that ends meanwhile takes it away.
pub(super) fn begin_session(level: Level, made: Made) -> Result<SessionId> {
    let mut entered = Entered {
        locked: Locked::take(),
    };
    match STAGE.load(Ordering::Acquire) {
        BEFORE => start(level)?,
        RUNNING => {}
        RESTING => resume(level)?,
        _ => return Err(is_over()),
    }
    let full = || Error::new(Class::NoMem, "there are too many sessions");
    entered.sessions.table.insert(made).ok_or_else(full)
}

/// Ends if nothing needs the library any more: neither `MPI_Init` nor a session. Messages go on to their
/// end before, in which other threads may begin sessions, or end the library first.
pub(super) fn end_unused(mpi: &mut Entered) -> Result<()> {
    let is_last = |mpi: &Entered| mpi.sessions.is_empty() && !has_world();
    if !is_last(mpi) {
        return Ok(());
    }
    let waited = mpi.wait_in(|mpi| {
        let is_over = !is_last(mpi) || mpi.process.is_quiet();
        Ok(is_over.then_some(()))
    });
    if STAGE.load(Ordering::Acquire) != RUNNING {
        return Ok(());
    }
    waited?;
    if is_last(mpi) {
        end();
    }
    Ok(())
}

#[cold]
fn is_over() -> Error {
    let what = "the library has ended; on a simulated chip nothing begins after MPI_Finalize";
    Error::new(Class::Other, what)
}

fn start(level: Level) -> Result<()> {
    if let Some(fault) = &Settings::of_environment().fault {
        return Err(Error::new(Class::Other, fault.clone()));
    }
    let mut transport = match ATTACH.get() {
        Some(attach) => attach()?,
        None => Box::new(Alone::new()),
    };
    let is_clocked = transport.clocked().is_some();
    if let Some(shelf) = transport.shelf() {
        corecast_core::shelf::share(shelf);
    }
    let mut process = Process::new(transport);
    // In virtual time a rank is one thread of events.
    let level = match is_clocked {
        true => level.min(Level::Serialized),
        false => level,
    };
    let library = Library {
        parent: process.meet_parents()?,
        process,
        main: thread::current().id(),
        composed: Requests::default(),
        attributes: Attributes::default(),
        sessions: Sessions::default(),
        files: Files::default(),
        facts: BTreeMap::new(),
        topologies: BTreeMap::new(),
    };
    // SAFETY: the stage is not `RUNNING`, so that nobody else reaches it; the lock is held.
    unsafe { *LIBRARY.0.get() = Some(library) };
    IS_SHARED.store(level == Level::Multiple, Ordering::Relaxed);
    PROVIDED.store(level as u8, Ordering::Relaxed);
    watch::set(is_clocked);
    STAGE.store(RUNNING, Ordering::Release);
    Ok(())
}

/// Goes on with what there was before [`end`].
fn resume(level: Level) -> Result<()> {
    // SAFETY: the stage is `RESTING`, so that nobody else reaches it; the lock is held.
    let Some(library) = (unsafe { (*LIBRARY.0.get()).as_mut() }) else {
        return Err(is_over());
    };
    if !library.process.engine.transport().resume() {
        return Err(is_over());
    }
    library.main = thread::current().id();
    IS_SHARED.store(level == Level::Multiple, Ordering::Relaxed);
    PROVIDED.store(level as u8, Ordering::Relaxed);
    STAGE.store(RUNNING, Ordering::Release);
    Ok(())
}

/// `MPI_Finalize` was called: what comes is the business of sessions.
pub(super) fn end_world() {
    WORLD.store(AFTER, Ordering::Release);
}

/// Whether `MPI_Init` was called, and `MPI_Finalize` was not.
pub(super) fn has_world() -> bool {
    WORLD.load(Ordering::Acquire) == RUNNING
}

/// Ends, until a session begins if one may. The caller has entered the library, and has the lock where
/// there is one.
fn end() {
    // SAFETY: this thread has entered, and no other one is in a call but to end as well, which lets go of
    // the lock only while it waits.
    let place = unsafe { &mut *LIBRARY.0.get() };
    let Some(library) = place else {
        return;
    };
    let transport = library.process.engine.transport();
    if transport.clocked().is_none() {
        transport.finish();
        STAGE.store(RESTING, Ordering::Release);
    } else if WORLD.load(Ordering::Acquire) == BEFORE {
        // A rank of a simulated chip ends once. That another session begins is not known yet, and the
        // others have to wait for it: so this one ends with its process, in `at_exit`.
        STAGE.store(RESTING, Ordering::Release);
    } else {
        transport.finish();
        STAGE.store(AFTER, Ordering::Release);
        *place = None;
    }
}

/// The process exits: a rank of a simulated chip that has had sessions alone, and has ended them, ends.
///
/// The lock may be held by who exits: an error ends the process from within a call. Then nobody rests.
extern "C" fn at_exit() {
    let Some(_locked) = Locked::take_now() else {
        return;
    };
    if STAGE.load(Ordering::Acquire) != RESTING {
        return;
    }
    // SAFETY: the stage is `RESTING`, so that nobody else reaches it; the lock is held.
    if let Some(library) = unsafe { (*LIBRARY.0.get()).as_mut() } {
        let transport = library.process.engine.transport();
        if transport.clocked().is_some() {
            transport.finish();
        }
    }
}

/// Functions of this section are called when the process exits, or lets go of the library.
// SAFETY: the section is an array of functions of this type.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Whether `MPI_Init` was called, and whether `MPI_Finalize` was.
pub(super) fn stage() -> (bool, bool) {
    let stage = WORLD.load(Ordering::Acquire);
    (stage != BEFORE, stage == AFTER)
}

/// Whether the library has run and does not.
pub(super) fn has_rested() -> bool {
    STAGE.load(Ordering::Acquire) == RESTING
}

/// What threads may do.
pub(super) fn level() -> Level {
    let levels = [Level::Single, Level::Funneled, Level::Serialized];
    let level = usize::from(PROVIDED.load(Ordering::Relaxed));
    levels.get(level).copied().unwrap_or(Level::Multiple)
}

/// The right to use the library, until it is dropped.
///
/// A function of the program that the library calls (an operation, for example) may call the
/// library again from the same thread.
pub struct Entered {
    locked: Option<Locked>,
}

impl Entered {
    /// Enters; `None` if it does not run.
    #[inline]
    #[must_use]
    pub fn enter() -> Option<Self> {
        if STAGE.load(Ordering::Acquire) != RUNNING {
            return None;
        }
        let locked = match IS_SHARED.load(Ordering::Relaxed) {
            false => None,
            true => Locked::take(),
        };
        Some(Self { locked })
    }

    /// Repeats `attempt` until it gives something. Meanwhile messages go on, and, where several
    /// threads may call, others of them get in.
    ///
    /// # Errors
    /// That of `attempt` or of what goes on.
    #[inline]
    pub fn wait<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Process) -> Result<Option<T>>,
    ) -> Result<T> {
        self.wait_in(|mpi| attempt(&mut mpi.process))
    }

    /// As [`Entered::wait`], for what needs more than the process.
    ///
    /// # Errors
    /// That of `attempt` or of what goes on.
    #[inline]
    pub fn wait_in<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<T> {
        let mut calls = 0_u32;
        loop {
            if let Some(value) = attempt(self)? {
                return Ok(value);
            }
            if self.process.progress()? {
                calls = 0;
                continue;
            }
            self.idle(calls)?;
            calls = calls.saturating_add(1);
        }
    }

    /// Repeats `attempt` until it is true. Where it would wait, `instead` may have it carried on by others;
    /// whether it did.
    ///
    /// # Errors
    /// That of either or of what goes on.
    pub fn wait_or<J>(
        &mut self,
        job: &mut J,
        mut attempt: impl FnMut(&mut J, &mut Process) -> Result<bool>,
        mut instead: impl FnMut(&mut J, &mut Process) -> Result<bool>,
    ) -> Result<()> {
        let patience = self.process.engine.transport().patience();
        let mut calls = 0_u32;
        loop {
            if attempt(job, &mut self.process)? {
                return Ok(());
            }
            if self.process.progress()? {
                calls = 0;
                continue;
            }
            if calls == patience && self.instead(job, &mut instead)? {
                calls = 0;
                continue;
            }
            self.idle(calls)?;
            calls = calls.saturating_add(1);
        }
    }

    /// In virtual time, before a wait for messages: has them brought to their ends by others as far as that
    /// can be. `waited` tells which have not ended.
    ///
    /// # Errors
    /// Of what goes on.
    #[inline]
    pub fn bring_about(&mut self, waited: impl Fn(&Process) -> Vec<u32>) -> Result<()> {
        match watch::is_on() {
            false => Ok(()),
            true => self.bring(&waited),
        }
    }

    #[cold]
    fn bring(&mut self, waited: &dyn Fn(&Process) -> Vec<u32>) -> Result<()> {
        loop {
            let mut left = waited(&self.process);
            if left.is_empty() {
                return Ok(());
            }
            if self.process.progress()? {
                continue;
            }
            if !self.instead(&mut left, &mut |left, process| process.bring_about(left))? {
                return Ok(());
            }
        }
    }

    /// As [`Entered::wait`], for a message that has no handle.
    ///
    /// # Errors
    /// Its own, or of what goes on.
    pub fn wait_for(&mut self, request: &mut Request) -> Result<Status> {
        self.bring_about(|process| request.message(&process.engine).into_iter().collect())?;
        self.wait(|process| process.poll(request))
    }

    /// Has a job carried on by others; whether it was.
    ///
    /// # Errors
    /// That of `instead` or of what goes on.
    pub fn instead<J>(
        &mut self,
        job: &mut J,
        instead: &mut impl FnMut(&mut J, &mut Process) -> Result<bool>,
    ) -> Result<bool> {
        let done = instead(job, &mut self.process);
        if done.is_err() {
            watch::tell(self);
        }
        if done? {
            // What else came goes on first, as it does where the rank itself has waited.
            self.process.progress()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// As [`Entered::wait`], for what nobody says who brings it about: it does not sleep for long.
    ///
    /// # Errors
    /// That of `attempt` or of what goes on.
    pub fn wait_awake<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Process) -> Result<Option<T>>,
    ) -> Result<T> {
        let patience = self.process.engine.transport().patience();
        let mut calls = 0_u32;
        loop {
            if let Some(value) = attempt(&mut self.process)? {
                return Ok(value);
            }
            if self.process.progress()? {
                continue;
            }
            if calls < patience + IDLE_CALLS_AWAKE || self.locked.is_some() {
                self.idle_awake(calls)?;
                calls = calls.saturating_add(1);
            } else {
                self.process.engine.transport().doze()?;
            }
        }
    }

    /// As [`Entered::wait`], but gives up at once if messages that have come do not help.
    ///
    /// # Errors
    /// That of `attempt` or of what goes on.
    #[inline]
    pub fn look<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Process) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.look_in(|mpi| attempt(&mut mpi.process))
    }

    /// As [`Entered::look`], for what needs more than the process.
    ///
    /// # Errors
    /// That of `attempt` or of what goes on.
    #[inline]
    pub fn look_in<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if let Some(value) = attempt(self)? {
            return Ok(Some(value));
        }
        watch::look(self);
        match self.process.progress()? {
            true => attempt(self),
            false => Ok(None),
        }
    }

    #[inline]
    fn idle(&mut self, calls: u32) -> Result<()> {
        self.rest(calls, |transport, calls| transport.idle(calls))
    }

    /// As [`Entered::idle`], for what nobody says who brings it: does not sleep for long.
    #[inline]
    fn idle_awake(&mut self, calls: u32) -> Result<()> {
        self.rest(calls, |transport, calls| transport.idle_awake(calls))
    }

    #[inline]
    fn rest(
        &mut self,
        calls: u32,
        idle: impl FnOnce(&mut dyn Transport, u32) -> Result<()>,
    ) -> Result<()> {
        if calls == 0 {
            self.process.engine.count_wait();
        }
        if self.locked.is_none() {
            let idled = idle(self.process.engine.transport(), calls);
            if idled.is_err() {
                watch::tell(self);
            }
            return idled;
        }
        self.locked = None;
        if calls >= IDLE_CALLS_AWAKE {
            thread::yield_now();
        }
        self.locked = Locked::take();
        if STAGE.load(Ordering::Acquire) != RUNNING {
            return Err(Error::new(Class::Other, "the library ended meanwhile"));
        }
        let transport = self.process.engine.transport();
        transport.goes_on()?;
        // Another thread of this process may be about to bring what this one waits for.
        transport.idle_awake(calls.min(IDLE_CALLS_AWAKE))
    }

    /// Calls a function of the program that may itself call the library, and wait there for what other
    /// threads bring: they get in meanwhile. What it is called with is looked up before, and again after.
    pub(super) fn apart<T>(&mut self, function: impl FnOnce() -> T) -> T {
        let is_shared = self.locked.is_some();
        self.locked = None;
        let value = function();
        if is_shared {
            self.locked = Locked::take();
        }
        value
    }
}

impl Deref for Entered {
    type Target = Library;

    #[inline]
    fn deref(&self) -> &Library {
        // SAFETY: see `LibraryCell`: this thread alone is in the library. It is there as long as it runs,
        // which `enter` has seen and `MPI_Finalize` ends only when no call is under way.
        unsafe { (*LIBRARY.0.get()).as_ref().unwrap_unchecked() }
    }
}

impl DerefMut for Entered {
    #[inline]
    fn deref_mut(&mut self) -> &mut Library {
        // SAFETY: as in `deref`.
        unsafe { (*LIBRARY.0.get()).as_mut().unwrap_unchecked() }
    }
}
