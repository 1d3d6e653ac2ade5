// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run of a flow has shown, worked out of the notes of its tasks.
//!
//! Definitions, which hold on every machine:
//!
//! - **Throughput**: iterations of all flows over the makespan.
//! - **Latency** of an iteration: from the begin of the first firing that reads the memory buffer for
//!   it, to the arrival of the last byte that it writes there.
//! - **Split** of a task's time: computing; communicating (commands to the hardware, copies between
//!   local memory and buffers, reads of the memory buffer); stalled on input (a message has not
//!   arrived); stalled on output (the output buffer is full); idle (its program has ended).
//! - **Arrival** of a block: of its last word, in the receiver's buffer; for a read of the memory
//!   buffer, in the tile; for what a firing writes, of the last of it in the memory buffer.
//! - **Jitter** of an edge: the mean absolute deviation of the times between arrivals from their
//!   mean.
//! - **Displacement** of an edge against a quiet run, the "arrival time variation" of Kumar 2012
//!   (section V.C): the mean of the absolute differences between a block's arrivals in both runs.
//! - **Speed-up**: the time of one core that does the work of all tasks, reads and writes the same
//!   parts of the memory buffer, and sends no messages, over the makespan.

mod arrivals;
mod check;
mod edge;
mod split;

use corecast_core::Rank;
use corecast_machine::{Spread, Time};

use arrivals::{ByTask, written};
use check::checks;
use edge::edge_result;
use split::split;

use crate::books::TaskBooks;
use crate::graph::End;
use crate::program::FlowProgram;
use crate::tile::{BufferUse, TaskRun};

pub use check::Check;
pub use edge::EdgeResult;
pub use split::Split;

/// A task of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskResult {
    /// Its name.
    pub name: String,
    /// Which flow it belongs to.
    pub flow: u32,
    /// The core that ran it; none on machines without a placement.
    pub core: Option<u32>,
    /// How often it fired.
    pub firings: u64,
    /// Where its time went.
    pub split: Split,
    /// When its program ended.
    pub finish: Time,
    /// Its input buffer, if the machine says.
    pub input: Option<BufferUse>,
    /// Its output buffer, if the machine says.
    pub output: Option<BufferUse>,
}

/// See the module's documentation.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowResult {
    /// First task's start to last task's finish.
    pub makespan: Time,
    /// Every task, flow by flow.
    pub tasks: Vec<TaskResult>,
    /// Every edge, flow by flow.
    pub edges: Vec<EdgeResult>,
    /// Latencies of all iterations; none if nothing is read or nothing written.
    pub latency: Option<Spread>,
    /// What was compared.
    pub checks: Vec<Check>,
    /// Bytes written to the memory buffer.
    pub written_bytes: u64,
}

impl FlowResult {
    /// The results of a run of `program` on the given cores. `functional` is what
    /// [`crate::functional::run`] leaves in the memory buffer.
    #[must_use]
    pub fn new(
        program: &FlowProgram,
        run: &TaskRun<TaskBooks>,
        cores: Option<&[u32]>,
        functional: &[u8],
    ) -> Self {
        let books = &run.run.outputs;
        let ends = run
            .run
            .finish
            .iter()
            .chain(run.arrivals.iter().map(|arrival| &arrival.time));
        let makespan = ends.copied().max().unwrap_or(Time::ZERO);
        let tasks = (0..program.tasks()).map(Rank).map(|rank| {
            let index = rank.index();
            let core = cores.map(|cores| cores[index]);
            let place = core.unwrap_or(rank.0);
            let buffers = run.buffers.iter().find(|tile| tile.core == place);
            TaskResult {
                name: program.task_name(rank),
                flow: rank.0 / program.graph().tasks().len() as u32,
                core,
                firings: books[index].firings.len() as u64,
                split: split(run, index, makespan),
                finish: run.run.finish[index],
                input: buffers.map(|tile| tile.input),
                output: buffers.map(|tile| tile.output),
            }
        });
        let tasks = tasks.collect();
        let by_task = ByTask::new(program, run);
        let flows = 0..program.flows();
        let edges: Vec<EdgeResult> = flows
            .clone()
            .flat_map(|flow| (0..program.graph().edges().len()).map(move |edge| (flow, edge)))
            .map(|(flow, edge)| edge_result(program, books, &by_task, flow, edge))
            .collect();
        let latencies: Vec<Time> = flows
            .flat_map(|flow| latencies(program, books, &by_task, flow))
            .collect();
        let written = edges.iter().filter(|edge| edge.to_task.is_none());
        Self {
            makespan,
            tasks,
            latency: Spread::of(&latencies),
            checks: checks(program, &run.memory, functional),
            written_bytes: written.map(|edge| edge.bytes).sum(),
            edges,
        }
    }

    /// Iterations of all flows per second.
    #[must_use]
    pub fn iterations_per_second(&self, program: &FlowProgram) -> f64 {
        let iterations = program.iterations() as f64 * f64::from(program.flows());
        iterations * 1e9 / self.makespan.ns().max(f64::MIN_POSITIVE)
    }

    /// Whether all results are as they must be.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.checks.iter().all(|check| check.is_equal)
    }

    /// For every edge the mean absolute difference between a block's arrival here and in `quiet`, in
    /// nanoseconds; none for edges with no blocks.
    ///
    /// # Panics
    /// If the runs are not of the same program.
    #[must_use]
    pub fn displacements_ns(&self, quiet: &Self) -> Vec<Option<f64>> {
        assert_eq!(
            self.edges.len(),
            quiet.edges.len(),
            "runs of the same program"
        );
        let pairs = self.edges.iter().zip(&quiet.edges);
        pairs
            .map(|(edge, quiet)| {
                let times = edge.arrivals.iter().zip(&quiet.arrivals);
                let apart = times.map(|(a, b)| (a.ns() - b.ns()).abs());
                (!edge.arrivals.is_empty()).then(|| apart.sum::<f64>() / edge.arrivals.len() as f64)
            })
            .collect()
    }
}

/// The latency of every iteration of a flow.
fn latencies(program: &FlowProgram, books: &[TaskBooks], by_task: &ByTask, flow: u32) -> Vec<Time> {
    let graph = program.graph();
    let edges = graph.edges().iter().enumerate();
    let mut sources = Vec::new();
    let mut sinks = Vec::new();
    for (index, edge) in edges {
        match (edge.from, edge.to) {
            (End::Memory, End::Task(task)) => sources.push(task),
            (End::Task(task), End::Memory) => {
                sinks.push((task, written(program, books, by_task, (flow, index))));
            }
            _ => {}
        }
    }
    let of = |task: usize| &books[program.rank(flow, task).index()];
    let latency = |iteration: u64| {
        let begins = sources
            .iter()
            .map(|&task| of(task).firings[(iteration * graph.firings()[task]) as usize]);
        let ends = sinks.iter().map(|(task, written)| {
            let firings = graph.firings()[*task];
            let own = (iteration * firings) as usize..((iteration + 1) * firings) as usize;
            // A firing that writes nothing has done its part when it ends.
            let done = of(*task).ends[own.end - 1];
            written[own].iter().flatten().copied().max().unwrap_or(done)
        });
        Some(ends.max()?.saturating_sub(begins.min()?))
    };
    (0..program.iterations()).filter_map(latency).collect()
}
