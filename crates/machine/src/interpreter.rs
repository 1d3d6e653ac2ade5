// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program that walks a schedule on any endpoint, written once.

use std::borrow::Cow;

use corecast_core::{
    Arrival, ChunkId, ChunkList, ElementType, Op, Rank, RecvHalf, ReduceOp, Schedule, Time,
    Violation, in_one_stream,
};

use crate::activity::Cause;
use crate::data::{self, Expected};
use crate::endpoint::ProgramRun;
use crate::error::RunError;
use crate::held::Held;
use crate::job::Job;
use crate::payload::{Message, Payload, message_bytes};
use crate::report::{Report, WrongChunk};
use crate::steps::{Schedules, StepProgram, Steps};
use crate::streams::SideBySide;

/// Walks a schedule; a rank's output is what it holds at the end.
///
/// A schedule with several streams per rank is walked in one order that cannot deadlock where the
/// schedule cannot ([`in_one_stream`]). The steps that endpoints are told of, and that errors name, are
/// then those of that order. Where streams can wait side by side, [`SideBySide`] is the program instead.
pub struct Walk<'a> {
    job: &'a Job<'a>,
    schedule: Result<Cow<'a, Schedule>, Box<Violation>>,
}

impl StepProgram for Walk<'_> {
    type Output = Held;

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<Held, RunError> {
        let schedule: &Schedule = match &self.schedule {
            Ok(schedule) => schedule,
            Err(violation) => return Err(RunError::NotRunnable(violation.clone())),
        };
        let rank = endpoint.rank();
        let mut held = data::initial(self.job, rank);
        let steps = schedule.steps(rank);
        if schedule.steps_total() > 0 {
            endpoint.launch(schedule).await?;
        }
        for (index, step) in steps.iter().enumerate() {
            endpoint.at_step(schedule, index, step);
            let gather = |held: &Held, chunks| gather(schedule, held, rank, index, chunks);
            let arrived = match step.op {
                Op::Send { to, chunks } => {
                    endpoint.send(to, gather(&held, chunks)?).await?;
                    continue;
                }
                Op::Multicast { number, chunks } => {
                    let message = gather(&held, chunks)?;
                    let tree = &schedule.multicasts()[number as usize];
                    endpoint.multicast(number as usize, tree, message).await?;
                    continue;
                }
                Op::Local {
                    source,
                    target,
                    arrival,
                } => {
                    let contents = gather(&held, source)?;
                    match arrival {
                        Arrival::Store => endpoint.copy(message_bytes(&contents)).await?,
                        _ => endpoint.combine(message_bytes(&contents)).await?,
                    }
                    let targets = schedule.chunks(target).iter();
                    for (&chunk, payload) in targets.zip(contents) {
                        take(&mut held, chunk, payload, arrival, self.operator());
                    }
                    continue;
                }
                Op::Recv { from, .. } => endpoint.recv(from).await?,
                Op::RecvMulticast { number, .. } => {
                    let tree = &schedule.multicasts()[number as usize];
                    endpoint.recv_multicast(number as usize, tree).await?
                }
                Op::Exchange { to, send, from, .. } => {
                    endpoint.exchange(to, gather(&held, send)?, from).await?
                }
                Op::Forward {
                    from,
                    to,
                    arrival: Arrival::Store,
                    ..
                } => endpoint.forward(from, to, schedule.piece_bytes()).await?,
                Op::Forward { .. } => unreachable!("in one stream no forward combines"),
            };
            let half = step.recv_half().expect("the other steps receive");
            self.scatter(endpoint, schedule, &mut held, (half, arrived))
                .await?;
        }
        Ok(held)
    }
}

impl<'a> Walk<'a> {
    /// The program that walks the schedule of `job` with its input data.
    #[must_use]
    pub fn new(job: &'a Job<'a>) -> Self {
        let schedule = in_one_stream(job.schedule).map_err(Box::new);
        Self { job, schedule }
    }

    /// Puts an arrived message where it belongs.
    async fn scatter<E: Steps>(
        &self,
        endpoint: &mut E,
        schedule: &Schedule,
        held: &mut Held,
        (half, arrived): (RecvHalf, Message),
    ) -> Result<(), RunError> {
        let chunks = schedule.chunks(half.chunks);
        let sizes = chunks.iter().map(|&chunk| schedule.chunk_bytes(chunk));
        if !sizes.eq(arrived.iter().map(|payload| payload.len() as u64)) {
            return Err(RunError::Shape {
                rank: endpoint.rank(),
                from: half.from,
                expected: format!("{} chunks", chunks.len()),
            });
        }
        if half.arrival == Arrival::Reduce {
            endpoint.combine(message_bytes(&arrived)).await?;
        }
        for (&chunk, payload) in chunks.iter().zip(arrived) {
            take(held, chunk, payload, half.arrival, self.operator());
        }
        Ok(())
    }

    /// How contributions are combined.
    fn operator(&self) -> (ReduceOp, ElementType) {
        (self.job.op, self.job.element)
    }
}

/// The contents of a list of chunks.
pub(crate) fn gather(
    schedule: &Schedule,
    held: &Held,
    rank: Rank,
    step: usize,
    chunks: ChunkList,
) -> Result<Message, RunError> {
    let chunks = schedule.chunks(chunks).iter();
    chunks
        .map(|&chunk| {
            held.get(chunk)
                .cloned()
                .ok_or(RunError::NotHeld { rank, step, chunk })
        })
        .collect()
}

/// Stores an arrived chunk, or combines it with what is held: `held = held op arrived`.
pub(crate) fn take(
    held: &mut Held,
    chunk: ChunkId,
    arrived: Payload,
    arrival: Arrival,
    operator: (ReduceOp, ElementType),
) {
    match (arrival, held.get_mut(chunk)) {
        (Arrival::Reduce, Some(mine)) => {
            *mine = combined(mine, &arrived, operator);
        }
        _ => {
            held.insert(chunk, arrived);
        }
    }
}

/// `held op arrived`.
pub(crate) fn combined(
    held: &[u8],
    arrived: &[u8],
    (op, element): (ReduceOp, ElementType),
) -> Payload {
    let mut result = held.to_vec();
    op.apply(element, &mut result, arrived);
    result.into()
}

/// Forgets all that `rank` was not promised; what is kept has the name of its chunk, wherever it lay.
pub(crate) fn keep_results(schedule: &Schedule, rank: Rank, held: &mut Held) {
    let spec = schedule.spec();
    let places = schedule.results();
    if !places.is_empty() {
        let chunks = spec.final_chunks(rank);
        let results = chunks.filter_map(|chunk| {
            let place = places.get(&chunk).copied().unwrap_or(chunk);
            Some((chunk, held.get(place)?.clone()))
        });
        *held = results.collect();
    }
    held.retain(|chunk| chunk.0 < spec.chunks() && spec.wants_finally(rank, chunk));
}

/// Runs a job on a machine that runs programs, and checks what every rank received.
///
/// # Errors
/// Whatever ended the run.
pub fn run_job<M: Schedules>(
    machine: &M,
    name: &'static str,
    job: &Job<'_>,
) -> Result<Report, RunError> {
    let ranks = job.schedule.ranks();
    job.options.check(ranks)?;
    let side_by_side = SideBySide::if_worthwhile(job);
    let run = side_by_side.and_then(|it| machine.run_streams(ranks, &it, &job.options));
    let run = match run {
        Some(run) => run?,
        None => machine.run_steps(ranks, &Walk::new(job), &job.options)?,
    };
    report(name, job, run)
}

/// What a run of a job has shown, each rank's output being what it holds at the end: checks what every
/// rank received.
///
/// # Errors
/// Whatever ends the run on the oracle.
pub fn report(
    name: &'static str,
    job: &Job<'_>,
    run: ProgramRun<Held>,
) -> Result<Report, RunError> {
    let spec = job.schedule.spec();
    let expected = Expected::new(job)?;
    let mut outputs = run.outputs;
    let mut wrong = Vec::new();
    for (rank, held) in job.schedule.all_ranks().zip(&mut outputs) {
        keep_results(job.schedule, rank, held);
        for chunk in spec.final_chunks(rank) {
            if !held
                .get(chunk)
                .is_some_and(|bytes| expected.matches(rank, chunk, bytes))
            {
                wrong.push(WrongChunk { rank, chunk });
            }
        }
    }
    let makespan = run.finish.iter().copied().max().unwrap_or(Time::ZERO);
    let mut activity = run.activity;
    for (of_rank, &finish) in activity.iter_mut().zip(&run.finish) {
        of_rank.fill(finish, Cause::Handshake);
        of_rank.fill(makespan, Cause::Idle);
    }
    let report = Report {
        machine: name,
        makespan,
        finish: run.finish,
        activity,
        messages: run.messages,
        links: run.links,
        holds: run.holds,
        background: run.background,
        wrong,
        outputs,
        events: run.events,
        trace_hash: run.trace_hash,
    };
    report.assert_accounted();
    Ok(report)
}
