// SPDX-License-Identifier: MIT OR Apache-2.0
//! An MPI program on chips that differ in some numbers: a study of each.

use std::collections::BTreeMap;

use corecast_launch::MpiJob;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{MpiRun, MpiStudy};
use crate::calls::{Changes, Shown, VariedRun, Varying};
use crate::kept::{Kept, KeptCase};

/// Most bytes of what a program prints that are kept of a run, of each of its two streams.
pub const KEPT_PRINTED_BYTES_MAX: usize = 64 << 10;

/// A run with what its ranks have printed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VariedCase {
    /// What was changed, and what it has shown.
    #[serde(flatten)]
    pub run: VariedRun,
    /// Why it has shown nothing, if it has not.
    pub why: Option<String>,
    /// What its ranks have printed: the beginning of it.
    pub stdout: String,
    /// What they have printed as errors: the beginning of it.
    pub stderr: String,
}

impl KeptCase for VariedCase {
    type Key = Changes;

    const OF: &'static str = "program";

    fn key(&self) -> Changes {
        self.run.changes.clone()
    }
}

/// A program on a chip with other numbers.
#[derive(Clone, Debug)]
pub struct VariedStudy {
    /// On the chip as it is.
    pub base: MpiStudy,
    /// What varies.
    pub varying: Vec<Varying>,
    /// On the chips of all combinations ([`crate::varied_chips`]).
    pub runs: Vec<(Changes, MpiStudy)>,
}

impl VariedStudy {
    /// An empty file for runs of this program. They depend on what is started, with which variables, and
    /// on the chip as it is; which values are tried does not matter, so that there can be more of them
    /// later.
    #[must_use]
    pub fn keeps(&self, job: &MpiJob) -> Kept<VariedCase> {
        let parts = job.parts.iter().map(|part| {
            let words = [&part.program].into_iter().chain(&part.arguments);
            let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
            json!([part.ranks, words])
        });
        let variables = job.environment.iter();
        let variables: BTreeMap<_, _> = variables
            .map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        let program = json!([parts.collect::<Vec<_>>(), variables]);
        let Value::Object(mut depends_on) = self.base.settings().json() else {
            unreachable!("settings are an object")
        };
        depends_on.insert(VariedCase::OF.to_owned(), program);
        Kept::of(depends_on)
    }

    /// What is not wrong with one of the chips, or with the tables of its collectives, and may surprise;
    /// each once.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let studies = || self.runs.iter().map(|(_, study)| &study.plan);
        let chips = studies().flat_map(|plan| plan.on.chip.chip.program_notes());
        let tables = studies().flat_map(|plan| plan.tables.notes.clone());
        let mut notes = Vec::new();
        for note in chips.chain(tables) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}

impl MpiStudy {
    /// What a run has shown on a chip that was changed so.
    #[must_use]
    pub fn varied(&self, changes: Changes, run: Option<&MpiRun>) -> VariedRun {
        let clock = self.plan.on.chip.chip.reference_clock();
        let shown = run.map(|run| Shown::of(&run.calls, run.calls.cycles(clock)));
        VariedRun { changes, shown }
    }
}
