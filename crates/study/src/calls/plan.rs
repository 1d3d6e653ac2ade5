// SPDX-License-Identifier: MIT OR Apache-2.0
//! On which chip a program of calls runs, and amid what.

use std::sync::Arc;

use corecast_machine::{Limits, RunOptions, Sharing, Watch};
use corecast_machine_sim::Fidelity;

use crate::chips::ChipChoice;
use crate::error::StudyError;
use crate::machines::{MACHINES, StudyMachine};
use crate::settings::{ProgramSettings, Settings};
use crate::study::check_cores;
use crate::surroundings::Surroundings;

/// On which chip a program runs, and amid what.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// The chip.
    pub chip: ChipChoice,
    /// How exactly a mesh is simulated; none leaves it to the machine.
    pub fidelity: Option<Fidelity>,
    /// What else goes on.
    pub surroundings: Surroundings,
    /// Seed of everything random.
    pub seed: u64,
    /// When the run ends at the latest.
    pub limits: Limits,
    /// Stops the run.
    pub watch: Watch,
}

impl ProgramPlan {
    /// A program by itself on a chip.
    #[must_use]
    pub fn new(chip: ChipChoice) -> Self {
        Self {
            chip,
            fidelity: None,
            surroundings: Surroundings::default(),
            seed: 0,
            limits: Limits::default(),
            watch: Watch::new(),
        }
    }

    /// The machine, if so many cores of it can run amid all this.
    fn machine(&self, cores: u32) -> Result<Arc<dyn StudyMachine>, StudyError> {
        let chip = &self.chip.chip;
        let machine = MACHINES[0].on(chip, self.fidelity)?;
        check_cores(chip, cores.into())?;
        if self.surroundings.background.is_some() {
            machine.takes_background()?;
        }
        self.surroundings.check(cores)?;
        Ok(machine)
    }

    /// The same for ranks of which each core has `per_core`.
    pub(crate) fn machine_of_ranks(
        &self,
        ranks: u32,
        per_core: u32,
    ) -> Result<Arc<dyn StudyMachine>, StudyError> {
        if !(1..=Sharing::MOST).contains(&per_core) {
            return Err(StudyError::RanksPerCore {
                per_core,
                max: Sharing::MOST,
            });
        }
        let cores = Sharing::new(ranks, per_core).cores();
        self.machine(cores).map_err(|error| match error {
            // Of the ranks of a program, and not of the cores that they share.
            StudyError::RankCount { chip, max, .. } => StudyError::RankCount {
                ranks: ranks.into(),
                chip,
                max: max.saturating_mul(per_core),
            },
            error => error,
        })
    }

    /// How so many cores are run.
    pub(crate) fn options(&self, cores: u32) -> RunOptions {
        let clock = self.chip.chip.reference_clock();
        RunOptions {
            watch: self.watch.clone(),
            ..self
                .surroundings
                .options(cores, self.seed, clock, self.limits)
        }
    }

    /// What results depend on; `own` is what the program says of itself.
    pub(crate) fn settings(&self, machine: &dyn StudyMachine, own: ProgramSettings) -> Settings {
        let around = &self.surroundings;
        Settings {
            notes: self.chip.chip.program_notes(),
            seed: Some(self.seed),
            program: Some(ProgramSettings {
                background: around.background.map(|traffic| traffic.to_string()),
                skew: around.arrivals.iter().map(ToString::to_string).collect(),
                ..own
            }),
            ..Settings::new(&self.chip, machine)
        }
    }
}
