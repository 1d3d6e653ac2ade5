//! A program from a file on a simulated chip: what is asked for, and what its run has shown.
//!
//! ```
//! use corecast_study::{ChipChoice, ReplayPlan, ReplayStudy};
//! let text = "corecast calls 1\nranks 2\nrank 0\nsend 1 8\nrank 1\nrecv 0 8\n";
//! let program = corecast_replay::read("two.calls", text.as_bytes(), &Default::default()).unwrap();
//! let chip = ChipChoice::find("scc", &[]).expect("built in");
//! let study = ReplayStudy::new(ReplayPlan::new(chip), program.graph)?;
//! let run = study.run().unwrap();
//! assert_eq!(run.calls.report.messages.len(), 1);
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

mod record;

use std::sync::Arc;

use corecast_exchange::FileError;
use corecast_machine::{Limits, RunError, RunOptions, Watch};
use corecast_machine_sim::Fidelity;
use corecast_mpi::collective::{Measured, Settings as Choosing};
use corecast_replay::{CallGraph, KINDS, Replay, StuckCall, Taken};
use corecast_tune::Tables;
use thiserror::Error;

use crate::calls::CallRun;
use crate::chips::ChipChoice;
use crate::error::StudyError;
use crate::machines::{MACHINES, StudyMachine};
use crate::settings::Settings;
use crate::surroundings::Surroundings;

pub use record::ReplayRecord;

/// On what to run it.
#[derive(Clone, Debug)]
pub struct ReplayPlan {
    /// The chip.
    pub chip: ChipChoice,
    /// How exactly a mesh is simulated; none leaves it to the machine.
    pub fidelity: Option<Fidelity>,
    /// What else goes on.
    pub surroundings: Surroundings,
    /// Seed of everything random.
    pub seed: u64,
    /// When the run ends at the latest.
    pub limits: Limits,
    /// Which algorithms collectives take; without it those that the MPI library takes.
    pub tables: Option<Tables>,
    /// Stops the run.
    pub watch: Watch,
}

impl ReplayPlan {
    /// A program by itself on a chip.
    #[must_use]
    pub fn new(chip: ChipChoice) -> Self {
        Self {
            chip,
            fidelity: None,
            surroundings: Surroundings::default(),
            seed: 0,
            limits: Limits::default(),
            tables: None,
            watch: Watch::new(),
        }
    }
}

/// A program and a plan that go together.
#[derive(Clone, Debug)]
pub struct ReplayStudy {
    /// What was asked for.
    pub plan: ReplayPlan,
    /// The program, checked.
    pub graph: CallGraph,
    /// The machine, set up for the chip.
    pub machine: Arc<dyn StudyMachine>,
}

/// What a program has shown.
#[derive(Clone, Debug)]
pub struct ReplayRun {
    /// When and in which calls.
    pub calls: CallRun,
    /// Which algorithms its collectives took.
    pub taken: Vec<Taken>,
}

/// Why a program has not come to its end.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ReplayError {
    /// There is no schedule for one of its collectives.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was ended, or could not begin.
    #[error("{}{}", crate::calls::first_line(.error), crate::calls::lines(.stuck))]
    Run {
        /// What ended it.
        error: RunError,
        /// Ranks that were waiting then, those that wait for each other in a circle first.
        stuck: Vec<StuckCall>,
    },
}

/// The name of a kind of call.
fn name(call: u16) -> &'static str {
    KINDS[usize::from(call)]
}

impl ReplayStudy {
    /// Checks everything that does not depend on the run.
    ///
    /// # Errors
    /// What does not make sense, and why.
    pub fn new(plan: ReplayPlan, graph: CallGraph) -> Result<Self, StudyError> {
        let chip = &plan.chip.chip;
        let machine = MACHINES[0].on(chip, plan.fidelity)?;
        let (ranks, max) = (u64::from(graph.size()), chip.cores_max());
        if ranks > u64::from(max) {
            let chip = chip.name.clone();
            return Err(StudyError::RankCount { ranks, chip, max });
        }
        if plan.surroundings.background.is_some() {
            machine.takes_background()?;
        }
        plan.surroundings.check(graph.size())?;
        Ok(Self {
            plan,
            graph,
            machine,
        })
    }

    /// What results depend on.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let settings = Settings::new(&self.plan.chip, &*self.machine);
        Settings {
            seed: Some(self.plan.seed),
            ..settings
        }
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// A deadlock or a limit, with the calls that were waiting; whatever else ended it.
    pub fn run(&self) -> Result<ReplayRun, ReplayError> {
        let plan = &self.plan;
        let clock = plan.chip.chip.reference_clock();
        let ranks = self.graph.size();
        let options = RunOptions {
            watch: plan.watch.clone(),
            ..plan
                .surroundings
                .options(ranks, plan.seed, clock, plan.limits)
        };
        let choosing = Choosing {
            measured: plan.tables.clone().map(Measured::new),
            ..Choosing::default()
        };
        let replay = Replay::new(&self.graph, &choosing)?;
        let run = self.machine.run_replay(ranks, &replay, &options);
        let run = run.map_err(|error| ReplayError::Run {
            stuck: match &error {
                RunError::Deadlock { blocked, .. }
                | RunError::TimeLimit { blocked, .. }
                | RunError::EventLimit { blocked, .. } => replay.stuck(blocked),
                _ => Vec::new(),
            },
            error,
        })?;
        Ok(ReplayRun {
            calls: CallRun::new(run, |log| log, name),
            taken: replay.taken().to_vec(),
        })
    }
}
