// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock of one rank's window: a word in shared memory, or a queue that its owner keeps. And the latch
//! that accumulates in shared memory take for as long as they change it.

use std::collections::VecDeque;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

use crate::engine::Engine;
use crate::error::Result;

/// How often who waits for a latch looks at it before it does what others do who wait: longer than a
/// stretch is changed at a time.
const LOOKS: u32 = 1 << 8;

/// Somebody has it alone.
const ALONE: u64 = 1 << 63;
/// Somebody waits to have it alone: no more of those who share get in.
const WANTED: u64 = 1 << 62;

/// A lock that lies in memory which all ranks see.
#[derive(Clone, Copy, Debug)]
pub struct SharedGate(*const AtomicU64);

// SAFETY: an address of an atomic in memory that all ranks share, mapped as long as its window is there.
unsafe impl Send for SharedGate {}

impl SharedGate {
    /// The lock at this address.
    ///
    /// # Safety
    /// Eight aligned bytes lie there, zero at first, which all use as such a lock, for as long as this is
    /// used.
    pub unsafe fn at(address: *mut u8) -> Self {
        Self(address.cast())
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: see `at`.
        unsafe { &*self.0 }
    }

    /// Takes it if it is free.
    pub fn take(&self, alone: bool) -> bool {
        let word = self.word();
        let found = word.load(Ordering::Relaxed);
        let (is_free, taken) = match alone {
            true => (found & !WANTED == 0, ALONE),
            false => (found & (ALONE | WANTED) == 0, found + 1),
        };
        if is_free {
            let taken = word.compare_exchange(found, taken, Ordering::Acquire, Ordering::Relaxed);
            return taken.is_ok();
        }
        if alone {
            word.fetch_or(WANTED, Ordering::Relaxed);
        }
        false
    }

    /// Gives it up. Nothing that this thread does from then on overtakes what it has written before.
    pub fn give_up(&self, alone: bool) {
        match alone {
            true => self.word().fetch_and(!ALONE, Ordering::SeqCst),
            false => self.word().fetch_sub(1, Ordering::SeqCst),
        };
    }
}

/// A word in shared memory that one rank at a time has, for no longer than it changes some kilobytes.
#[derive(Clone, Copy, Debug)]
pub struct Latch(*const AtomicU64);

// SAFETY: as for `SharedGate`.
unsafe impl Send for Latch {}

/// A latch that is had, until it is dropped.
#[derive(Debug)]
pub struct Latched<'a>(&'a AtomicU64);

impl Latch {
    /// The latch at this address.
    ///
    /// # Safety
    /// As for [`SharedGate::at`].
    pub unsafe fn at(address: *mut u8) -> Self {
        Self(address.cast())
    }

    /// Takes it if it is free.
    #[inline]
    pub fn take(&self) -> Option<Latched<'_>> {
        // SAFETY: see `at`.
        let word = unsafe { &*self.0 };
        match word.swap(1, Ordering::Acquire) {
            0 => Some(Latched(word)),
            _ => None,
        }
    }

    /// Whether it looks free: who waits takes nobody the line away by looking.
    pub fn is_free(&self) -> bool {
        // SAFETY: see `at`.
        unsafe { &*self.0 }.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Latched<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Takes a latch. Who had it when it died is found as everywhere.
#[inline]
pub(super) fn latched<'a>(engine: &mut Engine, latch: &'a Latch) -> Result<Latched<'a>> {
    match latch.take() {
        Some(latched) => Ok(latched),
        None => wait_for(engine, latch),
    }
}

#[cold]
fn wait_for<'a>(engine: &mut Engine, latch: &'a Latch) -> Result<Latched<'a>> {
    let mut looks = 0_u32;
    loop {
        if latch.is_free()
            && let Some(latched) = latch.take()
        {
            return Ok(latched);
        }
        match looks < LOOKS {
            true => std::hint::spin_loop(),
            false => engine.transport().idle_awake(looks - LOOKS)?,
        }
        looks = looks.saturating_add(1);
    }
}

/// A lock that its owner gives to those who ask, in the order in which they do.
#[derive(Default, Debug)]
pub struct Gate {
    is_alone: bool,
    shared: u32,
    /// Who waits: rank, whether it wants to be alone, and what it calls its request.
    queue: VecDeque<(u32, bool, i32)>,
}

impl Gate {
    /// Somebody asks.
    pub fn ask(&mut self, rank: u32, alone: bool, request: i32) {
        self.queue.push_back((rank, alone, request));
    }

    /// The next who gets it: rank and request.
    pub fn next(&mut self) -> Option<(u32, i32)> {
        let &(rank, alone, request) = self.queue.front()?;
        if self.is_alone || (alone && self.shared > 0) {
            return None;
        }
        match alone {
            true => self.is_alone = true,
            false => self.shared += 1,
        }
        self.queue.pop_front();
        Some((rank, request))
    }

    /// Somebody gives it up.
    pub fn give_up(&mut self) {
        match self.is_alone {
            true => self.is_alone = false,
            false => self.shared = self.shared.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_given_in_order() {
        let mut gate = Gate::default();
        for (rank, alone) in [(0, false), (1, true), (2, false)] {
            gate.ask(rank, alone, 7);
        }
        assert_eq!(gate.next(), Some((0, 7)));
        assert_eq!(gate.next(), None, "rank 1 wants to be alone");
        gate.give_up();
        assert_eq!(gate.next(), Some((1, 7)));
        assert_eq!(gate.next(), None);
        gate.give_up();
        assert_eq!(gate.next(), Some((2, 7)));
    }

    #[cfg(not(loom))]
    #[test]
    fn who_wants_to_be_alone_is_not_kept_out() {
        let mut word = 0_u64;
        // SAFETY: the word lives to the end of the test.
        let gate = unsafe { SharedGate::at((&raw mut word).cast()) };
        assert!(gate.take(false) && gate.take(false));
        assert!(!gate.take(true));
        assert!(!gate.take(false), "one is waiting");
        gate.give_up(false);
        gate.give_up(false);
        assert!(gate.take(true) && !gate.take(false) && !gate.take(true));
        gate.give_up(true);
        assert!(gate.take(true));
    }

    #[cfg(not(loom))]
    #[test]
    fn a_latch_is_free_again_when_it_is_dropped() {
        let mut word = 0_u64;
        // SAFETY: the word lives to the end of the test.
        let latch = unsafe { Latch::at((&raw mut word).cast()) };
        let latched = latch.take();
        assert!(latched.is_some() && latch.take().is_none() && !latch.is_free());
        drop(latched);
        assert!(latch.is_free() && latch.take().is_some());
    }
}

/// Every order in which ranks can come to the gate (`cargo xtask loom`).
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    struct Window {
        word: AtomicU64,
        contents: UnsafeCell<u32>,
    }

    // SAFETY: the contents are read and written behind the gate, which is what the model is about.
    unsafe impl Sync for Window {}

    impl Window {
        fn behind_the_gate<R>(&self, alone: bool, does: impl FnOnce(&UnsafeCell<u32>) -> R) -> R {
            let gate = SharedGate(&raw const self.word);
            while !gate.take(alone) {
                thread::yield_now();
            }
            let done = does(&self.contents);
            gate.give_up(alone);
            done
        }

        fn add(&self) {
            // SAFETY: nobody else is behind the gate.
            self.behind_the_gate(true, |contents| contents.with_mut(|it| unsafe { *it += 1 }));
        }

        fn look(&self) -> u32 {
            // SAFETY: those behind the gate do not write.
            self.behind_the_gate(false, |contents| contents.with(|it| unsafe { *it }))
        }
    }

    fn window() -> [Arc<Window>; 2] {
        let window = Arc::new(Window {
            word: AtomicU64::new(0),
            contents: UnsafeCell::new(0),
        });
        [Arc::clone(&window), window]
    }

    #[test]
    fn two_that_want_to_be_alone_follow_each_other() {
        loom::model(|| {
            let [window, other] = window();
            let other = thread::spawn(move || other.add());
            window.add();
            other.join().expect("no panic");
            assert_eq!(window.look(), 2);
        });
    }

    #[test]
    fn what_two_change_behind_a_latch_is_changed_twice() {
        loom::model(|| {
            let [window, other] = window();
            // Whether it was changed. A store may be late for as long as loom likes: who does not get the
            // latch gives up after some turns.
            let change = |window: &Window| {
                let latch = Latch(&raw const window.word);
                for _ in 0..3 {
                    if let Some(_latched) = latch.take() {
                        // SAFETY: nobody else has the latch.
                        window.contents.with_mut(|it| unsafe { *it += 1 });
                        return 1;
                    }
                    thread::yield_now();
                }
                0
            };
            let other = thread::spawn(move || change(&other));
            let changes = change(&window) + other.join().expect("no panic");
            // SAFETY: the other one has ended.
            assert_eq!(window.contents.with(|it| unsafe { *it }), changes);
        });
    }

    #[test]
    fn who_looks_sees_all_of_what_who_was_alone_did_or_nothing() {
        loom::model(|| {
            let [window, other] = window();
            let other = thread::spawn(move || {
                other.add();
                other.look()
            });
            assert!(window.look() <= 1);
            assert_eq!(other.join().expect("no panic"), 1);
        });
    }
}
