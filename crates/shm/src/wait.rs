// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a rank waits: it spins, hands its core over, and at last sleeps until somebody wakes it.
//!
//! A sleeper says so in a word of its own ([`crate::job::Member::asleep`]) and looks once more for
//! packets before it sleeps; a sender writes its packet and then looks at that word. One of the two
//! must see the other, which needs a full barrier between write and look on both sides. A sender has
//! no time for one: the sleeper's `membarrier` system call makes every running process of the job
//! execute it (Linux 4.16; `membarrier(2)`). Where the system has no such call senders pay.

use std::sync::atomic::compiler_fence;
use std::time::Duration;

use crate::sync::{AtomicU32, Ordering, fence};

const REGISTER_GLOBAL_EXPEDITED: libc::c_int = 4;
const GLOBAL_EXPEDITED: libc::c_int = 2;

/// Which side pays for the barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// The sleeper, for all.
    Sleeper,
    /// Both.
    Both,
}

impl Barrier {
    /// Lets sleepers of other processes make this one execute a barrier, where the system can.
    pub fn register() -> Self {
        match membarrier(REGISTER_GLOBAL_EXPEDITED) {
            true => Self::Sleeper,
            false => Self::Both,
        }
    }

    /// Between a sender's write and its look at the sleeper's word.
    #[inline]
    pub fn of_sender(self) {
        match self {
            Self::Sleeper => compiler_fence(std::sync::atomic::Ordering::SeqCst),
            Self::Both => fence(Ordering::SeqCst),
        }
    }

    /// Between the sleeper's word and its last look for packets.
    fn of_sleeper(self) {
        fence(Ordering::SeqCst);
        if self == Self::Sleeper {
            membarrier(GLOBAL_EXPEDITED);
        }
    }
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the call has no memory as its argument.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Sleeps until woken, or for `longest`; not at all if `is_ready` says that there is something.
pub fn sleep(word: &AtomicU32, barrier: Barrier, longest: Duration, is_ready: impl Fn() -> bool) {
    word.store(1, Ordering::Relaxed);
    barrier.of_sleeper();
    if !is_ready() {
        wait_while_asleep(word, longest);
    }
    word.store(0, Ordering::Relaxed);
}

/// Returns when the word is not 1, or after `longest`, or without reason.
#[cfg(not(loom))]
fn wait_while_asleep(word: &AtomicU32, longest: Duration) {
    let limit = libc::timespec {
        tv_sec: longest.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(longest.subsec_nanos()),
    };
    let (word, limit) = (word.as_ptr(), &raw const limit);
    // SAFETY: the word and the limit live as long as the call.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, 1, limit) };
}

/// Sleeps until woken while a word has this value, or without reason less long.
#[cfg(not(loom))]
pub fn wait_while(word: &AtomicU32, value: u32) {
    let (word, for_ever) = (word.as_ptr(), std::ptr::null::<libc::timespec>());
    // SAFETY: the word lives as long as the call.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, value, for_ever) };
}

/// Wakes whoever sleeps on a word.
#[cfg(not(loom))]
pub fn wake_one(word: &AtomicU32) {
    // SAFETY: the word lives as long as the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Without an end to the sleep: a wake that is lost is a model that does not end.
#[cfg(loom)]
fn wait_while_asleep(word: &AtomicU32, _longest: Duration) {
    while word.load(Ordering::Relaxed) == 1 {
        loom::thread::yield_now();
    }
}

/// The same, while a word has this value.
#[cfg(loom)]
pub fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Relaxed) == value {
        loom::thread::yield_now();
    }
}

#[cfg(loom)]
pub fn wake_one(_word: &AtomicU32) {}

/// Wakes the rank that sleeps on this word, if it does.
#[inline]
pub fn wake(word: &AtomicU32) {
    if word.load(Ordering::Relaxed) != 0 {
        wake_sleeper(word);
    }
}

#[cold]
fn wake_sleeper(word: &AtomicU32) {
    if word.swap(0, Ordering::Relaxed) != 0 {
        wake_one(word);
    }
}

/// Gives the core to whoever else wants it.
#[cfg(loom)]
pub fn hand_over() {
    loom::thread::yield_now();
}

/// Gives the core to whoever else wants it.
#[cfg(not(loom))]
pub fn hand_over() {
    // SAFETY: the call has no arguments.
    unsafe { libc::sched_yield() };
}

#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::sync::Arc;

    use super::*;

    #[test]
    fn no_wake_is_lost() {
        loom::model(|| {
            let (word, packet) = (AtomicU32::new(0), AtomicU32::new(0));
            let shared = Arc::new((word, packet));
            let sender = Arc::clone(&shared);
            let thread = loom::thread::spawn(move || {
                let (word, packet) = &*sender;
                packet.store(1, Ordering::Release);
                Barrier::Both.of_sender();
                wake(word);
            });
            let (word, packet) = &*shared;
            let is_ready = || packet.load(Ordering::Acquire) == 1;
            while !is_ready() {
                sleep(word, Barrier::Both, Duration::MAX, is_ready);
            }
            thread.join().expect("no panic");
        });
    }
}
