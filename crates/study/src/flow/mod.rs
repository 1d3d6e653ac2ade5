// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dataflow programs on the tiles of a chip or on this computer: every number of flows, every number
//! of stages, every placement.
//!
//! ```
//! use corecast_study::{ChipChoice, FlowPlan, FlowStudy};
//! let chip = ChipChoice::find("nagam", &[]).expect("built in");
//! let text = std::fs::read_to_string("../../examples/fir.toml").expect("part of the sources");
//! let study = FlowStudy::new(FlowPlan::new(chip, &text, "fir.toml"))?;
//! let cases = study.run(&study.programs(None)?, &())?;
//! assert!(cases[0].result.is_right());
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

pub(crate) mod case;
mod record;

use std::sync::Arc;

use corecast_flow::{Buffers, Changes, FlowFile, FlowProgram, Input, Placement, Sharing};
use corecast_machine::{Limits, RunOptions, Watch};
use corecast_machine_sim::pronto::{FlowSetup, Injectors};
use rayon::prelude::*;

pub use case::{FlowCase, FlowPrograms, Tiles, placement_word};
pub use record::{CheckRecord, EdgeRecord, FlowRecord, TaskRecord};

use crate::chips::ChipChoice;
use crate::error::{FlowStudyError, StudyError};
use crate::machines::{MACHINES, MachineKind, StudyMachine};
use crate::progress::Progress;
use crate::settings::{FlowSettings, Settings};

/// Most runs of a study.
const CASES_MAX: usize = 1000;

/// Which dataflow program, where.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// The chip.
    pub chip: ChipChoice,
    /// On what to run.
    pub machine: &'static dyn MachineKind,
    /// The text of the flow file.
    pub text: String,
    /// Where it is from.
    pub file: String,
    /// Numbers of stages of the tasks that have `stages`; none = as the file says.
    pub stages: Option<Vec<u32>>,
    /// Instances of the graph at once; none = as the file says.
    pub flows: Option<Vec<u32>>,
    /// How tasks come to their cores; none = as the file says.
    pub placements: Option<Vec<Placement>>,
    /// Whether tasks with several senders acknowledge messages; none = where senders share a buffer.
    pub acknowledges: Option<bool>,
    /// Other traffic on the mesh.
    pub injectors: Option<Injectors>,
    /// Seed of placements and of other traffic.
    pub seed: u64,
    /// When a run ends at the latest.
    pub limits: Limits,
    /// Stops runs.
    pub watch: Watch,
}

impl FlowPlan {
    /// A flow file on a simulated chip, as it says.
    #[must_use]
    pub fn new(chip: ChipChoice, text: &str, file: &str) -> Self {
        Self {
            chip,
            machine: MACHINES[0],
            text: text.to_owned(),
            file: file.to_owned(),
            stages: None,
            flows: None,
            placements: None,
            acknowledges: None,
            injectors: None,
            seed: 1,
            limits: Limits::default(),
            watch: Watch::default(),
        }
    }
}

/// A plan whose parts are known to make sense together.
#[derive(Clone, Debug)]
pub struct FlowStudy {
    /// What was asked for.
    pub plan: FlowPlan,
    /// The machine, set up for the chip.
    pub machine: Arc<dyn StudyMachine>,
    /// The chip's tiles.
    pub tiles: Tiles,
    /// What results depend on.
    pub settings: Settings,
    /// The file for every number of stages, and what one core would run instead.
    files: Vec<(FlowFile, FlowFile)>,
    flows: Vec<u32>,
    placements: Vec<Placement>,
}

impl FlowStudy {
    /// Reads the flow file and checks what does not depend on its input.
    ///
    /// # Errors
    /// What does not make sense, and why.
    pub fn new(plan: FlowPlan) -> Result<Self, StudyError> {
        let chip = &plan.chip.chip;
        let tiles = Tiles::of(chip)?;
        let machine = plan.machine.on(chip, None)?;
        // Places are looked at where they are used.
        let is_placed = plan.placements.is_none() && machine.places_tasks();
        let cores = is_placed.then_some(tiles.sites.cores.as_slice());
        let read = |changes| {
            let file = FlowFile::parse_on(&plan.text, &plan.file, changes, cores);
            file.map_err(FlowStudyError::from)
        };
        let stages = match &plan.stages {
            Some(stages) => stages.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let both = |&stages: &Option<u32>| {
            let changes = |is_sequential| Changes {
                stages,
                is_sequential,
            };
            Ok((read(changes(false))?, read(changes(true))?))
        };
        let files = stages.iter().map(both);
        let files = files.collect::<Result<Vec<_>, FlowStudyError>>()?;
        let Some((first, _)) = files.first() else {
            return Err(FlowStudyError::NoCase.into());
        };
        let flows = plan.flows.clone().unwrap_or(vec![first.flows]);
        let kind = machine.kind().name();
        let lacks = [
            (
                plan.placements.is_some() && !machine.places_tasks(),
                FlowStudyError::PlacedByOthers { machine: kind },
            ),
            (
                plan.injectors.is_some() && machine.mesh().is_none(),
                FlowStudyError::NothingToDisturb { machine: kind },
            ),
            (
                plan.acknowledges.is_some() && !machine.senders_share_buffers(),
                FlowStudyError::QueuePerSender { machine: kind },
            ),
        ];
        if let Some((_, error)) = lacks.into_iter().find(|(is_lacking, _)| *is_lacking) {
            return Err(error.into());
        }
        let of_file = vec![first.placement.clone()];
        let placements = plan.placements.clone().unwrap_or(of_file);
        let count = files.len() * flows.len() * placements.len();
        if count > CASES_MAX {
            let max = CASES_MAX;
            return Err(FlowStudyError::TooManyCases { count, max }.into());
        }
        Ok(Self {
            settings: Settings {
                seed: Some(plan.seed),
                flow: Some(FlowSettings::new(&plan)),
                ..Settings::new(&plan.chip, &*machine)
            },
            machine,
            tiles,
            files,
            flows,
            placements,
            plan,
        })
    }

    /// How many runs there will be.
    #[must_use]
    pub fn case_count(&self) -> usize {
        self.files.len() * self.flows.len() * self.placements.len()
    }

    /// The file that the flow's input is in, seen from the flow file; none if it is drawn at random.
    #[must_use]
    pub fn input_file(&self) -> Option<&str> {
        match &self.files[0].0.input {
            Input::File(name) => Some(name),
            Input::Random(_) => None,
        }
    }

    /// The programs of all numbers of stages and flows, in this order. `input` is what the input
    /// file holds, if there is one.
    ///
    /// # Errors
    /// A file that is no program on these tiles.
    pub fn programs(&self, input: Option<&[u8]>) -> Result<Vec<FlowPrograms>, StudyError> {
        let sharing = match self.machine.senders_share_buffers() {
            false => Sharing::Apart,
            true if self.plan.acknowledges == Some(false) => Sharing::Free,
            true => Sharing::Windows,
        };
        let mut all = Vec::new();
        let stages = self.plan.stages.iter().flatten().copied().map(Some);
        let stages = stages.chain(std::iter::repeat(None));
        for ((file, sequential), stages) in self.files.iter().zip(stages) {
            for &flows in &self.flows {
                let program = |file, sharing| {
                    let buffers = Buffers {
                        output_bytes: self.tiles.output_bytes,
                        input: self.tiles.input,
                        sharing,
                    };
                    FlowProgram::new(file, flows, input, buffers).map_err(FlowStudyError::from)
                };
                all.push(FlowPrograms {
                    stages,
                    flow: program(file, sharing)?,
                    // One core has nobody to share with.
                    sequential: program(sequential, Sharing::Free)?,
                });
            }
        }
        Ok(all)
    }

    /// Runs programs, each with every placement.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn run(
        &self,
        programs: &[FlowPrograms],
        progress: &dyn Progress,
    ) -> Result<Vec<FlowCase>, StudyError> {
        let options = RunOptions {
            limits: self.plan.limits,
            seed: self.plan.seed,
            watch: self.plan.watch.clone(),
            ..RunOptions::default()
        };
        let run = |(programs, placement): (&FlowPrograms, &Placement)| {
            let setup = FlowSetup {
                placement: placement.clone(),
                seed: self.plan.seed,
                injectors: self.plan.injectors,
                options: options.clone(),
            };
            let case = self.machine.run_flow(programs.clone(), &setup);
            progress.done();
            case
        };
        let wanted = programs.iter();
        let placed = |of| self.placements.iter().map(move |place| (of, place));
        let wanted: Vec<_> = wanted.flat_map(placed).collect();
        let cases: Result<Vec<_>, FlowStudyError> = match self.machine.runs_side_by_side() {
            true => wanted.into_par_iter().map(run).collect(),
            false => wanted.into_iter().map(run).collect(),
        };
        Ok(cases?)
    }
}
