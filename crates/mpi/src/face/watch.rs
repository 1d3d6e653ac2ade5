// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a transport in virtual time is told of the program's calls.
//!
//! Every exported function begins with [`watch`]; where time is the wall's that is a look at one word.

use std::sync::atomic::{AtomicBool, Ordering};

use super::library::Entered;
use crate::transport::Clocked;

static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// A call of the program, until it is dropped.
pub struct Watch(bool);

/// The program enters this call ([`crate::calls::name`]).
#[inline]
#[must_use]
pub fn watch(call: u16) -> Watch {
    let is_watched = IS_WATCHED.load(Ordering::Relaxed);
    if is_watched {
        with(|clocked| clocked.enter(call));
    }
    Watch(is_watched)
}

impl Drop for Watch {
    #[inline]
    fn drop(&mut self) {
        if self.0 {
            with(|clocked| clocked.leave());
        }
    }
}

/// Says whether calls are to be told of.
pub(super) fn set(is_watched: bool) {
    IS_WATCHED.store(is_watched, Ordering::Relaxed);
}

/// Whether calls are told of, which take time then, and waits none of the wall's.
#[inline]
pub(super) fn is_on() -> bool {
    IS_WATCHED.load(Ordering::Relaxed)
}

/// The program looks for messages and does not wait.
#[inline]
pub(super) fn look(mpi: &mut Entered) {
    if IS_WATCHED.load(Ordering::Relaxed)
        && let Some(clocked) = mpi.process.engine.transport().clocked()
    {
        clocked.look();
    }
}

/// The program would wait here, and there is nothing to wait for ([`Clocked::pass`]).
#[inline]
pub(super) fn pass(mpi: &mut Entered) {
    if IS_WATCHED.load(Ordering::Relaxed)
        && let Some(clocked) = mpi.process.engine.transport().clocked()
    {
        clocked.pass();
    }
}

/// Tells what this rank waits for, if that is asked.
#[cold]
pub(super) fn tell(mpi: &mut Entered) {
    let wanted = mpi.process.waits_for();
    if let Some(clocked) = mpi.process.engine.transport().clocked()
        && clocked.is_asked()
    {
        clocked.tell(&wanted);
    }
}

/// The program says that it has computed for so long.
pub(super) fn compute(nanoseconds: u64) {
    if IS_WATCHED.load(Ordering::Relaxed) {
        with(|clocked| clocked.compute(nanoseconds));
    }
}

#[cold]
fn with(tell: impl FnOnce(&mut dyn Clocked)) {
    // Below `MPI_THREAD_MULTIPLE`, so that to enter is free.
    if let Some(mut mpi) = Entered::enter()
        && let Some(clocked) = mpi.process.engine.transport().clocked()
    {
        tell(clocked);
    }
}
