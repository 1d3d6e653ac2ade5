// SPDX-License-Identifier: MIT OR Apache-2.0
//! An MPI program on a simulated chip: what is asked for, and what it has shown.
//!
//! The ranks are processes that somebody else starts; a study attends them at a desk
//! ([`corecast_shm::Segment::clocked`]) until all have finished.

mod attended;
mod capture;
mod printed;
mod record;
mod tables;
mod terms;
mod varied;

use std::mem;
use std::sync::Arc;

use corecast_machine::{Programs, RunError, Sharing, by_rank};
use corecast_mpi::calls;
use corecast_mpi_sim::{MpiRanks, StuckRank};
use corecast_shm::{Broadcasts, Compute, Desk, Terms};
use thiserror::Error;

use crate::calls::{CallRun, ProgramPlan, first_line, lines};
use crate::error::StudyError;
use crate::machines::StudyMachine;
use crate::settings::{ProgramSettings, Settings};

pub use attended::Attended;
pub use capture::Capture;
pub use printed::Printed;
pub use record::MpiRecord;
pub use tables::{ProgramTables, ProgramTablesError, TABLES_VARIABLE};
pub(crate) use terms::{eager_max, has_broadcasts};
pub use varied::{KEPT_PRINTED_BYTES_MAX, VariedCase, VariedStudy};

/// What to run on what.
#[derive(Clone, Debug)]
pub struct MpiPlan {
    /// The chip, and what goes on around the program.
    pub on: ProgramPlan,
    /// Number of ranks.
    pub ranks: u32,
    /// How many of them share a core: those that follow each other.
    pub ranks_per_core: u32,
    /// What the program's computing counts as.
    pub compute: Compute,
    /// The host's processor on which all processes run; none = wherever there is one.
    pub processor: Option<u32>,
    /// Whether what ranks do is written down, to be replayed.
    pub is_captured: bool,
    /// What its collectives go by, whatever the job's environment says.
    pub tables: ProgramTables,
}

impl MpiPlan {
    /// A program on a chip by which computing takes no time unless it says so, and whose collectives go by
    /// the tables that come with corecast.
    #[must_use]
    pub fn new(on: ProgramPlan, ranks: u32) -> Self {
        Self {
            tables: ProgramTables::of_chip(&on.chip),
            on,
            ranks,
            ranks_per_core: 1,
            compute: Compute::Stated,
            processor: None,
            is_captured: false,
        }
    }
}

/// A plan whose parts go together.
#[derive(Clone, Debug)]
pub struct MpiStudy {
    /// What was asked for.
    pub plan: MpiPlan,
    /// The machine, set up for the chip.
    pub machine: Arc<dyn StudyMachine>,
}

/// What a program has shown.
#[derive(Clone, Debug)]
pub struct MpiRun {
    /// When and in which calls.
    pub calls: CallRun,
    /// Hand-overs between the ranks' processes and the simulator, there and back.
    pub hand_overs: u64,
    /// What the ranks have done, if that was asked for.
    pub capture: Option<Capture>,
}

/// Why a program in virtual time has not come to its end.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{}{}", first_line(.error), lines(.stuck))]
pub struct MpiError {
    /// What ended it.
    pub error: RunError,
    /// Ranks that were waiting then, those that wait for each other in a circle first.
    pub stuck: Vec<StuckRank>,
    /// The rank whose process computed then, and made no call.
    pub awaited: Option<u32>,
}

impl MpiStudy {
    /// Checks everything that does not depend on the program.
    ///
    /// # Errors
    /// What does not make sense, and why.
    pub fn new(plan: MpiPlan) -> Result<Self, StudyError> {
        let machine = plan.on.machine_of_ranks(plan.ranks, plan.ranks_per_core)?;
        Ok(Self { plan, machine })
    }

    /// Which ranks share a core.
    fn sharing(&self) -> Sharing {
        Sharing::new(self.plan.ranks, self.plan.ranks_per_core)
    }

    /// What the ranks must know: what their library sends without asking follows from the chip's buffers.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms {
            eager_max: eager_max(&self.plan.on.chip.chip, self.sharing()),
            tick_ps: self.plan.on.chip.chip.reference_clock().period_ps,
            compute: self.plan.compute,
            processor: self.plan.processor,
            broadcasts: match has_broadcasts(&self.plan.on.chip.chip) {
                false => Broadcasts::None,
                // What is replayed has messages only, and the hardware's members are cores.
                true if self.plan.is_captured || !self.sharing().is_alone() => Broadcasts::Unused,
                true => Broadcasts::Used,
            },
            // Ranks of one core take turns wherever one of them waits.
            carries: self.sharing().is_alone(),
        }
    }

    /// What makes a captured program take another time than the same one without a capture, if anything
    /// does.
    #[must_use]
    pub fn capture_note(&self) -> Option<&'static str> {
        let is_alone = self.sharing().is_alone();
        let has_broadcasts = is_alone && has_broadcasts(&self.plan.on.chip.chip);
        (self.plan.is_captured && has_broadcasts).then_some(
            "broadcasts go over messages here, as in a replay; without a capture this chip's hardware \
             carries out those of its tables, in another time",
        )
    }

    /// What results depend on.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let own = ProgramSettings {
            compute: Some(self.compute_word()),
            ranks_per_core: Some(self.plan.ranks_per_core),
            tables: self.plan.tables.label(),
            has_own_tables: !self.plan.tables.is_usual(&self.plan.on.chip),
            ..ProgramSettings::default()
        };
        self.plan.on.settings(&*self.machine, own)
    }

    /// Attends the ranks until all have finished.
    ///
    /// # Errors
    /// A deadlock or a limit, with the ranks that were waiting; [`RunError::Stopped`] where the ranks
    /// were ended.
    pub fn attend(&self, desk: Desk<'_>) -> Result<MpiRun, MpiError> {
        let (plan, sharing) = (&self.plan, self.sharing());
        let ranks = MpiRanks::new(desk)
            .sharing(sharing.per_core())
            .capturing(plan.is_captured);
        let options = plan.on.options(sharing.cores());
        let run = self
            .machine
            .in_virtual_time()
            .and_then(|machine| machine.run_programs(sharing.cores(), &ranks, &options));
        let run = run.map_err(|error| MpiError {
            stuck: match &error {
                RunError::Deadlock { blocked, .. }
                | RunError::TimeLimit { blocked, .. }
                | RunError::EventLimit { blocked, .. } => StuckRank::all(&ranks, blocked, sharing),
                _ => Vec::new(),
            },
            awaited: ranks.awaited(),
            error,
        })?;
        let mut run = by_rank(run, sharing);
        for (log, &finish) in run.outputs.iter_mut().zip(&run.finish) {
            log.close(finish);
        }
        let captured = plan.is_captured.then(|| {
            let ranks = run.outputs.iter_mut();
            let ranks = ranks.map(|log| mem::take(&mut log.captured));
            capture::capture(&ranks.collect::<Vec<_>>())
        });
        Ok(MpiRun {
            capture: captured,
            hand_overs: run.outputs.iter().map(|log| log.hand_overs).sum(),
            calls: CallRun::new(run, |log| log.calls, calls::name),
        })
    }
}
