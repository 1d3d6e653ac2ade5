// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables measured below another MPI: who takes part, and what is kept.
//!
//! The program that calls is in C (`crates/coll/shim/tune.c`); it is told whose turn it is, and says how
//! long that took. What comes of it is the same at all ranks, of which the first writes it down.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use corecast_core::hash::fnv_1a;
use corecast_core::{Collective, Help, Rank, Request, Schedule, Tuning, algorithm, in_one_stream};
use corecast_mpi::collective::plan::{self, Layout};
use corecast_mpi::collective::{Hardware, Measured, Settings, Shape, VERIFIED_STEPS_MAX};
use corecast_text::file;
use corecast_tune::search::{self, Contestant};
use corecast_tune::{
    Cell, LIBRARY, PMPI, PMPI_BYTES_MAX, PMPI_DTYPE, Setting, Table, Tables, TablesError,
};

use super::group::Group;
use super::race::{self, Outcome, Runner};

/// Characters of what a library calls itself that are kept.
const NAME_CHARS_MAX: usize = 60;

/// A job that measures.
#[derive(Clone, Debug)]
pub struct TuningJob {
    /// This rank, of `ranks`.
    pub rank: u32,
    /// How many there are.
    pub ranks: u32,
    /// Where tables are to be.
    pub folder: PathBuf,
    /// The library below, as it calls itself.
    pub library: String,
    /// The computer of the first rank.
    pub computer: String,
    /// What to measure.
    pub cells: Vec<(Collective, u64)>,
}

impl TuningJob {
    /// The collectives to measure, in order.
    fn collectives(&self) -> Vec<Collective> {
        let is_wanted = |one: &Collective| self.cells.iter().any(|(other, _)| other == one);
        Collective::ALL.into_iter().filter(is_wanted).collect()
    }

    fn path(&self, collective: Collective) -> PathBuf {
        self.folder.join(format!("{}.toml", collective.name()))
    }

    /// What a table of it holds for.
    fn setting(&self, collective: Collective) -> Setting {
        let tuning = Tuning::default();
        let library = short(&self.library);
        let names = algorithm::of(collective).map(|algorithm| algorithm.name());
        Setting {
            corecast: env!("CARGO_PKG_VERSION").to_owned(),
            machine: PMPI.to_owned(),
            collective,
            fingerprint: format!("{:016x}", fnv_1a(library.as_bytes())),
            chip: format!("{library} at {}", self.computer),
            root: collective.is_rooted().then_some(0),
            dtype: collective.is_reduction().then_some(PMPI_DTYPE),
            fidelity: None,
            flow_control: tuning.flow_control,
            status_bits: tuning.status_bits,
            arity: tuning.arity,
            algorithms: [LIBRARY].into_iter().chain(names).collect(),
        }
    }

    /// The table of a collective as it is so far: that of its file, or an empty one.
    fn table(&self, collective: Collective) -> Result<Table, String> {
        let mut table = Table::new(self.setting(collective));
        let path = self.path(collective);
        if path.exists() {
            let path = path.display().to_string();
            let found = Tables::load(&path).map_err(|error| explained(&error))?;
            let found = found.of(collective).map(|(_, found)| found.clone());
            let mismatch = |why| format!("{path}: {why}; name another folder, or remove this one");
            let found = found.ok_or_else(|| mismatch("the table is of another collective".into()));
            table
                .merge(found?)
                .map_err(|error| mismatch(error.to_string()))?;
        }
        Ok(table)
    }

    /// Makes the folder, and sees whether tables can be written there.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let folder = self.folder.display();
        fs::create_dir_all(&self.folder)
            .map_err(|error| format!("cannot make the folder `{folder}`: {error}"))?;
        for collective in self.collectives() {
            self.table(collective)?;
            let path = self.path(collective);
            file::check(&path).map_err(|error| unwritten(&path, &error))?;
        }
        Ok(())
    }

    /// Measures; `turn` says how many seconds one of so many calls takes, by a group or by the library.
    /// The first rank says what was found, and writes each table when it is whole. Cells for other
    /// numbers of ranks stay.
    ///
    /// # Errors
    /// What is wrong with the folder, at the first rank.
    pub fn measure(
        &self,
        mut turn: impl FnMut(Option<&mut Group>, (Collective, u64), u32) -> f64,
    ) -> Result<(), String> {
        let mut outcome = Ok(());
        let setting = self.setting(Collective::Barrier);
        self.say(&format!("{} ranks, {}", self.ranks, setting.chip));
        self.say(&line(["", "bytes", "library us", "ours us", "ratio", ""]));
        for collective in self.collectives() {
            let cells = self.cells.iter().filter(|cell| cell.0 == collective);
            let mut found = Vec::new();
            for &(_, bytes) in cells {
                match collective.buffer_bytes(self.ranks, bytes) > PMPI_BYTES_MAX {
                    true => self.say(&format!(
                        "{collective} of {bytes} bytes needs buffers of more than {PMPI_BYTES_MAX}"
                    )),
                    false => found.push(self.cell((collective, bytes), &mut turn)),
                }
            }
            // The other ranks go on: they wait for this one.
            if self.rank == 0 && outcome.is_ok() {
                outcome = self.keep(collective, found);
            }
        }
        outcome
    }

    fn keep(&self, collective: Collective, found: Vec<Cell>) -> Result<(), String> {
        let mut table = self.table(collective)?;
        for cell in found {
            table.insert(cell);
        }
        let path = self.path(collective);
        let text = table.to_string();
        file::write(&path, text.as_bytes()).map_err(|error| unwritten(&path, &error))?;
        self.say(&format!("wrote {}", path.display()));
        Ok(())
    }

    /// The winner of a cell.
    fn cell(
        &self,
        (collective, bytes): (Collective, u64),
        turn: &mut impl FnMut(Option<&mut Group>, (Collective, u64), u32) -> f64,
    ) -> Cell {
        let mut field = self.field(collective, bytes);
        let outcome = race::race(field.len(), |runner, calls| {
            let group = match runner {
                Runner::Library => None,
                Runner::Ours(number) => field.get_mut(number).map(|it| &mut it.1),
            };
            turn(group, (collective, bytes), calls)
        });
        let best = outcome.ours.map(|(number, seconds)| {
            let ns = seconds * 1e9;
            Cell {
                ns,
                ..field[number].0.clone()
            }
        });
        self.say(&row(collective, bytes, &outcome, best.as_ref()));
        let library = self.entry((collective, bytes), LIBRARY, outcome.library_s * 1e9);
        best.filter(|_| outcome.is_ours_faster).unwrap_or(library)
    }

    /// A cell for this job.
    fn entry(&self, (_, bytes): (Collective, u64), algorithm: &'static str, ns: f64) -> Cell {
        Cell {
            ranks: self.ranks,
            bytes,
            algorithm,
            part_bytes: None,
            piece_bytes: None,
            cycles: None,
            ns,
        }
    }

    /// Everybody of ours, each as a group that goes by a table which says so.
    fn field(&self, collective: Collective, bytes: u64) -> Vec<(Cell, Group)> {
        let mut request = Request::new(collective, self.ranks, bytes);
        request.root = Rank(0);
        request.element_bytes = element_bytes(collective);
        let algorithms: Vec<_> = algorithm::of(collective).collect();
        let (contestants, _) = search::field(&algorithms, &request);
        let contestants = different(contestants).into_iter();
        let entrants = contestants.map(|contestant| {
            let cell = Cell {
                part_bytes: contestant.sizes.part_bytes,
                piece_bytes: contestant.sizes.piece_bytes,
                ..self.entry((collective, bytes), contestant.algorithm, 0.0)
            };
            let mut table = Table::new(self.setting(collective));
            table.insert(cell.clone());
            let settings = Settings {
                measured: Some(Measured::new(Tables::one("", table))),
                ..Settings::default()
            };
            let group = Group::new(self.rank, self.ranks, Arc::new(settings));
            (cell, group)
        });
        // Who is refused here would be measured as the library, which takes over.
        let shape = shape(collective, bytes);
        let serves = |(_, group): &mut (Cell, Group)| group.plan(|| "", shape).is_ok();
        let mut field: Vec<_> = entrants.collect();
        field.retain_mut(serves);
        field
    }

    fn say(&self, line: &str) {
        if self.rank == 0 {
            let _ = writeln!(std::io::stdout(), "{}", line.trim_end());
        }
    }
}

/// The calls that are measured: by the first rank, of sums, not in place.
fn shape(collective: Collective, bytes: u64) -> Shape {
    Shape {
        collective,
        root: 0,
        bytes: bytes as usize,
        element_bytes: element_bytes(collective) as usize,
        in_place: false,
        is_ordered: false,
        hardware: Hardware::None,
    }
}

fn element_bytes(collective: Collective) -> u32 {
    match collective.is_reduction() {
        true => PMPI_DTYPE.bytes(),
        false => 1,
    }
}

/// Those of whom none does the same as one before: with few ranks many algorithms are one.
fn different(contestants: Vec<Contestant>) -> Vec<Contestant> {
    let acts = |schedule: &Schedule| -> Option<Vec<_>> {
        if schedule.steps_total() > VERIFIED_STEPS_MAX {
            return None;
        }
        let schedule = in_one_stream(schedule).ok()?;
        let of = |rank| plan::program(&schedule, Rank(rank), &Layout::EVEN);
        Some((0..schedule.ranks()).map(of).collect())
    };
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for contestant in contestants {
        let acts = acts(&contestant.schedule);
        if acts.is_none() || !seen.contains(&acts) {
            kept.push(contestant);
            seen.push(acts);
        }
    }
    kept
}

/// The first words of what a library says of itself.
fn short(library: &str) -> String {
    let first = library.lines().next().unwrap_or_default();
    let first = first.split(',').next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ").chars().take(NAME_CHARS_MAX).collect()
}

fn row(collective: Collective, bytes: u64, outcome: &Outcome, best: Option<&Cell>) -> String {
    let us = |seconds: f64| format!("{:.2}", seconds * 1e6);
    let (ours, ratio) = match outcome.ours {
        Some((_, seconds)) => (us(seconds), format!("{:.2}", seconds / outcome.library_s)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    let name = best.map_or("none", |cell| cell.algorithm);
    let kept = match outcome.is_ours_faster {
        true => name.to_owned(),
        false => format!("library (ours: {name})"),
    };
    line([
        collective.name(),
        &bytes.to_string(),
        &us(outcome.library_s),
        &ours,
        &ratio,
        &kept,
    ])
}

fn line([collective, bytes, library, ours, ratio, kept]: [&str; 6]) -> String {
    format!("{collective:14} {bytes:>9} {library:>12} {ours:>12} {ratio:>6}  {kept}")
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

fn explained(error: &TablesError) -> String {
    match error.help() {
        help if help.is_empty() => error.to_string(),
        help => format!("{error}; {help}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(folder: &Path, cells: &[(Collective, u64)]) -> TuningJob {
        TuningJob {
            rank: 0,
            ranks: 4,
            folder: folder.join("tables"),
            library: "Some MPI  v1.2, package: of somebody\nmore".to_owned(),
            computer: "node7".to_owned(),
            cells: cells.to_vec(),
        }
    }

    /// As long as the library takes 1 us for short calls, and everybody of ours half as long for others.
    fn turn(group: Option<&mut Group>, (_, bytes): (Collective, u64), _: u32) -> f64 {
        match (group, bytes) {
            (None, _) => 1e-6,
            (Some(_), 0..=100) => 2e-6,
            (Some(_), _) => 0.5e-6,
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_says_who_was_faster() {
        let folder = tempfile::tempdir().expect("a folder");
        let cells = [
            (Collective::Bcast, 8),
            (Collective::Bcast, 4096),
            (Collective::Barrier, 0),
        ];
        let job = job(folder.path(), &cells);
        job.check().expect("can be written");
        job.measure(turn).expect("is written");
        let tables = Tables::load(&job.folder.display().to_string()).expect("tables");
        let (_, bcast) = tables.of(Collective::Bcast).expect("measured");
        assert_eq!(bcast.setting().chip, "Some MPI v1.2 at node7");
        let name = |bytes| bcast.cell(4, bytes).map(|cell| cell.algorithm);
        assert_eq!(name(8), Some(LIBRARY));
        let first = algorithm::of(Collective::Bcast).next();
        assert_eq!(name(4096), first.map(|it| it.name()));
        let (_, barrier) = tables.of(Collective::Barrier).expect("measured");
        assert_eq!(barrier.cells().count(), 1);

        // A job of other ranks adds its cells; the same one has its own replaced.
        let other = TuningJob {
            ranks: 2,
            ..job.clone()
        };
        other.measure(|_, _, _| 1e-6).expect("is written");
        job.measure(|_, _, _| 1e-6).expect("is written");
        let again = other.table(Collective::Bcast).expect("a table");
        let all: Vec<_> = again
            .cells()
            .map(|cell| (cell.ranks, cell.algorithm))
            .collect();
        assert_eq!(
            all,
            [(2, LIBRARY), (2, LIBRARY), (4, LIBRARY), (4, LIBRARY)]
        );
    }

    #[test]
    fn tables_of_something_else_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let job = job(folder.path(), &[(Collective::Barrier, 0)]);
        job.measure(turn).expect_err("there is no folder yet");
        job.check().expect("can be written");
        job.measure(turn).expect("is written");
        let other = TuningJob {
            library: "Another MPI v3".to_owned(),
            ..job.clone()
        };
        let path = job.path(Collective::Barrier);
        let said = other.check().expect_err("it is of another library");
        let begin = format!(
            "{}: the table holds for something else: fingerprint is ",
            path.display()
        );
        assert!(said.starts_with(&begin), "{said}");
        fs::write(&path, "format = 1").expect("written");
        let said = job.check().expect_err("it is no table");
        assert!(said.contains("barrier.toml:"), "{said}");
    }

    #[test]
    fn everybody_takes_part_who_serves_and_nobody_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut job = job(folder.path(), &[]);
        for collective in Collective::ALL {
            if collective == Collective::Alltoallv {
                continue;
            }
            assert!(!job.field(collective, 64).is_empty(), "{collective}");
        }
        job.ranks = 2;
        let pair = job.field(Collective::Bcast, 8);
        assert_eq!(pair[0].0.algorithm, "linear");
        let is_again = |cell: &Cell| matches!(cell.algorithm, "binomial" | "chain");
        assert!(!pair.iter().any(|(cell, _)| is_again(cell)));
    }
}
