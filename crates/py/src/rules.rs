// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables as the rules of other MPI libraries, or as schedules for those of MSCCL.

use std::path::PathBuf;

use corecast_study::{ListedError, ListedFiles, Reader};
use corecast_text::file;
use corecast_tune::Tables;
use pyo3::prelude::*;

use crate::chip::Chip;
use crate::fields;
use crate::listing::json;
use crate::refusal::Refusal;

/// Who reads rules.
#[pyfunction]
pub fn rule_readers() -> Vec<&'static str> {
    Reader::all().map(Reader::name).collect()
}

fn reader(name: &str) -> Result<Reader, Refusal> {
    let found = Reader::all().find(|one| one.name() == name);
    found.ok_or_else(|| Refusal::unknown("library", "libraries", name, &rule_readers()))
}

/// What follows from the tables of a file or folder.
#[pyclass(frozen, get_all, module = "corecast._core")]
pub struct Rules {
    /// The file; none of a folder.
    text: Option<String>,
    /// What the files of a folder are for, as JSON.
    files: String,
    /// What is in each of them.
    texts: Vec<String>,
    /// What the tables say and the files do not.
    notes: Vec<String>,
}

/// The rules of a library, or the files of a folder, whose schedules are made for `chip` or for the
/// built-in one of the tables.
#[pyfunction]
#[pyo3(signature = (tables, to, chip=None))]
pub fn rules(tables: &str, to: &str, chip: Option<&Chip>) -> Result<Rules, Refusal> {
    let reader = reader(to)?;
    let tables = Tables::load(tables).map_err(|error| {
        Refusal::library("TableError", &error).fields(fields::unread_tables(&error))
    })?;
    let (text, listed) = match reader {
        Reader::Library(_) if chip.is_some() => {
            let wrong = format!("chip: {to} has algorithms of its own");
            let refusal = Refusal::new("InputError", wrong);
            return Err(refusal.help("leave it out, or make the rules of \"msccl\""));
        }
        Reader::Library(library) => {
            let rules = library.rules(&tables);
            let rules = rules.map_err(|error| Refusal::library("TableError", &error))?;
            let (files, notes) = (Vec::new(), rules.notes);
            (Some(rules.text), ListedFiles { files, notes })
        }
        Reader::Msccl => {
            let listed = ListedFiles::of(&tables, chip.map(|of| &of.choice));
            (None, listed.map_err(|error| unlisted(&error))?)
        }
    };
    let ListedFiles { files, notes } = listed;
    Ok(Rules {
        text,
        files: json(&files),
        texts: files.into_iter().map(|file| file.text).collect(),
        notes,
    })
}

/// Why tables cannot be a folder of schedules.
fn unlisted(error: &ListedError) -> Refusal {
    match error {
        ListedError::OtherChip { .. } => Refusal::new("TableError", error.to_string()).help(
            "its schedules are made again: give its chip, with the changes that it was tuned with",
        ),
        error => Refusal::library("TableError", error),
    }
}

/// How a reader is told of the file or folder at `path`, as it is typed.
#[pyfunction]
pub fn rules_usage(to: &str, path: &str) -> Result<String, Refusal> {
    reader(to).map(|reader| reader.usage(path))
}

/// Makes a folder with these files, whole or not at all.
#[pyfunction]
#[pyo3(signature = (path, files, /))]
pub fn write_folder(path: PathBuf, files: Vec<(String, String)>) -> Result<(), Refusal> {
    let contents = files.iter().map(|(name, text)| (&**name, text.as_bytes()));
    file::write_folder(&path, &contents.collect::<Vec<_>>()).map_err(|error| {
        Refusal::new(
            "InputError",
            format!("cannot make `{}`: {error}", path.display()),
        )
        .help("give the path of a new folder, or of an empty one: everything in it is read")
    })
}
