// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip in virtual time: by its own message layer, or as MPI programs have it.

use std::sync::Arc;

use corecast_chip::{Chip, ChipRoutes, Clock, Library, Mesh, NetworkSpec, NoBackground, System};
use corecast_core::{Certificate, Rank, Request, Schedule};
use corecast_machine::pingpong::there_and_back;
use corecast_machine::{Job, Limits, Machine, Report, RunError, RunOptions, Sharing, Time};
use corecast_machine_shm::ShmMachine;
use corecast_machine_sim::pronto::FlowSetup;
use corecast_machine_sim::{Fidelity, SimMachine};
use corecast_mpi::collective::is_for_hardware;
use corecast_mpi_sim::MpiMachine;

use crate::error::{FlowStudyError, MachineError};
use crate::flow::case::{FlowCase, FlowPrograms, on_chip};
use crate::mpi::{eager_max, has_broadcasts};

use super::{Identity, MachineKind, StudyMachine};

/// Round trips; the first may find caches empty.
const TIMES: u32 = 2;

/// A row of the list: what carries schedules out on a chip.
#[derive(Debug)]
pub struct Layer {
    name: &'static str,
    summary: &'static str,
    run: fn(&SimMachine, &Job<'_>) -> Result<Report, RunError>,
    complete: fn(&SimMachine, Request, &RunOptions) -> Request,
    round_trip: fn(&SimMachine, [Rank; 2], u64, Limits) -> Result<Time, RunError>,
    /// Whether it is the chip's own, with what the chip does for schedules, and of which bounds are known.
    is_own: bool,
}

/// The chip's own.
pub static SIM: Layer = Layer {
    name: corecast_tune::SIM,
    summary: "a chip simulated in virtual time, cycle by cycle",
    run: |machine, job| machine.run(job),
    complete: |machine, request, options| machine.request(request, options),
    round_trip: |machine, pair, bytes, limits| {
        let ranks = machine.chip().ranks_max();
        there_and_back(machine, ranks, pair, bytes, TIMES, limits)
    },
    is_own: true,
};

/// The MPI library's. It knows its ranks and no chip, so that requests say nothing of one.
pub static MPI: Layer = Layer {
    name: corecast_mpi_sim::NAME,
    summary: "the same chip as MPI programs have it, by the library's plans over its packets",
    run: |machine, job| as_mpi(machine, job.schedule.ranks()).run(job),
    complete: |_, request, _| request,
    round_trip: |machine, pair, bytes, limits| {
        let ranks = machine.chip().ranks_max();
        as_mpi(machine, ranks).round_trip(ranks, pair, bytes, TIMES, limits)
    },
    is_own: false,
};

fn as_mpi(machine: &SimMachine, ranks: u32) -> MpiMachine<'_, SimMachine> {
    let alone = Sharing::new(ranks, 1);
    MpiMachine::new(machine, eager_max(machine.chip(), alone))
}

impl MachineKind for Layer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn on(
        &'static self,
        chip: &Chip,
        fidelity: Option<Fidelity>,
    ) -> Result<Arc<dyn StudyMachine>, MachineError> {
        let machine = SimMachine::new(chip);
        if fidelity.is_some() && machine.fidelity().is_none() {
            let chip = chip.name.clone();
            return Err(MachineError::OneFidelity { chip });
        }
        let machine = machine.with_fidelity(fidelity.unwrap_or_default());
        Ok(Arc::new(OnChip::new(machine, self)))
    }
}

/// The machine for one chip.
#[derive(Debug)]
struct OnChip {
    machine: SimMachine,
    layer: &'static Layer,
    /// The chip's name, and that it is not the chip alone.
    place: String,
}

impl OnChip {
    fn new(machine: SimMachine, layer: &'static Layer) -> Self {
        let chip = &machine.chip().name;
        let place = match layer.is_own {
            true => chip.clone(),
            false => format!("{chip} under MPI"),
        };
        Self {
            machine,
            layer,
            place,
        }
    }

    fn chip(&self) -> &Chip {
        self.machine.chip()
    }

    fn name(&self) -> String {
        self.chip().name.clone()
    }
}

impl Machine for OnChip {
    fn name(&self) -> &'static str {
        self.layer.name
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        (self.layer.run)(&self.machine, job)
    }
}

impl StudyMachine for OnChip {
    fn kind(&self) -> &'static dyn MachineKind {
        self.layer
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn complete(&self, request: Request, options: &RunOptions) -> Request {
        (self.layer.complete)(&self.machine, request, options)
    }

    fn clock(&self) -> Option<&Clock> {
        Some(self.chip().reference_clock())
    }

    fn identity(&self) -> Option<Identity> {
        Some(self.tuned_for())
    }

    fn tuned_for(&self) -> Identity {
        Identity {
            name: self.name(),
            fingerprint: self.chip().fingerprint(),
        }
    }

    fn does_the_same(&self, one: &Schedule, other: &Schedule) -> bool {
        match self.layer.is_own {
            true => one == other,
            false => {
                let has_broadcasts = has_broadcasts(self.chip());
                let by_itself = |it| has_broadcasts && is_for_hardware(it);
                by_itself(one) == by_itself(other) && ShmMachine::does_the_same(one, other)
            }
        }
    }

    fn races_sizes(&self) -> bool {
        !self.layer.is_own
    }

    fn runs_side_by_side(&self) -> bool {
        true
    }

    fn has_shared_buffers(&self) -> bool {
        match self.chip().system() {
            System::Mpb { rcce, .. } if self.layer.is_own => rcce.library != Library::OneSided,
            _ => false,
        }
    }

    fn fidelity(&self) -> Option<Fidelity> {
        self.machine.fidelity()
    }

    fn exact(&self) -> Option<Arc<dyn StudyMachine>> {
        let is_packet = self.machine.fidelity() == Some(Fidelity::Packet);
        let exact = || {
            let machine = self.machine.clone().with_fidelity(Fidelity::Flit);
            Arc::new(Self::new(machine, self.layer))
        };
        is_packet.then(|| exact() as Arc<dyn StudyMachine>)
    }

    fn mesh(&self) -> Option<&Mesh> {
        match self.chip().network() {
            NetworkSpec::Mesh(mesh) => Some(mesh),
            _ => None,
        }
    }

    fn routes(&self, ranks: u32) -> ChipRoutes {
        self.chip().routes(ranks)
    }

    fn placement_note(&self, ranks: u32) -> Option<String> {
        self.mesh()?.placement_note(ranks)
    }

    fn can_be_cold(&self) -> Result<(), MachineError> {
        match self.chip().system() {
            System::Mpb { .. } => Ok(()),
            _ => Err(MachineError::NoCaches { chip: self.name() }),
        }
    }

    fn takes_background(&self) -> Result<(), MachineError> {
        let chip = self.name();
        self.chip().takes_background().map_err(|why| match why {
            NoBackground::NoMesh => MachineError::NoMesh { chip },
            NoBackground::TwoQueues => MachineError::TwoQueues { chip },
        })
    }

    fn bound_cycles(&self, request: &Request) -> Option<u64> {
        let is_own = self.layer.is_own;
        is_own.then(|| self.chip().bound_cycles(request))
    }

    fn worst_case(&self, schedule: &Schedule, certificate: &Certificate) -> Option<Time> {
        match self.layer.is_own {
            true => self.machine.worst_case(schedule, certificate),
            false => None,
        }
    }

    fn tells_shares(&self) -> bool {
        true
    }

    fn round_trip(&self, pair: [Rank; 2], bytes: u64, limits: Limits) -> Result<Time, RunError> {
        (self.layer.round_trip)(&self.machine, pair, bytes, limits)
    }

    fn in_virtual_time(&self) -> Result<&SimMachine, RunError> {
        Ok(&self.machine)
    }

    fn places_tasks(&self) -> bool {
        true
    }

    fn senders_share_buffers(&self) -> bool {
        true
    }

    fn run_flow(
        &self,
        programs: FlowPrograms,
        setup: &FlowSetup,
    ) -> Result<FlowCase, FlowStudyError> {
        match self.layer.is_own {
            true => on_chip(&self.machine, programs, setup),
            false => Err(FlowStudyError::NoTasks {
                machine: self.layer.name,
            }),
        }
    }
}
