//! The files about a program's run: of an MPI program on a chip, and of one that is replayed.

use corecast_study::{CallRun, Settings, StudyMachine};
use serde_json::Value;

use crate::csv::Csv;
use crate::failure::Failure;
use crate::output::write_file;

/// Where each is to be written.
pub struct CallFiles<'a> {
    /// JSON: of every rank and every kind of call how often it was made and where its time went.
    pub report: Option<&'a str>,
    /// The timeline.
    pub svg: Option<&'a str>,
    /// A trace for Perfetto.
    pub trace: Option<&'a str>,
    /// CSV: who sent how much to whom.
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
    /// Writes the files that were asked for; `record` is the report.
    pub fn write(&self, files: &CallFiles<'_>, record: &Value) -> Result<(), Failure> {
        let Self {
            name,
            machine,
            run,
            settings,
        } = *self;
        if let Some(path) = files.report {
            write_file(path.as_ref(), &format!("{record:#}\n"))?;
        }
        if let Some(path) = files.svg {
            let picture = corecast_figures::calls_timeline(name, machine, run);
            crate::picture::write_svg(path, &picture, settings)?;
        }
        if let Some(path) = files.trace {
            let trace = corecast_figures::calls_trace(run, &settings.json());
            write_file(path.as_ref(), &trace)?;
        }
        if let Some(path) = files.matrix {
            let mut csv = Csv::new(&["from", "to", "messages", "bytes"]);
            for pair in run.pairs() {
                csv.line(&[&pair.from, &pair.to, &pair.messages, &pair.bytes]);
            }
            write_file(path.as_ref(), &csv.with(settings))?;
        }
        Ok(())
    }
}
