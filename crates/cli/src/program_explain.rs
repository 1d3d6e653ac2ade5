// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--explain` of `mpirun --chip` and `replay`: what made a program as long as it was.

use corecast_chip::Clock;
use corecast_machine::{Cause, Time};
use corecast_study::{CallRun, CallTime, CallsExplanation, PathStretch};

use crate::explain::{ROWS, left_out, longest};
use crate::output::table;
use crate::style;

/// What a call is called.
fn name(run: &CallRun, call: u16) -> &'static str {
    run.call_name(call).unwrap_or("between calls")
}

/// All of it, with every row of its tables or with the first ones.
pub fn show(run: &CallRun, clock: &Clock, explained: &CallsExplanation, is_full: bool) -> String {
    let most = if is_full { usize::MAX } else { ROWS };
    let told = Told { run, clock, most };
    let parts = [
        format!("{}\n", run.advice(&explained.first)),
        all_ranks(told, &explained.calls),
        path_calls(told, &explained.path_calls),
        path(told, explained),
        late(told, explained),
    ];
    parts.join("\n")
}

/// What is told of which run: times in cycles of its chip's reference clock, and so many rows.
#[derive(Clone, Copy)]
struct Told<'a> {
    run: &'a CallRun,
    clock: &'a Clock,
    most: usize,
}

impl Told<'_> {
    /// A time in whole cycles: tables of a program have no use for their thousandths.
    fn cycles(self, time: Time) -> String {
        format!("{:.0}", self.clock.cycles_f64(time.ps()))
    }

    fn name(self, call: u16) -> &'static str {
        name(self.run, call)
    }
}

fn heading(text: &str) -> String {
    format!("{}\n", style::heading(text))
}

/// Kinds of cause that take some of these calls' time, as indices.
fn kinds(calls: &[CallTime]) -> Vec<usize> {
    let occurs = |kind: &usize| calls.iter().any(|of| of.causes[*kind] > Time::ZERO);
    (0..Cause::KINDS.len()).filter(occurs).collect()
}

/// A table of calls by cause, with what `share` says of each sum as the column and the row `last`.
fn by_cause(
    of_run: Told<'_>,
    calls: &[CallTime],
    (last, share): (&str, impl Fn(Time) -> String),
) -> String {
    let kinds = kinds(calls);
    let sum =
        |times: &mut dyn Iterator<Item = Time>| times.fold(Time::ZERO, |sum, time| sum + time);
    let told = |time| of_run.cycles(time);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let shown = match of_run.most {
        usize::MAX => calls.len(),
        most => calls
            .iter()
            .take(most)
            .take_while(|of| of.total() > Time::ZERO)
            .count(),
    };
    for of in calls.iter().take(shown) {
        let count = match of.count {
            0 => "-".to_owned(),
            count => count.to_string(),
        };
        let mut row = vec![of_run.name(of.call).to_owned(), count];
        row.extend(kinds.iter().map(|&kind| told(of.causes[kind])));
        row.extend([told(of.total()), share(of.total())]);
        rows.push(row);
    }
    let of_kind = |&kind: &usize| sum(&mut calls.iter().map(|of| of.causes[kind]));
    let times: Vec<Time> = kinds.iter().map(of_kind).collect();
    let whole = sum(&mut times.iter().copied());
    let times = || times.iter().chain([&whole]).copied();
    let mut all = vec!["all".to_owned(), String::new()];
    all.extend(times().map(told));
    rows.push(all);
    let mut shares = vec![last.to_owned(), String::new()];
    shares.extend(times().map(&share));
    rows.push(shares);
    let mut header = vec!["call", "calls"];
    header.extend(kinds.iter().map(|&kind| Cause::KINDS[kind]));
    header.extend(["sum", last]);
    table(&header, 1..header.len(), rows)
        + &left_out(
            calls.len() - shown,
            "function that took less",
            "functions that took less",
        )
}

fn percent(part: Time, whole: Time) -> String {
    format!("{:.1}", 100.0 * part.ps() as f64 / whole.ps().max(1) as f64)
}

fn all_ranks(told: Told<'_>, calls: &[CallTime]) -> String {
    let whole = calls.iter().map(CallTime::total);
    let whole = whole.fold(Time::ZERO, |sum, time| sum + time);
    let share = |time| percent(time, whole);
    heading("where the time of all ranks went, in cycles") + &by_cause(told, calls, ("%", share))
}

fn path_calls(told: Told<'_>, calls: &[CallTime]) -> String {
    let makespan = told.run.report.makespan;
    let share = |time| percent(time, makespan);
    let title = "the critical path by call, in cycles; without that time the program would take at most so \
                 much less";
    heading(title) + &by_cause(told, calls, ("at most % less", share))
}

/// What takes most of some time, in words.
fn mostly(of: &CallTime) -> String {
    let (kind, time) = of.main_cause();
    match percent(time, of.total()) {
        all if all == "100.0" => Cause::KINDS[kind].to_owned(),
        most => format!("{} ({most} %)", Cause::KINDS[kind]),
    }
}

fn path(told: Told<'_>, explained: &CallsExplanation) -> String {
    let path = &explained.path;
    let shown = longest(path.iter().map(PathStretch::time), told.most);
    let rows = shown.iter().map(|&index| {
        let stretch = &path[index];
        let of = CallTime {
            call: stretch.call,
            count: 1,
            causes: stretch.causes,
        };
        vec![
            stretch.rank.to_string(),
            told.cycles(stretch.start),
            told.cycles(stretch.end),
            told.name(stretch.call).to_owned(),
            mostly(&of),
        ]
    });
    heading("the critical path, in cycles")
        + &table(
            &["rank", "from", "to", "call", "mostly"],
            1..3,
            rows.collect(),
        )
        + &left_out(
            path.len() - shown.len(),
            "shorter stretch",
            "shorter stretches",
        )
}

fn late(told: Told<'_>, explained: &CallsExplanation) -> String {
    let late = &explained.late;
    let way = explained.on_its_way;
    let whole = late.iter().fold(way, |sum, late| sum + late.waited);
    if whole == Time::ZERO {
        return "no rank has waited for another one\n".to_owned();
    }
    let rows = late.iter().take(told.most).map(|late| {
        let first = &late.calls[0]; // it did something meanwhile
        vec![
            late.rank.to_string(),
            told.cycles(late.waited),
            percent(late.waited, whole),
            format!(
                "{} ({} %)",
                told.name(first.call),
                percent(first.total(), late.waited)
            ),
            mostly(first),
        ]
    });
    let title = "who makes others wait: how long all of them together, in cycles, and what it did meanwhile";
    let rows: Vec<Vec<String>> = rows.collect();
    let header = ["rank", "others wait", "%", "mostly in", "there mostly"];
    let way = format!(
        "for messages on their way: {} cycles, {} %\n",
        told.cycles(way),
        percent(way, whole)
    );
    heading(title)
        + &table(&header, 0..3, rows)
        + &left_out(
            late.len().saturating_sub(told.most),
            "rank that others wait less for",
            "ranks that others wait less for",
        )
        + &way
}
