//! Signals to the launcher: a pipe that wakes it, and which came.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};

/// Those that somebody may send, in the order in which they are looked at.
const HEARD: [(i32, Signal); 7] = [
    (SIGINT, Signal::INT),
    (SIGTERM, Signal::TERM),
    (SIGHUP, Signal::HUP),
    (SIGQUIT, Signal::QUIT),
    (SIGTSTP, Signal::TSTP),
    (SIGUSR1, Signal::USR1),
    (SIGUSR2, Signal::USR2),
];

/// What the launcher listens to while a job runs.
pub struct Signals {
    wake: UnixStream,
    flags: [Arc<AtomicBool>; HEARD.len()],
    registered: Vec<SigId>,
}

impl Signals {
    pub fn new() -> io::Result<Self> {
        let (wake, raised) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut signals = Self {
            wake,
            flags: std::array::from_fn(|_| Arc::default()),
            registered: Vec::new(),
        };
        for ((number, _), flag) in HEARD.iter().zip(&signals.flags) {
            let id = signal_hook::flag::register(*number, Arc::clone(flag))?;
            signals.registered.push(id);
            let id = signal_hook::low_level::pipe::register(*number, raised.try_clone()?)?;
            signals.registered.push(id);
        }
        let id = signal_hook::low_level::pipe::register(SIGCHLD, raised)?;
        signals.registered.push(id);
        Ok(signals)
    }

    /// Becomes readable with every signal and every end of a child.
    pub fn pipe(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Those that came since the last call.
    pub fn take(&self) -> Vec<Signal> {
        let mut bytes = [0; 256];
        while (&self.wake).read(&mut bytes).is_ok_and(|count| count > 0) {}
        let came = HEARD.iter().zip(&self.flags);
        let came = came.filter(|(_, flag)| flag.swap(false, Ordering::Relaxed));
        came.map(|((_, signal), _)| *signal).collect()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
