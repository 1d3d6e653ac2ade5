// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chips: built in, from a file, or from a text; with changes.

use corecast_study::{ChipChoice, ChipRecord};
use pyo3::prelude::*;

use crate::listing::json;
use crate::refusal::Refusal;

/// A chip as it was asked for.
#[pyclass(frozen, module = "corecast._core")]
pub struct Chip {
    /// The chip.
    pub choice: ChipChoice,
}

#[pymethods]
impl Chip {
    /// By name or path, or, with `text`, what that text of a chip file describes.
    #[new]
    #[pyo3(signature = (name, changes, text=None))]
    fn new(
        name: &str,
        changes: Vec<(String, String)>,
        text: Option<&str>,
    ) -> Result<Self, Refusal> {
        let is_builtin = corecast_chip::builtin_names().any(|known| known == name);
        let choice = match text {
            Some(text) => ChipChoice::read(name, text, &changes),
            None if is_builtin => ChipChoice::find(name, &changes),
            // A file is read once: it may be another one, or gone, when the chip is changed or copied.
            None => {
                let (text, file) = corecast_chip::text(name).map_err(Refusal::from)?;
                ChipChoice::read(&file, &text, &changes)
            }
        };
        Ok(Self { choice: choice? })
    }

    /// The same with further changes.
    fn changed(&self, changes: Vec<(String, String)>) -> Result<Self, Refusal> {
        let choice = self.choice.changed(&changes)?;
        Ok(Self { choice })
    }

    /// The name or path that it was asked for by.
    #[getter]
    fn asked(&self) -> &str {
        self.choice.name()
    }

    /// The text of its file, or that was given instead; none of a built-in chip.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.choice.text()
    }

    /// The changes, as `KEY=VALUE`.
    #[getter]
    fn changes(&self) -> Vec<String> {
        self.choice.changes()
    }

    /// Everything about it, as JSON.
    fn record(&self) -> String {
        json(ChipRecord::new(&self.choice.chip, &self.choice.changes()))
    }
}
