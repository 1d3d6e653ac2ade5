//! One run of a flow: so many flows, so many stages, one placement, one machine.

use corecast_chip::{Chip, System};
use corecast_core::{Grid, Rank};
use corecast_flow::place::Sites;
use corecast_flow::{FlowProgram, FlowResult, Placement, functional};
use corecast_machine::{RunError, RunOptions, TaskError, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::{FlowError, FlowSetup, Injectors, PlacementCost};

use crate::failure::Failure;
use crate::settings::Settings;

/// Tiles of a chip, as the verb needs them.
pub struct Tiles {
    /// Where cores and the memory buffer are.
    pub sites: Sites,
    /// The mesh.
    pub grid: Grid,
    /// Where the host is.
    pub host: (u32, u32),
    /// Bytes of an input buffer.
    pub input_bytes: usize,
    /// Bytes of an output buffer.
    pub output_bytes: usize,
    /// A cycle of a core.
    pub cycle: Time,
}

impl Tiles {
    /// Of a chip that has such.
    pub fn of(chip: &Chip) -> Result<Self, Failure> {
        let System::Pronto { mesh, pronto } = chip.system() else {
            let message = format!("--chip: {} has no tiles that run tasks", chip.name);
            return Err(
                Failure::input(message).help("use --chip nagam, or a chip file based on it")
            );
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
            input_bytes: pronto.input_bytes as usize, // at most 1 MiB
            output_bytes: pronto.output_bytes as usize,
            cycle: Time::from_ps(pronto.core.clock.period_ps),
        })
    }

    /// Most bytes of a message: it is moved into the output buffer as a whole.
    pub fn message_bytes(&self) -> usize {
        self.input_bytes.min(self.output_bytes)
    }
}

/// A run with all that is said about it.
pub struct Case {
    pub program: FlowProgram,
    /// The word for the placement; none on the host.
    pub placement: Option<&'static str>,
    pub cost: Option<PlacementCost>,
    pub result: FlowResult,
    /// The time of one core with the same work.
    pub one_core: Time,
    /// For every edge, how far blocks arrive from when they do without other traffic.
    pub displacements_ns: Option<Vec<Option<f64>>>,
    pub memory: Vec<u8>,
    pub events: u64,
    pub trace_hash: u64,
}

/// A flow, and what one core runs instead.
#[derive(Clone)]
pub struct Programs {
    pub flow: FlowProgram,
    pub sequential: FlowProgram,
}

/// Where a case runs.
pub struct Scene<'a> {
    pub chip: &'a Chip,
    pub tiles: &'a Tiles,
    pub is_simulated: bool,
    pub seed: u64,
    pub options: RunOptions,
    pub injectors: Option<Injectors>,
    /// What results depend on.
    pub settings: Settings,
}

impl Case {
    /// How many times as fast as one core.
    pub fn speed_up(&self) -> f64 {
        self.one_core.ps() as f64 / self.result.makespan.ps().max(1) as f64
    }
}

/// The word for a placement.
pub fn word(placement: &Placement) -> &'static str {
    let known = corecast_flow::PLACEMENTS
        .iter()
        .find(|(_, other)| other == placement);
    known.map_or("given", |(word, _)| word)
}

/// Runs a program.
pub fn run(scene: &Scene<'_>, programs: Programs, placement: &Placement) -> Result<Case, Failure> {
    match scene.is_simulated {
        true => on_chip(scene, programs, placement),
        false => on_host(scene, programs),
    }
}

fn on_chip(scene: &Scene<'_>, programs: Programs, placement: &Placement) -> Result<Case, Failure> {
    let Programs {
        flow: program,
        sequential,
    } = programs;
    let setup = FlowSetup {
        placement: placement.clone(),
        seed: scene.seed,
        injectors: scene.injectors,
        options: scene.options.clone(),
    };
    let run = SimMachine::new(scene.chip).run_flow(&program, &sequential, &setup);
    let run = run.map_err(|error| match error {
        FlowError::Run(error) => failure(&program, &error),
        FlowError::Untimed(error) => untimed_failure(&program, error),
        error => Failure::library(&error),
    })?;
    Ok(Case {
        placement: Some(word(placement)),
        cost: Some(run.cost),
        displacements_ns: run.quiet.map(|quiet| run.result.displacements_ns(&quiet)),
        result: run.result,
        one_core: run.one_core,
        memory: run.memory,
        events: run.events,
        trace_hash: run.trace_hash,
        program,
    })
}

fn on_host(scene: &Scene<'_>, programs: Programs) -> Result<Case, Failure> {
    let Programs {
        flow: program,
        sequential,
    } = programs;
    let setup = corecast_machine_host::TaskSetup {
        cycle: scene.tiles.cycle,
        input_bytes: scene.tiles.input_bytes,
        output_bytes: scene.tiles.output_bytes,
        memory: program.memory(),
        options: scene.options.clone(),
    };
    let tasks = program.tasks();
    let plain = functional::run(&program, tasks, program.memory());
    let plain = plain.map_err(|error| untimed_failure(&program, error))?;
    let alone = HostMachine.run_tasks_alone(sequential.tasks(), &sequential, &setup);
    let (_, one_core) = alone.map_err(|error| failure(&sequential, &error))?;
    let run = HostMachine.run_tasks(tasks, &program, &setup);
    let run = run.map_err(|error| failure(&program, &error))?;
    Ok(Case {
        placement: None,
        cost: None,
        result: FlowResult::new(&program, &run, None, &plain.memory),
        one_core,
        displacements_ns: None,
        memory: run.memory,
        events: 0,
        trace_hash: 0,
        program,
    })
}

/// Tasks that do not get through even without timing.
fn untimed_failure(program: &FlowProgram, error: RunError) -> Failure {
    match error {
        RunError::Deadlock { blocked, .. } => {
            let name = |rank| program.task_name(rank);
            let waits = blocked.iter().take(8).map(|blocked| {
                format!(
                    "task `{}` waits for task `{}`",
                    name(blocked.rank),
                    name(blocked.peer)
                )
            });
            let message = format!(
                "{}: the chip's buffers are too small",
                program.graph().name()
            );
            let mut failure = waits.fold(Failure::input(message), Failure::help);
            failure.code = 3;
            failure
                .help("use smaller blocks or rates, or larger buffers: --set endpoint.input=2048")
        }
        error => failure(program, &error),
    }
}

/// A run that ended without a result: tasks by their names, and the exit code.
fn failure(program: &FlowProgram, error: &RunError) -> Failure {
    let mut text = error.to_string();
    // The highest numbers first, so that `rank 1` does not become part of `rank 12`.
    for rank in (0..program.tasks()).rev().map(Rank) {
        let name = format!("task `{}`", program.task_name(rank));
        for word in ["rank", "task"] {
            let number = format!("{word} {rank}");
            text = text.replace(&number, &name);
        }
    }
    let mut failure = Failure::library(&text);
    if error.is_limit() {
        failure.code = 3;
        failure = failure.help(match error {
            RunError::Deadlock { .. } => {
                "the buffer of a task may be full of one sender's blocks while it waits for another \
                 one; leave out `--flow-control off`, or enlarge it: --set endpoint.input=1024"
            }
            _ => "raise --limit-ns or --limit-events if the run needs longer",
        });
    } else {
        failure = failure.help(match error {
            RunError::Task(TaskError::MemoryTooSmall { .. } | TaskError::BeyondMemory { .. }) => {
                "use fewer flows or iterations, or a larger memory: --set endpoint.external=..."
            }
            _ => "docs/cli.md describes flow files",
        });
    }
    failure
}
