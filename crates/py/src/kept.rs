// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases of a sweep, with a file in which they are kept.

use std::sync::{Mutex, MutexGuard};

use corecast_study::{KEPT_BYTES_MAX, Kept as Inner, Study, SweepCase};
use corecast_text::file::{self, ReadError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::schedule::write_file;

/// See [`corecast_study::Kept`].
#[pyclass(frozen, module = "corecast._core")]
pub struct Kept {
    study: Study,
    inner: Mutex<Inner>,
}

impl Kept {
    /// Without cases, or with those of a file if it exists.
    pub fn new(study: &Study, path: Option<&str>) -> Result<Self, Refusal> {
        let mut inner = study.keeps();
        if let Some(path) = path {
            let refusal = |what: String| Refusal::new("InputError", format!("{path}: {what}"));
            match file::read(path, KEPT_BYTES_MAX) {
                Err(ReadError::NotFound) => {}
                Err(error) => return Err(refusal(error.to_string())),
                Ok(bytes) => {
                    let text = String::from_utf8(bytes);
                    let text = text.map_err(|_| refusal("it is not UTF-8 text".to_owned()))?;
                    let found = Inner::parse(&text);
                    let merged = found.and_then(|found| inner.merge(found));
                    merged.map_err(|error| {
                        refusal(error.to_string())
                            .help("name another file, or ask for what it holds for")
                    })?;
                }
            }
        }
        let (study, inner) = (study.clone(), Mutex::new(inner));
        Ok(Self { study, inner })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while holding it")
    }
}

#[pymethods]
impl Kept {
    /// Whether the case of so many ranks and bytes is there.
    fn has(&self, ranks: u32, bytes: u64) -> bool {
        self.lock().case(ranks, bytes).is_some()
    }

    /// Adds a case, as `Study.case` gives it.
    fn add(&self, case: &str) -> Result<(), Refusal> {
        let case: SweepCase = serde_json::from_str(case)
            .map_err(|error| Refusal::new("InputError", format!("a case of a sweep: {error}")))?;
        self.lock().add(case);
        Ok(())
    }

    /// Writes the file, whole or not at all.
    fn save(&self, path: &str) -> Result<(), Refusal> {
        let text = self.lock().to_string();
        write_file(path.into(), text.as_bytes())
    }

    /// Who could not take part in which case and why, as JSON.
    fn refused(&self) -> String {
        let (study, kept) = (&self.study, self.lock());
        let sizes = |&ranks: &u32| study.plan.sizes.iter().map(move |&bytes| (ranks, bytes));
        let cases = study.ranks.iter().flat_map(sizes);
        let cases = cases.filter_map(|(ranks, bytes)| kept.case(ranks, bytes));
        let refused = cases.flat_map(|case| {
            let (ranks, bytes) = (case.ranks, case.bytes);
            let reasons = case.refused.iter().chain(&case.unended);
            reasons.map(move |why| json!({"ranks": ranks, "bytes": bytes, "why": why}))
        });
        Value::Array(refused.collect()).to_string()
    }

    /// The runs of all cases of the study that are there, in order, with their settings, as JSON.
    fn rows(&self) -> String {
        let (study, kept) = (&self.study, self.lock());
        let settings = study.settings();
        let sizes = |&ranks: &u32| study.plan.sizes.iter().map(move |&bytes| (ranks, bytes));
        let cases = study.ranks.iter().flat_map(sizes);
        let cases = cases.filter_map(|(ranks, bytes)| kept.case(ranks, bytes));
        let rows = cases.flat_map(|case| &case.runs).map(|swept| {
            let mut record = settings.on(&swept.record);
            record["makespan_mean_cycles"] = json!(swept.mean_cycles);
            record["faults"] = json!(swept.faults);
            record
        });
        Value::Array(rows.collect()).to_string()
    }
}
