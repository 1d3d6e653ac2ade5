// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library's one lock, where several threads may call.
//!
//! Who finds it taken leaves its core at once: most likely the holder wants it, or another rank that
//! the holder exchanges messages with. And the holder is not hurried: it often comes back with the next
//! call of many before anybody else looks, and what it uses stays in its core's caches. So calls of
//! several threads take little more time than those of one. Nobody is woken, so that who lets go pays
//! one plain store; who has looked in vain for long, as while a file is written, sleeps between looks.
//!
//! ```text
//! let locked = Locked::take();
//! assert!(Locked::take().is_none(), "this thread has it already");
//! drop(locked);
//! ```
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often a thread leaves its core to others before it sleeps: a hundred times as often makes no
/// difference to threads that send short messages (by hand, 2026-11-28, Intel Xeon).
const HAND_OVERS: u32 = 100;
/// How long it sleeps then, again and again: about as long as it takes to be woken.
const NAP: Duration = Duration::from_micros(50);

/// Nobody.
const NOBODY: usize = 0;
/// The thread that has the lock.
static OWNER: AtomicUsize = AtomicUsize::new(NOBODY);

/// That this thread has the lock, until it is dropped; no other thread can drop it.
#[derive(Debug)]
#[must_use = "the lock is let go when it is dropped"]
pub struct Locked(PhantomData<*const ()>);

impl Locked {
    /// Waits for the lock; `None` if this thread has it already.
    #[inline]
    pub fn take() -> Option<Self> {
        let me = this_thread();
        match Self::try_take(me) {
            Ok(locked) => Some(locked),
            Err(owner) if owner == me => None,
            Err(_) => Some(Self::wait(me)),
        }
    }

    /// The lock, if nobody has it.
    pub fn take_now() -> Option<Self> {
        Self::try_take(this_thread()).ok()
    }

    /// The lock, or who has it.
    #[inline]
    fn try_take(me: usize) -> Result<Self, usize> {
        // That this thread has it was written by this thread: no order is needed for that.
        OWNER
            .compare_exchange(NOBODY, me, Ordering::Acquire, Ordering::Relaxed)
            .map(|_| Self(PhantomData))
    }

    #[cold]
    fn wait(me: usize) -> Self {
        let mut looks = 0_u32;
        loop {
            match looks < HAND_OVERS {
                true => thread::yield_now(),
                false => thread::sleep(NAP),
            }
            looks = looks.saturating_add(1);
            // A look alone takes the line from nobody.
            if OWNER.load(Ordering::Relaxed) == NOBODY
                && let Ok(locked) = Self::try_take(me)
            {
                return locked;
            }
        }
    }
}

impl Drop for Locked {
    #[inline]
    fn drop(&mut self) {
        OWNER.store(NOBODY, Ordering::Release);
    }
}

/// This thread, as a number that is not 0.
fn this_thread() -> usize {
    thread_local!(static HERE: Cell<u8> = const { Cell::new(0) });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are of the one lock: so one test has it.
    #[test]
    fn one_thread_has_the_lock_and_does_not_wait_for_itself() {
        let locked = Locked::take();
        assert!(locked.is_some() && Locked::take().is_none());
        assert!(Locked::take_now().is_none());
        thread::scope(|scope| {
            let other = scope.spawn(|| Locked::take_now().is_none());
            assert!(other.join().expect("no panic"), "it has the lock, too");
        });
        drop(locked);

        // Added to in two steps, between which others would be seen.
        const THREADS: usize = 4;
        const ADDITIONS: usize = 1000;
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for addition in 0..ADDITIONS {
                        let _locked = Locked::take();
                        let before = count.load(Ordering::Relaxed);
                        if addition % 100 == 0 {
                            thread::yield_now();
                        }
                        count.store(before + 1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), THREADS * ADDITIONS);
    }
}
