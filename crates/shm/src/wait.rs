//! How a rank waits: it spins, hands its core over, and at last sleeps until somebody wakes it.
//!
//! A sleeper says so in a word of its own ([`crate::job::Member::asleep`]) and looks once more for
//! packets before it sleeps; a sender writes its packet and then looks at that word. One of the two
//! must see the other, which needs a full barrier between write and look on both sides. A sender has
//! no time for one: the sleeper's `membarrier` system call makes every running process of the job
//! execute it (Linux 4.16; `membarrier(2)`). Where the system has no such call senders pay.

use std::sync::atomic::{AtomicU32, Ordering, compiler_fence, fence};
use std::time::Duration;

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
            Self::Sleeper => compiler_fence(Ordering::SeqCst),
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
        let limit = libc::timespec {
            tv_sec: longest.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(longest.subsec_nanos()),
        };
        // SAFETY: the word and the limit live as long as the call; it sleeps only while the word is 1.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                1,
                &raw const limit,
            )
        };
    }
    word.store(0, Ordering::Relaxed);
}

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
        // SAFETY: the word lives as long as the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
    }
}

/// Gives the core to whoever else wants it.
pub fn hand_over() {
    // SAFETY: the call has no arguments.
    unsafe { libc::sched_yield() };
}
