// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases of a sweep, with a file in which they are kept.

use std::sync::{Mutex, MutexGuard};

use corecast_study::{KEPT_BYTES_MAX, Kept as Inner, KeptCase, Study, SweepCase};
use corecast_text::file::{self, ReadError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::schedule::write_file;

/// The cases with those of a file, if there is one.
pub fn with_file<C: KeptCase>(mut kept: Inner<C>, path: Option<&str>) -> Result<Inner<C>, Refusal> {
    let Some(path) = path else {
        return Ok(kept);
    };
    let refusal = |what: String| Refusal::new("InputError", format!("{path}: {what}"));
    match file::read(path, KEPT_BYTES_MAX) {
        Err(ReadError::NotFound) => {}
        Err(error) => return Err(refusal(error.to_string())),
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            let text = text.map_err(|_| refusal("it is not UTF-8 text".to_owned()))?;
            let merged = Inner::parse(&text).and_then(|found| kept.merge(found));
            merged.map_err(|error| {
                refusal(error.to_string()).help("name another file, or ask for what it holds for")
            })?;
        }
    }
    Ok(kept)
}

/// A case as the work on it gives it.
pub fn case<C: KeptCase>(text: &str) -> Result<C, Refusal> {
    serde_json::from_str(text)
        .map_err(|error| Refusal::new("InputError", format!("a case of a sweep: {error}")))
}

/// Writes the file, whole or not at all.
pub fn save<C: KeptCase>(kept: &Inner<C>, path: &str) -> Result<(), Refusal> {
    write_file(path.into(), kept.to_string().as_bytes())
}

/// See [`corecast_study::Kept`].
#[pyclass(frozen, module = "corecast._core")]
pub struct Kept {
    study: Study,
    inner: Mutex<Inner>,
}

impl Kept {
    /// Without cases, or with those of a file if it exists.
    pub fn new(study: &Study, path: Option<&str>) -> Result<Self, Refusal> {
        let inner = Mutex::new(with_file(study.keeps(), path)?);
        let study = study.clone();
        Ok(Self { study, inner })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while holding it")
    }

    /// The cases of the study that are there, in order.
    fn cases<'a>(&'a self, kept: &'a Inner) -> impl Iterator<Item = &'a SweepCase> {
        let sizes = |&ranks: &u32| {
            self.study
                .plan
                .sizes
                .iter()
                .map(move |&bytes| (ranks, bytes))
        };
        let cases = self.study.ranks.iter().flat_map(sizes);
        cases.filter_map(|case| kept.case(&case))
    }
}

#[pymethods]
impl Kept {
    /// Whether the case of so many ranks and bytes is there.
    fn has(&self, ranks: u32, bytes: u64) -> bool {
        self.lock().case(&(ranks, bytes)).is_some()
    }

    /// Adds a case, as `Study.case` gives it.
    fn add(&self, case: &str) -> Result<(), Refusal> {
        let case = self::case(case)?;
        self.lock().add(case);
        Ok(())
    }

    /// Writes the file, whole or not at all.
    fn save(&self, path: &str) -> Result<(), Refusal> {
        save(&self.lock(), path)
    }

    /// Who could not take part in which case and why, as JSON.
    fn refused(&self) -> String {
        let kept = self.lock();
        let refused = self.cases(&kept).flat_map(|case| {
            let (ranks, bytes) = (case.ranks, case.bytes);
            let reasons = case.refused.iter().chain(&case.unended);
            reasons.map(move |why| json!({"ranks": ranks, "bytes": bytes, "why": why}))
        });
        Value::Array(refused.collect()).to_string()
    }

    /// The runs of all cases of the study that are there, in order, with their settings, as JSON.
    fn rows(&self) -> String {
        let (settings, kept) = (self.study.settings(), self.lock());
        let rows = self.cases(&kept).flat_map(|case| &case.runs).map(|swept| {
            let mut record = settings.on(&swept.record);
            record["makespan_mean_cycles"] = json!(swept.mean_cycles);
            record["faults"] = json!(swept.faults);
            record
        });
        Value::Array(rows.collect()).to_string()
    }
}
