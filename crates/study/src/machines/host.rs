// SPDX-License-Identifier: MIT OR Apache-2.0
//! This computer's cores.

use std::sync::Arc;

use corecast_chip::{Chip, ChipRoutes};
use corecast_core::hash::fnv_1a;
use corecast_core::{Collective, Platform, Rank, Request, Schedule};
use corecast_machine::pingpong::there_and_back;
use corecast_machine::{Job, Limits, Machine, Report, RunError, RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_shm::{ShmMachine, Way};
use corecast_machine_sim::Fidelity;
use corecast_machine_sim::pronto::FlowSetup;
use corecast_tune::BOARDS;

use crate::error::{FlowStudyError, MachineError};
use crate::flow::case::{FlowCase, FlowPrograms, Tiles, on_host};

use super::load::Load;
use super::{Identity, MachineKind, StudyMachine, Trial, several};

/// Round trips, of which the shortest counts.
const TIMES: u32 = 100;

/// A row of the list: a way in which ranks can be on this computer's cores.
#[derive(Debug)]
pub struct Cores {
    name: &'static str,
    summary: &'static str,
    run: fn(&Job<'_>) -> Result<Report, RunError>,
    round_trip: fn([Rank; 2], u64, Limits) -> Result<Time, RunError>,
    trial: fn(&Job<'_>, Option<&'static str>, u32) -> Result<Trial, RunError>,
    ranks_max: u32,
    has_boards: bool,
}

/// As the MPI library has them.
pub static HOST: Cores = Cores {
    name: corecast_machine_shm::NAME,
    summary: "this computer's cores, by the plans and the shared segment of the MPI library",
    run: |job| ShmMachine.run(job),
    round_trip: |pair, bytes, limits| {
        corecast_machine_shm::round_trip(pair, bytes, TIMES, limits.time)
    },
    trial: |job, own_way, times| {
        let way = own_way.map_or(Way::Messages, |_| Way::Boards);
        let trial = ShmMachine::trial(job, way, times)?;
        Ok(Trial {
            makespans: trial.makespans,
            report: trial.report,
        })
    },
    ranks_max: corecast_machine_shm::RANKS_MAX,
    has_boards: true,
};

/// As sanitizers can follow them.
pub static THREADS: Cores = Cores {
    name: "threads",
    summary: "the same cores, one thread per rank behind one lock: slow, and the reference",
    run: |job| HostMachine.run(job),
    round_trip: |pair, bytes, limits| {
        let [from, to] = pair;
        let ranks = from.0.max(to.0) + 1;
        there_and_back(&HostMachine, ranks, pair, bytes, TIMES, limits)
    },
    trial: |job, _, times| several(|| HostMachine.run(job), times),
    ranks_max: corecast_machine_host::RANKS_MAX,
    has_boards: false,
};

impl MachineKind for Cores {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn ranks_max(&self) -> Option<u32> {
        Some(self.ranks_max)
    }

    fn on(
        &'static self,
        chip: &Chip,
        fidelity: Option<Fidelity>,
    ) -> Result<Arc<dyn StudyMachine>, MachineError> {
        let machine = self.name;
        match fidelity {
            Some(_) => Err(MachineError::NotSimulated { machine }),
            None => Ok(Arc::new(OnCores {
                way: self,
                chip: chip.clone(),
                load: Load::now(),
            })),
        }
    }
}

/// How many cores this computer lets us have.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What tells it from other computers.
fn computer() -> String {
    format!("{}, {} cores", processor(), cores())
}

/// What its processor calls itself.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    named.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The cores, and the chip whose costs and places requests are completed with: schedules are those
/// that the chip would run. Ranks for which it has no cores are those of a crossbar with its costs.
#[derive(Debug)]
struct OnCores {
    way: &'static Cores,
    chip: Chip,
    /// When it was made.
    load: Option<Load>,
}

impl OnCores {
    /// Whether the chip has a core for each of so many ranks.
    fn fits(&self, ranks: u32) -> bool {
        ranks <= self.chip.ranks_max()
    }
}

impl Machine for OnCores {
    fn name(&self) -> &'static str {
        self.way.name
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        (self.way.run)(job)
    }
}

impl StudyMachine for OnCores {
    fn kind(&self) -> &'static dyn MachineKind {
        self.way
    }

    fn place(&self) -> &'static str {
        "this computer"
    }

    fn complete(&self, request: Request, options: &RunOptions) -> Request {
        Request {
            busy_bytes: options.busy_bytes(request.ranks),
            platform: match self.fits(request.ranks) {
                true => self.chip.platform(request.ranks),
                false => Platform {
                    grid: None,
                    ..self.chip.platform(1)
                },
            },
            ..request
        }
    }

    fn routes(&self, ranks: u32) -> ChipRoutes {
        match self.fits(ranks) {
            true => self.chip.routes(ranks),
            false => ChipRoutes::Crossbar,
        }
    }

    fn placement_note(&self, ranks: u32) -> Option<String> {
        let name = &self.chip.name;
        Some(match self.fits(ranks) {
            true => format!("schedules, and what is proved about them, are those of {name}"),
            false => format!(
                "schedules, and what is proved about them, are those of a crossbar with the costs of \
                 {name}, which has fewer cores"
            ),
        })
    }

    fn cores(&self) -> Option<usize> {
        Some(cores())
    }

    fn computer(&self) -> Option<String> {
        Some(computer())
    }

    fn taken_by_others(&self) -> Option<f64> {
        self.load?.taken_by_others_since()
    }

    fn tuned_for(&self) -> Identity {
        let name = computer();
        Identity {
            fingerprint: format!("{:016x}", fnv_1a(name.as_bytes())),
            name,
        }
    }

    fn own_ways(&self, collective: Collective, ranks: u32) -> Vec<&'static str> {
        let has_boards = self.way.has_boards && ShmMachine::has_boards(collective, ranks);
        has_boards.then_some(BOARDS).into_iter().collect()
    }

    fn does_the_same(&self, one: &Schedule, other: &Schedule) -> bool {
        self.way.has_boards && ShmMachine::does_the_same(one, other)
    }

    fn trial(
        &self,
        job: &Job<'_>,
        own_way: Option<&'static str>,
        times: u32,
    ) -> Result<Trial, RunError> {
        (self.way.trial)(job, own_way, times)
    }

    fn can_be_cold(&self) -> Result<(), MachineError> {
        let machine = self.way.name;
        Err(MachineError::CachesOfOthers { machine })
    }

    fn takes_background(&self) -> Result<(), MachineError> {
        let machine = self.way.name;
        Err(MachineError::NoMeshAtAll { machine })
    }

    fn round_trip(&self, pair: [Rank; 2], bytes: u64, limits: Limits) -> Result<Time, RunError> {
        (self.way.round_trip)(pair, bytes, limits)
    }

    fn run_flow(
        &self,
        programs: FlowPrograms,
        setup: &FlowSetup,
    ) -> Result<FlowCase, FlowStudyError> {
        on_host(&Tiles::of(&self.chip)?, programs, setup)
    }
}
