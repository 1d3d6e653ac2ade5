// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether this process is a child that `fork` has made of a rank: its parent's memory says that it is one,
//! too. To ask for the number of the process would be a system call each time.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_CHILD: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// From now on children know that they are.
pub fn mark_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without memory for this a child goes on as if it were the rank.
        // SAFETY: what runs in the child only writes a word.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// Whether it is one.
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_knows_that_it_is_one() {
        mark_children();
        assert!(!is_child());
        // SAFETY: the child ends at once, without anything that its parent's threads may hold.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the call does not return.
            unsafe { libc::_exit(i32::from(is_child())) };
        }
        let mut status = 0;
        // SAFETY: it writes into the word alone.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, libc::WEXITSTATUS(status)), (child, 1));
        assert!(!is_child());
    }
}
