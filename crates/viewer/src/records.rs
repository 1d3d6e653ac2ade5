// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of runs (`run`, `explain` and `compare --json`) and tables (`tune --json`) as documents:
//! who wins where.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::document::{Case, Contestant, SweepView};

/// What a document takes from a record of a run; the settings are its other fields.
#[derive(Deserialize)]
pub(crate) struct Record {
    collective: String,
    algorithm: String,
    machine: String,
    #[serde(default)]
    chip: Option<String>,
    ranks: u32,
    bytes: u64,
    makespan_cycles: Option<f64>,
    makespan_mean_ns: f64,
    makespan_median_ns: f64,
    makespan_ns: f64,
    bound_cycles: Option<f64>,
    delivered: bool,
    causes: BTreeMap<String, f64>,
}

/// Fields of records that are settings of a sweep, in the order in which they are shown.
const SETTINGS: [&str; 21] = [
    "version",
    "machine",
    "chip",
    "fingerprint",
    "computer",
    "set",
    "notes",
    "fidelity",
    "seed",
    "root",
    "dtype",
    "op",
    "part_bytes",
    "piece_bytes",
    "flow_control_option",
    "status_bits",
    "arity",
    "background",
    "skew",
    "ongoing",
    "cold",
];

/// What tells one sweep from another: runs with other settings are not compared.
fn settings(record: &Map<String, Value>) -> Map<String, Value> {
    // What an algorithm chose itself differs from run to run.
    let is_shared = |name: &&&str| !["part_bytes", "piece_bytes"].contains(*name);
    let named = SETTINGS.iter().filter(is_shared);
    let found = named.filter_map(|name| Some(((*name).to_owned(), record.get(*name)?.clone())));
    found.collect()
}

impl Record {
    /// In cycles of the chip where it has a clock: the mean of all runs; otherwise the median.
    fn time(&self) -> f64 {
        match self.makespan_cycles {
            Some(cycles) if self.makespan_ns > 0.0 => {
                cycles * self.makespan_mean_ns / self.makespan_ns
            }
            Some(cycles) => cycles,
            None => self.makespan_median_ns,
        }
    }
}

/// The sweeps of records, one per collective and settings.
pub(crate) fn sweeps(records: Vec<(Record, Map<String, Value>)>) -> Vec<SweepView> {
    // In the order of the file.
    let mut groups: Vec<(String, Map<String, Value>, Vec<Record>)> = Vec::new();
    for (record, fields) in records {
        let shared = settings(&fields);
        let place = record.chip.as_deref().unwrap_or(&record.machine);
        let what = format!("{} on {place}", record.collective);
        match groups
            .iter_mut()
            .find(|(name, facts, _)| (name, facts) == (&what, &shared))
        {
            Some((_, _, group)) => group.push(record),
            None => groups.push((what, shared, vec![record])),
        }
    }
    groups
        .into_iter()
        .map(|(what, facts, records)| {
            let unit = match records[0].makespan_cycles {
                Some(_) => "cycles",
                None => "ns",
            };
            let mut cases: BTreeMap<(u32, u64), Case> = BTreeMap::new();
            for record in records {
                let case = cases
                    .entry((record.ranks, record.bytes))
                    .or_insert_with(|| Case {
                        ranks: record.ranks,
                        bytes: record.bytes,
                        bound: record.bound_cycles,
                        runs: Vec::new(),
                    });
                case.runs.push(Contestant {
                    time: Some((record.time() * 1e3).round() / 1e3),
                    algorithm: record.algorithm,
                    delivered: record.delivered,
                    causes: record.causes,
                });
            }
            sweep(what, facts, unit, cases, Entries::All)
        })
        .collect()
}

/// The sweeps of records as [`corecast_study::RunRecord`]s with their settings give them.
///
/// # Errors
/// Which entry is no such record, and why.
pub fn sweep_views(records: &[Value]) -> Result<Vec<SweepView>, (usize, String)> {
    let read = |(index, value): (usize, &Value)| {
        let record: Record = Deserialize::deserialize(value)
            .map_err(|error: serde_json::Error| (index, error.to_string()))?;
        let fields = value.as_object().cloned().unwrap_or_default();
        Ok((record, fields))
    };
    let records: Result<Vec<_>, _> = records.iter().enumerate().map(read).collect();
    Ok(sweeps(records?))
}

/// What cases have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entries {
    /// Every algorithm that ran.
    All,
    /// Only the fastest of several.
    Winners,
}

fn sweep(
    what: String,
    facts: Map<String, Value>,
    unit: &str,
    mut cases: BTreeMap<(u32, u64), Case>,
    entries: Entries,
) -> SweepView {
    let mut wins: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases.values_mut() {
        let time = |run: &Contestant| run.time.unwrap_or(f64::INFINITY);
        // Stable: as listed among equals. What delivers wrong data wins nothing.
        case.runs.sort_by(|a, b| {
            let wrong = (!a.delivered).cmp(&!b.delivered);
            wrong.then(time(a).total_cmp(&time(b)))
        });
        *wins.entry(case.runs[0].algorithm.clone()).or_default() += 1;
    }
    let mut winners: Vec<(String, usize)> = wins.into_iter().collect();
    winners.sort_by_key(|&(_, count)| std::cmp::Reverse(count)); // stable: by name among equals
    let of = |select: fn(&(u32, u64)) -> u64| {
        let all: std::collections::BTreeSet<u64> = cases.keys().map(select).collect();
        all
    };
    let (ranks, sizes) = (of(|key| u64::from(key.0)), of(|key| key.1));
    let is_alone = winners.len() == 1 && cases.values().all(|case| case.runs.len() == 1);
    let title = match (&winners[..], cases.len()) {
        _ if is_alone && entries == Entries::All => {
            format!("{what}: {} alone", winners[0].0)
        }
        (_, 1) => format!("{what}: {} is the fastest", winners[0].0),
        ([(name, most), rest @ ..], all) if rest.first().is_none_or(|next| next.1 < *most) => {
            format!("{what}: {name} wins {most} of {all} cases")
        }
        (_, all) => format!("{what}: no algorithm wins most often of {all} cases"),
    };
    SweepView {
        title,
        facts,
        unit: unit.to_owned(),
        ranks: ranks.into_iter().map(|ranks| ranks as u32).collect(),
        sizes: sizes.into_iter().collect(),
        winners: winners.into_iter().map(|(name, _)| name).collect(),
        cases: cases.into_values().collect(),
    }
}

/// A decision table as `tune --json` has it.
#[derive(Deserialize)]
pub(crate) struct Table {
    chip: String,
    collective: String,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    ranks: u32,
    bytes: u64,
    algorithm: String,
    makespan_cycles: Option<f64>,
    makespan_ns: f64,
}

/// The winners of a table; none if it has no cell.
pub(crate) fn table(table: Table, fields: &Map<String, Value>) -> Option<SweepView> {
    let first = table.cells.first()?;
    let unit = match first.makespan_cycles {
        Some(_) => "cycles",
        None => "ns",
    };
    let cases = table.cells.into_iter().map(|cell| {
        let run = Contestant {
            algorithm: cell.algorithm,
            time: Some(cell.makespan_cycles.unwrap_or(cell.makespan_ns)),
            delivered: true,
            causes: BTreeMap::new(),
        };
        let case = Case {
            ranks: cell.ranks,
            bytes: cell.bytes,
            bound: None,
            runs: vec![run],
        };
        ((cell.ranks, cell.bytes), case)
    });
    let what = format!("{} on {}", table.collective, table.chip);
    Some(sweep(
        what,
        settings(fields),
        unit,
        cases.collect(),
        Entries::Winners,
    ))
}
