// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tune`: the fastest algorithm for every rank count and size, kept as a decision table.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use corecast_core::{Collective, ReduceOp};
use corecast_figures::Swept;
use corecast_study::{CellSearch, Mistrial, Study, StudyError, TableRecord, tuned_cells};
use corecast_text::file;
use corecast_tune::{Cell, Setting, Table};

use crate::args::{Scene, Tune};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::progress::Bar;
use crate::subject::{Subject, is_file};
use crate::{picture, run, scene, style, table};

/// A table is written this often while cells are being found.
const SAVED_EVERY: Duration = Duration::from_secs(1);

impl Tune {
    /// The options as those of `run`; everything that a table cannot say is left at its default.
    fn scene(&self) -> Result<Scene, Failure> {
        self.place.refuse_placement()?;
        let chip = &self.place.chip.find()?.chip;
        let machine = self.place.machine.on(chip, self.fidelity);
        let cores = machine.map_err(StudyError::from)?.cores();
        if self.algorithm == "auto" {
            return Err(
                Failure::input("--algorithm: `auto` is what a table is made for")
                    .help("use `all`, or name the algorithms that compete"),
            );
        }
        if let Some(file) = self.algorithm.split(',').find(|name| is_file(name)) {
            return Err(Failure::input(format!(
                "--algorithm: `{file}` is a file, and tables name algorithms"
            ))
            .help("`corecast compare` compares a schedule file with algorithms"));
        }
        if self.bytes.is_some() && self.collective == Collective::Barrier {
            return Err(scene::no_size());
        }
        let (ranks, sizes) = tuned_cells(chip, cores, (self.collective, self.dtype));
        Ok(Scene {
            what: Subject::Collective(self.collective),
            place: self.place.clone(),
            cold: false,
            fidelity: self.fidelity,
            ranks: Some(self.ranks.clone().unwrap_or_else(|| typed(&ranks))),
            root: Some(self.root),
            bytes: Some(self.bytes.clone().unwrap_or_else(|| typed(&sizes))),
            algorithm: Some(self.algorithm.clone()),
            table: None,
            dtype: self.dtype,
            op: ReduceOp::Sum,
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
}

/// Numbers as they are typed.
fn typed(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(",")
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
    let study = scene.study("all")?.in_listed_order();
    let keeper = Keeper::new(options.output.as_deref(), study.setting()?)?;
    let settings = study.table_settings();
    let is_ours = |number: usize| options.shard.is_none_or(|shard| shard.takes(number));
    let wanted: Vec<(u32, u64)> = (0..)
        .zip(study.cells())
        .filter(|&(number, _)| is_ours(number))
        .map(|(_, cell)| cell)
        .collect();
    let missing: Vec<(u32, u64)> = {
        let table = &keeper.lock().0;
        let is_missing = |&&(ranks, bytes): &&(u32, u64)| table.cell(ranks, bytes).is_none();
        wanted.iter().filter(is_missing).copied().collect()
    };
    let steps = missing.len() * study.algorithms.len();
    let bar = Bar::new(steps, study.collective().name());
    let searches = study.tune(&missing, &|cell| keeper.add(cell), &bar);
    keeper.save()?; // also what was found before the file could not be written any more
    bar.clear();
    let searches = searches?;
    let table = &keeper.lock().0;
    let mut text = show(&study, table, wanted.len() - missing.len(), &searches);
    if let Some(path) = &options.plot {
        let (swept, winners) = (Swept::of(&study), study.table_winners(table));
        let map = corecast_figures::winner_map(&swept, &winners, &study.settings());
        text += &picture::write_figure(path, &map, &study.settings())?;
    }
    text += &match &options.output {
        Some(path) => format!("wrote {path}\n"),
        None => format!("{}\n", style::dim("-o FILE.toml keeps the table")),
    };
    scene::note_others(&*study.machine);
    Ok(Answer {
        failed: failures(&study, searches),
        ..Answer::new(text, settings.on(TableRecord::of(table)))
    })
}

/// Every wrong result, and one failure for all cells without a winner.
fn failures(study: &Study, searches: Vec<CellSearch>) -> Vec<Failure> {
    let (mut failed, mut winnerless) = (Vec::new(), Vec::new());
    for search in searches {
        failed.extend(search.mistrials.into_iter().map(Failure::from));
        let what = scene::what(study.collective(), search.ranks, search.bytes);
        winnerless.extend(search.winnerless.map(|why| (what, why)));
    }
    let others = winnerless.len().saturating_sub(1);
    if let Some((what, why)) = winnerless.into_iter().next() {
        let more = match others {
            0 => String::new(),
            others => format!(", like {others} more"),
        };
        failed.push(Failure::from(why).help(format!("{what} has no winner{more}")));
    }
    failed
}

impl From<Mistrial> for Failure {
    fn from(mistrial: Mistrial) -> Self {
        match mistrial {
            Mistrial::Run(error) => Self::from(error),
            Mistrial::Wrong(fault) => run::failure(&fault),
        }
    }
}

fn show(study: &Study, table: &Table, kept: usize, searches: &[CellSearch]) -> String {
    let title = format!(
        "fastest {} on {}",
        study.collective(),
        scene::place_words(study)
    );
    let size = |&bytes: &u64| match bytes {
        0 => "no data".to_owned(),
        bytes => format!("{bytes} B"),
    };
    let header = std::iter::once("ranks".to_owned()).chain(study.plan.sizes.iter().map(size));
    let header: Vec<String> = header.collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let named = study.ranks.iter().zip(study.table_winners(table));
    let rows = named.map(|(ranks, names)| {
        let shown = names.into_iter().map(|name| match name {
            "" => "-".to_owned(),
            name => name.to_owned(),
        });
        std::iter::once(ranks.to_string()).chain(shown).collect()
    });
    let map = output::table(&header, 0..1, rows.collect());
    let mut text = format!("{}\n\n{map}", style::heading(&title));
    text += &sizes(study, table);
    text += &scene::placement_lines(study);
    let measured: usize = searches.iter().map(|search| search.measured).sum();
    let searched = searches.len();
    text += &format!("\ncells: {searched} searched in {measured} runs, {kept} kept\n");
    for search in searches {
        let what = scene::what(study.collective(), search.ranks, search.bytes);
        for algorithm in &search.left_out {
            let line = format!("left out of {what}: {algorithm} meets a limit or a deadlock");
            text += &format!("{}\n", style::near(&line));
        }
    }
    text
}

/// The cells asked for in which a size that was set wins.
fn sizes(study: &Study, table: &Table) -> String {
    let cells = study
        .cells()
        .into_iter()
        .filter_map(|(ranks, bytes)| table.cell(ranks, bytes));
    let rows: Vec<_> = cells
        .filter(|cell| cell.part_bytes.is_some() || cell.piece_bytes.is_some())
        .map(|cell| {
            vec![
                cell.ranks.to_string(),
                cell.bytes.to_string(),
                match cell.cycles {
                    Some(cycles) => cycles.to_string(),
                    None => cell.ns.to_string(),
                },
                cell.algorithm.to_owned(),
                table::sizes([cell.part_bytes, cell.piece_bytes]),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let unit = study.machine.clock().map_or("ns", |_| "cycles");
    let header = ["ranks", "bytes", unit, "algorithm", "sizes"];
    let title = style::heading("where sizes beat the algorithm's own choice");
    format!("\n{title}\n{}", output::table(&header, 0..3, rows))
}
