// SPDX-License-Identifier: MIT OR Apache-2.0
//! An MPI program on chips that differ in some numbers: a study of each.

use super::{MpiRun, MpiStudy};
use crate::calls::{Changes, Shown, VariedRun, Varying};

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
