//! A program on a chip: when every rank did what, however long it ran.

use std::borrow::Cow;

use corecast_machine::{Activity, Cause, Report, Time};
use corecast_render::{Stretch, TimeAxis};
use corecast_study::{CallRun, StudyMachine};
use serde_json::Value;

/// Pixels of the time axis: of more spans of a rank only one per pixel is drawn.
const COLUMNS: u64 = 900;
/// Messages that are drawn; more would hide what ranks did.
const MESSAGES_SHOWN: usize = 500;

/// What every rank did when; `what` ran on the machine, which is a simulated one. Of a long run each pixel shows the cause that takes most of its time.
///
/// # Panics
/// If the machine is none in virtual time.
#[must_use]
pub fn calls_timeline(what: &str, machine: &dyn StudyMachine, run: &CallRun) -> String {
    let shown = readable(&run.report);
    let clock = machine.clock().expect("a chip has a clock");
    let cycles = run.cycles(clock);
    let (ranks, place) = (run.logs.len(), machine.place());
    let mut title = format!("{what} over {ranks} ranks, {cycles} cycles on {place}");
    if shown.messages.is_empty() && !run.report.messages.is_empty() {
        let messages = run.report.messages.len();
        title += &format!(" ({messages} messages, not drawn)");
    }
    let axis = TimeAxis {
        label: format!("cycles of {} ps", clock.period_ps),
        unit_ps: clock.period_ps,
    };
    corecast_render::timeline_svg(&title, &shown, &axis)
}

/// The run as Chrome trace JSON, with the ranks' calls.
#[must_use]
pub fn calls_trace(run: &CallRun, settings: &Value) -> String {
    let calls = (0..).zip(&run.logs).flat_map(|(rank, log)| {
        log.spans.iter().map(move |span| Stretch {
            rank,
            name: run.call_name(span.call).unwrap_or_default(),
            start: span.start,
            end: span.end,
        })
    });
    corecast_render::chrome_trace(&run.report, &calls.collect::<Vec<_>>(), settings)
}

/// As much of a report as can be seen.
fn readable(report: &Report) -> Cow<'_, Report> {
    let is_long = |activity: &Activity| activity.spans().len() as u64 > COLUMNS;
    let has_many = report.messages.len() > MESSAGES_SHOWN;
    if !has_many && !report.activity.iter().any(is_long) {
        return Cow::Borrowed(report);
    }
    let column = report.makespan.ps().div_ceil(COLUMNS).max(1);
    let activity = report.activity.iter().map(|activity| {
        if is_long(activity) {
            in_columns(activity, column)
        } else {
            activity.clone()
        }
    });
    Cow::Owned(Report {
        activity: activity.collect(),
        messages: match has_many {
            true => Vec::new(),
            false => report.messages.clone(),
        },
        ..report.clone()
    })
}

/// The same with one cause per column of so many picoseconds: the one that takes most of it.
fn in_columns(activity: &Activity, column: u64) -> Activity {
    let mut shown = Activity::default();
    let mut times = [0; Cause::KINDS.len()];
    let mut most: Option<(u64, Cause)> = None;
    let mut end = column;
    for span in activity.spans() {
        let mut start = span.start.ps();
        while start < span.end.ps() {
            let until = span.end.ps().min(end);
            let time = &mut times[span.cause.index()];
            *time += until - start;
            if most.is_none_or(|(longest, _)| *time > longest) {
                most = Some((*time, span.cause));
            }
            start = until;
            if start == end {
                if let Some((_, cause)) = most.take() {
                    shown.fill(Time::from_ps(end), cause);
                }
                times = [0; Cause::KINDS.len()];
                end += column;
            }
        }
    }
    if let Some((_, cause)) = most {
        shown.fill(activity.end(), cause);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_cause_that_takes_most_of_it() {
        let mut activity = Activity::default();
        let at = Time::from_ps;
        activity.fill(at(3), Cause::Compute);
        activity.fill(at(7), Cause::Transfer);
        activity.fill(at(9), Cause::Compute);
        activity.fill(at(27), Cause::Idle);
        activity.fill(at(29), Cause::Software);
        let shown = in_columns(&activity, 10);
        let spans = shown.spans().iter().map(|span| (span.cause, span.end.ps()));
        let expected = [(Cause::Compute, 10), (Cause::Idle, 29)];
        assert_eq!(spans.collect::<Vec<_>>(), expected);
        assert_eq!(shown.end(), activity.end());
    }
}
