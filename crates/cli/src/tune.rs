//! `tune`: the fastest algorithm for every rank count and size, kept as a decision table.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use corecast_core::{Collective, ElementType, algorithm};
use corecast_machine::Time;
use corecast_text::file;
use corecast_tune::search::{self, Candidate, Found, Rejected};
use corecast_tune::{Cell, Setting, Table};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::{Place, Scene, Tune};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::scene::{self, Stage};
use crate::settings::Settings;
use crate::{compare, picture, progress, run, style, table};

/// Most ranks searched unless asked for more.
const RANKS_DEFAULT_MAX: u32 = 64;
/// A table is written this often while cells are being found.
const SAVED_EVERY: Duration = Duration::from_secs(1);

impl Tune {
    /// The options as those of `run`; everything that a table cannot say is left at its default.
    fn scene(&self) -> Result<Scene, Failure> {
        let chip = self.chip.find()?;
        let collective = scene::collective(&self.collective)?;
        if self.algorithm == "auto" {
            return Err(
                Failure::input("--algorithm: `auto` is what a table is made for")
                    .help("use `all`, or name the algorithms that compete"),
            );
        }
        let bytes = match (&self.bytes, collective) {
            (Some(_), Collective::Barrier) => {
                return Err(
                    Failure::input("--bytes: a barrier has no size").help("leave out --bytes")
                );
            }
            (None, Collective::Barrier) => "0",
            (Some(bytes), _) => bytes,
            (None, _) if self.has_long_elements() => "8..8K:x4",
            (None, _) => "4..4K:x4",
        };
        Ok(Scene {
            collective: self.collective.clone(),
            place: Place {
                chip: self.chip.clone(),
                machine: "sim".to_owned(),
            },
            cold: false,
            fidelity: self.fidelity.clone(),
            ranks: Some(match &self.ranks {
                Some(ranks) => ranks.clone(),
                None => rank_counts(chip.cores_max()),
            }),
            root: self.root,
            bytes: bytes.to_owned(),
            algorithm: Some(self.algorithm.clone()),
            table: None,
            dtype: self.dtype.clone(),
            op: "sum".to_owned(),
            part_bytes: None,
            piece_bytes: None,
            choices: self.choices.clone(),
            ongoing: Vec::new(),
            skew: Vec::new(),
            background: None,
            seed: 0,
            limits: self.limits.clone(),
        })
    }

    fn has_long_elements(&self) -> bool {
        let mut dtypes = ElementType::ALL.into_iter();
        dtypes.any(|dtype| dtype.name() == self.dtype && dtype.bytes() > 4)
    }
}

/// Powers of two from 2, and all cores.
fn rank_counts(cores_max: u32) -> String {
    let most = cores_max.min(RANKS_DEFAULT_MAX);
    let powers = (1..u32::BITS - 1).map(|exponent| 1 << exponent);
    let mut counts: Vec<u32> = powers.take_while(|&ranks| ranks < most).collect();
    counts.push(most);
    let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
    counts.join(",")
}

/// The table as it grows, and the file that keeps it.
struct Keeper<'a> {
    path: Option<&'a str>,
    /// Whether the path is that of a file; a pipe gets the table once, when it is whole.
    is_file: bool,
    state: Mutex<(Table, Instant)>,
}

impl<'a> Keeper<'a> {
    /// Continues the table that the file has, if it holds for the same.
    fn new(path: Option<&'a str>, setting: Setting) -> Result<Self, Failure> {
        let mut table = Table::new(setting);
        if let Some(path) = path
            && let Some(existing) = table::load_existing(path)?
        {
            table.merge(existing).map_err(|mismatch| {
                Failure::input(format!("-o: {path}: {mismatch}"))
                    .help("name another file, or remove this one to tune again")
            })?;
        }
        let keeper = Self {
            path,
            is_file: path.is_some_and(|path| file::is_replaced(Path::new(path))),
            state: Mutex::new((table, Instant::now())),
        };
        if keeper.is_file {
            keeper.save()?; // says now, not after the search, that the file cannot be written
        }
        Ok(keeper)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (Table, Instant)> {
        self.state.lock().expect("nobody panics while holding it")
    }

    /// Adds a cell; writes the file unless that was done a moment ago.
    fn add(&self, cell: Cell) -> Result<(), Failure> {
        let mut state = self.lock();
        state.0.insert(cell);
        if !self.is_file || state.1.elapsed() < SAVED_EVERY {
            return Ok(());
        }
        state.1 = Instant::now();
        write(self.path, &state.0)
    }

    fn save(&self) -> Result<(), Failure> {
        write(self.path, &self.lock().0)
    }
}

fn write(path: Option<&str>, table: &Table) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| {
        output::write_file(Path::new(path), &table.to_string())
    })
}

/// The verb.
pub fn answer(options: &Tune) -> Result<Answer, Failure> {
    let scene = options.scene()?;
    let mut stage = Stage::new(&scene, "all")?;
    // In the order in which they are listed, whatever the order typed: it decides ties.
    let asked: BTreeSet<&str> = stage.algorithms.iter().map(|a| a.name()).collect();
    stage.algorithms = algorithm::of(stage.collective)
        .filter(|algorithm| asked.contains(algorithm.name()))
        .collect();
    let keeper = Keeper::new(options.output.as_deref(), stage.setting()?)?;
    let settings = stage.settings()?;
    let (wanted, missing) = cases(&stage, &keeper.lock().0);
    let bar = progress::bar(
        missing.len() * stage.algorithms.len(),
        stage.collective.name(),
    );
    let outcomes: Result<Vec<_>, Failure> = missing
        .par_iter()
        .map(|&(ranks, bytes)| search(&stage, ranks, bytes, &keeper, &bar))
        .collect();
    keeper.save()?; // also what was found before the file could not be written any more
    bar.finish_and_clear();
    let outcomes = outcomes?;
    let table = &keeper.lock().0;
    let mut text = show(&stage, table, wanted - missing.len(), &outcomes);
    if let Some(path) = &options.plot {
        let map = compare::map(&stage, winners(&stage, table), &settings);
        text += &picture::write_svg(path, &map.svg(), &settings)?;
    }
    text += &match &options.output {
        Some(path) => format!("wrote {path}\n"),
        None => format!("{}\n", style::dim("-o FILE.toml keeps the table")),
    };
    Ok(Answer {
        text,
        json: object(table, &settings),
        failed: failures(outcomes),
    })
}

/// Every wrong result, and one failure for all cells without a winner.
fn failures(outcomes: Vec<Outcome>) -> Vec<Failure> {
    let (mut failed, mut winnerless) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        failed.extend(outcome.failed);
        winnerless.extend(outcome.winnerless);
    }
    let others = winnerless.len().saturating_sub(1);
    if let Some((what, failure)) = winnerless.into_iter().next() {
        let more = match others {
            0 => String::new(),
            others => format!(", like {others} more"),
        };
        failed.push(failure.help(format!("{what} has no winner{more}")));
    }
    failed
}

/// The cells asked for, each once, in the order of a table.
fn wanted(stage: &Stage<'_>) -> BTreeSet<(u32, u64)> {
    let of_ranks = |&ranks: &u32| stage.sizes.iter().map(move |&bytes| (ranks, bytes));
    stage.ranks.iter().flat_map(of_ranks).collect()
}

/// How many cells are asked for, and those that the table does not have.
fn cases(stage: &Stage<'_>, table: &Table) -> (usize, Vec<(u32, u64)>) {
    let wanted = wanted(stage);
    let is_missing = |&&(ranks, bytes): &&(u32, u64)| table.cell(ranks, bytes).is_none();
    let missing = wanted.iter().filter(is_missing).copied().collect();
    (wanted.len(), missing)
}

/// What the search for one cell has led to.
struct Outcome {
    /// Runs made.
    measured: usize,
    /// Candidates left out because they met a limit, though another won.
    left_out: Vec<String>,
    /// Results that were wrong.
    failed: Vec<Failure>,
    /// The cell, and why it has no winner.
    winnerless: Option<(String, Failure)>,
}

/// Searches one cell and adds it to the table.
fn search(
    stage: &Stage<'_>,
    ranks: u32,
    bytes: u64,
    keeper: &Keeper<'_>,
    bar: &ProgressBar,
) -> Result<Outcome, Failure> {
    let request = stage.request(ranks, bytes)?;
    let measure = |candidate: &Candidate<'_>| measure(stage, candidate);
    let found = search::cell(&stage.algorithms, &request, &measure, &|| bar.inc(1));
    if let Some(best) = found.best {
        keeper.add(Cell {
            ranks,
            bytes,
            algorithm: best.algorithm,
            part_bytes: best.sizes.part_bytes,
            piece_bytes: best.sizes.piece_bytes,
            cycles: run::cycles(stage, best.time),
            ns: best.time.ns(),
        })?;
    }
    Ok(outcome(stage, ranks, bytes, found))
}

/// How long a candidate takes, or why it cannot win.
fn measure(stage: &Stage<'_>, candidate: &Candidate<'_>) -> Result<Time, Failure> {
    let (algorithm, request) = (candidate.algorithm, candidate.request);
    let run = run::of_schedule(stage, algorithm, request, candidate.schedule)?;
    match run::failures(&run).into_iter().next() {
        Some(failure) => Err(failure),
        None => Ok(run.report.makespan),
    }
}

fn outcome(stage: &Stage<'_>, ranks: u32, bytes: u64, found: Found<Time, Failure>) -> Outcome {
    let what = stage.what(ranks, bytes);
    let (mut left_out, mut failed) = (Vec::new(), Vec::new());
    let mut first_limit = None;
    for Rejected {
        algorithm, error, ..
    } in found.rejected
    {
        match error.code {
            3 => {
                let line = format!("left out of {what}: {algorithm} meets a limit or a deadlock");
                if left_out.last() != Some(&line) {
                    left_out.push(line);
                }
                first_limit = first_limit.or(Some(error));
            }
            _ => failed.push(error),
        }
    }
    let winnerless = found.best.is_none().then(|| {
        left_out.clear();
        let nobody = Failure::input(format!("no algorithm can serve this {}", stage.collective));
        let reasons = found.refused.into_iter();
        let nobody = reasons.fold(nobody, |failure, (_, reason)| failure.help(reason));
        (what, first_limit.unwrap_or(nobody))
    });
    Outcome {
        measured: found.measured,
        left_out,
        failed,
        winnerless,
    }
}

/// The names of the winners, one row per rank count asked for; empty where there is none.
fn winners(stage: &Stage<'_>, table: &Table) -> Vec<Vec<String>> {
    let winner = |ranks, bytes| {
        let cell = table.cell(ranks, bytes);
        cell.map_or("", |cell| cell.algorithm).to_owned()
    };
    let row = |&ranks: &u32| {
        let sizes = stage.sizes.iter();
        sizes.map(|&bytes| winner(ranks, bytes)).collect()
    };
    stage.ranks.iter().map(row).collect()
}

fn show(stage: &Stage<'_>, table: &Table, kept: usize, outcomes: &[Outcome]) -> String {
    let title = format!("fastest {} on {}", stage.collective, stage.chip_words());
    let size = |&bytes: &u64| match bytes {
        0 => "no data".to_owned(),
        bytes => format!("{bytes} B"),
    };
    let header = std::iter::once("ranks".to_owned()).chain(stage.sizes.iter().map(size));
    let header: Vec<String> = header.collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let named = stage.ranks.iter().zip(winners(stage, table));
    let rows = named.map(|(ranks, names)| {
        let shown = names.into_iter().map(|name| match name.as_str() {
            "" => "-".to_owned(),
            _ => name,
        });
        std::iter::once(ranks.to_string()).chain(shown).collect()
    });
    let map = output::table(&header, 0..1, rows.collect());
    let mut text = format!("{}\n\n{map}", style::heading(&title));
    text += &sizes(stage, table);
    let measured: usize = outcomes.iter().map(|outcome| outcome.measured).sum();
    let searched = outcomes.len();
    text += &format!("\ncells: {searched} searched in {measured} runs, {kept} kept\n");
    for line in outcomes.iter().flat_map(|outcome| &outcome.left_out) {
        text += &format!("{}\n", style::near(line));
    }
    text
}

/// The cells asked for in which a size that was set wins.
fn sizes(stage: &Stage<'_>, table: &Table) -> String {
    let cells = wanted(stage)
        .into_iter()
        .filter_map(|(ranks, bytes)| table.cell(ranks, bytes));
    let rows: Vec<_> = cells
        .filter(|cell| cell.part_bytes.is_some() || cell.piece_bytes.is_some())
        .map(|cell| {
            vec![
                cell.ranks.to_string(),
                cell.bytes.to_string(),
                cell.cycles.to_string(),
                cell.algorithm.to_owned(),
                table::sizes(cell),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["ranks", "bytes", "cycles", "algorithm", "sizes"];
    let title = style::heading("where sizes beat the algorithm's own choice");
    format!("\n{title}\n{}", output::table(&header, 0..3, rows))
}

/// The whole table, also what it had before.
fn object(table: &Table, settings: &Settings) -> Value {
    let setting = table.setting();
    let cells = table.cells().map(|cell| {
        json!({
            "ranks": cell.ranks,
            "bytes": cell.bytes,
            "algorithm": cell.algorithm,
            "part_bytes": cell.part_bytes,
            "piece_bytes": cell.piece_bytes,
            "makespan_cycles": run::number(cell.cycles),
            "makespan_ns": cell.ns,
        })
    });
    let mut object = settings.on(json!({
        "format": corecast_tune::FORMAT,
        "corecast": setting.corecast,
        "chip": setting.chip,
        "fingerprint": setting.fingerprint,
        "collective": setting.collective.name(),
        "root": setting.root,
        "dtype": setting.dtype.map(ElementType::name),
        "fidelity": setting.fidelity,
        "flow_control": setting.flow_control.name(),
        "status_bits": setting.status_bits,
        "arity": setting.arity,
        "algorithms": setting.algorithms,
        "cells": cells.collect::<Vec<_>>(),
    }));
    // A table knows nothing of these, or has them in its cells, or by another name.
    if let Value::Object(fields) = &mut object {
        let without = [
            "background",
            "skew",
            "ongoing",
            "cold",
            "op",
            "flow_control_option",
            "part_bytes",
            "piece_bytes",
        ];
        without.iter().for_each(|name| drop(fields.remove(*name)));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::rank_counts;

    #[test]
    fn default_rank_counts_end_with_all_cores() {
        assert_eq!(rank_counts(32), "2,4,8,16,32");
        assert_eq!(rank_counts(48), "2,4,8,16,32,48");
        assert_eq!(rank_counts(1 << 20), "2,4,8,16,32,64");
        assert_eq!(rank_counts(1), "1");
        assert_eq!(rank_counts(2), "2");
    }
}
