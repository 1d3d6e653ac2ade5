// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every algorithm on one request, the fastest first.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use corecast_chip::Provenance;
use corecast_core::{Algorithm, BuildError, ChunkId, Request, Schedule};
use corecast_machine::{PathSegment, Report, Shares, Spread, Time, critical_path};
use corecast_tune::{Cell, Decision};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::claim::{Claim, Fault, Wrong, faults};
use crate::error::{Refused, StudyError, Why};
use crate::number::{Cycles, thousandths};
use crate::progress::Progress;
use crate::schedules::ScheduleFile;
use crate::study::{Certified, Runs, Study};

/// One algorithm's runs.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name, or that of the file that its schedule is from.
    pub algorithm: Cow<'static, str>,
    /// What was asked.
    pub request: Request,
    /// What happened, with the first seed; where times are those of a wall clock, in the run whose time
    /// is the median.
    pub report: Report,
    /// Makespans with all seeds.
    pub spread: Spread,
    /// Whether every run delivered.
    pub delivered: bool,
    /// What is proven about its schedule.
    pub certified: Certified,
    /// The cell of the table that chose it, if one did.
    pub cell: Option<Cell>,
    path: OnceLock<Vec<PathSegment>>,
}

impl Run {
    /// What all runs of one schedule show.
    pub(crate) fn of(
        algorithm: Cow<'static, str>,
        request: &Request,
        runs: Runs,
        certified: Certified,
    ) -> Self {
        Self {
            algorithm,
            request: request.clone(),
            report: runs.first,
            spread: runs.spread,
            delivered: runs.delivered,
            certified,
            cell: None,
            path: OnceLock::new(),
        }
    }

    /// What made the first run as long as it was; worked out when it is asked for first.
    pub fn critical_path(&self) -> &[PathSegment] {
        self.path.get_or_init(|| critical_path(&self.report))
    }

    /// What the run should have shown and did not.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let (bytes, certificate) = (self.request.bytes, &self.certified.certificate);
        let mut found: Vec<_> = faults(&[Claim::Correct], certificate, bytes).collect();
        if !self.delivered {
            found.push(Fault {
                collective: self.request.collective,
                algorithm: self.algorithm.clone().into_owned(),
                bytes,
                what: Wrong::Data,
            });
        }
        found
    }
}

/// Runs in order of time, and the algorithms that have none.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// At least one, where algorithms of the registry were asked for.
    pub runs: Vec<Run>,
    /// The others: those that have no schedule, and those whose run did not end.
    pub refused: Vec<Refused>,
}

/// An algorithm that cannot serve a request.
pub(crate) fn refused(algorithm: &'static str, why: BuildError) -> Refused {
    Refused {
        algorithm: algorithm.into(),
        cell: None,
        why: Why::Build(why),
    }
}

impl Ranking {
    /// No run yet.
    #[must_use]
    pub fn empty() -> Self {
        let (runs, refused) = (Vec::new(), Vec::new());
        Self { runs, refused }
    }

    /// The same with further runs of the study.
    #[must_use]
    pub fn with(mut self, more: Vec<Run>, study: &Study) -> Self {
        self.runs.extend(more);
        let typical = |run: &Run| study.typical_ns(run);
        self.runs.sort_by(|a, b| typical(a).total_cmp(&typical(b)));
        self
    }
}

/// Cells of a table that were nearer but could not serve.
#[must_use]
pub fn passed(decision: &Decision<'_>) -> Vec<Refused> {
    let passed = decision.passed.iter();
    let refused = |(cell, why): &(&Cell, BuildError)| Refused {
        algorithm: cell.algorithm.into(),
        cell: Some((cell.ranks, cell.bytes)),
        why: Why::Build(why.clone()),
    };
    passed.map(refused).collect()
}

impl Study {
    /// Runs every algorithm; if only the fastest is of interest only that is kept, and with a table
    /// only the one that it names is run. One that meets a limit or a deadlock is among the refused,
    /// as long as another one ends.
    ///
    /// # Errors
    /// Whatever ended a run, or all of them, and [`StudyError::Unserved`] if no algorithm can take
    /// part.
    pub fn rank(
        &self,
        ranks: u32,
        bytes: u64,
        progress: &dyn Progress,
    ) -> Result<Ranking, StudyError> {
        if let Some(decision) = self.decide(ranks, bytes)? {
            let (cell, refused) = (decision.cell, passed(&decision));
            let (request, schedule) = (&decision.request, &decision.schedule);
            let run = self.run_of(cell.algorithm.into(), request, schedule, progress)?;
            progress.done();
            let cell = Some(cell.clone());
            let runs = vec![Run { cell, ..run }];
            return Ok(Ranking { runs, refused });
        }
        let request = self.request(ranks, bytes)?;
        let run = |algorithm: &&'static dyn Algorithm| {
            let outcome = self.one(*algorithm, &request, progress);
            progress.done();
            outcome
        };
        let of_file = |file: &Arc<ScheduleFile>| {
            let outcome = match file.schedule_for(&request) {
                Ok(schedule) => {
                    let name = file.name().to_owned().into();
                    self.run_proved(name, &request, &schedule, progress).map(Ok)
                }
                Err(why) => Ok(Err(file.refused(why))),
            };
            progress.done();
            outcome
        };
        let outcomes: Vec<_> = if self.is_timed() {
            self.in_turns(&request, progress)
        } else {
            let algorithms = self.algorithms.par_iter().map(run);
            let files = self.plan.files.par_iter();
            algorithms.chain(files.map(of_file)).collect()
        };
        let (mut runs, mut refused) = (Vec::new(), Vec::new());
        let mut first_limit = None;
        for outcome in outcomes {
            match outcome {
                Ok(Ok(run)) => runs.push(run),
                Ok(Err(reason)) => refused.push(reason),
                Err(error) => {
                    let Some(left_out) = error.left_out() else {
                        return Err(error);
                    };
                    refused.push(left_out);
                    first_limit.get_or_insert(error);
                }
            }
        }
        if runs.is_empty() {
            let collective = self.plan.collective;
            return Err(first_limit.unwrap_or(StudyError::Unserved {
                collective,
                refused,
            }));
        }
        runs.sort_by(|a, b| self.typical_ns(a).total_cmp(&self.typical_ns(b)));
        if self.is_auto() {
            runs.truncate(1);
        }
        Ok(Ranking { runs, refused })
    }

    /// The time by which runs are compared: the mean, or the median where single runs may be held up
    /// by anything.
    #[must_use]
    pub fn typical_ns(&self, run: &Run) -> f64 {
        match self.is_timed() {
            true => run.spread.median.ns(),
            false => run.spread.mean_ns,
        }
    }

    /// [`Study::typical_ns`] in [`Study::unit`], cycles to a thousandth.
    #[must_use]
    pub fn typical(&self, run: &Run) -> f64 {
        self.mean_cycles(run)
            .unwrap_or_else(|| self.typical_ns(run))
    }

    /// One algorithm's runs, or why it has no schedule.
    fn one(
        &self,
        algorithm: &'static dyn Algorithm,
        request: &Request,
        progress: &dyn Progress,
    ) -> Result<Result<Run, Refused>, StudyError> {
        let name = algorithm.name();
        match self.schedule(algorithm, request) {
            Ok(schedule) => {
                let run = self.run_of(name.into(), request, &schedule, progress);
                run.map(Ok)
            }
            Err(why) => Ok(Err(refused(name, why))),
        }
    }

    /// The runs of one schedule.
    ///
    /// # Errors
    /// Whatever ended one.
    pub fn run_of(
        &self,
        algorithm: Cow<'static, str>,
        request: &Request,
        schedule: &Schedule,
        progress: &dyn Progress,
    ) -> Result<Run, StudyError> {
        let (run, certify) = (|| self.run(schedule, progress), || self.certify(schedule));
        let (runs, certified) = if self.machine.runs_side_by_side() {
            rayon::join(run, certify)
        } else {
            (run(), certify())
        };
        Ok(Run::of(algorithm, request, runs?, certified))
    }

    /// The runs of a schedule that is from elsewhere: of an algorithm that the registry does not have.
    /// It is proved correct first, so that no machine is given anything else.
    ///
    /// # Errors
    /// [`StudyError::PartialElement`] if its chunks cut elements of a reduction,
    /// [`StudyError::Incorrect`], and whatever ended a run.
    pub fn run_given(
        &self,
        algorithm: Cow<'static, str>,
        request: &Request,
        schedule: &Schedule,
        progress: &dyn Progress,
    ) -> Result<Run, StudyError> {
        let element = self.plan.element;
        if self.plan.collective.is_reduction() {
            let chunks = (0..schedule.spec().chunks()).map(ChunkId);
            let mut sizes = chunks.map(|chunk| schedule.chunk_bytes(chunk));
            let is_cut = |bytes: &u64| !bytes.is_multiple_of(u64::from(element.bytes()));
            if let Some(bytes) = sizes.find(is_cut) {
                return Err(StudyError::PartialElement { bytes, element });
            }
        }
        let run = self.run_proved(algorithm, request, schedule, progress);
        progress.done();
        run
    }

    /// The runs of a schedule that is not the registry's, if it is correct: machines count on it.
    fn run_proved(
        &self,
        algorithm: Cow<'static, str>,
        request: &Request,
        schedule: &Schedule,
        progress: &dyn Progress,
    ) -> Result<Run, StudyError> {
        let certified = self.certify_correct(&algorithm, schedule)?;
        let runs = self.run(schedule, progress)?;
        Ok(Run::of(algorithm, request, runs, certified))
    }

    /// What is proven about a schedule that is correct.
    pub(crate) fn certify_correct(
        &self,
        algorithm: &str,
        schedule: &Schedule,
    ) -> Result<Certified, StudyError> {
        let certified = self.certify(schedule);
        let violations = &certified.certificate.violations;
        match violations.first() {
            None => Ok(certified),
            Some(first) => Err(StudyError::Incorrect {
                algorithm: algorithm.to_owned(),
                first: first.to_string(),
                count: violations.len(),
            }),
        }
    }

    /// How much of a run's time is the network's and how much the software's, where the machine
    /// tells them apart.
    #[must_use]
    pub fn shares(&self, run: &Run) -> Option<Shares> {
        let tells = self.machine.tells_shares();
        tells.then(|| Shares::of(run.critical_path())).flatten()
    }

    /// The mean makespan in cycles of the chip's reference clock, to a thousandth; none where times
    /// are not told in cycles.
    #[must_use]
    pub fn mean_cycles(&self, run: &Run) -> Option<f64> {
        let period_ns = self.machine.clock()?.period_ps as f64 / 1e3;
        Some(thousandths(run.spread.mean_ns / period_ns))
    }

    /// Whether another algorithm is the fastest where the network is simulated exactly: its run
    /// there. None if not, if it is simulated so already, or if the network is too large to try.
    ///
    /// # Errors
    /// Whatever ended a run.
    pub fn disagreement(&self, ranks: u32, runs: &[Run]) -> Result<Option<Run>, StudyError> {
        let (Some(best), true) = (runs.first(), runs.len() > 1 && ranks <= COMPARED_RANKS_MAX)
        else {
            return Ok(None);
        };
        let Some(exact) = self.exact() else {
            return Ok(None);
        };
        let ranking = exact.rank(ranks, best.request.bytes, &())?;
        let mut others = ranking.runs.into_iter();
        let theirs = others.next().expect("a ranking has a run");
        let of_winner = others.find(|run| run.algorithm == best.algorithm);
        let is_slower = of_winner.is_some_and(|run| run.spread.mean_ns > theirs.spread.mean_ns);
        Ok(is_slower.then_some(theirs))
    }

    /// The run as a record.
    #[must_use]
    pub fn record(&self, run: &Run) -> RunRecord {
        let (report, spread) = (&run.report, &run.spread);
        let bound = self.machine.bound_cycles(&run.request);
        let shares = self.shares(run);
        let clock = self.machine.clock();
        let causes = report.causes().into_iter();
        let tuning = &run.request.tuning;
        let of_chip = |kind| clock.map_or(0, |_| self.chip().count(kind));
        RunRecord {
            collective: self.plan.collective.name().into(),
            algorithm: run.algorithm.clone(),
            machine: report.machine.into(),
            ranks: run.request.ranks,
            placement_note: self.machine.placement_note(run.request.ranks),
            root: run.request.root.0,
            bytes: run.request.bytes,
            part_bytes: tuning.part_bytes,
            piece_bytes: tuning.piece_bytes,
            table_ranks: run.cell.as_ref().map(|cell| cell.ranks),
            table_bytes: run.cell.as_ref().map(|cell| cell.bytes),
            makespan_cycles: self.cycles(report.makespan).map(Cycles),
            makespan_ns: report.makespan.ns(),
            runs: spread.runs,
            makespan_mean_ns: spread.mean_ns,
            makespan_median_ns: spread.median.ns(),
            makespan_variance_ns2: spread.variance_ns2,
            makespan_p99_ns: spread.p99.ns(),
            makespan_max_ns: spread.max.ns(),
            delivered: run.delivered,
            bound_cycles: bound,
            bound_ns: clock
                .zip(bound)
                .map(|(clock, bound)| Time::from_ps(clock.to_ps(bound)).ns()),
            finish_ns: report.finish.iter().map(|time| time.ns()).collect(),
            causes: causes
                .map(|(kind, time)| (format!("{kind}_ns"), time.ns()))
                .collect(),
            events: report.events,
            fitted_parameters: of_chip(Provenance::Fitted),
            assumed_parameters: of_chip(Provenance::Assumed),
            network_percent: shares.map(|shares| shares.network_percent),
            software_percent: shares.map(|shares| shares.software_percent),
            background_sent_percent: report.background.sent_share().map(|share| 100.0 * share),
            others_percent: self.machine.taken_by_others().map(|share| 100.0 * share),
        }
    }
}

/// Most ranks of networks that are simulated exactly as well, to compare.
const COMPARED_RANKS_MAX: u32 = 64;

/// What is said about one run; units are in the names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// The collective.
    pub collective: Cow<'static, str>,
    /// The algorithm, or the file that the schedule is from.
    pub algorithm: Cow<'static, str>,
    /// Name of the machine.
    pub machine: Cow<'static, str>,
    /// Number of ranks.
    pub ranks: u32,
    /// What to know of where the ranks sit.
    pub placement_note: Option<String>,
    /// The rank that sends or receives all.
    pub root: u32,
    /// The size.
    pub bytes: u64,
    /// Size of parts, unless the algorithm chose it.
    pub part_bytes: Option<u64>,
    /// Size of pieces, unless the algorithm chose it.
    pub piece_bytes: Option<u64>,
    /// Ranks of the cell that chose the algorithm.
    pub table_ranks: Option<u32>,
    /// Bytes of the cell that chose the algorithm.
    pub table_bytes: Option<u64>,
    /// Makespan of the run that is told of, in cycles of the chip's reference clock.
    pub makespan_cycles: Option<Cycles>,
    /// The same in nanoseconds.
    pub makespan_ns: f64,
    /// Number of runs.
    pub runs: usize,
    /// Mean makespan of all runs.
    pub makespan_mean_ns: f64,
    /// Their median.
    pub makespan_median_ns: f64,
    /// Sample variance of the makespan.
    pub makespan_variance_ns2: f64,
    /// What 99 % of the runs do not exceed.
    pub makespan_p99_ns: f64,
    /// The longest makespan.
    pub makespan_max_ns: f64,
    /// Whether every rank received the right data in every run.
    pub delivered: bool,
    /// The cycles that no schedule beats.
    pub bound_cycles: Option<u64>,
    /// The same in nanoseconds.
    pub bound_ns: Option<f64>,
    /// When each rank finished.
    pub finish_ns: Vec<f64>,
    /// Time per kind of cause, summed over all ranks.
    pub causes: BTreeMap<String, f64>,
    /// Simulated events.
    pub events: u64,
    /// Fitted numbers of the chip.
    pub fitted_parameters: usize,
    /// Assumed numbers of the chip.
    pub assumed_parameters: usize,
    /// Percent of the critical path that is the network's.
    pub network_percent: Option<f64>,
    /// Percent of the critical path that is the software's.
    pub software_percent: Option<f64>,
    /// Percent of the background traffic's packets that the network could take.
    #[serde(default)]
    pub background_sent_percent: Option<f64>,
    /// Percent of this computer's cores that other programs took meanwhile, where times are those of a
    /// wall clock.
    pub others_percent: Option<f64>,
}
