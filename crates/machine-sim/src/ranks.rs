// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ranks run on a simulated chip, steps or messages, and how they are run until all have
//! finished.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{
    BackgroundUse, Courier, Endpoint, Limits, Matched, Program, ProgramRun, RunError, RunOptions,
    StepProgram, Steps, Time, cycle_first,
};
use corecast_sim::{Executor, Outcome};

use crate::books::Books;

/// Steps on a core that can be kept busy.
pub(crate) trait SimSteps: Steps {
    /// The core is busy with something else until `time`.
    async fn compute_until(&mut self, time: Time);
}

/// A courier on a core that can be kept busy.
pub(crate) trait SimCourier: Courier {
    /// The core is busy with something else until `late`; then transfers from before the run end.
    async fn begin(&mut self, late: Time) -> Result<(), RunError>;

    /// The messages that follow are those of a collective, which is called now.
    async fn call(&mut self) {}
}

/// What every rank of a chip runs: [`OnSteps`] or [`OnMessages`].
pub(crate) trait OnChip: Copy {
    /// What a rank returns.
    type Output;

    /// What a rank runs on.
    type On<S: SimSteps, C: SimCourier>;

    /// Makes the one of the two that a rank runs on.
    fn choose<S: SimSteps, C: SimCourier>(
        steps: impl FnOnce() -> S,
        courier: impl FnOnce() -> C,
    ) -> Self::On<S, C>;

    /// One rank, which is late by `late`; returns when it has finished, too.
    fn run<S: SimSteps, C: SimCourier>(
        self,
        on: &mut Self::On<S, C>,
        late: Time,
    ) -> impl Future<Output = Result<(Self::Output, Time), RunError>>;
}

/// A program of steps.
pub(crate) struct OnSteps<'p, P>(pub &'p P);

/// A program of messages.
pub(crate) struct OnMessages<'p, P> {
    pub program: &'p P,
    /// Whether it carries out a schedule, which is called as any other.
    pub is_schedule: bool,
}

impl<P> Copy for OnSteps<'_, P> {}

impl<P> Clone for OnSteps<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for OnMessages<'_, P> {}

impl<P> Clone for OnMessages<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: StepProgram> OnChip for OnSteps<'_, P> {
    type Output = P::Output;
    type On<S: SimSteps, C: SimCourier> = S;

    fn choose<S: SimSteps, C: SimCourier>(steps: impl FnOnce() -> S, _: impl FnOnce() -> C) -> S {
        steps()
    }

    // Not an async function, which would keep its arguments a second time.
    #[expect(
        clippy::manual_async_fn,
        reason = "a million ranks have this future each"
    )]
    fn run<S: SimSteps, C: SimCourier>(
        self,
        steps: &mut S,
        late: Time,
    ) -> impl Future<Output = Result<(P::Output, Time), RunError>> {
        async move {
            steps.compute_until(late).await;
            let output = self.0.run(steps).await?;
            steps.finish().await?;
            Ok((output, steps.now()))
        }
    }
}

impl<P: Program> OnChip for OnMessages<'_, P> {
    type Output = P::Output;
    type On<S: SimSteps, C: SimCourier> = Matched<C>;

    fn choose<S: SimSteps, C: SimCourier>(
        _: impl FnOnce() -> S,
        courier: impl FnOnce() -> C,
    ) -> Matched<C> {
        Matched::new(courier())
    }

    async fn run<S: SimSteps, C: SimCourier>(
        self,
        endpoint: &mut Matched<C>,
        late: Time,
    ) -> Result<(P::Output, Time), RunError> {
        endpoint.courier_mut().begin(late).await?;
        if self.is_schedule {
            endpoint.courier_mut().call().await;
        }
        let output = self.program.run(endpoint).await?;
        self.program.end(endpoint).await?;
        Ok((output, endpoint.now()))
    }
}

/// Runs what `on` says on steps or a courier per rank until all have finished.
pub(crate) fn execute<'a, S: SimSteps + 'a, C: SimCourier + 'a, T: OnChip + 'a>(
    mut executor: Executor<'a>,
    on: T,
    (steps, courier): (impl Fn(Rank) -> S, impl Fn(Rank) -> C),
    ranks: u32,
    options: &RunOptions,
    books: &Books,
) -> Result<ProgramRun<T::Output>, RunError>
where
    T::Output: 'a,
{
    books.show(&options.watch);
    let results = Rc::new(Results::new(ranks));
    for rank in (0..ranks).map(Rank) {
        let mut runs_on = T::choose(|| steps(rank), || courier(rank));
        let (late, results) = (options.late_of(rank), Rc::clone(&results));
        executor.spawn(async move {
            // What the rank runs on stays here: a future that owned it would hold it twice.
            let result = on.run::<S, C>(&mut runs_on, late).await;
            results.enter(rank, result);
        });
    }
    finish(executor, &results, options.limits, books)
}

/// What the tasks of a run have come to.
struct Results<T, E> {
    outputs: RefCell<Vec<Option<(T, Time)>>>,
    /// The first that failed.
    failure: RefCell<Option<E>>,
}

impl<T, E> Results<T, E> {
    fn new(ranks: u32) -> Self {
        let mut outputs = Vec::new();
        outputs.resize_with(ranks as usize, || None);
        Self {
            outputs: RefCell::new(outputs),
            failure: RefCell::new(None),
        }
    }

    fn enter(&self, rank: Rank, result: Result<(T, Time), E>) {
        match result {
            Ok(result) => self.outputs.borrow_mut()[rank.index()] = Some(result),
            Err(error) => {
                self.failure.borrow_mut().get_or_insert(error);
            }
        }
    }
}

/// Runs a task per rank, which returns its output and when it finished, until all have finished.
pub(crate) fn run_ranks<
    'a,
    T: 'a,
    E: From<RunError> + 'a,
    F: Future<Output = Result<(T, Time), E>> + 'a,
>(
    mut executor: Executor<'a>,
    ranks: u32,
    task: impl Fn(Rank) -> F,
    limits: Limits,
    books: &Books,
) -> Result<ProgramRun<T>, E> {
    let results = Rc::new(Results::new(ranks));
    for rank in (0..ranks).map(Rank) {
        // On the heap by itself: a future that is captured and then awaited takes its size twice.
        let (task, results) = (Box::pin(task(rank)), Rc::clone(&results));
        executor.spawn(async move { results.enter(rank, task.await) });
    }
    finish(executor, &results, limits, books)
}

/// Runs until all tasks have finished and entered their results.
fn finish<T, E: From<RunError>>(
    mut executor: Executor<'_>,
    results: &Results<T, E>,
    limits: Limits,
    books: &Books,
) -> Result<ProgramRun<T>, E> {
    let kernel = executor.kernel();
    let outcome = executor.run();
    drop(executor);
    if let Some(error) = results.failure.take() {
        return Err(error);
    }
    check_outcome(outcome, kernel.now(), limits, books)?;
    let (outputs, finish) = results.outputs.take().into_iter().flatten().unzip();
    Ok(ProgramRun {
        outputs,
        finish,
        activity: books.take_activity(),
        messages: books.take_messages(),
        links: Vec::new(),
        holds: Vec::new(),
        background: BackgroundUse::default(),
        events: kernel.events(),
        trace_hash: kernel.trace_hash(),
    })
}

/// Whether a run that ended at `at` in this way is complete.
fn check_outcome(
    outcome: Outcome,
    at: Time,
    limits: Limits,
    books: &Books,
) -> Result<(), RunError> {
    let blocked = cycle_first(books.blocked());
    match outcome {
        Outcome::Complete => Ok(()),
        Outcome::Stuck => Err(RunError::Deadlock { at, blocked }),
        Outcome::TimeLimit => {
            let limit = limits.time;
            Err(RunError::TimeLimit { limit, blocked })
        }
        Outcome::EventLimit => {
            let limit = limits.events;
            Err(RunError::EventLimit { limit, blocked })
        }
        Outcome::Stopped => Err(RunError::Stopped),
    }
}
