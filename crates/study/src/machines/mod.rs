// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines that studies can take, as one list of trait objects.
//!
//! A [`MachineKind`] is a row of the list: a name, a line about it, and how to set it up for a chip.
//! What it sets up, a [`StudyMachine`], answers everything that differs between machines: how it
//! counts time, what it can have around a run, what it tells of a run. Nobody asks which machine it
//! is; another one is an implementation and a line in [`MACHINES`].
//!
//! ```
//! let machine = corecast_study::machine("sim")?;
//! let scc = corecast_chip::find("scc").expect("built in");
//! assert!(machine.on(&scc, None)?.clock().is_some());
//! assert!(corecast_study::machine("moon").is_err());
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

mod host;
mod load;
mod sim;

use std::fmt::Debug;
use std::sync::Arc;

use corecast_chip::{Chip, ChipRoutes, Clock, Mesh};
use corecast_core::{Certificate, Collective, Rank, Request, Schedule};
use corecast_machine::{Job, Limits, Machine, Report, RunError, RunOptions, Time};
use corecast_machine_sim::pronto::FlowSetup;
use corecast_machine_sim::{Fidelity, SimMachine};

use crate::error::{FlowStudyError, MachineError, StudyError};
use crate::flow::case::{FlowCase, FlowPrograms};

/// Every machine.
pub static MACHINES: [&dyn MachineKind; 4] = [&sim::SIM, &sim::MPI, &host::HOST, &host::THREADS];

/// The machine of this name.
///
/// # Errors
/// [`StudyError::Unknown`].
pub fn machine(name: &str) -> Result<&'static dyn MachineKind, StudyError> {
    let found = MACHINES.iter().find(|machine| machine.name() == name);
    found.copied().ok_or_else(|| StudyError::Unknown {
        kind: "machine".to_owned(),
        plural: "machines",
        name: name.to_owned(),
        known: MACHINES.map(|machine| machine.name()).to_vec(),
    })
}

/// A machine before it is known for which chip.
pub trait MachineKind: Debug + Sync {
    /// Its name on the command line and in results.
    fn name(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// Whether ranks sit on cores of the chip, so that it matters on which.
    fn seats_ranks(&self) -> bool {
        self.ranks_max().is_none()
    }

    /// Most ranks, where that is not up to the chip, which has a core for each.
    fn ranks_max(&self) -> Option<u32> {
        None
    }

    /// The machine for this chip. `fidelity` is how exactly a mesh is to be simulated; none leaves
    /// it to the machine.
    ///
    /// # Errors
    /// If there is no choice of fidelity and one was made.
    fn on(
        &'static self,
        chip: &Chip,
        fidelity: Option<Fidelity>,
    ) -> Result<Arc<dyn StudyMachine>, MachineError>;
}

/// A chip that results hold for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// What tells it from others of the name, as changed.
    pub fingerprint: String,
}

/// Several runs of one collective, one after the other.
#[derive(Clone, Debug)]
pub struct Trial {
    /// How long each took.
    pub makespans: Vec<Time>,
    /// The last of them.
    pub report: Report,
}

/// A trial by runs one after the other.
fn several(run: impl Fn() -> Result<Report, RunError>, times: u32) -> Result<Trial, RunError> {
    let mut report = run()?;
    let mut makespans = vec![report.makespan];
    for _ in 1..times {
        report = run()?;
        makespans.push(report.makespan);
    }
    Ok(Trial { makespans, report })
}

/// A machine that is set up for a chip.
///
/// Every machine is asked the same questions; the answers that are given here are those of a machine
/// that only runs schedules, in wall-clock time.
pub trait StudyMachine: Machine + Debug + Send + Sync {
    /// Of which kind it is.
    fn kind(&self) -> &'static dyn MachineKind;

    /// Where runs take place, for titles: the chip's name (with `under MPI` where that is what carries
    /// messages), or `this computer`.
    fn place(&self) -> &str;

    /// The request as the machine would hear it: with the status that follows from `options`, and
    /// with what the chip is like.
    fn complete(&self, request: Request, options: &RunOptions) -> Request;

    /// The clock in whose cycles virtual time is told; none where times are those of a wall clock.
    fn clock(&self) -> Option<&Clock> {
        None
    }

    /// The chip that times hold for; none where they hold for whatever they were measured on.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// What times were measured on, where they are those of a wall clock.
    fn computer(&self) -> Option<String> {
        None
    }

    /// The share of its cores that other programs have taken since this value was made, where times are
    /// those of a wall clock.
    fn taken_by_others(&self) -> Option<f64> {
        None
    }

    /// What decision tables hold for that are made on it.
    fn tuned_for(&self) -> Identity;

    /// Ways in which it can carry out a collective over so many ranks that are no schedules but its
    /// own, by their names in decision tables.
    fn own_ways(&self, _collective: Collective, _ranks: u32) -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether two schedules for one request are known to be the same here.
    fn does_the_same(&self, one: &Schedule, other: &Schedule) -> bool {
        one == other
    }

    /// Carries a job out at least once and up to `times` times in a row: by its schedule, or in one of
    /// the machine's own ways.
    ///
    /// # Errors
    /// Whatever ended one of the runs.
    fn trial(
        &self,
        job: &Job<'_>,
        _own_way: Option<&'static str>,
        times: u32,
    ) -> Result<Trial, RunError> {
        several(|| self.run(job), times)
    }

    /// Whether tuning races the sizes that are worth it instead of searching among all: where times are
    /// those of a wall clock, or every message costs far more than a few bytes more.
    fn races_sizes(&self) -> bool {
        self.clock().is_none()
    }

    /// Whether runs can go on side by side without changing each other's times.
    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// Cores that runs have, where that is not the chip's to say.
    fn cores(&self) -> Option<usize> {
        None
    }

    /// Whether messages go through shared buffers only if an algorithm asks for it. Otherwise such
    /// an algorithm is the same as the one that does not ask.
    fn has_shared_buffers(&self) -> bool {
        false
    }

    /// How exactly a mesh is simulated; none where there is no choice.
    fn fidelity(&self) -> Option<Fidelity> {
        None
    }

    /// The same machine simulated as exactly as can be; none if it is that already.
    fn exact(&self) -> Option<Arc<dyn StudyMachine>> {
        None
    }

    /// The links that messages between so many ranks take, for certificates.
    fn routes(&self, ranks: u32) -> ChipRoutes;

    /// The mesh whose links runs load, if they are known.
    fn mesh(&self) -> Option<&Mesh> {
        None
    }

    /// What to know of where the ranks sit, if there is anything.
    fn placement_note(&self, _ranks: u32) -> Option<String> {
        None
    }

    /// Whether caches can be empty at the start of a run.
    ///
    /// # Errors
    /// Why not.
    fn can_be_cold(&self) -> Result<(), MachineError>;

    /// Whether other traffic can go on during a run.
    ///
    /// # Errors
    /// Why not.
    fn takes_background(&self) -> Result<(), MachineError>;

    /// The cycles that no schedule beats; none where no bound is known.
    fn bound_cycles(&self, _request: &Request) -> Option<u64> {
        None
    }

    /// The longest makespan of a schedule from the last arrival on, if nothing else goes on.
    fn worst_case(&self, _schedule: &Schedule, _certificate: &Certificate) -> Option<Time> {
        None
    }

    /// Whether runs tell what of their time is the network's and what the software's.
    fn tells_shares(&self) -> bool {
        false
    }

    /// The shortest of some round trips of `bytes` bytes between two cores.
    ///
    /// # Errors
    /// Whatever ended the run, which may be one of its limits.
    fn round_trip(&self, pair: [Rank; 2], bytes: u64, limits: Limits) -> Result<Time, RunError>;

    /// The machine in whose virtual time programs of calls can run.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] where time is the wall's.
    fn in_virtual_time(&self) -> Result<&SimMachine, RunError> {
        let machine = self.kind().name();
        let what = "virtual time";
        Err(RunError::Unsupported { machine, what })
    }

    /// Whether tasks of a flow are put on certain cores.
    fn places_tasks(&self) -> bool {
        false
    }

    /// Whether all senders to a task share one buffer of it, which one of them could fill.
    fn senders_share_buffers(&self) -> bool {
        false
    }

    /// Runs a flow.
    ///
    /// # Errors
    /// Whatever ended the run.
    fn run_flow(
        &self,
        _programs: FlowPrograms,
        _setup: &FlowSetup,
    ) -> Result<FlowCase, FlowStudyError> {
        let machine = self.kind().name();
        Err(FlowStudyError::NoTasks { machine })
    }
}
