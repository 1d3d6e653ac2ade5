// SPDX-License-Identifier: MIT OR Apache-2.0
//! The guard of a job's process group: it ends the group when the launcher is gone.
//!
//! It is a shell that leads the group, ignores what people send to groups, and reads from a pipe of
//! which only the launcher has the other end. When the launcher ends in whatever way, SIGKILL
//! included, the read ends and the guard kills the group, which holds everything that the ranks
//! have started, too (a signal at the death of the parent would reach only the ranks themselves).
//! As long as the guard is there, so is the group's number: no other group can get it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

const SCRIPT: &str = "trap '' HUP INT QUIT TERM USR1 USR2 TSTP; read -r x; kill -KILL 0";

/// The leader of the ranks' process group.
pub struct Guard {
    child: Child,
}

impl Guard {
    pub fn start() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT]).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let child = shell.process_group(0).spawn()?;
        Ok(Self { child })
    }

    /// The group's number, for [`CommandExt::process_group`].
    pub fn group(&self) -> i32 {
        i32::try_from(self.child.id()).expect("numbers of processes are positive")
    }

    /// Sends a signal to all of the group.
    pub fn signal(&self, signal: Signal) {
        let group = Pid::from_raw(self.group()).expect("a child is not process 0");
        // It fails only when nobody is left to get it.
        let _ = kill_process_group(group, signal);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
