// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs where times are those of a wall clock: one of each algorithm in turns, so that what slows the
//! computer down for a while slows all of them, and medians are compared.

use std::borrow::Cow;

use corecast_core::{Request, Schedule};
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
    /// Every algorithm's runs and every file's, or why there is no schedule, in order.
    pub(crate) fn in_turns(
        &self,
        request: &Request,
        progress: &dyn Progress,
    ) -> Vec<Result<Result<Run, Refused>, StudyError>> {
        let repeat = self.plan.repeat;
        let mut all = self.entrants(request);
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
        let outcome = |(algorithm, entered): (Cow<'static, str>, Entered)| {
            progress.done();
            match entered {
                Err(refused) => Ok(Err(refused)),
                Ok((schedule, turns)) => {
                    let certified = self.certify(&schedule);
                    Ok(Ok(Run::of(algorithm, request, turns?.runs(), certified)))
                }
            }
        };
        all.into_iter().map(outcome).collect()
    }

    /// The algorithms, then the files.
    fn entrants(&self, request: &Request) -> Vec<(Cow<'static, str>, Entered)> {
        let algorithms = self.algorithms.iter().map(|&algorithm| {
            let (name, schedule) = (algorithm.name(), self.schedule(algorithm, request));
            (name.into(), schedule.map_err(|why| refused(name, why)))
        });
        let enter = |schedule: Schedule| (schedule, Ok(Turns::default()));
        let algorithms = algorithms.map(|(name, schedule)| (name, schedule.map(enter)));
        let files = self.plan.files.iter().map(|file| {
            let name = file.name();
            let schedule = file.schedule_for(request);
            let enter = |schedule: Schedule| {
                let proved = self.certify_correct(name, &schedule);
                (schedule, proved.map(|_| Turns::default()))
            };
            let entered = schedule.map(enter).map_err(|why| file.refused(why));
            (name.to_owned().into(), entered)
        });
        algorithms.chain(files).collect()
    }
}

/// A schedule with its runs, unless one of them failed; or why there is none.
type Entered = Result<(Schedule, Result<Turns, StudyError>), Refused>;
