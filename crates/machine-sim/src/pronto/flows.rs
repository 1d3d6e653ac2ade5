// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows on an array: where their tasks go, what a run shows, and what one core would take.

use corecast_chip::{Mesh, Pronto, System};
use corecast_core::Help;
use corecast_flow::functional::{self, OneCore};
use corecast_flow::place::{self, PlaceError, Sites, Traffic};
use corecast_flow::{Buffers, FlowProgram, FlowResult, InputBuffer, Placement, Sharing};
use corecast_machine::{RunError, RunOptions, TaskError, Time};
use thiserror::Error;

use super::injectors::Injectors;
use super::tasks::TaskSetup;
use crate::SimMachine;

/// Most steps of the search for the best placement.
const SEARCH_STEPS: u64 = 200_000;

/// What a flow runs in.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSetup {
    /// How tasks come to their cores.
    pub placement: Placement,
    /// Seed of the placement.
    pub seed: u64,
    /// Other traffic on the mesh.
    pub injectors: Option<Injectors>,
    /// Limits, how late tasks start, and who watches.
    pub options: RunOptions,
}

/// What a placement costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacementCost {
    /// Bytes of an iteration times their hops.
    pub byte_hops: u64,
    /// The lowest that any placement has; none if there are too many to try.
    pub optimal: Option<u64>,
}

/// What a flow has shown.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowRun {
    /// The core of every task.
    pub cores: Vec<u32>,
    /// What that placement costs.
    pub cost: PlacementCost,
    /// Times, splits, edges and checks.
    pub result: FlowResult,
    /// The same without other traffic, if there was any.
    pub quiet: Option<FlowResult>,
    /// The time of one core, next to the memory buffer, that does the same work.
    pub one_core: Time,
    /// The memory buffer at the end.
    pub memory: Vec<u8>,
    /// Simulated events.
    pub events: u64,
    /// Hash of all simulated events.
    pub trace_hash: u64,
}

impl FlowRun {
    /// How many times as fast as one core.
    #[must_use]
    pub fn speed_up(&self) -> f64 {
        self.one_core.ps() as f64 / self.result.makespan.ps().max(1) as f64
    }
}

/// Why a flow could not be run.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum FlowError {
    /// Tasks have no cores.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The tasks do not get through even without timing: a failure of theirs, or buffers that are
    /// too small for their rates.
    #[error(transparent)]
    Untimed(RunError),
    /// A run ended without a result.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Help for FlowError {
    fn help(&self) -> String {
        match self {
            Self::Place(error) => error.help(),
            Self::Untimed(error) | Self::Run(error) => error.help(),
        }
    }
}

/// What holds the messages that have come to a tile; it has at most 1 MiB.
#[must_use]
pub fn input_buffer(mesh: &Mesh, pronto: &Pronto) -> InputBuffer {
    InputBuffer {
        bytes: pronto.input_bytes as usize,
        word_bytes: mesh.flit_bytes as usize,
        messages: pronto.status_entries as usize,
    }
}

impl SimMachine {
    /// Where cores and memory of a chip with tiles are, and the buffers of a tile.
    ///
    /// # Errors
    /// [`TaskError::NoTiles`].
    pub fn tiles(&self) -> Result<(Sites, Buffers), TaskError> {
        let System::Pronto { mesh, pronto } = self.chip().system() else {
            let machine = self.chip().name.clone();
            return Err(TaskError::NoTiles { machine });
        };
        let cores = 0..self.chip().cores_max();
        let sites = Sites {
            cores: cores.map(|core| mesh.grid.position(core)).collect(),
            memory: pronto.memory,
        };
        let buffers = Buffers {
            output_bytes: pronto.output_bytes as usize, // at most 1 MiB
            input: input_buffer(mesh, pronto),
            sharing: Sharing::Windows,
        };
        Ok((sites, buffers))
    }

    /// Runs a flow; `sequential` is the same work as one core would do it.
    ///
    /// # Errors
    /// [`FlowError`].
    pub fn run_flow(
        &self,
        program: &FlowProgram,
        sequential: &FlowProgram,
        setup: &FlowSetup,
    ) -> Result<FlowRun, FlowError> {
        let (sites, _) = self.tiles().map_err(RunError::from)?;
        let cores = place::place(program, &setup.placement, &sites, setup.seed)?;
        let traffic = Traffic::of(program);
        let byte_hops = place::cost(&traffic, &sites, &cores);
        let cost = PlacementCost {
            byte_hops,
            optimal: place::optimal(&traffic, &sites, SEARCH_STEPS, byte_hops),
        };
        let memory = program.memory();
        let plain = functional::run(program, program.tasks(), memory.clone());
        let plain = plain.map_err(FlowError::Untimed)?;
        let tasks = |placement, injectors| TaskSetup {
            placement,
            memory: memory.clone(),
            injectors,
            moves: Vec::new(),
            options: setup.options.clone(),
        };
        let run = |injectors| {
            let run = self.run_tasks(program, &tasks(cores.clone(), injectors))?;
            let result = FlowResult::new(program, &run, Some(&cores), &plain.memory);
            Ok::<_, RunError>((run, result))
        };
        let quiet = match setup.injectors {
            Some(_) => Some(run(None)?.1),
            None => None,
        };
        let (run, result) = run(setup.injectors)?;
        let next = (0_u32..).zip(&sites.cores).min_by_key(|(_, core)| {
            core.0.abs_diff(sites.memory.0) + core.1.abs_diff(sites.memory.1)
        });
        let next = next.map(|(core, _)| core);
        let whole = functional::run(sequential, sequential.tasks(), sequential.memory());
        let whole = whole.map_err(FlowError::Untimed)?;
        let alone = self.run_tasks(
            &OneCore::new(&whole),
            &tasks(next.into_iter().collect(), None),
        )?;
        let finish = alone.run.finish.iter().copied().max();
        Ok(FlowRun {
            cores,
            cost,
            result,
            quiet,
            one_core: finish.unwrap_or(Time::ZERO),
            memory: run.memory,
            events: run.run.events,
            trace_hash: run.run.trace_hash,
        })
    }
}
