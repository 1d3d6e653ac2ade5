// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fastest way to carry a collective out among those worth trying, where times are those of a wall
//! clock or of the MPI library's messages.
//!
//! In virtual time each is measured once. On a wall clock two measurements of the same thing differ, and
//! for seconds on end everything may be slower. So there all contestants are measured in turns, round
//! after round, and medians over the rounds are compared; after the first round those that are far
//! behind leave the race. Of contestants that differ by less than [`NOISE`] the one listed first wins:
//! an algorithm's own choice of sizes before any other.

use corecast_core::{Algorithm, Request, Schedule};
use corecast_machine::Time;
use corecast_tune::search::{self, Best, Contestant, Found, Rejected, Sizes};

use super::Mistrial;
use crate::claim::{Claim, Fault, Wrong, faults};
use crate::error::StudyError;
use crate::machines::Trial;
use crate::study::Study;

/// Times in a row that a contestant is measured when it is its turn.
const TIMES: u32 = 16;

/// Rounds of those that are left after the first one.
const ROUNDS: usize = 8;

/// Who takes longer than the best by more than this factor in the first round leaves.
const FAR: f64 = 2.0;

/// What two medians may differ by and mean nothing.
const NOISE: f64 = 0.03;

/// Somebody in the race.
struct Runner<'a> {
    contestant: &'a Contestant,
    /// A way of the machine's own; the schedule says for what.
    own_way: Option<&'static str>,
    times: Vec<Time>,
}

impl Runner<'_> {
    fn name(&self) -> &'static str {
        self.own_way.unwrap_or(self.contestant.algorithm)
    }

    fn sizes(&self) -> Sizes {
        match self.own_way {
            Some(_) => Sizes::default(),
            None => self.contestant.sizes,
        }
    }

    fn rejected(&self, error: Mistrial) -> Rejected<Mistrial> {
        Rejected {
            algorithm: self.name(),
            sizes: self.sizes(),
            error,
        }
    }

    fn median(&self) -> Time {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or(Time::MAX)
    }
}

/// What a race has led to.
pub(crate) struct Race {
    /// The best, and what could not run.
    pub found: Found<Time, Mistrial>,
    /// Everybody's schedule and median, also of those who left early.
    pub medians: Vec<(Schedule, Time)>,
}

impl Study {
    /// Lets these algorithms race, and the machine's own ways if they are to take part.
    pub(crate) fn race(
        &self,
        algorithms: &[&'static dyn Algorithm],
        request: &Request,
        has_own_ways: bool,
    ) -> Race {
        let (contestants, refused) = search::field(algorithms, request);
        let mut found = Found {
            best: None,
            rejected: Vec::new(),
            refused,
            measured: 0,
        };
        let mut runners = self.runners(&contestants, has_own_ways);
        let mut medians = Vec::new();
        let mut leaves = |runner: &Runner<'_>| {
            if runner.own_way.is_none() {
                medians.push((runner.contestant.schedule.clone(), runner.median()));
            }
        };
        let (rounds, noise) = match self.is_timed() {
            true => (ROUNDS, NOISE),
            false => (0, 0.0),
        };
        for round in 0..=rounds {
            runners.retain_mut(|runner| {
                found.measured += 1;
                let trial = self.trial(runner, request);
                let trial = trial.map(|times| runner.times.extend(times));
                trial
                    .map_err(|error| found.rejected.push(runner.rejected(error)))
                    .is_ok()
            });
            let best = runners.iter().map(Runner::median).min().unwrap_or_default();
            runners.retain(|runner| {
                let stays = runner.median().ns() <= best.ns() * FAR;
                if !stays {
                    leaves(runner);
                }
                stays
            });
            if runners.len() < 2 && round > 0 {
                break;
            }
        }
        let best = runners.iter().map(Runner::median).min().unwrap_or_default();
        let is_best = |runner: &&Runner<'_>| runner.median().ns() <= best.ns() * (1.0 + noise);
        found.best = runners.iter().find(is_best).map(|winner| Best {
            algorithm: winner.name(),
            sizes: winner.sizes(),
            time: winner.median(),
        });
        runners.iter().for_each(leaves);
        Race { found, medians }
    }

    /// The machine's own ways first; then every contestant that does not do the same as one before.
    fn runners<'a>(&self, contestants: &'a [Contestant], has_own_ways: bool) -> Vec<Runner<'a>> {
        let runner = |contestant, own_way| Runner {
            contestant,
            own_way,
            times: Vec::new(),
        };
        let own = contestants
            .first()
            .filter(|_| has_own_ways)
            .map(|contestant| {
                let (collective, ranks) = (self.plan.collective, contestant.schedule.ranks());
                let ways = self.machine.own_ways(collective, ranks).into_iter();
                ways.map(move |way| runner(contestant, Some(way)))
            });
        let mut runners: Vec<_> = own.into_iter().flatten().collect();
        let first = runners.len();
        for contestant in contestants {
            let schedule = &contestant.schedule;
            let same = |other: &Runner<'_>| {
                let other = &other.contestant.schedule;
                self.machine.does_the_same(other, schedule)
            };
            if !runners[first..].iter().any(same) {
                runners.push(runner(contestant, None));
            }
        }
        runners
    }

    fn trial(&self, runner: &Runner<'_>, request: &Request) -> Result<Vec<Time>, Mistrial> {
        let schedule = &runner.contestant.schedule;
        if runner.own_way.is_none() && runner.times.is_empty() {
            let certificate = self.certify(schedule).certificate;
            if let Some(fault) = faults(&[Claim::Correct], &certificate, request.bytes).next() {
                return Err(Mistrial::Wrong(fault));
            }
        }
        let job = self.job(schedule, self.plan.seed);
        let times = if self.is_timed() { TIMES } else { 1 };
        let trial = self.machine.trial(&job, runner.own_way, times);
        let Trial { makespans, report } = trial.map_err(|error| StudyError::Run {
            algorithm: runner.name().to_owned(),
            has_flow_control: schedule.has_flow_control(),
            error,
        })?;
        match report.delivered() {
            true => Ok(makespans),
            false => Err(Mistrial::Wrong(Fault {
                collective: request.collective,
                algorithm: runner.name().to_owned(),
                bytes: request.bytes,
                what: Wrong::Data,
            })),
        }
    }
}
