// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files about a program's run: of an MPI program on a chip, and of one that is replayed.

use std::path::Path;

use corecast_study::{CallRun, Settings, StudyMachine};
use serde_json::Value;

use crate::csv::Csv;
use crate::failure::Failure;
use crate::output::write_file;
use crate::picture::check_form;

/// Where each is to be written.
pub struct CallFiles<'a> {
    /// JSON: of every rank and every kind of call how often it was made and where its time went.
    pub report: Option<&'a str>,
    /// The timeline.
    pub svg: Option<&'a str>,
    /// A trace for Perfetto.
    pub trace: Option<&'a str>,
    /// Who sent how much to whom: CSV if it ends in .csv, else a picture.
    pub matrix: Option<&'a str>,
}

/// What ran on what.
pub struct What<'a> {
    /// What it is, for titles.
    pub name: &'a str,
    /// On what it ran.
    pub machine: &'a dyn StudyMachine,
    /// Its run.
    pub run: &'a CallRun,
    /// What results depend on.
    pub settings: &'a Settings,
}

impl What<'_> {
    /// Writes the files that were asked for; `record` makes the report.
    pub fn write(
        &self,
        files: &CallFiles<'_>,
        record: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        let Self {
            name,
            machine,
            run,
            settings,
        } = *self;
        if let Some(path) = files.report {
            write_file(path.as_ref(), &format!("{:#}\n", record()))?;
        }
        if let Some(path) = files.svg {
            let picture = corecast_figures::calls_timeline(name, machine, run);
            crate::picture::write_figure(path, &picture, settings)?;
        }
        if let Some(path) = files.trace {
            let trace = corecast_figures::calls_trace(run, &settings.json());
            write_file(path.as_ref(), &trace)?;
        }
        if let Some(path) = files.matrix.filter(|path| !is_table(path)) {
            let picture = corecast_figures::matrix(machine, run);
            crate::picture::write_figure(path, &picture, settings)?;
        } else if let Some(path) = files.matrix {
            let mut csv = Csv::new(&["from", "to", "messages", "bytes"]);
            for pair in run.pairs() {
                csv.line(&[&pair.from, &pair.to, &pair.messages, &pair.bytes]);
            }
            write_file(path.as_ref(), &csv.with(settings))?;
        }
        Ok(())
    }
}

/// Whether a matrix is a table by its name, and not a picture.
fn is_table(path: &str) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// Refuses a matrix in a form that there is not.
pub fn check_matrix(path: Option<&str>) -> Result<(), Failure> {
    match path.filter(|path| !is_table(path)) {
        None => Ok(()),
        Some(path) => {
            check_form("--matrix", path).map_err(|failure| failure.help("or in .csv for a table"))
        }
    }
}
