// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures as a table, and as files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::FLOOR;
use super::libraries::Library;
use super::measure::{FLOOR_RANKS, Key, Machine, Results};
use super::options::Options;
use super::plan::{FAR, FLOOR as FLOOR_TESTS, Group};
use super::verdict::{TARGET, Verdict, is_rate, ratio, verdict};

/// What the machine allows, as a table.
pub fn floor(results: &Results, name: &str) -> String {
    let mut text = "\nWhat two cores of this machine allow, without a library (us a message, one way; P50)\n\n\
| test | bytes | with a common cache | without |\n|---|---|---|---|\n"
        .to_owned();
    for test in FLOOR_TESTS {
        let sizes = results.figures.keys().filter_map(|(ranks, key, bytes)| {
            (*ranks == FLOOR_RANKS && key.trim_end_matches(FAR) == test).then_some(*bytes)
        });
        for bytes in BTreeSet::from_iter(sizes) {
            let figure = |suffix| {
                let key = (FLOOR_RANKS, format!("{test}{suffix}"), bytes);
                results.median(&key, name).map_or("-".to_owned(), shown)
            };
            let (near, far) = (figure(""), figure(FAR));
            let _ = writeln!(text, "| {test} | {bytes} | {near} | {far} |");
        }
    }
    text
}

/// One table per group, and what they come to. Where no row has a floor nothing is said of floors.
pub fn markdown(results: &Results, groups: &[Group], names: &[&str]) -> String {
    let mut text = String::new();
    for (name, keys) in parts(results, groups) {
        let has_floors = keys.iter().any(|key| results.median(key, FLOOR).is_some());
        let _ = writeln!(text, "\n{name} (us; of names with bw: MB/s; P50)\n");
        let _ = write!(
            text,
            "| test | bytes | {} | time, to the best of the others |",
            names.join(" | ")
        );
        let of_floors = format!(" floor | {TARGET} |");
        text += if has_floors { &of_floors } else { "" };
        let _ = write!(text, "\n|---|---|{}---|", "---|".repeat(names.len()));
        text += if has_floors { "---|---|\n" } else { "\n" };
        for key in keys {
            let figure = |name: &str| results.median(key, name).map_or("-".to_owned(), shown);
            let figures: Vec<String> = names.iter().map(|name| figure(name)).collect();
            let ratio = ratio(results, key, names).map_or("-".to_owned(), |(ratio, best)| {
                format!("{ratio:.2} ({best})")
            });
            let (test, bytes) = (key.1.trim_end_matches(FAR), key.2);
            let _ = write!(
                text,
                "| {test} | {bytes} | {} | {ratio} |",
                figures.join(" | ")
            );
            if has_floors {
                let verdict = verdict(results, key, names);
                let word = verdict.map_or("-", Verdict::word);
                let _ = write!(text, " {} | {word} |", figure(FLOOR));
            }
            text.push('\n');
        }
    }
    text + &summary(results, groups, names)
}

/// How many rows we win, by which factor, and where we lose most.
fn summary(results: &Results, groups: &[Group], names: &[&str]) -> String {
    let mut text = String::new();
    for (name, keys) in parts(results, groups) {
        let ratios = keys
            .into_iter()
            .filter_map(|key| Some((ratio(results, key, names)?.0, key)));
        let ratios: Vec<(f64, &Key)> = ratios.collect();
        let Some(worst) = ratios.iter().max_by(|one, other| one.0.total_cmp(&other.0)) else {
            continue;
        };
        let wins = ratios.iter().filter(|(ratio, _)| *ratio <= 1.0).count();
        let logarithms: f64 = ratios.iter().map(|(ratio, _)| ratio.ln()).sum();
        let mean = (logarithms / ratios.len() as f64).exp();
        let _ = writeln!(
            text,
            "{name}: {wins} of {} rows at least as fast as the best of the others; geometric mean {mean:.2}, worst {:.2} ({} of {} bytes)",
            ratios.len(),
            worst.0,
            worst.1.1.trim_end_matches(FAR),
            worst.1.2
        );
        let _ = writeln!(text, "{name}: {}", reached(results, &ratios, names));
    }
    if let Some(busy) = super::measure::median(&results.busy) {
        let _ = writeln!(
            text,
            "The machine was {:.0} % busy before a run (median).",
            busy * 100.0
        );
    }
    for failure in &results.failures {
        let _ = writeln!(text, "failed: {failure}");
    }
    format!("\n{text}")
}

/// How many rows reach the target, and of the others which ones could.
fn reached(results: &Results, ratios: &[(f64, &Key)], names: &[&str]) -> String {
    let verdicts = ratios.iter().map(|(_, key)| verdict(results, key, names));
    let verdicts: Vec<Option<Verdict>> = verdicts.collect();
    let count = |which| verdicts.iter().filter(|is| **is == Some(which)).count();
    let mut text = format!(
        "{} of {} rows at most {TARGET} of the best of the others",
        count(Verdict::Reached),
        ratios.len()
    );
    if !ratios
        .iter()
        .any(|(_, key)| results.median(key, FLOOR).is_some())
    {
        return text;
    }
    let _ = write!(
        text,
        "; of the rest {} where the floor forbids it",
        count(Verdict::Floor)
    );
    let rest = ratios.iter().zip(&verdicts);
    let rest = rest.filter(|(_, is)| !matches!(is, Some(Verdict::Reached | Verdict::Floor)));
    let rest: Vec<String> = rest
        .map(|((ratio, (_, test, bytes)), is)| {
            let missing = if is.is_none() { ", no floor" } else { "" };
            let test = test.trim_end_matches(FAR);
            format!("{test} of {bytes} bytes ({ratio:.2}{missing})")
        })
        .collect();
    let _ = match rest.len() {
        0 => write!(text, ", none without"),
        _ => write!(text, "; without that {}", rest.join(", ")),
    };
    text
}

/// The tables: each group's keys, and apart from them those of iterations on far cores.
pub fn parts<'r>(results: &'r Results, groups: &[Group]) -> Vec<(String, Vec<&'r Key>)> {
    let mut parts = Vec::new();
    for group in groups {
        let keys = of_group(results, group);
        let (far, near): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.1.ends_with(FAR));
        parts.push((group.name(), near));
        parts.push((format!("{}, without a common cache", group.name()), far));
    }
    parts.retain(|(_, keys)| !keys.is_empty());
    parts
}

/// Keys of a group's tests that a library has figures of, in the order of the tests.
fn of_group<'r>(results: &'r Results, group: &Group) -> Vec<&'r Key> {
    let belongs = |key: &Key, test: &str| {
        let rest = key.1.trim_end_matches(FAR).strip_prefix(test);
        key.0 == group.ranks && matches!(rest, Some("" | "_others" | "_after"))
    };
    let rows = results.figures.iter();
    let rows = rows.filter(|(_, by_library)| by_library.keys().any(|name| *name != FLOOR));
    let keys: Vec<&Key> = rows.map(|(key, _)| key).collect();
    let of = |test| keys.iter().copied().filter(move |key| belongs(key, test));
    group.tests.iter().flat_map(|test| of(test)).collect()
}

/// Three digits.
fn shown(value: f64) -> String {
    match value {
        value if value.abs() < 10.0 => format!("{value:.2}"),
        value if value.abs() < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// One line per repetition.
pub fn csv(results: &Results) -> String {
    let mut text = "ranks,test,bytes,library,repetition,p50,p99\n".to_owned();
    for (key, by_library) in &results.figures {
        for (library, values) in by_library {
            let tails = &results.tails[key][library];
            for (index, (p50, p99)) in values.iter().zip(tails).enumerate() {
                let (ranks, test, bytes) = key;
                let _ = writeln!(text, "{ranks},{test},{bytes},{library},{index},{p50},{p99}");
            }
        }
    }
    text
}

/// Everything, with what it is of.
pub fn json(
    results: &Results,
    machine: &Machine,
    libraries: &[Library],
    options: &Options,
) -> String {
    let names: Vec<&str> = libraries.iter().map(|library| library.name).collect();
    let row = |key: &Key| {
        let medians = names
            .iter()
            .filter_map(|name| Some((*name, results.median(key, name)?)));
        let medians: BTreeMap<&str, f64> = medians.collect();
        let ratio = ratio(results, key, &names);
        json!({
            "ranks": key.0,
            "test": key.1,
            "bytes": key.2,
            "unit": if is_rate(&key.1) { "MB/s" } else { "us" },
            "p50": medians,
            "runs_p50": results.figures[key],
            "runs_p99": results.tails[key],
            "ratio": ratio.as_ref().map(|(ratio, _)| ratio),
            "best_other": ratio.as_ref().map(|(_, best)| best),
            "floor": results.median(key, FLOOR),
            "verdict": verdict(results, key, &names).map(Verdict::word),
        })
    };
    let rows: Vec<Value> = results.figures.keys().map(row).collect();
    let libraries: Vec<String> = libraries.iter().map(Library::describe).collect();
    let document = json!({
        "machine": {
            "model": machine.model,
            "cores": machine.cores,
            "kernel": machine.kernel,
            "date": machine.date,
        },
        "libraries": libraries,
        "repetitions": options.repetitions,
        "load": options.load,
        "busy": results.busy,
        "failures": results.failures,
        "rows": rows,
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::results;
    use super::super::verdict::OURS;
    use super::*;

    #[test]
    fn a_row_stands_beside_its_floor_and_the_summary_names_what_is_open() {
        let results = results(&[
            ("latency", OURS, 0.2),
            ("latency", "a", 0.4),
            ("latency", "b", 0.5),
            ("bw", OURS, 300.0),
            ("bw", "a", 280.0),
            ("bw", FLOOR, 310.0),
            ("bibw", OURS, 300.0),
            ("bibw", "a", 280.0),
            ("bibw", FLOOR, 900.0),
            // On cores on which no library had iterations.
            ("bibw@far", FLOOR, 700.0),
        ]);
        let names = [OURS, "a", "b"];
        let options = Options::read(&["--quick".to_owned()]).expect("good");
        let groups = super::super::plan::groups(&options, 2);
        let text = markdown(&results, &groups, &names);
        for line in [
            "| latency | 8 | 0.20 | 0.40 | 0.50 | 0.50 (a) | - | reached |",
            "| bw | 8 | 300 | 280 | - | 0.93 (a) | 310 | floor |",
            "| bibw | 8 | 300 | 280 | - | 0.93 (a) | 900 | open |",
            "3 of 3 rows at least as fast",
            "1 of 3 rows at most 0.7 of the best of the others; of the rest 1 where the floor forbids \
             it; without that bibw of 8 bytes (0.93)",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!text.contains("without a common cache"), "{text}");
        assert!(csv(&results).contains("2,bw,8,a,0,280,280\n"));
        assert!(csv(&results).contains("2,bw,8,machine,0,310,310\n"));
    }

    #[test]
    fn where_nothing_has_a_floor_there_is_no_column_for_it() {
        let results = results(&[("put", OURS, 0.8), ("put", "a", 1.0)]);
        let options = Options::read(&["--only".to_owned(), "one-sided".to_owned()]);
        let groups = super::super::plan::groups(&options.expect("good"), 2);
        let text = markdown(&results, &groups, &[OURS, "a"]);
        assert!(
            text.contains("| put | 8 | 0.80 | 1.00 | 0.80 (a) |\n"),
            "{text}"
        );
        assert!(!text.contains("floor"), "{text}");
        let line = "one-sided: 0 of 1 rows at most 0.7 of the best of the others\n";
        assert!(text.contains(line), "{text}");
    }
}
