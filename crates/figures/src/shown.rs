// SPDX-License-Identifier: MIT OR Apache-2.0
//! As much of a run as can be seen in a timeline: of a long one a cause per pixel, of many ranks a row
//! for several, of many messages none.

use std::borrow::Cow;

use corecast_machine::{Activity, Cause, Report, Time};
use corecast_study::counted;

/// Pixels of the time axis: of more spans of a rank only one per pixel is drawn.
const COLUMNS: u64 = 900;
/// Messages that are drawn; more would hide what ranks did.
const MESSAGES: usize = 500;
/// Rows that are drawn; of more ranks several share one.
const ROWS: usize = 128;

/// A report as it is drawn.
pub struct Shown<'a> {
    /// With an activity per row.
    pub report: Cow<'a, Report>,
    /// Whose each row is.
    pub labels: Vec<String>,
    /// Ranks that share a row; the last row may have fewer.
    ranks_per_row: usize,
}

impl<'a> Shown<'a> {
    /// What can be seen of a report.
    pub fn of(report: &'a Report) -> Self {
        let ranks = report.activity.len();
        let is_long = |activity: &Activity| activity.spans().len() as u64 > COLUMNS;
        let has_many = report.messages.len() > MESSAGES;
        let ranks_per_row = ranks.div_ceil(ROWS).max(1);
        let is_shared = ranks_per_row > 1;
        let labels = labels(ranks, ranks_per_row);
        if !has_many && !is_shared && !report.activity.iter().any(is_long) {
            let report = Cow::Borrowed(report);
            return Self {
                report,
                labels,
                ranks_per_row,
            };
        }
        let column = report.makespan.ps().div_ceil(COLUMNS).max(1);
        let rows = report.activity.chunks(ranks_per_row);
        let rows = rows.map(|row| match row {
            [activity] if !is_long(activity) => activity.clone(),
            row => in_columns(row, column),
        });
        let shown = Report {
            activity: rows.collect(),
            messages: match has_many || is_shared {
                true => Vec::new(),
                false => report.messages.clone(),
            },
            ..report.clone()
        };
        Self {
            report: Cow::Owned(shown),
            labels,
            ranks_per_row,
        }
    }

    /// What is not drawn, for the title.
    pub fn left_out(&self, report: &Report) -> String {
        let messages = report.messages.len() as u64;
        let mut left_out = Vec::new();
        if self.report.messages.is_empty() && messages > 0 {
            left_out.push(format!("{}, not drawn", counted(messages, "message")));
        }
        if self.ranks_per_row > 1 {
            left_out.push(format!(
                "{} ranks a row, by what most of them do",
                self.ranks_per_row
            ));
        }
        match left_out.is_empty() {
            true => String::new(),
            false => format!(" ({})", left_out.join("; ")),
        }
    }
}

/// Whose each row is.
fn labels(ranks: usize, ranks_per_row: usize) -> Vec<String> {
    let firsts = (0..ranks).step_by(ranks_per_row);
    let label = |first: usize| match (first + ranks_per_row).min(ranks) - 1 {
        last if ranks_per_row == 1 => format!("rank {last}"),
        last if last == first => first.to_string(),
        last => format!("{first}-{last}"),
    };
    firsts.map(label).collect()
}

/// Several ranks as one, with one cause per column of so many picoseconds: the one that takes most of it.
fn in_columns(ranks: &[Activity], column: u64) -> Activity {
    let end = ranks.iter().map(|activity| activity.end().ps());
    let end = end.max().unwrap_or(0);
    let columns = usize::try_from(end.div_ceil(column)).expect("as many as pixels");
    let mut times = vec![[(0_u64, None::<Cause>); Cause::KINDS.len()]; columns];
    for span in ranks.iter().flat_map(Activity::spans) {
        let mut start = span.start.ps();
        while start < span.end.ps() {
            let index = start / column;
            let until = span.end.ps().min((index + 1) * column);
            let (time, cause) = &mut times[index as usize][span.cause.index()];
            *time += until - start;
            *cause = Some(span.cause);
            start = until;
        }
    }
    let mut shown = Activity::default();
    for (index, of_column) in (1..).zip(times) {
        // Of equal times the first kind.
        let most = of_column.into_iter().rev().max_by_key(|(time, _)| *time);
        if let Some((_, Some(cause))) = most {
            shown.fill(Time::from_ps(end.min(index * column)), cause);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(spans: &[(u64, Cause)]) -> Activity {
        let mut activity = Activity::default();
        for &(end, cause) in spans {
            activity.fill(Time::from_ps(end), cause);
        }
        activity
    }

    fn shown(ranks: &[Activity]) -> Vec<(Cause, u64)> {
        let shown = in_columns(ranks, 10);
        let spans = shown.spans();
        spans.map(|span| (span.cause, span.end.ps())).collect()
    }

    #[test]
    fn rows_are_labelled_by_ranks_that_there_are() {
        assert_eq!(labels(2, 1), ["rank 0", "rank 1"]);
        assert_eq!(labels(5, 2), ["0-1", "2-3", "4"]);
        assert_eq!(labels(5, 3), ["0-2", "3-4"]);
    }

    #[test]
    fn a_column_has_the_cause_that_takes_most_of_it() {
        let one = activity(&[
            (3, Cause::Compute),
            (7, Cause::Transfer),
            (9, Cause::Compute),
            (27, Cause::Idle),
            (29, Cause::Software),
        ]);
        let expected = [(Cause::Compute, 10), (Cause::Idle, 29)];
        assert_eq!(shown(std::slice::from_ref(&one)), expected);
        // With another rank that transfers from its third picosecond on.
        let two = activity(&[(3, Cause::Idle), (20, Cause::Transfer)]);
        let expected = [(Cause::Transfer, 20), (Cause::Idle, 29)];
        assert_eq!(shown(&[one, two]), expected);
    }
}
