// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables: searched, read and written.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use corecast_study::{CellSearch, Mistrial, Progress as _, Study, StudyError};
use corecast_tune::{Cell, Table};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::schedule::write_file;
use crate::work::Meter;

/// See [`corecast_tune::Table`].
#[pyclass(frozen, module = "corecast._core")]
pub struct DecisionTable {
    /// The table.
    pub inner: Table,
    /// How errors call it.
    pub file: String,
}

#[pymethods]
impl DecisionTable {
    /// The table that this text describes.
    #[new]
    fn new(text: &str, file: &str) -> Result<Self, Refusal> {
        let inner = Table::parse(text, file)?;
        let file = file.to_owned();
        Ok(Self { inner, file })
    }

    /// The text of its file.
    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    /// How errors call it.
    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    /// The same with the cells of another one where it has none.
    fn merged(&self, other: &Self) -> Result<Self, Refusal> {
        let mut inner = self.inner.clone();
        inner.merge(other.inner.clone()).map_err(|mismatch| {
            Refusal::new("TableError", format!("{}: {mismatch}", other.file))
                .help("tune again for this study, or use the table with what it is for")
        })?;
        let file = self.file.clone();
        Ok(Self { inner, file })
    }
}

/// How long cells are kept in memory only.
const SAVED_EVERY: Duration = Duration::from_millis(100);

/// Searches the cells that `table` lacks. What was found, and how the searches went, as JSON. The file at
/// `path` has what was found also if the search does not come to its end; whether it can be written whoever
/// asks has to look.
pub fn tune(
    study: Study,
    table: Table,
    path: Option<&Path>,
    meter: &Meter,
) -> Result<(Table, String), Refusal> {
    let wanted = study.cells().into_iter();
    let missing = wanted.filter(|&(ranks, bytes)| table.cell(ranks, bytes).is_none());
    let missing: Vec<(u32, u64)> = missing.collect();
    let save = |table: &Table| {
        path.map(|path| write_file(path.into(), table.to_string().as_bytes()));
    };
    let state = Mutex::new((table, Instant::now()));
    let keep = |cell: Cell| {
        let mut state = state.lock().expect("nobody panics while holding it");
        state.0.insert(cell);
        if state.1.elapsed() >= SAVED_EVERY {
            save(&state.0);
            state.1 = Instant::now();
        }
        match meter.is_stopped() {
            true => Err(StudyError::Stopped),
            false => Ok(()),
        }
    };
    let searches = study.tune(&missing, &keep, meter);
    let (table, _) = state.into_inner().expect("nobody panics while holding it");
    save(&table);
    let searches = searches?;
    let searches = searches.into_iter().map(search).collect::<Result<_, _>>()?;
    Ok((table, Value::Array(searches).to_string()))
}

/// How the search for one cell went; a wrong result is an error.
fn search(of: CellSearch) -> Result<Value, Refusal> {
    match of.mistrials.into_iter().next() {
        Some(Mistrial::Run(error)) => return Err(error.into()),
        Some(Mistrial::Wrong(fault)) => {
            return Err(Refusal::new("CheckError", fault.to_string())
                .help("this is a mistake in corecast; please report it"));
        }
        None => {}
    }
    Ok(json!({
        "ranks": of.ranks, "bytes": of.bytes, "runs": of.measured, "left_out": of.left_out,
        "winnerless": of.winnerless.map(|why| why.to_string()),
    }))
}
