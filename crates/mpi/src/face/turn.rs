// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose turn it is in the library where several threads may call: its one lock.
//!
//! Who finds it taken leaves its core at once: most likely the holder wants it, or another rank that
//! the holder exchanges messages with. And the holder is not hurried: it often comes back with the next
//! call of many before anybody else looks, and what it uses stays in its core's caches. So calls of
//! several threads take little more time than those of one. Nobody is woken, so that who lets go pays
//! one plain store; who has looked in vain for long, as while a file is written, sleeps between looks.
//!
//! ```text
//! let turn = Turn::take();
//! assert!(Turn::take().is_none(), "this thread has it already");
//! drop(turn);
//! ```
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often a thread leaves its core to others before it sleeps.
const HAND_OVERS: u32 = 100;
/// How long it sleeps then, again and again.
const NAP: Duration = Duration::from_micros(50);

/// Nobody.
const NOBODY: usize = 0;
/// The thread whose turn it is.
static OWNER: AtomicUsize = AtomicUsize::new(NOBODY);

/// The turn of this thread, until it is dropped: it is not passed on.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub struct Turn(PhantomData<*const ()>);

impl Turn {
    /// Waits for the turn; `None` if this thread has it already.
    #[inline]
    pub fn take() -> Option<Self> {
        let me = this_thread();
        match Self::try_take(me) {
            Ok(turn) => Some(turn),
            Err(owner) if owner == me => None,
            Err(_) => Some(Self::wait(me)),
        }
    }

    /// The turn, if nobody has it.
    pub fn take_now() -> Option<Self> {
        Self::try_take(this_thread()).ok()
    }

    /// The turn, or whose it is.
    #[inline]
    fn try_take(me: usize) -> Result<Self, usize> {
        // That it is this thread's it has written itself: no order is needed for that.
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
                && let Ok(turn) = Self::try_take(me)
            {
                return turn;
            }
        }
    }
}

impl Drop for Turn {
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
    fn one_thread_has_the_turn_and_does_not_wait_for_itself() {
        let turn = Turn::take();
        assert!(turn.is_some() && Turn::take().is_none());
        assert!(Turn::take_now().is_none());
        thread::scope(|scope| {
            let other = scope.spawn(|| Turn::take_now().is_none());
            assert!(other.join().expect("no panic"), "it has the turn, too");
        });
        drop(turn);

        // Added to in two steps, between which others would be seen.
        const THREADS: usize = 4;
        const TURNS: usize = 1000;
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for turn_of in 0..TURNS {
                        let _turn = Turn::take();
                        let before = count.load(Ordering::Relaxed);
                        if turn_of % 100 == 0 {
                            thread::yield_now();
                        }
                        count.store(before + 1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), THREADS * TURNS);
    }
}
