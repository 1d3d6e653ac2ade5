// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said about a run of a flow, as records; units are in the names.

use corecast_flow::{EdgeResult, TaskResult};
use corecast_machine::Time;
use serde::Serialize;

use super::{FlowCase, FlowStudy};

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowRecord {
    /// Name of the flow.
    pub name: String,
    /// Instances of the graph.
    pub flows: u32,
    /// Tasks of all instances.
    pub tasks: u32,
    /// Iterations.
    pub iterations: u64,
    /// The word for the placement.
    pub placement: Option<&'static str>,
    /// Bytes of an iteration times their hops.
    pub byte_hops: Option<u64>,
    /// The lowest that any placement has.
    pub byte_hops_optimal: Option<u64>,
    /// Makespan in cycles of the chip's reference clock.
    pub makespan_cycles: Option<f64>,
    /// The same in nanoseconds.
    pub makespan_ns: f64,
    /// Throughput.
    pub iterations_per_s: f64,
    /// Bytes written to the memory buffer.
    pub written_bytes: u64,
    /// Mean latency of an iteration.
    pub latency_mean_ns: Option<f64>,
    /// What 99 % of the iterations do not exceed.
    pub latency_p99_ns: Option<f64>,
    /// The longest latency.
    pub latency_max_ns: Option<f64>,
    /// The time of one core with the same work.
    pub one_core_ns: f64,
    /// How many times as fast as one core.
    pub speed_up: f64,
    /// Whether all checks hold.
    pub right: bool,
    /// With what results were compared.
    pub checks: Vec<CheckRecord>,
    /// Share of time in which injectors send.
    pub injector_rate: Option<f64>,
    /// Simulated events.
    pub events: u64,
    /// Hash of all simulated events, 16 hexadecimal digits.
    pub trace_hash: String,
    /// Every task.
    pub per_task: Vec<TaskRecord>,
    /// Every edge.
    pub per_edge: Vec<EdgeRecord>,
}

/// A comparison.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CheckRecord {
    /// With what.
    pub compared_with: &'static str,
    /// Whether all flows are equal to it.
    pub equal: bool,
}

/// A task.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TaskRecord {
    /// Its name.
    pub task: String,
    /// Its instance of the graph.
    pub flow: u32,
    /// Its core.
    pub core: Option<u32>,
    /// How often it fired.
    pub firings: u64,
    /// When it finished.
    pub finish_ns: f64,
    /// Time in which it computed.
    pub computing_ns: f64,
    /// Time in which it moved data.
    pub communicating_ns: f64,
    /// Time in which it waited for input.
    pub stalled_input_ns: f64,
    /// Time in which it waited for room.
    pub stalled_output_ns: f64,
    /// Time after its end.
    pub idle_ns: f64,
    /// Size of its input buffer.
    pub input_words: Option<u64>,
    /// How much of it was in use.
    pub input_words_mean: Option<f64>,
    /// The most.
    pub input_words_max: Option<u64>,
    /// Size of its output buffer.
    pub output_words: Option<u64>,
    /// How much of it was in use.
    pub output_words_mean: Option<f64>,
    /// The most.
    pub output_words_max: Option<u64>,
}

/// An edge.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EdgeRecord {
    /// Its instance of the graph.
    pub flow: u32,
    /// Its sender.
    pub from: String,
    /// Its receiver.
    pub to: String,
    /// Blocks that arrived.
    pub arrivals: usize,
    /// Bytes of all.
    pub bytes: u64,
    /// Mean time between two arrivals.
    pub interval_mean_ns: Option<f64>,
    /// The longest time between two arrivals.
    pub interval_max_ns: Option<f64>,
    /// Standard deviation of the time between two arrivals.
    pub jitter_ns: Option<f64>,
    /// How far blocks arrive from when they do without other traffic.
    pub displacement_ns: Option<f64>,
}

impl FlowStudy {
    /// A time in cycles of the chip's reference clock; none where times are not told in cycles.
    #[must_use]
    pub fn cycles(&self, time: Time) -> Option<f64> {
        let clock = self.machine.clock()?;
        Some(clock.cycles_f64(time.ps()))
    }

    /// A run as a record.
    #[must_use]
    pub fn record(&self, case: &FlowCase) -> FlowRecord {
        let (program, result) = (&case.program, &case.result);
        let checks = case.compared().into_iter();
        let checks = checks.map(|(compared_with, equal)| CheckRecord {
            compared_with,
            equal,
        });
        let edges = result.edges.iter().enumerate();
        FlowRecord {
            name: program.graph().name().to_owned(),
            flows: program.flows(),
            tasks: program.tasks(),
            iterations: program.iterations(),
            placement: case.placement,
            byte_hops: case.cost.map(|cost| cost.byte_hops),
            byte_hops_optimal: case.cost.and_then(|cost| cost.optimal),
            makespan_cycles: self.cycles(result.makespan),
            makespan_ns: result.makespan.ns(),
            iterations_per_s: result.iterations_per_second(program),
            written_bytes: result.written_bytes,
            latency_mean_ns: result.latency.map(|latency| latency.mean_ns),
            latency_p99_ns: result.latency.map(|latency| latency.p99.ns()),
            latency_max_ns: result.latency.map(|latency| latency.max.ns()),
            one_core_ns: case.one_core.ns(),
            speed_up: case.speed_up(),
            right: result.is_right(),
            checks: checks.collect(),
            injector_rate: self.plan.injectors.map(|injectors| injectors.rate),
            events: case.events,
            trace_hash: format!("{:016x}", case.trace_hash),
            per_task: result.tasks.iter().map(task).collect(),
            per_edge: edges.map(|(index, of)| edge(case, index, of)).collect(),
        }
    }
}

fn task(task: &TaskResult) -> TaskRecord {
    let [computing, communicating, input, output, idle] = task.split.parts().map(Time::ns);
    TaskRecord {
        task: task.name.clone(),
        flow: task.flow,
        core: task.core,
        firings: task.firings,
        finish_ns: task.finish.ns(),
        computing_ns: computing,
        communicating_ns: communicating,
        stalled_input_ns: input,
        stalled_output_ns: output,
        idle_ns: idle,
        input_words: task.input.map(|usage| usage.words),
        input_words_mean: task.input.map(|usage| usage.mean_words),
        input_words_max: task.input.map(|usage| usage.max_words),
        output_words: task.output.map(|usage| usage.words),
        output_words_mean: task.output.map(|usage| usage.mean_words),
        output_words_max: task.output.map(|usage| usage.max_words),
    }
}

fn edge(case: &FlowCase, index: usize, edge: &EdgeResult) -> EdgeRecord {
    let displacements = case.displacements_ns.as_ref();
    EdgeRecord {
        flow: edge.flow,
        from: edge.from.clone(),
        to: edge.to.clone(),
        arrivals: edge.arrivals.len(),
        bytes: edge.bytes,
        interval_mean_ns: edge.interval_ns,
        interval_max_ns: edge.interval_max_ns,
        jitter_ns: edge.jitter_ns,
        displacement_ns: displacements.and_then(|all| all[index]),
    }
}
