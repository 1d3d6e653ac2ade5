// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a flow: so many flows, so many stages, one placement, one machine.

use corecast_chip::{Chip, System};
use corecast_core::Grid;
use corecast_flow::place::Sites;
use corecast_flow::{FlowProgram, FlowResult, InputBuffer, Placement, functional};
use corecast_machine::{TaskError, Time};
use corecast_machine_host::{HostMachine, TaskSetup};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::{FlowError, FlowSetup, PlacementCost, input_buffer};

use crate::error::FlowStudyError;
use crate::error::flow::{ended, untimed};

/// Tiles of a chip that run tasks.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// Where cores and the memory buffer are.
    pub sites: Sites,
    /// The mesh.
    pub grid: Grid,
    /// Where the host is.
    pub host: (u32, u32),
    /// An input buffer.
    pub input: InputBuffer,
    /// Bytes of an output buffer.
    pub output_bytes: usize,
    /// A cycle of a core.
    pub cycle: Time,
}

impl Tiles {
    /// Of a chip that has such.
    ///
    /// # Errors
    /// [`FlowStudyError::NoTiles`].
    pub fn of(chip: &Chip) -> Result<Self, FlowStudyError> {
        let System::Pronto { mesh, pronto } = chip.system() else {
            let chip = chip.name.clone();
            return Err(FlowStudyError::NoTiles { chip });
        };
        let grid = mesh.grid;
        let cores = (0..chip.cores_max())
            .map(|core| grid.position(core))
            .collect();
        Ok(Self {
            sites: Sites {
                cores,
                memory: pronto.memory,
            },
            grid,
            host: pronto.host,
            input: input_buffer(mesh, pronto),
            output_bytes: pronto.output_bytes as usize,
            cycle: Time::from_ps(pronto.core.clock.period_ps),
        })
    }

    /// Most bytes of a message: it is moved into the output buffer as a whole.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.input.bytes.min(self.output_bytes)
    }
}

/// A flow, and what one core runs instead.
#[derive(Clone, Debug)]
pub struct FlowPrograms {
    /// Stages of the tasks that have any; none = as the file says.
    pub stages: Option<u32>,
    /// The flow.
    pub flow: FlowProgram,
    /// The same work in one task.
    pub sequential: FlowProgram,
}

/// A run with all that is said about it.
#[derive(Clone, Debug)]
pub struct FlowCase {
    /// Stages of the tasks that have any; none = as the file says.
    pub stages: Option<u32>,
    /// The flow.
    pub program: FlowProgram,
    /// The word for the placement; none where tasks are not placed.
    pub placement: Option<&'static str>,
    /// What the placement costs.
    pub cost: Option<PlacementCost>,
    /// Times, splits, edges and checks.
    pub result: FlowResult,
    /// The time of one core with the same work.
    pub one_core: Time,
    /// For every edge, how far blocks arrive from when they do without other traffic.
    pub displacements_ns: Option<Vec<Option<f64>>>,
    /// The memory buffer at the end.
    pub memory: Vec<u8>,
    /// Simulated events; 0 where nothing is simulated.
    pub events: u64,
    /// Hash of all simulated events.
    pub trace_hash: u64,
}

impl FlowCase {
    /// How many times as fast as one core.
    #[must_use]
    pub fn speed_up(&self) -> f64 {
        self.one_core.ps() as f64 / self.result.makespan.ps().max(1) as f64
    }

    /// With what results were compared, and whether all flows are equal to it.
    #[must_use]
    pub fn compared(&self) -> Vec<(&'static str, bool)> {
        let mut all: Vec<(&'static str, bool)> = Vec::new();
        for check in &self.result.checks {
            match all.iter_mut().find(|(what, _)| *what == check.what) {
                Some((_, are_equal)) => *are_equal &= check.is_equal,
                None => all.push((check.what, check.is_equal)),
            }
        }
        all
    }
}

/// The word for a placement.
#[must_use]
pub fn placement_word(placement: &Placement) -> &'static str {
    let mut known = corecast_flow::PLACEMENTS.iter();
    let known = known.find(|(_, other)| other == placement);
    known.map_or("given", |(word, _)| word)
}

/// Runs a flow on a chip.
pub(crate) fn on_chip(
    machine: &SimMachine,
    programs: FlowPrograms,
    setup: &FlowSetup,
) -> Result<FlowCase, FlowStudyError> {
    let FlowPrograms {
        stages,
        flow,
        sequential,
    } = programs;
    // Told by the run as well, but after one without timing.
    if let System::Pronto { pronto, .. } = machine.chip().system() {
        let (bytes, max) = (flow.memory_bytes(), pronto.external_bytes);
        if bytes as u64 > max {
            let error = TaskError::MemoryTooSmall { bytes, max };
            return Err(ended(&flow, error.into()));
        }
    }
    let run = machine.run_flow(&flow, &sequential, setup);
    let run = run.map_err(|error| match error {
        FlowError::Run(error) => ended(&flow, error),
        FlowError::Untimed(error) => untimed(&flow, error),
        error => FlowStudyError::Place(error),
    })?;
    Ok(FlowCase {
        stages,
        placement: Some(placement_word(&setup.placement)),
        cost: Some(run.cost),
        displacements_ns: run.quiet.map(|quiet| run.result.displacements_ns(&quiet)),
        result: run.result,
        one_core: run.one_core,
        memory: run.memory,
        events: run.events,
        trace_hash: run.trace_hash,
        program: flow,
    })
}

/// Runs a flow on threads with buffers of these tiles.
pub(crate) fn on_host(
    tiles: &Tiles,
    programs: FlowPrograms,
    setup: &FlowSetup,
) -> Result<FlowCase, FlowStudyError> {
    let FlowPrograms {
        stages,
        flow,
        sequential,
    } = programs;
    let setup = TaskSetup {
        cycle: tiles.cycle,
        input_bytes: tiles.input.bytes,
        output_bytes: tiles.output_bytes,
        memory: flow.memory(),
        options: setup.options.clone(),
    };
    let tasks = flow.tasks();
    let plain = functional::run(&flow, tasks, flow.memory());
    let plain = plain.map_err(|error| untimed(&flow, error))?;
    let alone = HostMachine.run_tasks_alone(sequential.tasks(), &sequential, &setup);
    let (_, one_core) = alone.map_err(|error| ended(&sequential, error))?;
    let run = HostMachine.run_tasks(tasks, &flow, &setup);
    let run = run.map_err(|error| ended(&flow, error))?;
    Ok(FlowCase {
        stages,
        placement: None,
        cost: None,
        result: FlowResult::new(&flow, &run, None, &plain.memory),
        one_core,
        displacements_ns: None,
        memory: run.memory,
        events: 0,
        trace_hash: 0,
        program: flow,
    })
}
