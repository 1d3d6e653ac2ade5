// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip in virtual time.

use std::sync::Arc;

use corecast_chip::{Chip, Clock, Library, Mesh, NetworkSpec, NoBackground, System};
use corecast_core::{Certificate, Rank, Request, Schedule};
use corecast_machine::pingpong::there_and_back;
use corecast_machine::{Job, Machine, Report, RunError, RunOptions, Time};
use corecast_machine_sim::pronto::FlowSetup;
use corecast_machine_sim::{Fidelity, SimMachine};

use crate::error::{FlowStudyError, MachineError};
use crate::flow::case::{FlowCase, FlowPrograms, on_chip};

use super::{Identity, MachineKind, StudyMachine};

/// Round trips; the first may find caches empty.
const TIMES: u32 = 2;

/// The row of the list.
#[derive(Debug)]
pub struct Simulated;

impl MachineKind for Simulated {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn summary(&self) -> &'static str {
        "a chip simulated in virtual time, cycle by cycle"
    }

    fn seats_ranks(&self) -> bool {
        true
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
        Ok(Arc::new(OnChip(machine)))
    }
}

/// The machine for one chip.
#[derive(Debug)]
struct OnChip(SimMachine);

impl OnChip {
    fn chip(&self) -> &Chip {
        self.0.chip()
    }

    fn name(&self) -> String {
        self.chip().name.clone()
    }
}

impl Machine for OnChip {
    fn name(&self) -> &'static str {
        Machine::name(&self.0)
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        self.0.run(job)
    }
}

impl StudyMachine for OnChip {
    fn kind(&self) -> &'static dyn MachineKind {
        &Simulated
    }

    fn place(&self) -> &str {
        &self.chip().name
    }

    fn complete(&self, request: Request, options: &RunOptions) -> Request {
        self.0.request(request, options)
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

    fn runs_side_by_side(&self) -> bool {
        true
    }

    fn has_shared_buffers(&self) -> bool {
        match self.chip().system() {
            System::Mpb { rcce, .. } => rcce.library != Library::OneSided,
            _ => false,
        }
    }

    fn fidelity(&self) -> Option<Fidelity> {
        self.0.fidelity()
    }

    fn exact(&self) -> Option<Arc<dyn StudyMachine>> {
        let is_packet = self.0.fidelity() == Some(Fidelity::Packet);
        let exact = || Arc::new(Self(self.0.clone().with_fidelity(Fidelity::Flit)));
        is_packet.then(|| exact() as Arc<dyn StudyMachine>)
    }

    fn mesh(&self) -> Option<&Mesh> {
        match self.chip().network() {
            NetworkSpec::Mesh(mesh) => Some(mesh),
            _ => None,
        }
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
        Some(self.chip().bound_cycles(request))
    }

    fn worst_case(&self, schedule: &Schedule, certificate: &Certificate) -> Option<Time> {
        self.0.worst_case(schedule, certificate)
    }

    fn tells_shares(&self) -> bool {
        true
    }

    fn round_trip(&self, pair: [Rank; 2], bytes: u64) -> Result<Time, RunError> {
        there_and_back(&self.0, self.chip().ranks_max(), pair, bytes, TIMES)
    }

    fn in_virtual_time(&self) -> Result<&SimMachine, RunError> {
        Ok(&self.0)
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
        on_chip(&self.0, programs, setup)
    }
}
