// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank tells of the calls that it has made: for who asks where a program's time went.
//!
//! ```
//! use corecast_machine::{CallLog, Time};
//! let mut log = CallLog::default();
//! log.enter(7, 1, Time::from_ps(0), Time::from_ps(5));
//! log.enter(7, 1, Time::from_ps(5), Time::from_ps(9));
//! assert_eq!(log.spans.len(), 1);
//! ```

use corecast_core::Time;

/// A stretch of time that a rank was in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSpan {
    /// Number of the kind of call; who runs the program knows its name.
    pub call: u16,
    /// Which of the rank's calls it is.
    pub serial: u32,
    /// Begin.
    pub start: Time,
    /// End, later than the begin.
    pub end: Time,
}

/// What a rank's calls were.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CallLog {
    /// Calls that took time, in order.
    pub spans: Vec<CallSpan>,
    /// How often each kind of call was made, by its number.
    pub counts: Vec<(u16, u64)>,
}

impl CallLog {
    /// It was in a call from `start` to `end`.
    pub fn enter(&mut self, call: u16, serial: u32, start: Time, end: Time) {
        if end <= start {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if (last.call, last.serial, last.end) == (call, serial, start) => {
                last.end = end;
            }
            _ => self.spans.push(CallSpan {
                call,
                serial,
                start,
                end,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_call_are_one_stretch_and_two_calls_are_two() {
        let mut log = CallLog::default();
        let at = Time::from_ps;
        log.enter(1, 1, at(0), at(0));
        log.enter(1, 1, at(0), at(5));
        log.enter(1, 1, at(5), at(7));
        log.enter(1, 2, at(7), at(8));
        log.enter(1, 2, at(9), at(10));
        let spans = log
            .spans
            .iter()
            .map(|span| (span.start.ps(), span.end.ps()));
        assert_eq!(spans.collect::<Vec<_>>(), [(0, 7), (7, 8), (9, 10)]);
    }
}
