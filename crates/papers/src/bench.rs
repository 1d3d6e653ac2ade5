// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives on one chip, as the papers measure them: studies of it.

use corecast_core::{Collective, Help, Rank};
use corecast_machine::{Ongoing, RunError, Watch};
use corecast_machine_sim::pronto::FlowError;
use corecast_study::{ChipChoice, Fault, Plan, Selection, Study, StudyError};
use thiserror::Error;

/// Why an experiment could not be run.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum PaperError {
    /// There is no such paper.
    #[error("unknown paper `{name}`")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names of those that there are.
        known: Vec<&'static str>,
    },
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A flow could not be run.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// A study could not be made, or has no result.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A schedule or its run is wrong.
    #[error("{0}")]
    Wrong(Fault),
    /// A run did not deliver the data.
    #[error("{0} did not deliver the data")]
    NotDelivered(String),
}

/// A transfer that one rank, or a pair, is busy with when the broadcast starts.
pub(crate) fn ongoing(src: u32, dst: Option<u32>, bytes: u64) -> Ongoing {
    Ongoing {
        src: Rank(src),
        dst: dst.map(Rank),
        bytes,
    }
}

/// A chip on which studies are made, and who watches their runs.
pub(crate) struct Bench {
    chip: ChipChoice,
    watch: Watch,
}

impl Bench {
    /// # Panics
    /// If the chip is not built in.
    pub(crate) fn new(chip: &str, watch: &Watch) -> Self {
        Self {
            chip: ChipChoice::find(chip, &[]).expect("a built-in chip"),
            watch: watch.clone(),
        }
    }

    pub(crate) fn cycle_ns(&self) -> f64 {
        self.chip.chip.reference_clock().period_ps as f64 / 1e3
    }

    /// A plan of all algorithms beside these transfers.
    pub(crate) fn plan(&self, collective: Collective, ongoing: &[Ongoing]) -> Plan {
        let mut plan = Plan::new(self.chip.clone(), collective);
        plan.surroundings.ongoing = ongoing.to_vec();
        plan.watch = self.watch.clone();
        plan
    }

    /// Makespan of a broadcast from rank 0, in nanoseconds.
    pub(crate) fn bcast_ns(
        &self,
        name: &str,
        ranks: u32,
        bytes: u64,
        ongoing: &[Ongoing],
        status_bits: u32,
    ) -> Result<f64, PaperError> {
        let mut plan = self.plan(Collective::Bcast, ongoing);
        plan.selection = Selection::Named(vec![name.to_owned()]);
        (plan.ranks, plan.sizes) = (vec![u64::from(ranks)], vec![bytes]);
        plan.tuning.status_bits = status_bits;
        let study = Study::new(plan)?;
        let request = study.request(ranks, bytes)?;
        let schedule = study.schedule(study.algorithms[0], &request);
        let runs = study.run(&schedule.map_err(StudyError::from)?, &())?;
        if !runs.delivered {
            return Err(PaperError::NotDelivered(name.to_owned()));
        }
        Ok(runs.first.makespan.ns())
    }
}

/// Powers of two from `from` to `to`, both included if they are.
pub(crate) fn powers_of_two(from: u64, to: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(from), move |&size| (size < to).then_some(size * 2))
}

impl Help for PaperError {
    fn help(&self) -> String {
        match self {
            Self::Unknown { known, .. } => format!("there are: {}", known.join(", ")),
            Self::Run(error) => error.help(),
            Self::Flow(error) => error.help(),
            Self::Study(error) => error.help(),
            _ => String::new(),
        }
    }
}
