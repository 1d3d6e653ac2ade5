// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures as a table, and as files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::libraries::Library;
use super::measure::{FLOOR_RANKS, Key, Machine, Results};
use super::options::Options;
use super::plan::{FAR, FLOOR as FLOOR_TESTS, Group};

const OURS: &str = "corecast";

/// Whether larger is better.
fn is_rate(test: &str) -> bool {
    test.trim_end_matches(FAR).ends_with("bw")
}

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

/// Our time over the best of the others, below 1 where we are faster; and who the best is.
pub fn ratio(results: &Results, key: &Key, names: &[&str]) -> Option<(f64, String)> {
    let others = names.iter().filter(|name| **name != OURS);
    let values = others.filter_map(|name| Some((results.median(key, name)?, *name)));
    let is_rate = is_rate(&key.1);
    let best = values.reduce(|one, other| {
        let is_better = if is_rate {
            other.0 > one.0
        } else {
            other.0 < one.0
        };
        if is_better { other } else { one }
    });
    let (best, name) = best?;
    let ours = results.median(key, OURS)?;
    let ratio = if is_rate { best / ours } else { ours / best };
    ratio.is_finite().then(|| (ratio, name.to_owned()))
}

/// One table per group, and what they come to.
pub fn markdown(results: &Results, groups: &[Group], names: &[&str]) -> String {
    let mut text = String::new();
    for (name, keys) in parts(results, groups) {
        let _ = writeln!(text, "\n{name} (us; of names with bw: MB/s; P50)\n");
        let _ = writeln!(
            text,
            "| test | bytes | {} | time, to the best of the others |",
            names.join(" | ")
        );
        let _ = writeln!(text, "|---|---|{}---|", "---|".repeat(names.len()));
        for key in keys {
            let figure = |name: &&str| results.median(key, name).map_or("-".to_owned(), shown);
            let figures: Vec<String> = names.iter().map(figure).collect();
            let verdict = ratio(results, key, names);
            let verdict = verdict.map_or("-".to_owned(), |(ratio, best)| {
                format!("{ratio:.2} ({best})")
            });
            let _ = writeln!(
                text,
                "| {} | {} | {} | {verdict} |",
                key.1.trim_end_matches(FAR),
                key.2,
                figures.join(" | ")
            );
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

/// Keys of a group's tests, in the order of the tests.
fn of_group<'r>(results: &'r Results, group: &Group) -> Vec<&'r Key> {
    let belongs = |key: &Key, test: &str| {
        let rest = key.1.trim_end_matches(FAR).strip_prefix(test);
        key.0 == group.ranks && matches!(rest, Some("" | "_others" | "_after"))
    };
    let tests = group.tests.iter();
    tests
        .flat_map(|test| results.figures.keys().filter(|key| belongs(key, test)))
        .collect()
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
    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        for (test, library, value) in [
            ("latency", OURS, 0.2),
            ("latency", "a", 0.4),
            ("latency", "b", 0.5),
            ("bw", OURS, 300.0),
            ("bw", "a", 200.0),
            ("bw", "b", 150.0),
        ] {
            let key = (2, test.to_owned(), 8);
            for map in [&mut results.figures, &mut results.tails] {
                map.entry(key.clone())
                    .or_default()
                    .insert(library, vec![value]);
            }
        }
        results
    }

    #[test]
    fn a_ratio_below_one_is_faster_for_times_and_rates() {
        let results = results();
        let names = [OURS, "a", "b"];
        let of = |test: &str| ratio(&results, &(2, test.to_owned(), 8), &names);
        assert_eq!(of("latency"), Some((0.5, "a".to_owned())));
        let (bandwidth, best) = of("bw").expect("both are there");
        assert!((bandwidth - 2.0 / 3.0).abs() < 1e-12 && best == "a");
        let options = Options::read(&["--quick".to_owned()]).expect("good");
        let text = markdown(&results, &super::super::plan::groups(&options, 2), &names);
        assert!(
            text.contains("| latency | 8 | 0.20 | 0.40 | 0.50 | 0.50 (a) |"),
            "{text}"
        );
        assert!(text.contains("2 of 2 rows at least as fast"), "{text}");
        assert!(csv(&results).contains("2,bw,8,a,0,200,200\n"));
    }
}
