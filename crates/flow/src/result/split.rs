// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the time of a task went.

use corecast_machine::{Cause, Time};

use crate::books::{TaskBooks, TileCall};
use crate::tile::TaskRun;

/// Where the time of a task went; the parts sum to the makespan.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Split {
    /// Its own work.
    pub computing: Time,
    /// Commands, copies, and waiting for reads of the memory buffer.
    pub communicating: Time,
    /// Waiting for a message.
    pub input: Time,
    /// Waiting for room in the output buffer.
    pub output: Time,
    /// Before its begin and after its end.
    pub idle: Time,
}

impl Split {
    /// The names of the parts, in the order in which they are shown.
    pub const PARTS: [&'static str; 5] = [
        "computing",
        "communicating",
        "stalled on input",
        "stalled on output",
        "idle",
    ];

    /// The parts in the order of [`Split::PARTS`].
    #[must_use]
    pub const fn parts(&self) -> [Time; 5] {
        [
            self.computing,
            self.communicating,
            self.input,
            self.output,
            self.idle,
        ]
    }
}

/// Splits the time of a task. Whether a wait is one for input or for output is told by the call: a
/// send waits for an acknowledgement, too, and a write for room in front of the memory buffer.
pub(super) fn split(run: &TaskRun<TaskBooks>, task: usize, makespan: Time) -> Split {
    let mut split = Split::default();
    let mut calls = run.run.outputs[task].calls.iter().peekable();
    for span in run.run.activity[task].spans() {
        let time = span.end - span.start;
        while calls.next_if(|call| call.end <= span.start).is_some() {}
        let call = calls
            .peek()
            .filter(|call| call.start <= span.start)
            .map(|call| call.call);
        let is_out = matches!(call, Some(TileCall::Send | TileCall::Write));
        match span.cause {
            Cause::Compute => split.computing += time,
            Cause::BufferFull(_) | Cause::PortBusy(_) => split.output += time,
            Cause::WaitPeer(_) | Cause::Memory if is_out => split.output += time,
            Cause::WaitPeer(_) => split.input += time,
            Cause::Idle => split.idle += time,
            _ => split.communicating += time,
        }
    }
    let sum = split
        .parts()
        .into_iter()
        .fold(Time::ZERO, |sum, part| sum + part);
    split.idle += makespan.saturating_sub(sum);
    split
}
