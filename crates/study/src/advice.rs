// SPDX-License-Identifier: MIT OR Apache-2.0
//! A decision table that says which algorithm is the fastest, instead of trying all.

use corecast_core::Request;
use corecast_tune::{Decision, Difference, Table};

use crate::error::{AdviceError, Asked, StudyError};
use crate::study::Study;

/// A table that was found to be for the chip and the collective of a study.
#[derive(Clone, Debug)]
pub struct Advice {
    /// Where the table is from.
    pub file: String,
    table: Table,
    /// In what else the table differs from what it is asked about.
    pub notes: Vec<String>,
}

/// What the table says about another chip, machine or collective is worth nothing here.
const DECISIVE: [&str; 3] = ["machine", "collective", "fingerprint"];
/// What does not change the answer: the same chip by another name, and who competed.
const HARMLESS: [&str; 2] = ["chip", "algorithms"];

impl Advice {
    /// The text of its table.
    pub(crate) fn text(&self) -> String {
        self.table.to_string()
    }
}

impl Study {
    /// Refuses studies in which no table can decide, whatever it says.
    ///
    /// # Errors
    /// What the plan has decided already.
    pub fn takes_advice(&self) -> Result<(), StudyError> {
        if !self.is_auto() {
            return Err(AdviceError::NothingToDecide.into());
        }
        if self.machine.identity().is_none() {
            return Err(AdviceError::NoChip.into());
        }
        let tuning = &self.plan.tuning;
        let sizes = [
            ("part_bytes", tuning.part_bytes),
            ("piece_bytes", tuning.piece_bytes),
        ];
        match sizes.into_iter().find(|(_, size)| size.is_some()) {
            Some((size, _)) => Err(AdviceError::SizeChosen { size }.into()),
            None => Ok(()),
        }
    }

    /// The same study, in which this table, which is from `file`, says who is the fastest.
    ///
    /// # Errors
    /// If the table cannot be asked.
    pub fn advised(mut self, file: &str, table: Table) -> Result<Self, StudyError> {
        self.takes_advice()?;
        let file = file.to_owned();
        let (setting, ours) = (table.setting(), self.setting()?);
        let differences = setting.differences(&ours);
        let decisive = |difference: &&Difference| DECISIVE.contains(&difference.key);
        if let Some(difference) = differences.iter().find(decisive) {
            let asked = Asked {
                collective: ours.collective,
                chip: self.plan.chip.name().to_owned(),
                changes: self.plan.chip.changes(),
                machine: self.machine.kind().name(),
            };
            let chip = |setting: &corecast_tune::Setting| {
                (setting.chip.clone(), setting.fingerprint.clone())
            };
            let error = match difference.key {
                "machine" => AdviceError::OtherMachine {
                    file,
                    theirs: setting.machine.clone(),
                    asked,
                },
                "collective" => AdviceError::OtherCollective {
                    file,
                    theirs: setting.collective,
                    asked,
                },
                _ => AdviceError::OtherChip {
                    file,
                    theirs: chip(setting),
                    ours: chip(&ours),
                    asked,
                },
            };
            return Err(error.into());
        }
        let others = differences.iter();
        let others = others.filter(|difference| !HARMLESS.contains(&difference.key));
        let mut notes: Vec<String> = others.map(|other| format!("there {other}")).collect();
        if self.plan.surroundings.disturb() {
            let unknown = "it knows nothing of late ranks, transfers under way and other traffic";
            notes.push(unknown.to_owned());
        }
        self.advice = Some(Advice { file, table, notes });
        Ok(self)
    }
}

impl Advice {
    /// What the table says about a request.
    ///
    /// # Errors
    /// If no cell can serve it.
    pub fn decide(&self, request: &Request) -> Result<Decision<'_>, StudyError> {
        self.table.decide(request).map_err(|why| {
            let file = self.file.clone();
            AdviceError::Undecided { file, why }.into()
        })
    }
}
