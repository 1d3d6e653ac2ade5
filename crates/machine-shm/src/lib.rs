// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's own cores as a machine, at the speed of the MPI library: schedules become the plans that
//! `corecast-mpi` carries out, over the shared segment of `corecast-shm`.
//!
//! Ranks are threads here, each with its own end of the segment; to the segment they are what the
//! processes of `corecast mpirun` are. A rank notes when it asks for a message and when one has come,
//! which costs some 30 ns each; nothing else is between the plan and the cores. Before the run that
//! counts there are a few that do not: the first one finds its memory untouched.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine};
//! use corecast_machine_shm::ShmMachine;
//! let request = Request::new(Collective::Allreduce, 3, 1000);
//! let schedule = algorithm::find(request.collective, "ring").unwrap().schedule(&request);
//! let report = ShmMachine.run(&Job::new(&schedule)).unwrap();
//! assert!(report.delivered());
//! ```

mod boards;
mod books;
mod rank;
mod round_trip;
mod rounds;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use corecast_core::{Collective, LinkUse, Rank, Schedule, in_one_stream};
use corecast_machine::{
    BackgroundUse, Blocked, Held, Job, Machine, ProgramRun, Report, RunError, Time, interpreter,
};
use corecast_mpi::collective::lane;
use corecast_mpi::collective::plan::{self, Layout};
use corecast_mpi::collective::shared::What;
use corecast_shm::{Port, Segment};

use books::Books;
pub use round_trip::round_trip;
use rounds::Rounds;
pub use rounds::{Trial, Way};

/// Name of the machine in results.
pub const NAME: &str = "host";

/// Most ranks: each is a thread.
pub const RANKS_MAX: u32 = 256;

/// Looks at the others before a rank that waits for them to begin hands its core over.
const SPINS: u32 = 10_000;

/// See the module's documentation.
///
/// Times are wall-clock times. A launch is independent on this machine, schedules for shared buffers
/// send messages, and transfers from before the run are refused: threads have no ports that could be
/// busy.
#[derive(Clone, Copy, Debug)]
pub struct ShmMachine;

impl Machine for ShmMachine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        let ranks = job.schedule.ranks();
        job.options.check_on_threads(NAME, ranks, RANKS_MAX)?;
        let schedule = in_one_stream(job.schedule);
        let schedule = schedule.map_err(|violation| RunError::NotRunnable(Box::new(violation)))?;
        let limit = job.options.limits.time;
        let rounds = Rounds::one(&schedule);
        let body = |hall: &Hall, rank| rank::run(hall, &schedule, job, rank, rounds);
        let (run, _) = on_threads(ranks, limit, body)?;
        interpreter::report(NAME, job, run)
    }
}

impl ShmMachine {
    /// Whether a collective over so many ranks can go through boards.
    #[must_use]
    pub fn has_boards(collective: Collective, ranks: u32) -> bool {
        (2..=lane::RANKS_MAX as u32).contains(&ranks) && What::of(collective).is_some()
    }

    /// Whether two schedules for one request are the same here: every rank does the same in both.
    #[must_use]
    pub fn does_the_same(one: &Schedule, other: &Schedule) -> bool {
        let (Ok(one), Ok(other)) = (in_one_stream(one), in_one_stream(other)) else {
            return false;
        };
        let acts = |schedule, rank| plan::program(schedule, Rank(rank), &Layout::EVEN);
        let all = 0..one.ranks();
        all.into_iter()
            .all(|rank| acts(&one, rank) == acts(&other, rank))
    }

    /// Carries a job out `counted` times in a row, in the state in which a program finds it that makes
    /// the call often. Nobody is late.
    ///
    /// # Errors
    /// As [`Machine::run`]; [`RunError::RankFailed`] if there is no such way ([`ShmMachine::has_boards`]).
    pub fn trial(job: &Job<'_>, way: Way, counted: u32) -> Result<Trial, RunError> {
        let (ranks, spec) = (job.schedule.ranks(), job.schedule.spec());
        job.options.check_on_threads(NAME, ranks, RANKS_MAX)?;
        let schedule = in_one_stream(job.schedule);
        let schedule = schedule.map_err(|violation| RunError::NotRunnable(Box::new(violation)))?;
        let rounds = Rounds::steady(ranks, spec.block_bytes(0), counted.max(1));
        let run = |hall: &Hall, rank| match way {
            Way::Messages => rank::run(hall, &schedule, job, rank, rounds),
            Way::Boards => boards::run(hall, &schedule, job, rank, rounds),
        };
        let (run, makespans) = on_threads(ranks, job.options.limits.time, run)?;
        let report = interpreter::report(NAME, job, run)?;
        Ok(Trial { makespans, report })
    }
}

/// Where the threads of a run meet.
pub(crate) struct Hall {
    segment: Segment,
    ranks: u32,
    /// Arrivals of all rounds together.
    arrived: AtomicU32,
    /// Rounds that have begun.
    begun: AtomicU32,
    /// Whether somebody has failed: nobody waits any longer.
    has_failed: AtomicBool,
    built: Instant,
    /// When the last round began, in nanoseconds since then.
    began: AtomicU64,
}

impl Hall {
    fn new(ranks: u32) -> Result<Self, RunError> {
        let segment = Segment::create(ranks).map_err(|error| failed(Rank(0), &error))?;
        Ok(Self {
            segment,
            ranks,
            arrived: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            has_failed: AtomicBool::new(false),
            built: Instant::now(),
            began: AtomicU64::new(0),
        })
    }

    /// The rank's end of the segment.
    pub(crate) fn port(&self, rank: Rank) -> Result<Port, Failure> {
        Port::on(&self.segment, rank.0).map_err(|error| Failure::Of(failed(rank, &error)))
    }

    /// Waits until all ranks have come to this round, counted from 0; the moment in which they had.
    pub(crate) fn begin(&self, round: u32) -> Instant {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.ranks * (round + 1) {
            let now = self.built.elapsed().as_nanos() as u64;
            self.began.store(now, Ordering::Relaxed);
            self.begun.store(round + 1, Ordering::Release);
        }
        let mut looks = 0_u32;
        while self.begun.load(Ordering::Acquire) <= round && !self.is_over() {
            looks = looks.saturating_add(1);
            match looks {
                ..SPINS => std::hint::spin_loop(),
                _ => thread::yield_now(),
            }
        }
        self.built + Duration::from_nanos(self.began.load(Ordering::Relaxed))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}

/// What a rank's thread hands back.
pub(crate) struct Finished {
    pub held: Held,
    /// When it was through with each round that counts.
    pub laps: Vec<Time>,
    pub books: Books,
}

/// Why a rank has none.
pub(crate) enum Failure {
    /// This.
    Of(RunError),
    /// The time is over, or another one has failed, and it waits.
    Late(Option<Blocked>),
}

/// Runs `body` for every rank on a thread of its own; the last round, and how long each took.
fn on_threads(
    ranks: u32,
    limit: Time,
    body: impl Fn(&Hall, Rank) -> Result<Finished, Failure> + Sync,
) -> Result<(ProgramRun<Held>, Vec<Time>), RunError> {
    let hall = Hall::new(ranks)?;
    let results: Vec<Result<Finished, Failure>> = thread::scope(|scope| {
        let start = |rank| {
            let (hall, body) = (&hall, &body);
            scope.spawn(move || {
                let result = body(hall, Rank(rank));
                if result.is_err() {
                    hall.has_failed.store(true, Ordering::Relaxed);
                }
                result
            })
        };
        let threads: Vec<_> = (0..ranks).map(start).collect();
        let end = |(rank, thread): (u32, thread::ScopedJoinHandle<'_, _>)| {
            let panicked = |_| Err(Failure::Of(failed(Rank(rank), &"it panicked")));
            thread.join().unwrap_or_else(panicked)
        };
        (0..).zip(threads).map(end).collect()
    });
    collect(results, limit)
}

fn collect(
    results: Vec<Result<Finished, Failure>>,
    limit: Time,
) -> Result<(ProgramRun<Held>, Vec<Time>), RunError> {
    let mut run = ProgramRun {
        outputs: Vec::new(),
        finish: Vec::new(),
        activity: Vec::new(),
        messages: Vec::new(),
        links: Vec::<LinkUse>::new(),
        holds: Vec::new(),
        background: BackgroundUse::default(),
        events: 0,
        trace_hash: 0,
    };
    let (mut books, mut laps) = (Vec::new(), Vec::new());
    let (mut blocked, mut is_late) = (Vec::new(), false);
    for result in results {
        match result {
            Ok(finished) => {
                run.outputs.push(finished.held);
                run.finish.extend(finished.laps.last());
                laps.push(finished.laps);
                books.push(finished.books);
            }
            Err(Failure::Of(error)) => return Err(error),
            Err(Failure::Late(waits)) => {
                is_late = true;
                blocked.extend(waits);
            }
        }
    }
    if is_late {
        return Err(RunError::TimeLimit { limit, blocked });
    }
    run.messages = books::messages(&books);
    run.activity = books.into_iter().map(Books::into_activity).collect();
    Ok((run, rounds::makespans(&laps)))
}

fn failed(rank: Rank, why: &dyn std::fmt::Display) -> RunError {
    let reason = why.to_string();
    let help = String::new();
    RunError::RankFailed { rank, reason, help }
}
