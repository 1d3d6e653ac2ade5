// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which decision tables the collectives of a program on a chip go by.

use std::env;

use corecast_core::hash::fnv_1a;
use corecast_core::{Collective, Help};
use corecast_launch::MpiJob;
use corecast_tune::{MPI, NONE, Table, Tables, TablesError};
use thiserror::Error;

use crate::chips::ChipChoice;

/// Machines that measure this computer.
const OF_THIS_COMPUTER: [&str; 2] = ["host", "threads"];

/// The variable by which a rank's library is told of tables.
pub const TABLES_VARIABLE: &str = "CORECAST_TABLE";

/// The tables of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramTables {
    /// How the library is told of them: the value of `CORECAST_TABLE`.
    pub word: String,
    /// They themselves.
    pub tables: Tables,
    /// What to know of them, if there is anything.
    pub notes: Vec<String>,
}

/// Why tables are not for a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ProgramTablesError {
    /// They cannot be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// What was measured takes other times there.
    #[error("{file}: the table is of machine `{theirs}`, and programs run on `{ours}` here")]
    OtherMachine {
        /// Where the table is from.
        file: String,
        /// Its machine.
        theirs: String,
        /// The machine that programs run on.
        ours: &'static str,
        /// Its collective.
        collective: Collective,
        /// The chip as it was named; none for this computer.
        chip: Option<String>,
    },
}

impl Help for ProgramTablesError {
    fn help(&self) -> String {
        match self {
            Self::Tables(error) => error.help(),
            Self::OtherMachine {
                ours,
                collective,
                chip,
                ..
            } => {
                let chip = chip.as_ref();
                let chip = chip.map_or(String::new(), |chip| format!(" --chip {chip}"));
                format!(
                    "tune again: corecast tune {collective} --machine {ours}{chip} -o ANOTHER.toml"
                )
            }
        }
    }
}

impl ProgramTables {
    /// Those that come with corecast for a chip, or for the one that it is a change of; none where there
    /// are none.
    #[must_use]
    pub fn of_chip(chip: &ChipChoice) -> Self {
        let names = [Some(chip.name()), chip.chip.base()].into_iter().flatten();
        let found = names.filter_map(|name| Some((name, Tables::shipped(name)?)));
        let Some((name, tables)) = found.into_iter().next() else {
            return Self {
                word: NONE.to_owned(),
                tables: Tables::default(),
                notes: Vec::new(),
            };
        };
        let is_same = tables
            .of(Collective::Bcast)
            .is_some_and(|(_, table)| is_of(table, chip));
        let note = format!("collectives go by the tables of {name}, which this chip differs from");
        Self {
            word: name.to_owned(),
            tables,
            notes: (!is_same).then_some(note).into_iter().collect(),
        }
    }

    /// Whether they are those of [`ProgramTables::of_chip`].
    #[must_use]
    pub fn is_usual(&self, chip: &ChipChoice) -> bool {
        self.word == Self::of_chip(chip).word
    }

    /// What is asked for by an option, or else by the variable: as a job sets it for its ranks, or as they
    /// inherit it.
    #[must_use]
    pub fn asked(option: Option<&str>, job: &MpiJob) -> Option<String> {
        let mut set = job.environment.iter().rev();
        let set = set.find(|(name, _)| name == TABLES_VARIABLE);
        let set = set.map(|(_, word)| word.to_string_lossy().into_owned());
        let asked = option.map(str::to_owned).or(set);
        let asked = asked.or_else(|| env::var(TABLES_VARIABLE).ok());
        asked.filter(|word| !word.is_empty())
    }

    /// Those asked for by a path or a word ([`Tables::load`]), for a chip; without, those of the chip.
    ///
    /// # Errors
    /// See [`ProgramTablesError`].
    pub fn find(asked: Option<&str>, chip: &ChipChoice) -> Result<Self, ProgramTablesError> {
        let Some(word) = asked else {
            return Ok(Self::of_chip(chip));
        };
        let tables = Tables::load(word)?;
        let mut notes = Vec::new();
        for (file, table) in tables.all() {
            check(file, table, (&[MPI], Some(chip.name())))?;
            if !is_of(table, chip) {
                let theirs = &table.setting().chip;
                notes.push(format!(
                    "{file} is of {theirs}, which this chip differs from"
                ));
            }
        }
        Ok(Self {
            word: word.to_owned(),
            tables,
            notes,
        })
    }

    /// What results say of them: the chip that they come with, or that there are none, or a hash of
    /// tables that were given, which is the same wherever they lie.
    #[must_use]
    pub fn label(&self) -> String {
        if self.word == NONE || Tables::shipped(&self.word).is_some() {
            return self.word.clone();
        }
        let all = self.tables.all();
        let mut texts: Vec<String> = all.map(|(_, table)| table.to_string()).collect();
        texts.sort_unstable();
        format!("{:016x}", fnv_1a(texts.concat().as_bytes()))
    }

    /// Refuses tables that are not for programs on this computer.
    ///
    /// # Errors
    /// See [`ProgramTablesError`].
    pub fn check_here(word: &str) -> Result<(), ProgramTablesError> {
        let tables = Tables::load(word)?;
        let mut all = tables.all();
        all.try_for_each(|(file, table)| check(file, table, (&OF_THIS_COMPUTER, None)))
    }
}

/// Whether a table was measured on exactly this chip.
fn is_of(table: &Table, chip: &ChipChoice) -> bool {
    table.setting().fingerprint == chip.chip.fingerprint()
}

fn check(
    file: &str,
    table: &Table,
    (machines, chip): (&[&'static str], Option<&str>),
) -> Result<(), ProgramTablesError> {
    let setting = table.setting();
    match machines.contains(&&*setting.machine) {
        true => Ok(()),
        false => Err(ProgramTablesError::OtherMachine {
            file: file.to_owned(),
            theirs: setting.machine.clone(),
            ours: machines[0],
            collective: setting.collective,
            chip: chip.map(str::to_owned),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use corecast_core::ElementType;
    use corecast_machine_sim::Fidelity;
    use corecast_tune::Cell;

    use super::*;
    use crate::{Plan, Study, StudyError, machine};

    fn study(chip: &ChipChoice, table: &Table) -> Study {
        let (setting, cells) = (table.setting(), table.cells());
        let fidelity = Fidelity::ALL.into_iter();
        let plan = Plan {
            machine: machine(MPI).expect("in the list"),
            fidelity: fidelity
                .into_iter()
                .find(|one| Some(one.name()) == setting.fidelity.as_deref()),
            ranks: cells.map(|cell| u64::from(cell.ranks)).collect(),
            sizes: vec![if setting.collective == Collective::Barrier {
                0
            } else {
                8
            }],
            element: setting.dtype.unwrap_or(ElementType::U8),
            ..Plan::new(chip.clone(), setting.collective)
        };
        Study::new(plan).expect("makes sense").in_listed_order()
    }

    /// Of every table the smallest cells are searched again.
    #[test]
    fn tables_that_come_with_corecast_are_what_is_found_today() {
        for name in Tables::shipped_names() {
            let chip = ChipChoice::find(name, &[]).expect("built in");
            let tables = ProgramTables::of_chip(&chip);
            assert_eq!(tables.notes, [""; 0], "{name} has changed");
            for (file, table) in tables.tables.all() {
                let study = study(&chip, table);
                let setting = study.setting().expect("a setting");
                assert_eq!(table.setting().differences(&setting), [], "{file}");
                let cells = table
                    .cells()
                    .filter(|cell| cell.ranks <= 4 && cell.bytes <= 8);
                let cells: Vec<&Cell> = cells.collect();
                assert!(cells.len() >= 2, "{file}");
                let wanted: Vec<_> = cells.iter().map(|cell| (cell.ranks, cell.bytes)).collect();
                let found = Mutex::new(Table::new(setting));
                let keep = |cell| {
                    found.lock().expect("nobody panics").insert(cell);
                    Ok::<(), StudyError>(())
                };
                study.tune(&wanted, &keep, &()).expect("it runs");
                let found = found.into_inner().expect("nobody panics");
                let again = "run crates/study/examples/tables.rs";
                assert!(found.cells().eq(cells), "{file} is not of today: {again}");
            }
        }
    }

    #[test]
    fn changed_chips_have_the_tables_of_their_base() {
        let set = [("network.link".to_owned(), "2".to_owned())];
        let changed = ProgramTables::of_chip(&ChipChoice::find("tilepro64", &set).expect("a chip"));
        assert_eq!((&*changed.word, changed.notes.len()), ("tilepro64", 1));
        let variant = ProgramTables::of_chip(&ChipChoice::find("scc-800", &[]).expect("a chip"));
        assert_eq!((&*variant.word, variant.notes.len()), ("scc", 1));
        let other =
            ProgramTables::of_chip(&ChipChoice::find("chung2011-bus", &[]).expect("a chip"));
        assert_eq!((&*other.word, other.notes.len()), (NONE, 0));
        let none = ProgramTables::find(Some(NONE), &ChipChoice::find("scc", &[]).expect("a chip"));
        assert_eq!(none.expect("no tables").tables.all().count(), 0);
    }
}
