// SPDX-License-Identifier: MIT OR Apache-2.0
//! Epochs of windows: fences, groups that start, post, complete and wait, locks and flushes.
#![forbid(unsafe_code)]

use std::ffi::c_int;
use std::ops::Range;

use super::collective::meet;
use super::watch::pass;
use super::{Comm, Entered, Group, Out, Win, call, group};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::WinId;
use crate::rma::LockKind;

/// Refuses an assertion that is none for this call.
fn check(assertion: c_int, allowed: c_int) -> Result<()> {
    match assertion & !allowed {
        0 => Ok(()),
        _ => {
            let what = format!("the assertion {assertion} has bits that mean nothing here");
            Err(Error::new(Class::Assert, what))
        }
    }
}

/// Brings what is under way to ranks to its end.
///
/// What others ask for goes on even where there is nothing to wait for: a rank that looks at its own
/// memory again and again may look for what another one is yet to do there. In virtual time that takes
/// some after a while, so that what the other one does can come.
#[inline]
fn flush(mpi: &mut Entered, win: WinId, ranks: Range<u32>, is_remote: bool) -> Result<()> {
    match mpi.process.is_calm(win) {
        true => Ok(()),
        false => flush_anyhow(mpi, win, ranks, is_remote),
    }
}

fn flush_anyhow(mpi: &mut Entered, win: WinId, ranks: Range<u32>, is_remote: bool) -> Result<()> {
    mpi.process.begin_flush(win, ranks.clone(), is_remote)?;
    if mpi.process.is_flushed(win, &ranks)? {
        pass(mpi);
    }
    until_flushed(mpi, win, &ranks)
}

/// What a flush that has begun waits for.
fn until_flushed(mpi: &mut Entered, win: WinId, ranks: &Range<u32>) -> Result<()> {
    mpi.process.progress()?;
    mpi.wait(|process| Ok(process.is_flushed(win, ranks)?.then_some(())))
}

pub fn win_fence<A: Abi>(assertion: c_int, win: Win<A>) -> c_int {
    const NAME: &str = "MPI_Win_fence";
    let win = win.id();
    call::<A>(NAME, win, |mpi| {
        mpi.process.may_fence(win)?;
        let known = A::MODE_NOSTORE | A::MODE_NOPUT | A::MODE_NOPRECEDE | A::MODE_NOSUCCEED;
        check(assertion, known)?;
        let all = mpi.process.all_targets(win)?;
        // Who loops over fences waits in their barriers.
        let flushed = match mpi.process.is_calm(win) {
            true => Ok(()),
            false => {
                let begun = mpi.process.begin_flush(win, all.clone(), true);
                begun.and_then(|()| until_flushed(mpi, win, &all))
            }
        };
        let comm = Comm::<A>::of(mpi.process.win(win)?.comm);
        meet(mpi, NAME, comm)?;
        // What others had written before they came to the barrier is seen after it.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        mpi.process
            .fenced(win, assertion & A::MODE_NOSUCCEED == 0)?;
        flushed
    })
}

pub fn win_start<A: Abi>(targets: Group<A>, assertion: c_int, win: Win<A>) -> c_int {
    let (targets, win) = (targets.id(), win.id());
    call::<A>("MPI_Win_start", win, |mpi| {
        let targets = group::group_of(mpi, targets)?.clone();
        check(assertion, A::MODE_NOCHECK)?;
        let is_checked = assertion & A::MODE_NOCHECK == 0;
        mpi.process.begin_start(win, &targets, is_checked)?;
        mpi.wait(|process| Ok(process.has_started(win)?.then_some(())))
    })
}

pub fn win_complete<A: Abi>(win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_complete", win, |mpi| {
        let targets = mpi.process.started(win)?;
        let flushed = flush(mpi, win, targets, true);
        mpi.process.complete(win)?;
        flushed
    })
}

pub fn win_post<A: Abi>(origins: Group<A>, assertion: c_int, win: Win<A>) -> c_int {
    let (origins, win) = (origins.id(), win.id());
    call::<A>("MPI_Win_post", win, |mpi| {
        let origins = group::group_of(mpi, origins)?.clone();
        let known = A::MODE_NOCHECK | A::MODE_NOSTORE | A::MODE_NOPUT;
        check(assertion, known)?;
        let is_checked = assertion & A::MODE_NOCHECK == 0;
        mpi.process.post(win, &origins, is_checked)
    })
}

pub fn win_wait<A: Abi>(win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_wait", win, |mpi| {
        mpi.wait(|process| Ok(process.has_ended(win)?.then_some(())))
    })
}

pub fn win_test<A: Abi>(win: Win<A>, flag: Out<c_int>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_test", win, |mpi| {
        let ended = mpi.look(|process| Ok(process.has_ended(win)?.then_some(())))?;
        flag.set(ended.is_some().into())
    })
}

fn lock<A: Abi>(
    mpi: &mut Entered,
    win: WinId,
    rank: Option<i32>,
    kind: LockKind,
    assertion: c_int,
) -> Result<()> {
    check(assertion, A::MODE_NOCHECK)?;
    let is_checked = assertion & A::MODE_NOCHECK == 0;
    mpi.process.ask_lock(win, rank, kind, is_checked)?;
    if mpi.process.has_lock(win, rank)? {
        return Ok(());
    }
    // Who gives a lock in shared memory up wakes nobody.
    mpi.wait_awake(|process| Ok(process.has_lock(win, rank)?.then_some(())))
}

pub fn win_lock<A: Abi>(kind: c_int, rank: c_int, assertion: c_int, win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_lock", win, |mpi| {
        mpi.process.win(win)?;
        let kind = match kind {
            _ if kind == A::LOCK_SHARED => LockKind::Shared,
            _ if kind == A::LOCK_EXCLUSIVE => LockKind::Alone,
            _ => {
                let what =
                    format!("{kind} is no kind of lock: MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE");
                return Err(Error::new(Class::Locktype, what));
            }
        };
        let rank = A::peer(rank);
        if assertion == 0 && mpi.process.lock_now(win, rank, kind) {
            return Ok(());
        }
        lock::<A>(mpi, win, Some(rank), kind, assertion)
    })
}

pub fn win_lock_all<A: Abi>(assertion: c_int, win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_lock_all", win, |mpi| {
        mpi.process.win(win)?;
        lock::<A>(mpi, win, None, LockKind::Shared, assertion)
    })
}

fn unlock(mpi: &mut Entered, win: WinId, rank: Option<i32>) -> Result<()> {
    let targets = mpi.process.locked(win, rank)?;
    let flushed = flush(mpi, win, targets.clone(), true);
    mpi.process.unlock(win, targets)?;
    flushed
}

pub fn win_unlock<A: Abi>(rank: c_int, win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_unlock", win, |mpi| {
        let rank = A::peer(rank);
        match mpi.process.unlock_now(win, rank) {
            true => Ok(()),
            false => unlock(mpi, win, Some(rank)),
        }
    })
}

pub fn win_unlock_all<A: Abi>(win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_unlock_all", win, |mpi| unlock(mpi, win, None))
}

#[inline(always)]
fn flush_locked(mpi: &mut Entered, win: WinId, rank: Option<i32>, is_remote: bool) -> Result<()> {
    match mpi.process.is_calm_at(win, rank) {
        true => Ok(()),
        false => flush_locked_anyhow(mpi, win, rank, is_remote),
    }
}

#[inline(never)]
fn flush_locked_anyhow(
    mpi: &mut Entered,
    win: WinId,
    rank: Option<i32>,
    is_remote: bool,
) -> Result<()> {
    let targets = mpi.process.flushed(win, rank)?;
    flush_anyhow(mpi, win, targets, is_remote)
}

pub fn win_flush<A: Abi>(rank: c_int, win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_flush", win, |mpi| {
        flush_locked(mpi, win, Some(A::peer(rank)), true)
    })
}

pub fn win_flush_all<A: Abi>(win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_flush_all", win, |mpi| {
        flush_locked(mpi, win, None, true)
    })
}

pub fn win_flush_local<A: Abi>(rank: c_int, win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_flush_local", win, |mpi| {
        flush_locked(mpi, win, Some(A::peer(rank)), false)
    })
}

pub fn win_flush_local_all<A: Abi>(win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_flush_local_all", win, |mpi| {
        flush_locked(mpi, win, None, false)
    })
}

pub fn win_sync<A: Abi>(win: Win<A>) -> c_int {
    let win = win.id();
    call::<A>("MPI_Win_sync", win, |mpi| {
        // What others ask for is done meanwhile, as in `flush`.
        if mpi.process.is_calm(win) {
            return Ok(());
        }
        mpi.process.win(win)?;
        pass(mpi);
        mpi.process.progress().map(|_| ())
    })
}
