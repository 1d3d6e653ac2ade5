//! Simulated chips as machines, one module per kind of endpoint.
//!
//! [`SimMachine`] runs schedules and programs on a [`Chip`] in virtual time. The message layer of
//! the bus chips, the message passing engine (MPE), is [`mpe`]; that of a mesh whose cores write
//! and read words themselves is [`udn`]; that of cores that copy into and out of message passing
//! buffers, as on the default chip, is `rcce`; that of tiles with hardware-managed buffers, which
//! also run dataflow programs, is [`pronto`].
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine, RunOptions};
//! use corecast_machine_sim::SimMachine;
//! let machine = SimMachine::new(&corecast_chip::find("park2019-bus").unwrap());
//! let options = RunOptions::default();
//! let request = machine.request(Request::new(Collective::Bcast, 4, 4), &options);
//! let ap = algorithm::find(Collective::Bcast, "ap").unwrap().schedule(&request);
//! let report = machine.run(&Job::new(&ap)).unwrap();
//! assert!(report.delivered());
//! // 7 cycles of commands and control messages, 3 hops of ready, 3 hops of the only word.
//! assert_eq!(report.makespan.ns(), 130.0);
//! ```

mod books;
mod fidelity;
pub mod mpe;
pub mod pronto;
mod ranks;
mod rcce;
pub mod udn;
mod worst_case;

use std::rc::Rc;

use corecast_chip::{Chip, Mesh, NoBackground, System};
use corecast_core::Request;
use corecast_machine::{
    Job, Machine, Program, ProgramRun, Programs, Report, RunError, RunOptions, Schedules,
    StepProgram, interpreter,
};
use corecast_sim::Executor;
use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec, VcChoice};

pub use fidelity::Fidelity;
use mpe::Fabric;
use ranks::{OnChip, OnMessages, OnSteps};

/// A chip's mesh as the simulator takes it, with cores that take every flit at once and packets that
/// may overtake each other.
#[must_use]
pub fn mesh_spec(mesh: &Mesh) -> MeshSpec {
    MeshSpec {
        grid: mesh.grid,
        router: RouterSpec {
            vcs: mesh.vcs,
            vc_choice: VcChoice::Any,
            buffer_flits: mesh.buffer_flits,
            routing: mesh.routing_cycles,
            vc_allocation: mesh.vc_allocation_cycles,
            switch: mesh.switch_cycles,
            link: mesh.link_cycles,
            link_interval: mesh.link_interval_cycles,
            turn: mesh.turn_cycles,
            credit: mesh.credit_cycles,
            injection: mesh.injection_cycles,
            ejection: mesh.ejection_cycles,
        },
        ejection: Ejection::Sink,
    }
}

/// A chip in virtual time.
#[derive(Clone, Debug)]
pub struct SimMachine {
    chip: Chip,
    fidelity: Fidelity,
}

impl SimMachine {
    /// A machine that simulates `chip`, a mesh exact to the flit.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        Self {
            chip: chip.clone(),
            fidelity: Fidelity::default(),
        }
    }

    /// The same machine, whose mesh is simulated so. No effect on a crossbar.
    #[must_use]
    pub fn with_fidelity(self, fidelity: Fidelity) -> Self {
        Self { fidelity, ..self }
    }

    /// How exactly the mesh is simulated; `None` where there is no choice.
    #[must_use]
    pub fn fidelity(&self) -> Option<Fidelity> {
        match self.chip.system() {
            System::Mesh { .. } => Some(self.fidelity),
            System::Bus { .. } | System::Mpb { .. } | System::Pronto { .. } => None,
        }
    }

    /// The chip simulated.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The request as this chip would hear it: with the status that follows from the ongoing
    /// transfers and the chip's own costs for closed forms.
    #[must_use]
    pub fn request(&self, mut request: Request, options: &RunOptions) -> Request {
        request.busy_bytes = options.busy_bytes(request.ranks);
        request.platform = self.chip.platform(request.ranks);
        request
    }
}

impl SimMachine {
    /// Refuses what the chip cannot do, whatever its kind.
    fn check(&self, ranks: u32, options: &RunOptions) -> Result<(), RunError> {
        options.check(ranks)?;
        let max = self.chip.cores_max();
        if ranks > max {
            return Err(RunError::TooManyRanks {
                machine: self.chip.name.clone(),
                max,
                ranks,
            });
        }
        let (machine, what) = match self.chip.takes_background() {
            Err(why) if options.background.is_some() => match why {
                NoBackground::NoMesh => ("a crossbar", "background traffic"),
                NoBackground::TwoQueues => (
                    "a chip with two queues per core",
                    "a third one for background traffic",
                ),
            },
            _ => return Ok(()),
        };
        Err(RunError::Unsupported { machine, what })
    }
}

impl Machine for SimMachine {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}

impl SimMachine {
    /// Runs what `on` says on the cores of the chip.
    fn run_on<T: OnChip>(
        &self,
        ranks: u32,
        on: T,
        options: &RunOptions,
    ) -> Result<ProgramRun<T::Output>, RunError> {
        self.check(ranks, options)?;
        let executor = Executor::new(options.limits);
        match self.chip.system() {
            System::Bus { bus, mpe } => {
                let fabric = Fabric::new(bus, mpe, executor.kernel(), ranks, options);
                mpe::run(&Rc::new(fabric), executor, on, ranks, options)
            }
            System::Mpb { mesh, memory, rcce } => {
                let chip = (self.chip.name.as_str(), mesh, memory, rcce);
                rcce::run(chip, executor, on, ranks, options)
            }
            System::Pronto { mesh, pronto } => {
                pronto::run((mesh, pronto), executor, on, ranks, options)
            }
            System::Mesh { mesh, udn } => {
                let chip = (mesh, udn, self.fidelity);
                udn::run(chip, executor, on, ranks, options)
            }
        }
    }
}

impl Schedules for SimMachine {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        self.run_on(ranks, OnSteps(program), options)
    }
}

impl Programs for SimMachine {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        self.run_on(ranks, OnMessages(program), options)
    }
}
