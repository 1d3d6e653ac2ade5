//! The host's own cores as a machine: one thread per rank over shared memory.
//!
//! The same interpreter walks the same schedules here as on simulated chips, with real threads and
//! real copies. This machine keeps the boundary honest; it is not built for speed: one lock guards
//! all mailboxes, which makes waiting bounded and deadlocks certain to be seen.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine};
//! use corecast_machine_host::HostMachine;
//! let request = Request::new(Collective::Allreduce, 4, 1000);
//! let schedule = algorithm::find(request.collective, "ring").unwrap().schedule(&request);
//! let report = HostMachine.run(&Job::new(&schedule)).unwrap();
//! assert!(report.delivered());
//! ```

mod core;
mod mailroom;
mod mpb;
mod post;
mod rcce;
mod shared;
mod steps;
mod tasks;
mod tile;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use corecast_core::Rank;
use corecast_machine::{
    Activity, Endpoint, Job, Machine, MessageRecord, Program, ProgramRun, Programs, Report,
    RunError, RunOptions, Schedules, StepProgram, Steps, Time, interpreter, run_blocking,
};

pub use mpb::{PAYLOAD_BYTES, PRIVATE_BYTES};
use post::Post;
use steps::HostSteps;
pub use tasks::TaskSetup;
pub use world::{EAGER_BYTES, HostCourier, HostEndpoint, HostWorld};

/// Most ranks: each is a thread.
pub const RANKS_MAX: u32 = 256;

/// See the module's documentation.
///
/// Times are wall-clock times. A launch is independent on this machine, and transfers from before
/// the run are refused: threads have no ports that could be busy.
#[derive(Clone, Copy, Debug)]
pub struct HostMachine;

impl Machine for HostMachine {
    fn name(&self) -> &'static str {
        "host"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}

/// What a rank's thread hands back.
struct Finished<T> {
    output: T,
    finish: Time,
    activity: Activity,
    messages: Vec<MessageRecord>,
}

impl Schedules for HostMachine {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        check(ranks, options)?;
        let post = Post::new(ranks, options.limits.time);
        let results = on_threads(ranks, |rank, keep| {
            match run_rank(&post, rank, options.late_of(rank), program) {
                Ok(finished) => {
                    keep(finished);
                    post.finish();
                }
                Err(error) => post.fail(error),
            }
        });
        post.outcome()?;
        Ok(collect(results))
    }
}

impl Programs for HostMachine {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        let world = HostWorld::new(ranks, options)?;
        let results = on_threads(ranks, |rank, keep| {
            if let Some(finished) = run_attached(&world, rank, options.late_of(rank), program) {
                keep(finished);
            }
        });
        world.outcome()?;
        Ok(collect(results))
    }
}

/// Refuses what threads cannot do.
fn check(ranks: u32, options: &RunOptions) -> Result<(), RunError> {
    options.check(ranks)?;
    if ranks > RANKS_MAX {
        return Err(RunError::TooManyRanks {
            machine: "host".into(),
            max: RANKS_MAX,
            ranks,
        });
    }
    let unsupported = if options.ongoing.is_empty() {
        options.background.map(|_| "background traffic")
    } else {
        Some("ongoing transfers")
    };
    unsupported.map_or(Ok(()), |what| {
        let machine = "host";
        Err(RunError::Unsupported { machine, what })
    })
}

/// Runs `body` for every rank on a thread of its own; what it hands to its second argument is the
/// rank's result.
fn on_threads<T: Send>(
    ranks: u32,
    body: impl Fn(Rank, &dyn Fn(Finished<T>)) + Sync,
) -> Vec<Option<Finished<T>>> {
    let results: Mutex<Vec<Option<Finished<T>>>> = Mutex::default();
    lock(&results).resize_with(ranks as usize, || None);
    thread::scope(|scope| {
        for rank in (0..ranks).map(Rank) {
            let (results, body) = (&results, &body);
            scope.spawn(move || {
                body(rank, &|finished| {
                    lock(results)[rank.index()] = Some(finished);
                });
            });
        }
    });
    results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What all ranks gave.
fn collect<T>(results: Vec<Option<Finished<T>>>) -> ProgramRun<T> {
    let mut run = ProgramRun {
        outputs: Vec::new(),
        finish: Vec::new(),
        activity: Vec::new(),
        messages: Vec::new(),
        links: Vec::new(),
        holds: Vec::new(),
        events: 0,
        trace_hash: 0,
    };
    for rank in results.into_iter().flatten() {
        run.outputs.push(rank.output);
        run.finish.push(rank.finish);
        run.activity.push(rank.activity);
        run.messages.extend(rank.messages);
    }
    run.messages
        .sort_by_key(|message| (message.end, message.from, message.to));
    run
}

/// A lock that outlives a panicking holder: the panic itself is reported as the rank's failure.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs a rank of a program of messages; a failure is told to all before the handle is gone.
fn run_attached<P: Program>(
    world: &HostWorld,
    rank: Rank,
    late: Time,
    program: &P,
) -> Option<Finished<P::Output>> {
    let told = |error| world.fail(error);
    let mut endpoint = world.attach(rank).map_err(told).ok()?;
    thread::sleep(Duration::from_nanos(late.ps() / 1000));
    let outcome = caught(rank, || {
        run_blocking(async {
            let output = program.run(&mut endpoint).await?;
            endpoint.finish().await?;
            Ok(output)
        })
    });
    let output = outcome.and_then(|ended| ended).map_err(told).ok()?;
    let finish = endpoint.now();
    let (activity, messages) = endpoint.into_courier().take_books();
    Some(Finished {
        output,
        finish,
        activity,
        messages,
    })
}

fn run_rank<P: StepProgram>(
    post: &Post,
    rank: Rank,
    late: Time,
    program: &P,
) -> Result<Finished<P::Output>, RunError> {
    let mut steps = HostSteps::new(post, rank);
    steps.compute_for(late);
    let output = caught(rank, || run_blocking(program.run(&mut steps)))??;
    let finish = steps.now();
    let (activity, messages) = steps.into_books();
    Ok(Finished {
        output,
        finish,
        activity,
        messages,
    })
}

/// What `body` returns, a panic being the failure of its rank.
fn caught<T>(rank: Rank, body: impl FnOnce() -> T) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let reason = text.unwrap_or("panic");
        failed(rank, reason)
    })
}

/// The failure of a rank.
fn failed(rank: Rank, reason: &str) -> RunError {
    RunError::RankFailed {
        rank,
        reason: reason.to_owned(),
        help: String::new(),
    }
}
