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

mod endpoint;
mod post;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use corecast_core::Rank;
use corecast_machine::{
    Activity, Endpoint, Job, Machine, MessageRecord, Program, ProgramRun, Programs, Report,
    RunError, RunOptions, Time, interpreter, run_blocking,
};

use endpoint::HostEndpoint;
use post::Post;

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

impl Programs for HostMachine {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
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
        if let Some(what) = unsupported {
            return Err(RunError::Unsupported {
                machine: "host",
                what,
            });
        }
        let post = Post::new(ranks, options.limits.time);
        let results: Mutex<Vec<Option<Finished<P::Output>>>> = Mutex::default();
        lock(&results).resize_with(ranks as usize, || None);
        thread::scope(|scope| {
            for rank in (0..ranks).map(Rank) {
                let late = options
                    .late
                    .get(rank.index())
                    .copied()
                    .unwrap_or(Time::ZERO);
                let (post, results) = (&post, &results);
                scope.spawn(move || match run_rank(post, rank, late, program) {
                    Ok(finished) => {
                        lock(results)[rank.index()] = Some(finished);
                        post.finish(rank);
                    }
                    Err(error) => post.fail(error),
                });
            }
        });
        post.outcome()?;
        let finished = results
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
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
        for rank in finished.into_iter().flatten() {
            run.outputs.push(rank.output);
            run.finish.push(rank.finish);
            run.activity.push(rank.activity);
            run.messages.extend(rank.messages);
        }
        run.messages
            .sort_by_key(|message| (message.end, message.from, message.to));
        Ok(run)
    }
}

/// A lock that outlives a panicking holder: the panic itself is reported as the rank's failure.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run_rank<P: Program>(
    post: &Post,
    rank: Rank,
    late: Time,
    program: &P,
) -> Result<Finished<P::Output>, RunError> {
    let mut endpoint = HostEndpoint::new(post, rank);
    endpoint.compute_for(late);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        run_blocking(program.run(&mut endpoint))
    }));
    let output = outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(RunError::RankFailed {
            rank,
            reason: text.unwrap_or("panic").to_owned(),
        })
    })?;
    let finish = endpoint.now();
    let (activity, messages) = endpoint.into_books();
    Ok(Finished {
        output,
        finish,
        activity,
        messages,
    })
}
