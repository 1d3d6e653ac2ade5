//! One broadcast on one chip, as the papers measure it.

use corecast_core::{Algorithm, Collective, Rank, Request, Schedule, algorithm};
use corecast_machine::{Job, Machine, Ongoing, RunError, RunOptions};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::FlowError;
use thiserror::Error;

/// Why an experiment could not be run.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum PaperError {
    /// There is no such paper.
    #[error("unknown paper `{name}`\n  there are: {}", known.join(", "))]
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

pub(crate) struct Bench {
    machine: SimMachine,
}

impl Bench {
    /// # Panics
    /// If the chip is not built in.
    pub(crate) fn new(chip: &str) -> Self {
        Self {
            machine: SimMachine::new(&corecast_chip::find(chip).expect("a built-in chip")),
        }
    }

    pub(crate) fn cycle_ns(&self) -> f64 {
        self.machine.chip().reference_clock().period_ps as f64 / 1e3
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
        let options = RunOptions {
            ongoing: ongoing.to_vec(),
            ..RunOptions::default()
        };
        let mut request = self
            .machine
            .request(Request::new(Collective::Bcast, ranks, bytes), &options);
        request.tuning.status_bits = status_bits;
        let algorithm = algorithm::find(Collective::Bcast, name).expect("a registered algorithm");
        self.run_ns(&algorithm.schedule(&request), options)
    }

    /// Makespan of `request` by `algorithm` in nanoseconds; none if it cannot serve it.
    pub(crate) fn ns(
        &self,
        algorithm: &dyn Algorithm,
        request: &Request,
        ongoing: &[Ongoing],
    ) -> Result<Option<f64>, PaperError> {
        let options = RunOptions {
            ongoing: ongoing.to_vec(),
            ..RunOptions::default()
        };
        let request = self.machine.request(request.clone(), &options);
        match algorithm::build(algorithm, &request) {
            Ok(schedule) => self.run_ns(&schedule, options).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn run_ns(&self, schedule: &Schedule, options: RunOptions) -> Result<f64, PaperError> {
        let report = self.machine.run(&Job {
            options,
            ..Job::new(schedule)
        })?;
        if !report.delivered() {
            return Err(PaperError::NotDelivered(schedule.algorithm().to_owned()));
        }
        Ok(report.makespan.ns())
    }
}

/// Powers of two from `from` to `to`, both included if they are.
pub(crate) fn powers_of_two(from: u64, to: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(from), move |&size| (size < to).then_some(size * 2))
}
