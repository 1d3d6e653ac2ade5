// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program from a file on a simulated chip: what is asked for, and what its run has shown.
//!
//! ```
//! use corecast_study::{ChipChoice, ProgramPlan, ReplayPlan, ReplayStudy};
//! let text = "corecast calls 1\nranks 2\nrank 0\nsend 1 8\nrank 1\nrecv 0 8\n";
//! let program = corecast_replay::read("two.calls", text.as_bytes(), &Default::default()).unwrap();
//! let chip = ChipChoice::find("scc", &[]).expect("built in");
//! let plan = ReplayPlan::new(ProgramPlan::new(chip));
//! let study = ReplayStudy::new(plan, program.graph)?;
//! let run = study.run().unwrap();
//! assert_eq!(run.calls.report.messages.len(), 1);
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

mod file;
mod record;

use std::sync::Arc;

use corecast_exchange::FileError;
use corecast_machine::{RunError, Sharing};
use corecast_mpi::collective::{Measured, Settings as Choosing};
use corecast_replay::{CallGraph, KINDS, Replay, Stopped, StuckCall, Taken};
use thiserror::Error;

use crate::calls::{CallRun, ProgramPlan};
use crate::error::StudyError;
use crate::machines::StudyMachine;
use crate::mpi::ProgramTables;
use crate::settings::{ProgramSettings, Settings};

pub use file::{files_named_in, read_program};
pub use record::ReplayRecord;

/// On what to run it.
#[derive(Clone, Debug)]
pub struct ReplayPlan {
    /// The chip, and what goes on around the program.
    pub on: ProgramPlan,
    /// How many of its ranks share a core: those that follow each other.
    pub ranks_per_core: u32,
    /// Operations per second at which the file's computing was counted, where that was asked for.
    pub flops: Option<f64>,
    /// What collectives go by.
    pub tables: ProgramTables,
}

impl ReplayPlan {
    /// With the tables that come with corecast for the chip.
    #[must_use]
    pub fn new(on: ProgramPlan) -> Self {
        Self {
            tables: ProgramTables::of_chip(&on.chip),
            on,
            ranks_per_core: 1,
            flops: None,
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
        let machine = plan
            .on
            .machine_of_ranks(graph.size(), plan.ranks_per_core)?;
        Ok(Self {
            plan,
            graph,
            machine,
        })
    }

    /// Number of cores that its ranks take: those of which `skew` speaks.
    #[must_use]
    pub fn cores(&self) -> u32 {
        Sharing::new(self.graph.size(), self.plan.ranks_per_core).cores()
    }

    /// What results depend on.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let ReplayPlan {
            tables,
            flops,
            ranks_per_core,
            ..
        } = &self.plan;
        let own = ProgramSettings {
            ranks_per_core: Some(*ranks_per_core),
            tables: tables.label(),
            has_own_tables: !tables.is_usual(&self.plan.on.chip),
            flops: *flops,
            ..ProgramSettings::default()
        };
        self.plan.on.settings(&*self.machine, own)
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// A deadlock or a limit, with the calls that were waiting; whatever else ended it.
    pub fn run(&self) -> Result<ReplayRun, ReplayError> {
        let plan = &self.plan;
        let options = plan.on.options(self.cores());
        let choosing = Choosing {
            measured: Some(Measured::new(plan.tables.tables.clone())),
            ..Choosing::default()
        };
        let replay = Replay::new(&self.graph, &choosing)?.sharing(plan.ranks_per_core);
        let machine = self.machine.in_virtual_time();
        let machine = machine.map_err(|error| ReplayError::Run {
            error,
            stuck: Vec::new(),
        })?;
        let run = replay.run(machine, &options);
        let run = run.map_err(|Stopped { error, stuck }| ReplayError::Run { error, stuck })?;
        Ok(ReplayRun {
            calls: CallRun::new(run, |log| log, name),
            taken: replay.taken().to_vec(),
        })
    }
}
