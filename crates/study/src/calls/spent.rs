//! Where the time of a rank's calls went.

use std::collections::BTreeMap;

use corecast_machine::{Activity, CallLog, Cause, Time};

/// All calls of one kind by one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallTime {
    /// Number of the kind of call.
    pub call: u16,
    /// How often it was made.
    pub count: u64,
    /// Virtual time by cause ([`Cause::KINDS`]).
    pub causes: [Time; Cause::KINDS.len()],
}

impl CallTime {
    /// Adds calls of the same kind.
    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        for (time, more) in self.causes.iter_mut().zip(other.causes) {
            *time += more;
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> Time {
        let causes = self.causes.iter();
        causes.fold(Time::ZERO, |sum, &time| sum + time)
    }
}

/// Calls that a rank has made, those that took longest first.
pub(super) fn by_call(log: &CallLog, activity: &Activity) -> Vec<CallTime> {
    let mut calls: BTreeMap<u16, CallTime> = BTreeMap::new();
    let none = [Time::ZERO; Cause::KINDS.len()];
    let of = |call, count| CallTime {
        call,
        count,
        causes: none,
    };
    for &(call, count) in &log.counts {
        calls.insert(call, of(call, count));
    }
    let mut spans = activity.spans().iter().peekable();
    for stretch in &log.spans {
        let entry = calls.entry(stretch.call).or_insert(of(stretch.call, 0));
        while let Some(span) = spans.peek() {
            let start = span.start.max(stretch.start);
            let end = span.end.min(stretch.end);
            if end > start {
                entry.causes[span.cause.index()] += end - start;
            }
            if span.end > stretch.end {
                break;
            }
            spans.next();
        }
    }
    let mut calls: Vec<CallTime> = calls.into_values().collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.total()));
    calls
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
        assert_eq!(told(2), (3, 4, vec![]));
    }
}
