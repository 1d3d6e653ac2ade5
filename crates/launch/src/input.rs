// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is typed, passed on to rank 0.

use std::io::Write as _;
use std::process::ChildStdin;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// So much always fits into a pipe that can be written to (`PIPE_BUF` of pipe(7)).
const PIECE_BYTES: usize = 4096;

/// The pipe from the launcher's terminal to rank 0.
pub struct Input {
    pipe: ChildStdin,
    /// Whether rank 0 has not read what it was given, so that there is no room for more.
    is_full: bool,
}

impl Input {
    pub fn new(pipe: ChildStdin) -> Self {
        let is_full = false;
        Self { pipe, is_full }
    }

    /// What to wait for: more from the terminal, or room for it.
    pub fn waits_for(&self) -> [PollFd<'_>; 2] {
        let (typed, room) = if self.is_full {
            (PollFlags::empty(), PollFlags::OUT)
        } else {
            (PollFlags::IN, PollFlags::empty())
        };
        [
            PollFd::from_borrowed_fd(rustix::stdio::stdin(), typed),
            PollFd::new(&self.pipe, room),
        ]
    }

    /// Whether the terminal gives its input to the launcher; to read while it does not, in the
    /// background, would stop the launcher.
    pub fn is_ours(&self) -> bool {
        let owner = rustix::termios::tcgetpgrp(rustix::stdio::stdin());
        owner.is_ok_and(|owner| owner == rustix::process::getpgrp())
    }

    /// Passes on what was typed; `false` at its end, or when rank 0 reads no more.
    pub fn pass_on(&mut self) -> bool {
        if !self.is_ours() {
            return true;
        }
        let terminal = rustix::stdio::stdin();
        let mut ready = [
            PollFd::from_borrowed_fd(terminal, PollFlags::IN),
            PollFd::new(&self.pipe, PollFlags::OUT),
        ];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let came = poll(&mut ready, Some(&now));
        let [typed, room] = ready.map(|fd| fd.revents());
        self.is_full = came.is_ok() && room.is_empty();
        if came.is_err() || room.is_empty() {
            return true;
        }
        if room.contains(PollFlags::ERR) {
            return false;
        }
        if typed.is_empty() {
            return true;
        }
        let mut bytes = [0; PIECE_BYTES];
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) => false,
            Ok(count) => self.pipe.write_all(&bytes[..count]).is_ok(),
            Err(error) => error == rustix::io::Errno::INTR || error == rustix::io::Errno::AGAIN,
        }
    }
}
