//! `mpirun --chip --explain`: what made a program as long as it was.

use corecast_machine::{Cause, Time};
use corecast_study::{
    CallTime, MpiExplanation, MpiMeasure, MpiRun, MpiStudy, PathStretch, call_name,
};

use crate::explain::{ROWS, left_out, longest};
use crate::output::table;
use crate::{remedy, style};

/// What to look at first.
pub fn sentence(first: &MpiMeasure) -> String {
    match *first {
        MpiMeasure::Nothing => "There is nothing to do: the program takes no time.".to_owned(),
        MpiMeasure::Compute {
            percent,
            rank,
            rank_percent,
        } => format!(
            "Compute less between calls, or share the work out better: that is {percent:.0} % of the \
             critical path, {rank_percent:.0} % of it on rank {rank}."
        ),
        MpiMeasure::Call {
            call,
            percent,
            rank,
            rank_percent,
            cause,
            cause_percent,
        } => {
            let call = name(call);
            let whose = match rank_percent >= 50.0 {
                true => format!(", above all on rank {rank} ({rank_percent:.0} % of it)"),
                false => String::new(),
            };
            let what = words_of_cause(cause);
            format!(
                "Make {call} cheaper first{whose}: without it the program would take at most \
                 {percent:.0} % less; {cause_percent:.0} % of that is {what}."
            )
        }
    }
}

/// A kind of cause on the critical path of a program, as a reader of the sentence knows it.
fn words_of_cause(kind: &str) -> String {
    match kind {
        "wait_peer" => "messages on their way".to_owned(),
        kind => remedy::words_of_cause(kind),
    }
}

/// What a call is called.
fn name(call: u16) -> &'static str {
    call_name(call).unwrap_or("between calls")
}

/// All of it, with every row of its tables or with the first ones.
pub fn show(study: &MpiStudy, run: &MpiRun, explained: &MpiExplanation, is_full: bool) -> String {
    let most = if is_full { usize::MAX } else { ROWS };
    let parts = [
        format!("{}\n", sentence(&explained.first)),
        all_ranks(study, &explained.calls, most),
        path_calls(study, run.report.makespan, &explained.path_calls, most),
        path(study, explained, most),
        late(study, explained, most),
    ];
    parts.join("\n")
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
    study: &MpiStudy,
    calls: &[CallTime],
    most: usize,
    (last, share): (&str, impl Fn(Time) -> String),
) -> String {
    let kinds = kinds(calls);
    let sum =
        |times: &mut dyn Iterator<Item = Time>| times.fold(Time::ZERO, |sum, time| sum + time);
    let told = |time| cycles(study, time);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let shown = match most {
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
        let mut row = vec![name(of.call).to_owned(), count];
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
        + &left_out(calls.len() - shown, "functions that took less")
}

/// A time in whole cycles: tables of a program have no use for their thousandths.
fn cycles(study: &MpiStudy, time: Time) -> String {
    format!("{:.0}", study.cycles(time))
}

fn percent(part: Time, whole: Time) -> String {
    format!("{:.1}", 100.0 * part.ps() as f64 / whole.ps().max(1) as f64)
}

fn all_ranks(study: &MpiStudy, calls: &[CallTime], most: usize) -> String {
    let whole = calls.iter().map(CallTime::total);
    let whole = whole.fold(Time::ZERO, |sum, time| sum + time);
    let share = |time| percent(time, whole);
    heading("where the time of all ranks went, in cycles")
        + &by_cause(study, calls, most, ("%", share))
}

fn path_calls(study: &MpiStudy, makespan: Time, calls: &[CallTime], most: usize) -> String {
    let share = |time| percent(time, makespan);
    let title = "the critical path by call, in cycles; without that time the program would take at most so \
                 much less";
    heading(title) + &by_cause(study, calls, most, ("at most % less", share))
}

/// What takes most of some time, in words.
fn mostly(of: &CallTime) -> String {
    let (kind, time) = of.main_cause();
    match percent(time, of.total()) {
        all if all == "100.0" => Cause::KINDS[kind].to_owned(),
        most => format!("{} ({most} %)", Cause::KINDS[kind]),
    }
}

fn path(study: &MpiStudy, explained: &MpiExplanation, most: usize) -> String {
    let path = &explained.path;
    let shown = longest(path.iter().map(PathStretch::time), most);
    let rows = shown.iter().map(|&index| {
        let stretch = &path[index];
        let of = CallTime {
            call: stretch.call,
            count: 1,
            causes: stretch.causes,
        };
        vec![
            stretch.rank.to_string(),
            cycles(study, stretch.start),
            cycles(study, stretch.end),
            name(stretch.call).to_owned(),
            mostly(&of),
        ]
    });
    heading("the critical path, in cycles")
        + &table(
            &["rank", "from", "to", "call", "mostly"],
            1..3,
            rows.collect(),
        )
        + &left_out(path.len() - shown.len(), "shorter stretches")
}

fn late(study: &MpiStudy, explained: &MpiExplanation, most: usize) -> String {
    let late = &explained.late;
    let way = explained.on_its_way;
    let whole = late.iter().fold(way, |sum, late| sum + late.waited);
    if whole == Time::ZERO {
        return "no rank has waited for another one\n".to_owned();
    }
    let rows = late.iter().take(most).map(|late| {
        let first = &late.calls[0]; // it did something meanwhile
        vec![
            late.rank.to_string(),
            cycles(study, late.waited),
            percent(late.waited, whole),
            format!(
                "{} ({} %)",
                name(first.call),
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
        cycles(study, way),
        percent(way, whole)
    );
    heading(title)
        + &table(&header, 0..3, rows)
        + &left_out(
            late.len().saturating_sub(most),
            "ranks that others wait less for",
        )
        + &way
}
