// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals to the launcher: a pipe that wakes it, and which came. A launcher inside another program has
//! none: that program's signals are its own.

use std::fmt;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// How often a launcher without signals looks whether ranks have ended, or it is to end them.
const LOOK: Duration = Duration::from_millis(20);

/// Says when a job is to end that runs inside another program.
///
/// ```
/// let halt = corecast_launch::Halt::when(|| true);
/// assert!(halt.is_halted());
/// ```
#[derive(Clone)]
pub struct Halt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Halt {
    /// The ranks are ended, as by SIGINT, when this says so; it is asked several times a second.
    pub fn when(is_halted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_halted))
    }

    /// Whether they are to end.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Halt")
    }
}

/// What the launcher listens to while a job runs.
pub struct Signals {
    wake: UnixStream,
    /// Where nothing is registered: the other end of `wake`, which nobody writes to, and who may ask for
    /// an end, until that was heard.
    silent: Option<(UnixStream, Halt, AtomicBool)>,
    flags: [Arc<AtomicBool>; HEARD.len()],
    registered: Vec<SigId>,
}

impl Signals {
    /// With a halt, no signal of the process is touched: handlers stay as whoever runs the job has them.
    pub fn new(halt: Option<&Halt>) -> io::Result<Self> {
        let (wake, raised) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut signals = Self {
            wake,
            silent: None,
            flags: std::array::from_fn(|_| Arc::default()),
            registered: Vec::new(),
        };
        if let Some(halt) = halt {
            signals.silent = Some((raised, halt.clone(), AtomicBool::new(false)));
            return Ok(signals);
        }
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

    /// After so long somebody must look, as nothing wakes the launcher.
    pub fn patience(&self) -> Option<Duration> {
        self.silent.as_ref().map(|_| LOOK)
    }

    /// Those that came since the last call.
    pub fn take(&self) -> Vec<Signal> {
        if let Some((_, halt, is_heard)) = &self.silent {
            let is_new = halt.is_halted() && !is_heard.swap(true, Ordering::Relaxed);
            return if is_new {
                vec![Signal::INT]
            } else {
                Vec::new()
            };
        }
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
