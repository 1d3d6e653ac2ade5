// SPDX-License-Identifier: MIT OR Apache-2.0
//! What would make a run faster.
//!
//! Nothing here is a rule of thumb. Other algorithms and sizes are run as a table's search would run
//! them; if none of them is faster, the numbers of the chip file are halved or doubled one by one,
//! and the one that saves most is named. A run longer than the one to be explained is ended
//! early, so a trial costs at most as much as the run itself; long runs are tried with fewer others,
//! and the remedy tells which ([`Tried`]).

use std::collections::BTreeMap;

use corecast_core::Request;
use corecast_machine::{PathSegment, Time};
use corecast_tune::search::{self, Best, Candidate, Sizes};
use rayon::prelude::*;

use crate::rank::Run;
use crate::study::Study;
use crate::tuning::Race;

/// Runs with more events are not tried with other sizes, nor on other chips.
const EVENTS_TUNED_MAX: u64 = 200_000;
/// Runs with more events are not tried at all.
const EVENTS_MAX: u64 = 20_000_000;
/// What saves less than this share is no help.
const SAVED_MIN: f64 = 0.01;
/// The same where two runs of one schedule take different times.
const SAVED_MIN_TIMED: f64 = 0.1;

/// Runs that take longer on a wall clock, 2 ms, are not tried with others: a race is some thousand runs.
const RACED_MAX: Time = Time::from_ps(2_000_000_000);

/// What to do about a run's time, and what most of it is: a value, of which a face makes a sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct Remedy {
    /// What to do.
    pub what: Measure,
    /// What most of the critical path is; none of a path without length.
    pub cause: Option<MainCause>,
}

/// A size that is another than that of a run, by its name; none = leave the choice to the algorithm.
pub type OtherSize = (&'static str, Option<u64>);

/// What can be done about a run's time.
#[derive(Clone, PartialEq, Debug)]
pub enum Measure {
    /// Use another algorithm, or other sizes.
    Use {
        /// The algorithm, if it is another one.
        algorithm: Option<&'static str>,
        /// The sizes.
        sizes: Vec<OtherSize>,
        /// What it takes then.
        takes: f64,
        /// What it took.
        instead_of: f64,
        /// Of both: cycles, or nanoseconds.
        unit: &'static str,
        /// How many times as fast it is then.
        ratio: f64,
    },
    /// Nothing: the run is as short as can be.
    Leave {
        /// The cycles that no schedule beats.
        bound_cycles: u64,
    },
    /// Change a number of the chip.
    Change {
        /// What else was tried.
        tried: Tried,
        /// Percent of the time that it would have had to save.
        least_percent: f64,
        /// The number's key.
        key: String,
        /// What it is.
        from: f64,
        /// What it would be.
        to: f64,
        /// Percent of the time that this saves.
        saves_percent: f64,
    },
    /// No single number of the chip would help.
    Nothing {
        /// What else was tried.
        tried: Tried,
        /// Percent of the time that it would have had to save.
        least_percent: f64,
        /// Whether numbers of the chip were tried at all: not for long runs.
        tried_numbers: bool,
    },
}

/// What was tried in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tried {
    /// All algorithms with all sizes.
    All,
    /// All algorithms, with the sizes of the run.
    Algorithms,
    /// Nothing: the run is too long.
    Nothing,
}

/// The kind of cause that most of a critical path has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MainCause {
    /// The kind.
    pub kind: &'static str,
    /// Its share.
    pub percent: f64,
}

/// The fastest way to serve a request that was found.
pub(crate) struct Fastest {
    best: Option<Best<Time>>,
    /// Whether sizes were searched, too.
    is_tuned: bool,
    /// The race that it has won, if there was one.
    race: Option<Race>,
}

impl Study {
    /// Searches, with the effort that fits runs such as these.
    pub(crate) fn fastest(&self, runs: &[Run]) -> Fastest {
        if self.is_timed() {
            return self.fastest_in_turns(runs);
        }
        let events = runs.iter().map(|run| run.report.events).max().unwrap_or(0);
        let longest = runs.iter().map(|run| run.report.makespan).max();
        let (Some(run), Some(longest)) = (runs.first(), longest) else {
            return Fastest {
                best: None,
                is_tuned: false,
                race: None,
            };
        };
        let is_tuned = events <= EVENTS_TUNED_MAX;
        let mut request = run.request.clone();
        let measure = |candidate: &Candidate<'_>| {
            let report = self.run_within(candidate.schedule, longest);
            let report = report.filter(|report| report.delivered());
            report.map(|report| report.makespan).ok_or(())
        };
        let algorithms = self.distinct_algorithms();
        let best = if is_tuned {
            (request.tuning.part_bytes, request.tuning.piece_bytes) = (None, None);
            search::cell(&algorithms, &request, &measure, &|| ()).best
        } else if events <= EVENTS_MAX {
            let times = algorithms.par_iter().filter_map(|algorithm| {
                let schedule = self.schedule(*algorithm, &request).ok()?;
                let report = self.run_within(&schedule, longest)?;
                report.delivered().then_some(Best {
                    algorithm: algorithm.name(),
                    sizes: Sizes {
                        part_bytes: request.tuning.part_bytes,
                        piece_bytes: request.tuning.piece_bytes,
                    },
                    time: report.makespan,
                })
            });
            let times: Vec<_> = times.collect();
            times.into_iter().min_by_key(|best| best.time)
        } else {
            None
        };
        Fastest {
            best,
            is_tuned,
            race: None,
        }
    }

    /// The same where candidates have to race.
    fn fastest_in_turns(&self, runs: &[Run]) -> Fastest {
        let short = runs.first().filter(|run| run.spread.median <= RACED_MAX);
        let race = short.map(|run| {
            let mut request = run.request.clone();
            (request.tuning.part_bytes, request.tuning.piece_bytes) = (None, None);
            self.race(&self.distinct_algorithms(), &request, false)
        });
        Fastest {
            best: race.as_ref().and_then(|race| race.found.best),
            is_tuned: true,
            race,
        }
    }

    /// What a run took in the race, if it was in it: its own time is from another moment.
    fn in_race(&self, run: &Run, race: &Race) -> Option<Time> {
        let schedule = self.schedule_of(run)?;
        let is_it = |(other, _): &&(_, Time)| self.machine.does_the_same(other, &schedule);
        race.medians.iter().find(is_it).map(|&(_, median)| median)
    }

    /// What to do about a run with this critical path.
    pub(crate) fn remedy(&self, run: &Run, path: &[PathSegment], fastest: &Fastest) -> Remedy {
        let cause = main_cause(path, run.report.makespan);
        let what = self.what_to_do(run, fastest);
        Remedy { what, cause }
    }

    fn what_to_do(&self, run: &Run, fastest: &Fastest) -> Measure {
        let took = run.report.makespan;
        let (told, least) = match &fastest.race {
            Some(race) => (self.in_race(run, race).unwrap_or(took), SAVED_MIN_TIMED),
            None => (took, SAVED_MIN),
        };
        let saves = |time: Time| match told.ps() {
            0 => 0.0,
            told => 1.0 - time.ps() as f64 / told as f64,
        };
        if let Some(best) = fastest.best.filter(|best| saves(best.time) >= least) {
            return Measure::Use {
                algorithm: (run.algorithm != best.algorithm).then_some(best.algorithm),
                sizes: other_sizes(run, best.sizes),
                takes: self.told(best.time),
                instead_of: self.told(told),
                unit: self.unit(),
                ratio: told.ps() as f64 / best.time.ps().max(1) as f64,
            };
        }
        let bound = self.machine.bound_cycles(&run.request);
        if let Some(bound_cycles) = bound
            && self.told(took) <= bound_cycles as f64 * (1.0 + SAVED_MIN)
        {
            return Measure::Leave { bound_cycles };
        }
        let tried = match (fastest.best.is_some(), fastest.is_tuned) {
            (true, true) => Tried::All,
            (true, false) => Tried::Algorithms,
            _ => Tried::Nothing,
        };
        // This computer has no numbers that could be changed.
        let is_short = run.report.events <= EVENTS_TUNED_MAX && !self.is_timed();
        let knob = if is_short { self.knob(run) } else { None };
        let least_percent = 100.0 * least;
        match knob.filter(|knob| saves(knob.time) >= SAVED_MIN) {
            Some(knob) => Measure::Change {
                tried,
                least_percent,
                key: knob.key,
                from: knob.from,
                to: knob.to,
                saves_percent: 100.0 * saves(knob.time),
            },
            None => Measure::Nothing {
                tried,
                least_percent,
                tried_numbers: is_short,
            },
        }
    }

    /// The number whose change saves most ([`others`]), each tried alone with what the algorithm does
    /// on that chip: with its sizes of parts, and flow control where it is needed there. The clock that
    /// times are told in is not tried: their number of cycles would stay as it is.
    fn knob(&self, run: &Run) -> Option<Knob> {
        let chip = self.chip();
        let reference = format!("clocks.{}.period", chip.reference_clock().name);
        let unused = chip.unused();
        let has_effect = |key: &str| key != reference && unused.iter().all(|it| it.key != key);
        let numbers = chip.parameters().filter(|number| has_effect(number.key));
        let numbers = numbers.flat_map(|number| {
            let others = others(number.value, number.unit).into_iter();
            others.map(move |other| (number.key.to_owned(), number.value, other))
        });
        let numbers: Vec<(String, f64, f64)> = numbers.collect();
        let took = run.report.makespan;
        let knobs = numbers.into_par_iter().filter_map(|(key, from, to)| {
            // What is refused (a stage of the router that takes a cycle at least) is no help.
            let changed = self.with_number(&key, to)?;
            let request = changed.request(run.request.ranks, run.request.bytes).ok()?;
            let tuning = run.request.tuning.clone();
            let request = Request { tuning, ..request };
            let schedule = changed.schedule_named(&run.algorithm, &request)?;
            let report = changed.run_within(&schedule, took)?;
            Some(Knob {
                key,
                from,
                to,
                time: report.makespan,
            })
        });
        let knobs: Vec<Knob> = knobs.collect();
        knobs.into_iter().min_by_key(|knob| knob.time) // of equal ones the first of the file
    }
}

/// A number of the chip whose change saves most.
struct Knob {
    key: String,
    from: f64,
    to: f64,
    time: Time,
}

/// What else a number is tried with: what takes time with half of it, everything else with half and
/// with twice as much, because whether more of it helps depends on the run. A chip of another size is
/// another chip.
fn others(value: f64, unit: &str) -> Vec<f64> {
    let half = (value / 2.0).floor();
    let mut others = match unit {
        "cores" | "routers" => Vec::new(),
        "ns" => vec![value / 2.0],
        "MHz" => vec![value * 2.0],
        unit if unit.starts_with("cycles") => vec![half],
        _ => vec![half, value * 2.0],
    };
    others.retain(|&other| other != value); // half of none
    others
}

/// The sizes that are others than those of a run.
fn other_sizes(run: &Run, best: Sizes) -> Vec<OtherSize> {
    let tuning = &run.request.tuning;
    let sizes = [
        ("part_bytes", best.part_bytes, tuning.part_bytes),
        ("piece_bytes", best.piece_bytes, tuning.piece_bytes),
    ];
    let others = sizes.into_iter().filter(|(_, size, was)| size != was);
    others.map(|(name, size, _)| (name, size)).collect()
}

/// What most of the critical path is.
fn main_cause(path: &[PathSegment], took: Time) -> Option<MainCause> {
    let mut shares: BTreeMap<&'static str, u64> = BTreeMap::new();
    for segment in path {
        let time = segment.end.ps() - segment.start.ps();
        *shares.entry(segment.cause.kind()).or_default() += time;
    }
    // Of equal shares the first in the alphabet.
    let most = shares.into_iter().rev().max_by_key(|&(_, time)| time);
    most.map(|(kind, time)| MainCause {
        kind,
        percent: 100.0 * time as f64 / took.ps().max(1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use corecast_core::Collective;

    use super::*;
    use crate::chips::ChipChoice;
    use crate::plan::Plan;

    /// What a changed number would save is what a run on the changed chip saves: here wider links
    /// leave nothing for flow control to do.
    #[test]
    fn what_a_number_saves_is_what_a_run_with_it_takes() {
        let mut checked = 0;
        for (chip, collective, bytes) in [
            ("booksim-mesh", Collective::Scatter, 1000),
            ("tilepro64", Collective::Bcast, 900),
            ("scc", Collective::Allreduce, 64),
        ] {
            let chip = ChipChoice::find(chip, &[]).expect("built in");
            let study = Study::new(Plan {
                ranks: vec![2],
                sizes: vec![bytes],
                ..Plan::new(chip, collective)
            });
            let study = study.expect("valid");
            let runs = study.rank(2, bytes, &()).expect("runs").runs;
            for of in study.explain_runs(runs) {
                let Measure::Change {
                    key,
                    to,
                    saves_percent,
                    ..
                } = of.remedy.what
                else {
                    continue;
                };
                let changed = study.with_number(&key, to).expect("accepted");
                let others = changed.rank(2, bytes, &()).expect("runs").runs;
                let mut same = others
                    .iter()
                    .filter(|run| run.algorithm == of.run.algorithm);
                let time = same.next().expect("takes part").report.makespan;
                let saved = 100.0 * (1.0 - time.ps() as f64 / of.run.report.makespan.ps() as f64);
                assert!(
                    (saved - saves_percent).abs() < 1e-9,
                    "{key} = {to}: {saved}"
                );
                checked += 1;
            }
        }
        assert!(checked >= 3, "{checked}");
    }
}
