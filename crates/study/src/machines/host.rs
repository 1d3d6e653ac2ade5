//! This computer's cores.

use std::sync::Arc;

use corecast_chip::Chip;
use corecast_core::{Rank, Request};
use corecast_machine::pingpong::there_and_back;
use corecast_machine::{Job, Machine, Report, RunError, RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::Fidelity;
use corecast_machine_sim::pronto::FlowSetup;

use crate::error::{FlowStudyError, MachineError};
use crate::flow::case::{FlowCase, FlowPrograms, Tiles, on_host};

use super::{MachineKind, StudyMachine};

/// Round trips, of which the shortest counts.
const TIMES: u32 = 100;

/// The row of the list.
#[derive(Debug)]
pub struct Host;

impl MachineKind for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn summary(&self) -> &'static str {
        "this computer's cores, one thread per rank, in wall-clock time"
    }

    fn on(
        &self,
        chip: &Chip,
        fidelity: Option<Fidelity>,
    ) -> Result<Arc<dyn StudyMachine>, MachineError> {
        let machine = self.name();
        match fidelity {
            Some(_) => Err(MachineError::NotSimulated { machine }),
            None => Ok(Arc::new(Threads(chip.clone()))),
        }
    }
}

/// Threads, and the chip whose costs and places requests are completed with: schedules are those
/// that the chip would run.
#[derive(Debug)]
struct Threads(Chip);

impl Machine for Threads {
    fn name(&self) -> &'static str {
        HostMachine.name()
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        HostMachine.run(job)
    }
}

impl StudyMachine for Threads {
    fn kind(&self) -> &'static dyn MachineKind {
        &Host
    }

    fn place(&self) -> &'static str {
        "this computer"
    }

    fn complete(&self, request: Request, options: &RunOptions) -> Request {
        Request {
            busy_bytes: options.busy_bytes(request.ranks),
            platform: self.0.platform(request.ranks),
            ..request
        }
    }

    fn cores(&self) -> Option<usize> {
        Some(std::thread::available_parallelism().map_or(1, usize::from))
    }

    fn can_be_cold(&self) -> Result<(), MachineError> {
        let machine = Host.name();
        Err(MachineError::CachesOfOthers { machine })
    }

    fn takes_background(&self) -> Result<(), MachineError> {
        let machine = Host.name();
        Err(MachineError::NoMeshAtAll { machine })
    }

    fn round_trip(&self, pair: [Rank; 2], bytes: u64) -> Result<Time, RunError> {
        let [from, to] = pair;
        there_and_back(&HostMachine, from.0.max(to.0) + 1, pair, bytes, TIMES)
    }

    fn run_flow(
        &self,
        programs: FlowPrograms,
        setup: &FlowSetup,
    ) -> Result<FlowCase, FlowStudyError> {
        on_host(&Tiles::of(&self.0)?, programs, setup)
    }
}
