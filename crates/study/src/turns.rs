//! Runs where times are those of a wall clock: one of each algorithm in turns, so that what slows the
//! computer down for a while slows all of them, and medians are compared.

use corecast_core::{Algorithm, BuildError, Request, Schedule};
use corecast_machine::{Report, Spread, Time};

use crate::error::{Refused, StudyError};
use crate::progress::Progress;
use crate::rank::{Run, refused};
use crate::study::{Runs, Study};

/// Reports that are kept of one algorithm. Of these the one in the middle is told of.
const REPORTS_MAX: usize = 9;

/// The runs of one schedule so far.
#[derive(Default)]
struct Turns {
    times: Vec<Time>,
    reports: Vec<Report>,
    has_failed: bool,
}

impl Turns {
    fn add(&mut self, report: Report) {
        self.times.push(report.makespan);
        self.has_failed |= !report.delivered();
        if self.reports.len() < REPORTS_MAX {
            self.reports.push(report);
        }
    }

    fn runs(mut self) -> Runs {
        self.reports.sort_by_key(|report| report.makespan);
        let middle = self.reports.len() / 2;
        Runs {
            spread: Spread::of(&self.times).expect("at least one run"),
            delivered: !self.has_failed,
            first: self.reports.swap_remove(middle),
        }
    }
}

impl Study {
    /// Every algorithm's runs, or why it has no schedule, in the order of the algorithms.
    pub(crate) fn in_turns(
        &self,
        request: &Request,
        progress: &dyn Progress,
    ) -> Vec<Result<Result<Run, Refused>, StudyError>> {
        let repeat = self.plan.repeat;
        let mut all: Vec<_> = self
            .algorithms
            .iter()
            .map(|&of| self.enter(of, request))
            .collect();
        for (_, entered) in &all {
            if let Ok((schedule, _)) = entered {
                progress.begins(schedule, repeat);
            }
        }
        for turn in 0..u64::from(repeat) {
            for (_, entered) in &mut all {
                let Ok((schedule, Ok(turns))) = entered else {
                    continue;
                };
                match self.run_seed(schedule, self.plan.seed.wrapping_add(turn)) {
                    Ok(report) => turns.add(report),
                    Err(error) => *entered = Ok((schedule.clone(), Err(error))),
                }
            }
        }
        let outcome = |(algorithm, entered): (&'static str, Entered)| {
            progress.done();
            match entered {
                Err(why) => Ok(Err(refused(algorithm, why))),
                Ok((schedule, turns)) => {
                    let certified = self.certify(&schedule);
                    Ok(Ok(Run::of(algorithm, request, turns?.runs(), certified)))
                }
            }
        };
        all.into_iter().map(outcome).collect()
    }

    fn enter(
        &self,
        algorithm: &'static dyn Algorithm,
        request: &Request,
    ) -> (&'static str, Entered) {
        let schedule = self.schedule(algorithm, request);
        let entered = schedule.map(|schedule| (schedule, Ok(Turns::default())));
        (algorithm.name(), entered)
    }
}

/// A schedule with its runs, unless one of them failed; or why there is none.
type Entered = Result<(Schedule, Result<Turns, StudyError>), BuildError>;
