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

use corecast_core::Rank;
use corecast_machine::{Cause, Spread, Time};

use crate::books::{Call, CallRecord, TaskBooks};
use crate::graph::End;
use crate::kernel::Setup;
use crate::program::FlowProgram;
use crate::tile::{Arrival, BufferUse, Place, TaskRun};

/// Where the time of a task went; the parts sum to the makespan.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Split {
    /// Its own work.
    pub computing: Time,
    /// Commands, copies, and waiting for reads of the memory buffer.
    pub communicating: Time,
    /// Waiting for a message.
    pub input: Time,
    /// Waiting for room in the output buffer.
    pub output: Time,
    /// Before its begin and after its end.
    pub idle: Time,
}

impl Split {
    /// The names of the parts, in the order in which they are shown.
    pub const PARTS: [&'static str; 5] = [
        "computing",
        "communicating",
        "stalled on input",
        "stalled on output",
        "idle",
    ];

    /// The parts in the order of [`Split::PARTS`].
    #[must_use]
    pub const fn parts(&self) -> [Time; 5] {
        [
            self.computing,
            self.communicating,
            self.input,
            self.output,
            self.idle,
        ]
    }
}

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

/// An edge of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgeResult {
    /// Which flow it belongs to.
    pub flow: u32,
    /// Name of the task that makes the blocks, or of the memory buffer.
    pub from: String,
    /// Name of the task that takes them, or of the memory buffer.
    pub to: String,
    /// Task of the machine that makes them; none = the memory buffer.
    pub from_task: Option<Rank>,
    /// Task of the machine that takes them; none = the memory buffer.
    pub to_task: Option<Rank>,
    /// Bytes that it carried.
    pub bytes: u64,
    /// When each block arrived, in order.
    pub arrivals: Vec<Time>,
    /// Mean time between arrivals; none of fewer than two.
    pub interval_ns: Option<f64>,
    /// Mean absolute deviation of the times between arrivals from their mean.
    pub jitter_ns: Option<f64>,
    /// The longest time between arrivals.
    pub interval_max_ns: Option<f64>,
}

/// A comparison of results with what was computed without the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Which flow.
    pub flow: u32,
    /// What it was compared with, in words.
    pub what: &'static str,
    /// Whether every byte is equal.
    pub is_equal: bool,
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

/// Splits the time of a task. Whether a wait is one for input or for output is told by the call: a
/// send waits for an acknowledgement, too, and a write for room in front of the memory buffer.
fn split(run: &TaskRun<TaskBooks>, task: usize, makespan: Time) -> Split {
    let mut split = Split::default();
    let mut calls = run.run.outputs[task].calls.iter().peekable();
    for span in run.run.activity[task].spans() {
        let time = span.end - span.start;
        while calls.next_if(|call| call.end <= span.start).is_some() {}
        let call = calls
            .peek()
            .filter(|call| call.start <= span.start)
            .map(|call| call.call);
        let is_out = matches!(call, Some(Call::Send | Call::Write));
        match span.cause {
            Cause::Compute => split.computing += time,
            Cause::BufferFull(_) | Cause::PortBusy(_) => split.output += time,
            Cause::WaitPeer(_) | Cause::Memory if is_out => split.output += time,
            Cause::WaitPeer(_) => split.input += time,
            Cause::Idle => split.idle += time,
            _ => split.communicating += time,
        }
    }
    let sum = split
        .parts()
        .into_iter()
        .fold(Time::ZERO, |sum, part| sum + part);
    split.idle += makespan.saturating_sub(sum);
    split
}

/// What has arrived, by sender and receiver, in order of posting and so of the sender's calls.
struct ByTask(std::collections::BTreeMap<(Place, Place), Vec<Arrival>>);

impl ByTask {
    fn new(program: &FlowProgram, run: &TaskRun<TaskBooks>) -> Self {
        let mut all = std::collections::BTreeMap::<_, Vec<Arrival>>::new();
        for &arrival in &run.arrivals {
            all.entry((arrival.from, arrival.to))
                .or_default()
                .push(arrival);
        }
        for list in all.values_mut() {
            list.sort_by_key(|arrival| (arrival.posted, arrival.time));
        }
        debug_assert!(all.len() <= program.tasks() as usize * (program.tasks() as usize + 2));
        Self(all)
    }

    fn between(&self, from: Place, to: Place) -> &[Arrival] {
        self.0.get(&(from, to)).map_or(&[], Vec::as_slice)
    }
}

/// The calls of one kind with their arrivals: the machine's if it notes as many, else when the call
/// returned.
fn arrivals_of<'a>(
    books: &'a TaskBooks,
    call: Call,
    arrivals: &'a [Arrival],
) -> impl Iterator<Item = (&'a CallRecord, Time)> {
    let calls: Vec<&CallRecord> = books.calls.iter().filter(|c| c.call == call).collect();
    let is_noted = calls.len() == arrivals.len();
    calls.into_iter().enumerate().map(move |(index, record)| {
        (
            record,
            if is_noted {
                arrivals[index].time
            } else {
                record.end
            },
        )
    })
}

/// When what each firing of `task` has written to the memory buffer over `edge` had arrived; none if
/// it has written nothing.
fn written(
    program: &FlowProgram,
    books: &[TaskBooks],
    by_task: &ByTask,
    (flow, edge): (u32, usize),
) -> Vec<Option<Time>> {
    let task = program.graph().edges()[edge]
        .from
        .task()
        .expect("a task writes");
    let rank = program.rank(flow, task);
    let books = &books[rank.index()];
    let mut of_firing = vec![None; books.firings.len()];
    let list = by_task.between(Place::Task(rank), Place::Memory);
    for (record, time) in arrivals_of(books, Call::Write, list) {
        if record.edge as usize != edge {
            continue;
        }
        let after = books
            .firings
            .partition_point(|&begin| begin <= record.start);
        let last: &mut Option<Time> = &mut of_firing[after.max(1) - 1];
        *last = Some(last.map_or(time, |last| last.max(time)));
    }
    of_firing
}

fn edge_result(
    program: &FlowProgram,
    books: &[TaskBooks],
    by_task: &ByTask,
    flow: u32,
    index: usize,
) -> EdgeResult {
    let graph = program.graph();
    let edge = &graph.edges()[index];
    let rank = |end: End| end.task().map(|task| program.rank(flow, task));
    let (from, to) = (rank(edge.from), rank(edge.to));
    let moved = |task: Rank, call: Call| {
        let calls = books[task.index()].calls.iter();
        let own = calls.filter(move |record| record.call == call && record.edge as usize == index);
        own.map(|record| u64::from(record.bytes)).sum()
    };
    let (bytes, arrivals) = match (from, to) {
        (Some(from), Some(to)) => {
            let list = by_task.between(Place::Task(from), Place::Task(to));
            let calls = arrivals_of(&books[from.index()], Call::Send, &[]);
            let lasts = calls.filter(|(record, _)| record.edge as usize == index);
            let lasts: Vec<bool> = lasts.map(|(record, _)| record.is_last).collect();
            let blocks = list.iter().zip(lasts).filter(|&(_, is_last)| is_last);
            (
                moved(from, Call::Send),
                blocks.map(|(arrival, _)| arrival.time).collect(),
            )
        }
        (None, Some(to)) => {
            let list = by_task.between(Place::Memory, Place::Task(to));
            let calls = arrivals_of(&books[to.index()], Call::Read, list);
            let own = calls.filter(|(record, _)| record.edge as usize == index);
            (moved(to, Call::Read), own.map(|(_, time)| time).collect())
        }
        (Some(from), None) => {
            let written = written(program, books, by_task, (flow, index));
            (
                moved(from, Call::Write),
                written.into_iter().flatten().collect(),
            )
        }
        (None, None) => unreachable!("refused by `Graph::new`"),
    };
    let arrivals: Vec<Time> = arrivals;
    let intervals: Vec<f64> = arrivals
        .windows(2)
        .map(|two| two[1].ns() - two[0].ns())
        .collect();
    let count = intervals.len() as f64;
    let mean = (!intervals.is_empty()).then(|| intervals.iter().sum::<f64>() / count);
    let jitter = mean.map(|mean| intervals.iter().map(|i| (i - mean).abs()).sum::<f64>() / count);
    let name = |rank: Option<Rank>| {
        rank.map_or_else(
            || crate::graph::MEMORY.to_owned(),
            |rank| program.task_name(rank),
        )
    };
    EdgeResult {
        flow,
        from: name(from),
        to: name(to),
        from_task: from,
        to_task: to,
        bytes,
        interval_ns: mean,
        jitter_ns: jitter,
        interval_max_ns: intervals.iter().copied().reduce(f64::max),
        arrivals,
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

/// Compares the memory buffer with what it must hold. Machines may leave out zeros at its end.
fn checks(program: &FlowProgram, memory: &[u8], functional: &[u8]) -> Vec<Check> {
    let mut checks = Vec::new();
    let begin = program.memory();
    let part = |range: std::ops::Range<usize>| range.map(|i| memory.get(i).copied().unwrap_or(0));
    for flow in 0..program.flows() {
        for expected in Setup::expected(program, flow, &begin) {
            let found = part(program.range(flow, expected.edge));
            let is_equal = found.eq(expected.bytes.iter().copied());
            checks.push(Check {
                flow,
                what: expected.what,
                is_equal,
            });
        }
        let whole = program.flow_range(flow);
        let is_equal = part(whole.clone()).eq(functional[whole].iter().copied());
        checks.push(Check {
            flow,
            what: "a run without timing",
            is_equal,
        });
    }
    checks
}
