//! The files about a program's run: of an MPI program on a chip, and of one that is replayed.

use std::path::Path;

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
    /// Who sent how much to whom: a picture if it ends in .svg, else CSV.
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
            crate::picture::write_svg(path, &picture, settings)?;
        }
        if let Some(path) = files.trace {
            let trace = corecast_figures::calls_trace(run, &settings.json());
            write_file(path.as_ref(), &trace)?;
        }
        if let Some(path) = files.matrix.filter(|path| is_picture(path)) {
            let picture = corecast_figures::matrix(machine, run);
            crate::picture::write_svg(path, &picture, settings)?;
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

/// Whether a file is a picture by its name, and not a table.
fn is_picture(path: &str) -> bool {
    extension(path).as_deref() == Some("svg")
}

fn extension(path: &str) -> Option<String> {
    let extension = Path::new(path).extension()?;
    Some(extension.to_str()?.to_ascii_lowercase())
}

/// Pictures that nobody draws here.
const OTHER_PICTURES: [&str; 5] = ["png", "pdf", "jpg", "jpeg", "eps"];

/// Refuses a matrix in a form that there is not.
pub fn check_matrix(path: Option<&str>) -> Result<(), Failure> {
    let other = path
        .and_then(extension)
        .filter(|name| OTHER_PICTURES.contains(&name.as_str()));
    match other {
        None => Ok(()),
        Some(name) => Err(
            Failure::input(format!("--matrix: there are no {name} pictures"))
                .help("end the name in .svg for a picture, in .csv for a table"),
        ),
    }
}
