// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine of threads: schedules and programs of messages.

use std::thread;
use std::time::Duration;

use corecast_core::Rank;
use corecast_machine::{
    Endpoint, Job, Machine, Program, ProgramRun, Programs, Report, RunError, RunOptions, Schedules,
    StepProgram, Steps, Time, interpreter, run_blocking,
};

use crate::post::Post;
use crate::steps::HostSteps;
use crate::threads::{Finished, caught, check, collect, on_threads};
use crate::world::HostWorld;

/// See the crate's documentation.
///
/// Times are wall-clock times. A launch is independent on this machine, and transfers from before
/// the run are refused: threads have no ports that could be busy.
#[derive(Clone, Copy, Debug)]
pub struct HostMachine;

impl Machine for HostMachine {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
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

    fn run_streams<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Option<Result<ProgramRun<P::Output>, RunError>> {
        Some(self.run_programs(ranks, program, options))
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
            program.end(&mut endpoint).await?;
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
