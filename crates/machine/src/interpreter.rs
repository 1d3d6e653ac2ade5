//! The program that walks a schedule on any endpoint, written once.

use corecast_core::{
    Arrival, ChunkId, ChunkList, ElementType, Op, Rank, RecvHalf, ReduceOp, Schedule, Time,
};

use crate::activity::Cause;
use crate::data::{self, Expected};
use crate::error::RunError;
use crate::held::Held;
use crate::job::Job;
use crate::payload::{Message, Payload, message_bytes};
use crate::report::{Report, WrongChunk};
use crate::steps::{Schedules, StepProgram, Steps};

/// Walks a schedule; a rank's output is what it holds at the end.
pub struct Walk<'a> {
    job: &'a Job<'a>,
}

impl StepProgram for Walk<'_> {
    type Output = Held;

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<Held, RunError> {
        let (schedule, rank) = (self.job.schedule, endpoint.rank());
        let mut held = data::initial(schedule.spec(), self.job.element, self.job.seed, rank);
        let steps = schedule.steps(rank);
        if schedule.steps_total() > 0 {
            endpoint.launch(schedule).await?;
        }
        for (index, step) in steps.iter().enumerate() {
            endpoint.at_step(schedule, index, step);
            let gather = |held: &Held, chunks| gather(schedule, held, rank, index, chunks);
            let multicast = schedule.multicast_of(rank, index);
            let arrived = match step.op {
                Op::Send { chunks, .. } if let Some((number, multicast)) = multicast => {
                    if multicast.sends().start == index {
                        let message = gather(&held, chunks)?;
                        endpoint.multicast(number, &multicast.tree, message).await?;
                    }
                    continue;
                }
                Op::Recv { .. } if let Some((number, multicast)) = multicast => {
                    endpoint.recv_multicast(number, &multicast.tree).await?
                }
                Op::Send { to, chunks } => {
                    endpoint.send(to, gather(&held, chunks)?).await?;
                    continue;
                }
                Op::Recv { from, .. } => endpoint.recv(from).await?,
                Op::Exchange { to, send, from, .. } => {
                    endpoint.exchange(to, gather(&held, send)?, from).await?
                }
                Op::Forward { from, to, .. } => {
                    endpoint.forward(from, to, schedule.piece_bytes()).await?
                }
            };
            let half = step.recv_half().expect("every step but Send receives");
            self.scatter(endpoint, &mut held, half, arrived).await?;
        }
        Ok(held)
    }
}

impl<'a> Walk<'a> {
    /// The program that walks the schedule of `job` with its input data.
    #[must_use]
    pub fn new(job: &'a Job<'a>) -> Self {
        Self { job }
    }

    /// Puts an arrived message where it belongs.
    async fn scatter<E: Steps>(
        &self,
        endpoint: &mut E,
        held: &mut Held,
        half: RecvHalf,
        arrived: Message,
    ) -> Result<(), RunError> {
        let schedule = self.job.schedule;
        let chunks = schedule.chunks(half.chunks);
        let sizes = chunks
            .iter()
            .map(|&chunk| schedule.spec().chunk_bytes(chunk));
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
        let operator = (self.job.op, self.job.element);
        for (&chunk, payload) in chunks.iter().zip(arrived) {
            take(held, chunk, payload, half.arrival, operator);
        }
        Ok(())
    }
}

/// The contents of a list of chunks.
fn gather(
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
fn take(
    held: &mut Held,
    chunk: ChunkId,
    arrived: Payload,
    arrival: Arrival,
    (op, element): (ReduceOp, ElementType),
) {
    match (arrival, held.get_mut(chunk)) {
        (Arrival::Reduce, Some(mine)) => {
            let mut result = mine.to_vec();
            op.apply(element, &mut result, &arrived);
            *mine = result.into();
        }
        _ => {
            held.insert(chunk, arrived);
        }
    }
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
    let spec = job.schedule.spec();
    job.options.check(spec.ranks())?;
    let run = machine.run_steps(spec.ranks(), &Walk::new(job), &job.options)?;
    let expected = Expected::new(job)?;
    let mut outputs = run.outputs;
    let mut wrong = Vec::new();
    for (rank, held) in job.schedule.all_ranks().zip(&mut outputs) {
        held.retain(|chunk| spec.wants_finally(rank, chunk));
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
        wrong,
        outputs,
        events: run.events,
        trace_hash: run.trace_hash,
    };
    report.assert_accounted();
    Ok(report)
}
