// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the time of ranks went, by the calls that they were in.

use corecast_machine::{Activity, CallLog, Cause, Time};

/// The call of what is part of none.
pub(super) const NO_CALL: u16 = u16::MAX;

/// Time of some calls of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallTime {
    /// Number of the kind of call.
    pub call: u16,
    /// How many calls these are.
    pub count: u64,
    /// Virtual time by cause ([`Cause::KINDS`]).
    pub causes: [Time; Cause::KINDS.len()],
}

impl CallTime {
    /// Calls of a kind that have taken no time so far.
    pub(super) fn new(call: u16, count: u64) -> Self {
        Self {
            call,
            count,
            causes: [Time::ZERO; Cause::KINDS.len()],
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> Time {
        let causes = self.causes.iter();
        causes.fold(Time::ZERO, |sum, &time| sum + time)
    }

    /// The cause that takes most of it, as an index into [`Cause::KINDS`], and its time; of equal ones
    /// the first.
    #[must_use]
    pub fn main_cause(&self) -> (usize, Time) {
        let causes = self.causes.iter().copied().enumerate().rev();
        causes.max_by_key(|&(_, time)| time).unwrap_or_default()
    }
}

/// Times of several kinds of call, which are few, in order of their numbers.
#[derive(Default)]
pub(super) struct Spent(Vec<CallTime>);

impl Spent {
    fn of(&mut self, call: u16) -> &mut CallTime {
        let found = self.0.binary_search_by_key(&call, |of| of.call);
        let index = found.unwrap_or_else(|index| {
            self.0.insert(index, CallTime::new(call, 0));
            index
        });
        &mut self.0[index]
    }

    /// Calls of a kind were made so often more.
    pub(super) fn count(&mut self, call: u16, count: u64) {
        self.of(call).count += count;
    }

    /// Time was spent in it.
    pub(super) fn spend(&mut self, call: u16, cause: Cause, time: Time) {
        self.of(call).causes[cause.index()] += time;
    }

    /// Further calls of a kind.
    pub(super) fn add(&mut self, more: &CallTime) {
        let of = self.of(more.call);
        of.count += more.count;
        for (time, &more) in of.causes.iter_mut().zip(&more.causes) {
            *time += more;
        }
    }

    /// The kinds, those that took longest first.
    pub(super) fn longest_first(self) -> Vec<CallTime> {
        let mut calls = self.0;
        calls.sort_by_key(|call| std::cmp::Reverse(call.total()));
        calls
    }
}

/// A stretch of a rank's time with one cause in one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub start: Time,
    pub end: Time,
    pub cause: Cause,
    /// The call, or [`NO_CALL`].
    pub call: u16,
    /// Which of the rank's calls.
    pub serial: u32,
}

/// All of a rank's time, cut where causes and calls begin and end; adjacent from time zero.
pub(super) fn pieces(log: &CallLog, activity: &Activity) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(activity.spans().len() + log.spans.len());
    each_piece(log, activity, |piece| pieces.push(piece));
    pieces
}

/// The same, one after the other.
fn each_piece(log: &CallLog, activity: &Activity, mut take: impl FnMut(Piece)) {
    let mut calls = log.spans.iter().peekable();
    for span in activity.spans() {
        let mut start = span.start;
        while start < span.end {
            while calls.next_if(|call| call.end <= start).is_some() {}
            let (call, serial, end) = match calls.peek() {
                Some(call) if call.start <= start => (call.call, call.serial, call.end),
                Some(call) => (NO_CALL, 0, call.start),
                None => (NO_CALL, 0, span.end),
            };
            let end = end.min(span.end);
            take(Piece {
                start,
                end,
                cause: span.cause,
                call,
                serial,
            });
            start = end;
        }
    }
}

/// Calls that a rank has made, those that took longest first. Together with what it did outside of calls
/// they take all of its time until it has finished.
pub(super) fn by_call(log: &CallLog, activity: &Activity) -> Vec<CallTime> {
    let mut spent = Spent::default();
    for &(call, count) in &log.counts {
        spent.count(call, count);
    }
    each_piece(log, activity, |piece| {
        if piece.cause != Cause::Idle {
            spent.spend(piece.call, piece.cause, piece.end - piece.start);
        }
    });
    spent.longest_first()
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Rank;
    use corecast_machine::CallSpan;

    #[test]
    fn causes_are_cut_where_calls_begin_and_end() {
        let at = Time::from_ps;
        let mut activity = Activity::default();
        activity.fill(at(10), Cause::Compute);
        activity.fill(at(30), Cause::Transfer);
        activity.fill(at(50), Cause::WaitPeer(Rank(1)));
        activity.fill(at(99), Cause::Idle);
        let span = |call, start, end| CallSpan {
            call,
            serial: 0,
            start: at(start),
            end: at(end),
        };
        let log = CallLog {
            spans: vec![span(7, 5, 15), span(9, 15, 35), span(7, 40, 50)],
            counts: vec![(7, 2), (9, 1), (3, 4)],
        };
        let calls = by_call(&log, &activity);
        let told = |index: usize| {
            let call = &calls[index];
            let causes = call.causes.iter().map(|time| time.ps());
            let causes: Vec<u64> = causes.filter(|&ps| ps > 0).collect();
            (call.call, call.count, causes)
        };
        // Compute, wait and transfer in the order of their kinds.
        assert_eq!(told(0), (7, 2, vec![5, 10, 5]));
        assert_eq!(told(1), (9, 1, vec![5, 15]));
        assert_eq!(told(2), (NO_CALL, 0, vec![5, 5]));
        assert_eq!(told(3), (3, 4, vec![]));
        let whole: u64 = calls.iter().map(|call| call.total().ps()).sum();
        assert_eq!(whole, 50);
        let pieces = pieces(&log, &activity);
        assert!(pieces.windows(2).all(|two| two[0].end == two[1].start));
        assert_eq!(pieces.last().map(|piece| piece.end), Some(at(99)));
    }
}
