// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan whose parts are known to make sense together: select, build, certify, run.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use corecast_chip::{Chip, ChipRoutes};
use corecast_core::{
    Algorithm, BuildError, Certificate, Collective, Rank, Request, Schedule, Spec, Split,
    algorithm, verify, worst_queue,
};
use corecast_machine::{Job, Report, RunOptions, Spread, Time, data};
use corecast_tune::{Decision, Setting};
use rayon::prelude::*;

use crate::advice::Advice;
use crate::algorithms::{Selection, distinct};
use crate::error::StudyError;
use crate::machines::{MachineKind, StudyMachine};
use crate::number::{TOTAL_BYTES_MAX, thousandths};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::rank::Run;
use crate::schedules::FileLine;
use crate::settings::Settings;

/// Runs of which the median is told.
const TIMED_RUNS: u32 = 9;

/// What is proven about a schedule.
#[derive(Clone, Debug)]
pub struct Certified {
    /// On the chip's routes.
    pub certificate: Certificate,
    /// The longest makespan from the last arrival on, if there is a bound.
    pub worst_case: Option<Time>,
    /// Most payload bytes that can lie unread at any rank if nobody waits for permission to send
    /// ([`worst_queue`]), if the schedule is correct.
    pub max_unread_bytes: Option<u64>,
    /// Connections that pass several links of the chip, of a schedule from a file: its author may
    /// have meant a chip with a link for each.
    pub detours: Vec<Detour>,
    /// The lines that each violation is about, of a schedule from a file.
    pub lines: Vec<Vec<FileLine>>,
}

/// A connection whose messages pass several links of a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detour {
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Links between the two.
    pub hops: u32,
}

impl fmt::Display for Detour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{} ({} links)", self.from, self.to, self.hops)
    }
}

/// Runs of one schedule.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The one that is told of: with the first seed, or of the middle time.
    pub first: Report,
    /// The makespans of all.
    pub spread: Spread,
    /// Whether every rank received the right data in all of them.
    pub delivered: bool,
}

/// A plan whose parts are known to make sense together.
///
/// ```
/// use corecast_core::Collective;
/// use corecast_study::{ChipChoice, Plan, Study};
/// let chip = ChipChoice::find("park2019-bus", &[]).expect("built in");
/// let study = Study::new(Plan::new(chip, Collective::Bcast))?;
/// let ranking = study.rank(8, 64, &())?;
/// assert_eq!(ranking.runs[0].algorithm, "ap");
/// assert!(ranking.runs.iter().all(|run| run.faults().is_empty()));
/// # Ok::<(), corecast_study::StudyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Study {
    /// What was asked for.
    pub plan: Plan,
    /// The machine, set up for the chip.
    pub machine: Arc<dyn StudyMachine>,
    /// Rank counts.
    pub ranks: Vec<u32>,
    /// The algorithms to look at.
    pub algorithms: Vec<&'static dyn Algorithm>,
    /// Algorithms that were left out because they are others here, with those that they are.
    pub aliases: Vec<(&'static str, &'static str)>,
    /// The table that decides which algorithm is the fastest.
    pub advice: Option<Advice>,
}

impl Study {
    /// Checks everything that does not depend on the algorithm.
    ///
    /// # Errors
    /// What does not make sense, and why.
    pub fn new(mut plan: Plan) -> Result<Self, StudyError> {
        let collective = plan.collective;
        if let Some(choice) = plan.meaningless() {
            return Err(StudyError::NoChoice { collective, choice });
        }
        if collective == Collective::Barrier {
            // Nothing is carried: one size is as good as another.
            plan.sizes.truncate(1);
        }
        let chip = &plan.chip.chip;
        let machine = plan.machine.on(chip, plan.fidelity)?;
        let ranks = rank_counts(&plan.ranks, plan.machine, chip)?;
        let fewest = ranks.iter().copied().min().unwrap_or(1);
        if plan.surroundings.is_cold {
            machine.can_be_cold()?;
        }
        if plan.surroundings.background.is_some() {
            machine.takes_background()?;
        }
        plan.surroundings.check(fewest)?;
        let has_shared = machine.has_shared_buffers();
        let field = plan.selection.field(plan.collective, has_shared)?;
        let study = Self {
            machine,
            ranks,
            algorithms: field.algorithms,
            aliases: field.aliases,
            advice: None,
            plan,
        };
        for &ranks in &study.ranks {
            for &bytes in &study.plan.sizes {
                let request = study.request(ranks, bytes)?;
                study.check_input(&request)?;
            }
        }
        Ok(study)
    }

    /// Refuses data of another size than a request takes.
    fn check_input(&self, request: &Request) -> Result<(), StudyError> {
        let Some(input) = &self.plan.input else {
            return Ok(());
        };
        let spec = Spec::new(request, Split::Even(1));
        let (given, needed) = (input.len() as u64, data::input_bytes(&spec));
        match given == needed {
            true => Ok(()),
            false => Err(StudyError::Input { given, needed }),
        }
    }

    /// The chip.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.plan.chip.chip
    }

    /// The collective.
    #[must_use]
    pub fn collective(&self) -> Collective {
        self.plan.collective
    }

    /// Whether only the fastest is of interest.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        self.plan.selection == Selection::Fastest
    }

    /// The same simulated as exactly as can be; none if it is that already, or is not simulated.
    #[must_use]
    pub fn exact(&self) -> Option<Self> {
        let machine = self.machine.exact()?;
        Some(Self {
            machine,
            ..self.clone()
        })
    }

    /// The same on a chip with another value of one number; none if that is refused, or if the
    /// chip's file cannot be read again.
    #[must_use]
    pub fn with_number(&self, key: &str, value: f64) -> Option<Self> {
        let chip = self.plan.chip.with_number(key, value)?;
        let kind = self.machine.kind();
        let machine = kind.on(&chip.chip, self.machine.fidelity()).ok()?;
        let mut study = Self {
            machine,
            ..self.clone()
        };
        study.plan.chip = chip;
        Some(study)
    }

    /// A time in cycles of the chip's reference clock, to a thousandth; none where times are not
    /// told in cycles.
    #[must_use]
    pub fn cycles(&self, time: Time) -> Option<f64> {
        let clock = self.machine.clock()?;
        Some(thousandths(clock.cycles_f64(time.ps())))
    }

    /// The unit in which times are told: cycles of the chip's reference clock, or nanoseconds of a wall
    /// clock.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        self.machine.clock().map_or("ns", |_| "cycles")
    }

    /// A time in [`Study::unit`].
    #[must_use]
    pub fn told(&self, time: Time) -> f64 {
        self.cycles(time).unwrap_or_else(|| time.ns())
    }

    /// Whether times are those of a wall clock: two runs of the same take different times.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.machine.clock().is_none()
    }

    /// Whether it is known what no schedule can beat where it runs.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        let some = Request::new(Collective::Bcast, 2, 1);
        self.machine.bound_cycles(&some).is_some()
    }

    /// How often runs are repeated unless somebody says: where every run takes another time, several.
    #[must_use]
    pub fn usual_repeat(&self) -> u32 {
        if self.is_timed() { TIMED_RUNS } else { 1 }
    }

    /// What a decision table of this study holds for.
    ///
    /// # Errors
    /// Whatever is wrong with its first request.
    pub fn setting(&self) -> Result<Setting, StudyError> {
        let (collective, plan) = (self.plan.collective, &self.plan);
        let tuning = self.request(self.ranks[0], plan.sizes[0])?.tuning;
        let fidelity = self.machine.fidelity();
        let of = self.machine.tuned_for();
        let own_ways = match self.plan.selection {
            Selection::Named(_) => Vec::new(),
            _ => self.machine.own_ways(collective, self.ranks[0]),
        };
        let names = self.algorithms.iter().map(|algorithm| algorithm.name());
        Ok(Setting {
            corecast: env!("CARGO_PKG_VERSION").to_owned(),
            machine: self.machine.kind().name().to_owned(),
            chip: of.name,
            fingerprint: of.fingerprint,
            collective,
            root: collective.is_rooted().then_some(plan.root),
            dtype: collective.is_reduction().then_some(plan.element),
            fidelity: fidelity.map(|fidelity| fidelity.name().to_owned()),
            flow_control: tuning.flow_control,
            status_bits: tuning.status_bits,
            arity: tuning.arity,
            algorithms: own_ways.into_iter().chain(names).collect(),
        })
    }

    /// What results of this study depend on.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings::new(&self.plan.chip, &*self.machine).with_plan(&self.plan)
    }

    /// What the table says, if one decides.
    ///
    /// # Errors
    /// If it has no cell that could.
    pub fn decide(&self, ranks: u32, bytes: u64) -> Result<Option<Decision<'_>>, StudyError> {
        let Some(advice) = &self.advice else {
            return Ok(None);
        };
        let request = self.request(ranks, bytes)?;
        advice.decide(&request).map(Some)
    }

    /// The surroundings and limits of a run with this seed.
    fn options(&self, ranks: u32, seed: u64) -> RunOptions {
        let (plan, clock) = (&self.plan, self.chip().reference_clock());
        let options = plan.surroundings.options(ranks, seed, clock, plan.limits);
        let watch = plan.watch.clone();
        RunOptions { watch, ..options }
    }

    /// Every algorithm of the collective, each once.
    #[must_use]
    pub fn distinct_algorithms(&self) -> Vec<&'static dyn Algorithm> {
        let has_shared = self.machine.has_shared_buffers();
        distinct(self.plan.collective, has_shared).algorithms
    }

    /// The request as the machine would hear it.
    ///
    /// # Errors
    /// What no algorithm could serve.
    pub fn request(&self, ranks: u32, bytes: u64) -> Result<Request, StudyError> {
        let (plan, collective) = (&self.plan, self.plan.collective);
        if plan.root >= ranks {
            let root = plan.root;
            return Err(StudyError::Root { root, ranks });
        }
        let is_pairwise = matches!(collective, Collective::Alltoall | Collective::Alltoallv);
        let blocks = u64::from(ranks) * if is_pairwise { u64::from(ranks) } else { 1 };
        if bytes.saturating_mul(blocks) > TOTAL_BYTES_MAX {
            let max = TOTAL_BYTES_MAX / blocks;
            return Err(StudyError::TooManyBytes { bytes, ranks, max });
        }
        let mut request = Request::new(collective, ranks, bytes).with_root(Rank(plan.root));
        if collective == Collective::Alltoallv {
            let of_file = plan.files.iter().find_map(|file| file.counts(ranks, bytes));
            let equal = || vec![bytes; blocks as usize].into();
            request.counts = Some(of_file.unwrap_or_else(equal));
        }
        if collective.is_reduction() {
            let element = plan.element;
            if !bytes.is_multiple_of(u64::from(element.bytes())) {
                return Err(StudyError::PartialElement { bytes, element });
            }
            request.element_bytes = element.bytes();
        }
        request.tuning = plan.tuning.clone();
        let options = self.options(ranks, plan.seed);
        let request = self.machine.complete(request, &options);
        request.check()?;
        Ok(request)
    }

    /// How many take part: algorithms, and schedules from files.
    #[must_use]
    pub fn contestants(&self) -> usize {
        self.algorithms.len() + self.plan.files.len()
    }

    /// The schedule of a run, made again.
    #[must_use]
    pub fn schedule_of(&self, run: &Run) -> Option<Schedule> {
        self.schedule_named(&run.algorithm, &run.request)
    }

    /// The schedule for a request by an algorithm or a file of this name.
    pub(crate) fn schedule_named(&self, name: &str, request: &Request) -> Option<Schedule> {
        let files = &self.plan.files;
        match files.iter().find(|file| file.name() == name) {
            Some(file) => file.schedule_for(request).ok(),
            None => {
                let algorithm = algorithm::find(self.plan.collective, name)?;
                self.schedule(algorithm, request).ok()
            }
        }
    }

    /// The schedule, or why this algorithm has none.
    ///
    /// # Errors
    /// Why it has none.
    pub fn schedule(
        &self,
        algorithm: &dyn Algorithm,
        request: &Request,
    ) -> Result<Schedule, BuildError> {
        algorithm::build(algorithm, request)
    }

    /// What is proven about a schedule on the chip.
    #[must_use]
    pub fn certify(&self, schedule: &Schedule) -> Certified {
        let certificate = verify(schedule, &self.machine.routes(schedule.ranks()));
        let worst_case = self.machine.worst_case(schedule, &certificate);
        let is_alone = self.plan.surroundings.is_quiet();
        Certified {
            worst_case: worst_case.filter(|_| is_alone),
            max_unread_bytes: worst_queue(schedule, &|bytes| bytes),
            certificate,
            detours: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// The connections of a schedule that pass several links of the chip, in order; none on a chip
    /// where every two ranks have a way of their own.
    pub(crate) fn detours(&self, schedule: &Schedule) -> Vec<Detour> {
        let ChipRoutes::Mesh { seats, .. } = self.machine.routes(schedule.ranks()) else {
            return Vec::new();
        };
        let sends = schedule.sends().map(|(from, _, half)| (from, half.to));
        let connections: BTreeSet<(Rank, Rank)> = sends.collect();
        let detours = connections.into_iter().map(|(from, to)| Detour {
            from,
            to,
            hops: seats.hops(from, to),
        });
        detours.filter(|detour| detour.hops > 1).collect()
    }

    /// Runs a schedule as often as planned, with one seed after the other.
    ///
    /// # Errors
    /// Whatever ended one of the runs.
    pub fn run(&self, schedule: &Schedule, progress: &dyn Progress) -> Result<Runs, StudyError> {
        let (repeat, seed) = (self.plan.repeat, self.plan.seed);
        progress.begins(schedule, repeat);
        let seeds = (1..u64::from(repeat)).map(|run| seed.wrapping_add(run));
        let first = self.run_seed(schedule, seed)?;
        // Of the others only this is kept: there may be a million of them.
        let shown = |report: &Report| (report.makespan, report.delivered());
        let run = |seed| self.run_seed(schedule, seed).map(|report| shown(&report));
        let others: Result<Vec<(Time, bool)>, StudyError> = if self.machine.runs_side_by_side() {
            let seeds: Vec<u64> = seeds.collect();
            seeds.into_par_iter().map(run).collect()
        } else {
            seeds.map(run).collect()
        };
        let mut all = vec![shown(&first)];
        all.extend(others?);
        let times: Vec<Time> = all.iter().map(|&(makespan, _)| makespan).collect();
        Ok(Runs {
            spread: Spread::of(&times).expect("at least one run"),
            delivered: all.iter().all(|&(_, delivered)| delivered),
            first,
        })
    }

    /// One run that takes at most `time`, which nobody watches; none if it would take longer, or
    /// cannot be.
    #[must_use]
    pub fn run_within(&self, schedule: &Schedule, time: Time) -> Option<Report> {
        let mut job = self.job(schedule, self.plan.seed);
        job.options.limits.time = job.options.limits.time.min(time);
        job.options.watch = self.plan.watch.uncounted();
        self.machine.run(&job).ok()
    }

    pub(crate) fn run_seed(&self, schedule: &Schedule, seed: u64) -> Result<Report, StudyError> {
        let outcome = self.machine.run(&self.job(schedule, seed));
        outcome.map_err(|error| StudyError::Run {
            algorithm: schedule.algorithm().to_owned(),
            has_flow_control: schedule.has_flow_control(),
            error,
        })
    }

    pub(crate) fn job<'a>(&self, schedule: &'a Schedule, seed: u64) -> Job<'a> {
        Job {
            op: self.plan.op,
            element: self.plan.element,
            seed,
            input: self.plan.input.clone(),
            options: self.options(schedule.ranks(), seed),
            ..Job::new(schedule)
        }
    }
}

/// So many ranks, each on a core of its own.
pub(crate) fn check_cores(chip: &Chip, ranks: u64) -> Result<u32, StudyError> {
    let (max, cores) = (chip.ranks_max(), chip.cores_max());
    match u32::try_from(ranks) {
        Ok(ranks) if (1..=max).contains(&ranks) => Ok(ranks),
        Ok(needed) if (max + 1..=cores).contains(&needed) => Err(StudyError::Placement {
            needed: ranks,
            listed: max,
        }),
        _ => Err(StudyError::RankCount {
            ranks,
            chip: chip.name.clone(),
            max,
        }),
    }
}

fn rank_counts(
    asked: &[u64],
    machine: &'static dyn MachineKind,
    chip: &Chip,
) -> Result<Vec<u32>, StudyError> {
    if asked.is_empty() {
        return Ok(vec![chip.ranks_max().min(8)]);
    }
    let check = |&ranks: &u64| match (machine.ranks_max(), u32::try_from(ranks)) {
        (None, _) => check_cores(chip, ranks),
        (Some(max), Ok(ranks)) if (1..=max).contains(&ranks) => Ok(ranks),
        (Some(max), _) => Err(StudyError::MachineRanks {
            ranks,
            machine: machine.name(),
            max,
        }),
    };
    asked.iter().map(check).collect()
}

/// How large a case is, as titles say it: a barrier carries nothing, and a file's blocks may be of several
/// sizes.
///
/// ```
/// assert_eq!(corecast_study::case_size(64, 8), "64 bytes, 8 ranks");
/// assert_eq!(corecast_study::case_size(0, 8), "8 ranks");
/// assert_eq!(corecast_study::case_size(1, 1), "1 byte, 1 rank");
/// ```
#[must_use]
pub fn case_size(bytes: u64, ranks: u32) -> String {
    let ranks = counted(ranks, "rank");
    match bytes {
        0 => ranks,
        bytes => format!("{}, {ranks}", counted(bytes, "byte")),
    }
}

/// So many of something, in words.
///
/// ```
/// assert_eq!(corecast_study::counted(1_u32, "rank"), "1 rank");
/// assert_eq!(corecast_study::counted(8_u32, "rank"), "8 ranks");
/// ```
#[must_use]
pub fn counted(count: impl Into<u64>, what: &str) -> String {
    match count.into() {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::ChipChoice;
    use corecast_core::algorithm::find;
    use corecast_machine::{RunError, Watch};

    fn plan() -> Plan {
        let chip = ChipChoice::find("park2019-bus", &[]).expect("built in");
        Plan {
            selection: Selection::Named(vec!["linear".to_owned()]),
            ..Plan::new(chip, Collective::Bcast)
        }
    }

    #[test]
    fn data_are_as_long_as_what_the_ranks_hold() {
        let with = |bytes: usize| {
            let input = Some(vec![7; bytes].into());
            Study::new(Plan { input, ..plan() })
        };
        let refused = with(63).expect_err("one byte is missing");
        let (given, needed) = (63, 64);
        assert_eq!(refused, StudyError::Input { given, needed });
        let study = with(64).expect("as many");
        let run = &study.rank(8, 64, &()).expect("runs").runs[0];
        let held = run.report.outputs[5].iter().next().expect("the block");
        assert_eq!((run.delivered, &held.1[..]), (true, &[7; 64][..]));
        assert!(study.settings().json()["input"].is_string());
    }

    #[test]
    fn runs_that_nobody_wants_end() {
        let watch = Watch::new();
        watch.stop();
        let study = Study::new(Plan { watch, ..plan() }).expect("makes sense");
        let error = study.rank(8, 64, &()).expect_err("stopped");
        let is_stopped = |error: &StudyError| matches!(error, StudyError::Run { error, .. } if *error == RunError::Stopped);
        assert!(is_stopped(&error), "{error}");
    }

    #[test]
    fn schedules_from_elsewhere_are_proved_before_they_run() {
        let study = Study::new(plan()).expect("makes sense");
        let request = study.request(4, 64).expect("a request");
        let linear = find(Collective::Bcast, "linear").expect("registered");
        let schedule = linear.schedule(&request);
        let run = study
            .run_given("mine".into(), &request, &schedule, &())
            .expect("correct");
        assert_eq!((&*run.algorithm, run.delivered), ("mine", true));
        let mut damaged = schedule.edit();
        damaged.steps_mut(Rank(3)).pop();
        let refused = study.run_given("mine".into(), &request, &damaged.finish(), &());
        assert!(matches!(
            refused,
            Err(StudyError::Incorrect { count: 2, .. })
        ));
    }
}
