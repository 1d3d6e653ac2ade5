//! What is written down of a rank.

use corecast_machine::Time;

/// A stretch of virtual time that a rank was in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSpan {
    /// Number of the call ([`corecast_mpi::calls::name`]).
    pub call: u16,
    /// Which of the rank's calls it is.
    pub serial: u32,
    /// Begin.
    pub start: Time,
    /// End, later than the begin.
    pub end: Time,
}

/// What is known of a rank at its end.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RankLog {
    /// Calls that took time, in order.
    pub spans: Vec<CallSpan>,
    /// How often each call was made, by its number.
    pub counts: Vec<(u16, u64)>,
    /// Hand-overs between its process and the simulator, there and back.
    pub hand_overs: u64,
    /// The call by which it came to its end, when it had nothing more to ask for.
    pub last: Option<CallSpan>,
}

impl RankLog {
    /// The rank has finished: what was left to do after its last request was part of its last call.
    pub fn close(&mut self, finish: Time) {
        if let Some(last) = self.last {
            self.enter(last.call, last.serial, last.end, finish);
        }
    }

    /// It was in a call from `start` to `end`.
    pub(crate) fn enter(&mut self, call: u16, serial: u32, start: Time, end: Time) {
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
        let mut log = RankLog::default();
        let at = Time::from_ps;
        log.enter(1, 1, at(0), at(0));
        log.enter(1, 1, at(0), at(5));
        log.enter(1, 1, at(5), at(7));
        log.enter(1, 2, at(7), at(8));
        log.enter(1, 2, at(9), at(10));
        log.close(at(20));
        let spans = log
            .spans
            .iter()
            .map(|span| (span.start.ps(), span.end.ps()));
        assert_eq!(spans.collect::<Vec<_>>(), [(0, 7), (7, 8), (9, 10)]);
    }

    #[test]
    fn what_is_left_to_do_at_the_end_is_part_of_the_last_call() {
        let mut log = RankLog::default();
        let at = Time::from_ps;
        let span = |start, end| CallSpan {
            call: 4,
            serial: 9,
            start: at(start),
            end: at(end),
        };
        log.enter(4, 9, at(0), at(5));
        log.last = Some(span(5, 5));
        log.close(at(8));
        assert_eq!(log.spans, [span(0, 8)]);
    }
}
