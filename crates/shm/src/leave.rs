// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a rank leaves when all ranks end.

use std::ptr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A stream that another thread holds for longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Ends the process, without what the program registered to run at its exit, which may call us again. What it
/// has printed is not lost: into a pipe C writes it when a buffer is full, or the program ends by itself.
pub fn leave(code: i32) -> ! {
    flush();
    // SAFETY: the call does not return.
    unsafe { libc::_exit(code) }
}

fn flush() {
    let (said, is_said) = mpsc::channel();
    let flush = move || {
        // SAFETY: null stands for all streams that are open.
        unsafe { libc::fflush(ptr::null_mut()) };
        let _ = said.send(());
    };
    // The thread that leaves may hold a stream itself, in a handler of a signal.
    if thread::Builder::new().spawn(flush).is_ok() {
        let _ = is_said.recv_timeout(PATIENCE);
    }
}
