// SPDX-License-Identifier: MIT OR Apache-2.0
//! An MPI program on chips that differ in some numbers: each run is a case of a sweep.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use corecast_machine::{Cause, Watch};
use corecast_study::{
    Changes, KEPT_PRINTED_BYTES_MAX, Kept, KeptCase as _, Shown, VariedCase, VariedRun,
    VariedStudy, VaryError, Varying, varied_chips,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::chip::Chip;
use crate::kept::{self, with_file};
use crate::plan;
use crate::program::{self, Started};
use crate::refusal::Refusal;
use crate::study::signed;

impl From<VaryError> for Refusal {
    fn from(error: VaryError) -> Self {
        match error {
            VaryError::Chip { error, .. } => error.into(),
            error => Self::library("InputError", &error),
        }
    }
}

/// A program on a chip with other numbers, and the runs that were made.
#[pyclass(frozen, module = "corecast._core")]
pub struct Varied {
    study: VariedStudy,
    found: Mutex<Found>,
}

struct Found {
    kept: Kept<VariedCase>,
    /// Of runs that have failed, which are made again when the sweep goes on.
    failed: BTreeMap<Changes, VariedCase>,
}

impl Found {
    fn case(&self, changes: &Changes) -> Option<&VariedCase> {
        self.kept.case(changes).or_else(|| self.failed.get(changes))
    }
}

impl Varied {
    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().expect("nobody panics while holding it")
    }
}

#[pymethods]
impl Varied {
    /// Without runs, or with those of a file if it exists. `varying` is keys with their values, `arguments`
    /// what `mpirun` takes.
    #[new]
    #[pyo3(signature = (chip, varying, arguments, path=None))]
    fn new(
        chip: &Chip,
        varying: Vec<(String, Vec<String>)>,
        arguments: &str,
        path: Option<&str>,
    ) -> Result<Self, Refusal> {
        let varying = varying.into_iter();
        let varying: Vec<Varying> = varying
            .map(|(key, values)| Varying { key, values })
            .collect();
        let chips = varied_chips(&chip.choice, &varying)?;
        let started: Started = plan::parse(arguments)?;
        let job = started.job(&Watch::new())?;
        let on = |chip| started.study(chip, &job, Watch::new());
        let runs = chips
            .into_iter()
            .map(|(changes, chip)| Ok((changes, on(chip)?)));
        let study = VariedStudy {
            runs: runs.collect::<Result<_, Refusal>>()?,
            base: on(chip.choice.clone())?,
            varying,
        };
        let found = Found {
            kept: with_file(study.keeps(&job), path)?,
            failed: BTreeMap::new(),
        };
        Ok(Self {
            study,
            found: Mutex::new(found),
        })
    }

    /// What is changed in each run, in order.
    fn changes(&self) -> Vec<Changes> {
        let runs = self.study.runs.iter();
        runs.map(|(changes, _)| changes.clone()).collect()
    }

    /// What is not wrong and may surprise.
    fn notes(&self) -> Vec<String> {
        self.study.notes()
    }

    /// Whether this run is there.
    fn has(&self, changes: Changes) -> bool {
        self.lock().case(&changes).is_some()
    }

    /// Adds a run, as [`varied_run`] gives it.
    fn add(&self, case: &str) -> Result<(), Refusal> {
        let case: VariedCase = kept::case(case)?;
        let mut found = self.lock();
        match case.run.shown {
            Some(_) => found.kept.add(case),
            None => drop(found.failed.insert(case.key(), case)),
        }
        Ok(())
    }

    /// Writes the file, whole or not at all.
    fn save(&self, path: &str) -> Result<(), Refusal> {
        kept::save(&self.lock().kept, path)
    }

    /// All runs that are there, in order, with their settings, as JSON.
    fn rows(&self) -> String {
        let found = self.lock();
        let rows = self.study.runs.iter().filter_map(|(changes, study)| {
            let case = found.case(changes)?;
            let mut row = study.settings().on(json!({
                "ranks": study.plan.ranks,
                "outcome": if case.run.shown.is_some() { "done" } else { "failed" },
                "why": case.why,
                "stdout": case.stdout,
                "stderr": case.stderr,
            }));
            if let (Value::Object(row), Some(shown)) = (&mut row, &case.run.shown) {
                row.extend(fields(shown));
            }
            Some(row)
        });
        Value::Array(rows.collect()).to_string()
    }

    /// How long the program took with which values, as SVG; none if no run has come to its end.
    fn chart(&self) -> Option<String> {
        let found = self.lock();
        let cases = self.study.runs.iter();
        let cases = cases.filter_map(|(changes, _)| found.case(changes));
        let runs: Vec<VariedRun> = cases.map(|case| case.run.clone()).collect();
        runs.iter().find(|run| run.shown.is_some())?;
        let picture = corecast_figures::mpi_varied(&self.study, &runs);
        Some(signed(&picture, &self.study.base.settings()))
    }
}

/// What a run has shown, as fields.
fn fields(shown: &Shown) -> impl Iterator<Item = (String, Value)> {
    let causes = Cause::KINDS.iter().zip(shown.causes_ps);
    let causes = causes.filter(|(_, ps)| *ps > 0);
    let causes: BTreeMap<&str, f64> = causes.map(|(kind, ps)| (*kind, ps as f64 / 1e3)).collect();
    let fields = [
        ("makespan_cycles", json!(shown.makespan_cycles)),
        ("makespan_ns", json!(shown.makespan_ns)),
        ("messages", json!(shown.messages)),
        ("bytes", json!(shown.bytes)),
        ("causes_ns", json!(causes)),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
}

/// Runs an MPI program on a chip with these changes; what it has shown, as JSON.
#[pyfunction]
pub fn varied_run(
    py: Python<'_>,
    chip: &Chip,
    changes: Changes,
    arguments: &str,
) -> PyResult<String> {
    let chip = chip.choice.changed(&changes).map_err(Refusal::from)?;
    let nobody = py.None();
    let (study, run, printed) =
        program::run(py, chip, arguments, KEPT_PRINTED_BYTES_MAX, nobody.bind(py))?;
    let case = VariedCase {
        run: study.varied(changes, Some(&run)),
        why: None,
        stdout: printed.0,
        stderr: printed.1,
    };
    Ok(json!(case).to_string())
}
