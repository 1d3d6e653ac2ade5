// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which decision tables the collectives of a program on a chip go by.

use corecast_core::{Collective, Help};
use corecast_tune::{MPI, NONE, Table, Tables, TablesError};
use thiserror::Error;

use crate::chips::ChipChoice;

/// Machines that measure this computer.
const OF_THIS_COMPUTER: [&str; 2] = ["host", "threads"];

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
                format!("tune again: corecast tune {collective} --machine {ours}{chip} -o ANOTHER.toml")
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
        let is_same = tables.of(Collective::Bcast).is_some_and(|(_, table)| is_of(table, chip));
        let note = format!("collectives go by the tables of {name}, which this chip differs from");
        Self {
            word: name.to_owned(),
            tables,
            notes: (!is_same).then_some(note).into_iter().collect(),
        }
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
                notes.push(format!("{file} is of {theirs}, which this chip differs from"));
            }
        }
        Ok(Self {
            word: word.to_owned(),
            tables,
            notes,
        })
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
