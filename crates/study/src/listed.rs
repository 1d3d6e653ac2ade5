// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables as the folder of schedules from which the runtimes of MSCCL choose by size.
//!
//! Rules for an MPI library name algorithms that it has; these runtimes get the algorithms themselves.
//! So the schedule of every cell is made again, which needs the chip on which it won, and cells in a row
//! whose schedules are the same become one file with a range of sizes. A cell whose schedule cannot be
//! such a file is left to the nearest others of its number of ranks, and a note says why.

use std::collections::BTreeMap;
use std::sync::Arc;

use corecast_core::{Collective, ElementType, Platform, Rank, Request, Schedule, algorithm};
use corecast_exchange::listed;
use corecast_machine::RunOptions;
use corecast_tune::{Cell, Library, Setting, Tables};
use serde::Serialize;

use crate::chips::ChipChoice;
use crate::error::ListedError;
use crate::machines::{StudyMachine, machine};

/// Who reads decision tables in a form of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// A library that has algorithms of its own.
    Library(Library),
    /// Runtimes that read schedules.
    Msccl,
}

impl Reader {
    /// Every reader.
    pub fn all() -> impl Iterator<Item = Self> {
        let libraries = Library::ALL.into_iter().map(Self::Library);
        libraries.chain([Self::Msccl])
    }

    /// The name by which it is asked for.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Library(library) => library.name(),
            Self::Msccl => "msccl",
        }
    }

    /// How it is told of the file or folder at `path`, as it is typed.
    #[must_use]
    pub fn usage(self, path: &str) -> String {
        match self {
            Self::Library(library) => library.usage(path),
            Self::Msccl => format!("MSCCL_ALGO_DIR={path}"),
        }
    }
}

/// One file of such a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedFile {
    /// Its name.
    pub name: String,
    /// The collective.
    pub collective: &'static str,
    /// Number of ranks.
    pub ranks: u32,
    /// The algorithm.
    pub algorithm: &'static str,
    /// The smallest size for which it is taken: the bytes of all blocks.
    pub min_bytes: u64,
    /// The largest; none if there is none.
    pub max_bytes: Option<u64>,
    /// What is in it.
    #[serde(skip)]
    pub text: String,
}

/// Such a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedFiles {
    /// Its files, by collective, ranks and sizes.
    pub files: Vec<ListedFile>,
    /// What the tables say and the files do not: one line each.
    pub notes: Vec<String>,
}

/// What cannot be a file, with how many cells say so.
type Lacks = BTreeMap<(Collective, &'static str, String), u32>;

impl ListedFiles {
    /// The files that follow from tables. Cells that won on a chip are made for `chip`, or for the
    /// built-in chip of the table's name.
    ///
    /// # Errors
    /// If a table is for another chip, or if no cell can be said.
    pub fn of(tables: &Tables, chip: Option<&ChipChoice>) -> Result<Self, ListedError> {
        let (mut files, mut lacks) = (Vec::new(), Lacks::new());
        for (_, table) in tables.all() {
            let makes = Maker::new(table.setting(), chip)?;
            let mut made = BTreeMap::new();
            for cell in table.cells() {
                match makes.schedule(cell).and_then(|schedule| {
                    let file = listed(&schedule, 0, None).map_err(|error| error.what)?;
                    Ok((schedule, file))
                }) {
                    Ok(found) => {
                        made.insert((cell.ranks, cell.bytes), found);
                    }
                    Err(lack) => {
                        let key = (table.setting().collective, cell.algorithm, lack);
                        *lacks.entry(key).or_default() += 1;
                    }
                }
            }
            for (ranks, cells) in table.ranges(|cell| made.contains_key(&(cell.ranks, cell.bytes)))
            {
                let same = |one: &(u64, &Cell), other: &(u64, &Cell)| {
                    let [one, other] = [one, other].map(|(_, cell)| &made[&(ranks, cell.bytes)].1);
                    one.files == other.files
                };
                let mut runs = cells.chunk_by(same).peekable();
                while let Some(run) = runs.next() {
                    let (from, cell) = run[0];
                    let next = runs.peek().map(|next| next[0].0);
                    let (schedule, _) = &made[&(ranks, cell.bytes)];
                    files.push(file(schedule, cell, from, next));
                }
            }
        }
        let said = |(collective, name, lack): &(Collective, &str, String), count: u32| {
            let cells = if count == 1 { "cell" } else { "cells" };
            format!("MSCCL cannot say {lack}: {name} in {count} {cells} of {collective}")
        };
        let lacks = lacks.iter().map(|(lack, &count)| said(lack, count));
        let mut notes: Vec<String> = lacks.collect();
        if files.is_empty() {
            return Err(ListedError::Nothing { lacks: notes });
        }
        for note in &mut notes {
            note.push_str(", where the nearest others decide");
        }
        if files
            .iter()
            .any(|file| file.collective != Collective::Alltoall.name())
        {
            let which = "calls whose output lies elsewhere than their input stay with the library's own \
                         algorithms; of an alltoall those in place";
            notes.push(which.to_owned());
        }
        Ok(Self { files, notes })
    }
}

/// The file of a schedule for sizes from one to before another, as tables count them.
fn file(schedule: &Schedule, cell: &Cell, from: u64, next: Option<u64>) -> ListedFile {
    let (collective, ranks) = (schedule.spec().collective(), cell.ranks);
    // Who chooses among these files counts all blocks.
    let whole = |bytes: u64| match collective {
        Collective::Allreduce => bytes,
        _ => bytes.saturating_mul(u64::from(ranks)),
    };
    let min_bytes = whole(from);
    let max_bytes = next.map(|next| whole(next) - 1);
    let exported = listed(schedule, min_bytes, max_bytes).expect("it could be said of all sizes");
    let algorithm = cell.algorithm;
    let to = max_bytes.map_or("up".to_owned(), |bytes| bytes.to_string());
    ListedFile {
        name: format!("{collective}-{ranks}n-{min_bytes}-{to}-{algorithm}.xml"),
        collective: collective.name(),
        ranks,
        algorithm,
        min_bytes,
        max_bytes,
        text: exported.text().unwrap_or_default().to_owned(),
    }
}

/// Makes the schedules of a table's cells again.
struct Maker<'a> {
    setting: &'a Setting,
    /// The chip's machine, which knows what it is like; none where ranks won on a computer.
    machine: Option<Arc<dyn StudyMachine>>,
}

impl<'a> Maker<'a> {
    fn new(setting: &'a Setting, chip: Option<&ChipChoice>) -> Result<Self, ListedError> {
        let kind = machine(&setting.machine).ok();
        let Some(kind) = kind.filter(|kind| kind.seats_ranks()) else {
            let machine = None;
            return Ok(Self { setting, machine });
        };
        let named = || ChipChoice::find(&setting.chip, &[]).ok();
        let found = chip.cloned().or_else(named);
        let is_it = |choice: &ChipChoice| choice.chip.fingerprint() == setting.fingerprint;
        match found.clone().filter(is_it) {
            Some(choice) => {
                let machine = kind
                    .on(&choice.chip, None)
                    .expect("every chip is simulated");
                let machine = Some(machine);
                Ok(Self { setting, machine })
            }
            None => Err(ListedError::OtherChip {
                collective: setting.collective,
                theirs: (setting.chip.clone(), setting.fingerprint.clone()),
                ours: found.map(|choice| (choice.name().to_owned(), choice.chip.fingerprint())),
            }),
        }
    }

    /// The schedule that won in a cell, or why there is none.
    fn schedule(&self, cell: &Cell) -> Result<Schedule, String> {
        let Setting { collective, .. } = *self.setting;
        let Some(algorithm) = algorithm::find(collective, cell.algorithm) else {
            return Err("a way without messages".to_owned()); // `corecast_tune::BOARDS`
        };
        algorithm::build(algorithm, &self.request(cell)).map_err(|error| error.to_string())
    }

    fn request(&self, cell: &Cell) -> Request {
        let setting = self.setting;
        let mut request = Request::new(setting.collective, cell.ranks, cell.bytes);
        request.root = Rank(setting.root.unwrap_or(0));
        request.element_bytes = setting.dtype.map_or(1, ElementType::bytes);
        request.tuning.flow_control = setting.flow_control;
        request.tuning.status_bits = setting.status_bits;
        request.tuning.arity = setting.arity;
        request.tuning.part_bytes = cell.part_bytes;
        request.tuning.piece_bytes = cell.piece_bytes;
        match &self.machine {
            Some(machine) => machine.complete(request, &RunOptions::default()),
            None => Request {
                platform: Platform::default(),
                ..request
            },
        }
    }
}
