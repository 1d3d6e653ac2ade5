// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables as the rules of other MPI libraries.

use corecast_tune::{Library, Tables};
use pyo3::prelude::*;

use crate::fields;
use crate::refusal::Refusal;

/// The libraries that read rules.
#[pyfunction]
pub fn rule_readers() -> Vec<&'static str> {
    Library::ALL.map(Library::name).to_vec()
}

fn library(name: &str) -> Result<Library, Refusal> {
    let found = Library::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| Refusal::unknown("library", "libraries", name, &rule_readers()))
}

/// The text of the rules that follow from the tables of a file or folder, and what it does not say.
#[pyfunction]
pub fn rules(tables: &str, to: &str) -> Result<(String, Vec<String>), Refusal> {
    let library = library(to)?;
    let tables = Tables::load(tables).map_err(|error| {
        Refusal::library("TableError", &error).fields(fields::unread_tables(&error))
    })?;
    let rules = library.rules(&tables);
    let rules = rules.map_err(|error| Refusal::library("TableError", &error))?;
    Ok((rules.text, rules.notes))
}

/// How a library is told of the file at `path`, as it is typed.
#[pyfunction]
pub fn rules_usage(to: &str, path: &str) -> Result<String, Refusal> {
    library(to).map(|library| library.usage(path))
}
