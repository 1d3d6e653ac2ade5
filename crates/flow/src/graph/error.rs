//! The rules of a graph, as errors: which one does not hold, and what would be right.

use thiserror::Error;

use crate::graph::wiring::{EDGES_MAX, TASKS_MAX, Wiring};

/// Why tasks and edges are no graph.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// No tasks, or too many.
    #[error("a graph has 1 to {TASKS_MAX} tasks, not {tasks}")]
    Tasks {
        /// How many there are.
        tasks: usize,
    },
    /// Too many edges.
    #[error("a graph has at most {EDGES_MAX} edges, not {edges}")]
    Edges {
        /// How many there are.
        edges: usize,
    },
    /// Two tasks of one name.
    #[error("two tasks are called `{name}`\n  every task needs its own name")]
    TwoTasks {
        /// The name.
        name: String,
    },
    /// A task that nothing is connected to.
    #[error("task `{task}` has no edge\n  connect it or remove it")]
    Unconnected {
        /// The task.
        task: String,
    },
    /// An edge that does not connect two things.
    #[error("{edge} begins where it ends\n  a task keeps by itself what it needs later")]
    Loop {
        /// The edge.
        edge: String,
    },
    /// Two edges that the receiver could not tell apart.
    #[error(
        "there are two edges {edge}\n  a message carries nothing but its sender, so put both blocks into one"
    )]
    Parallel {
        /// The edge.
        edge: String,
    },
    /// A number of an edge beyond its range.
    #[error("{edge}: `{key}` = {found} is out of range\n  accepted: {min} to {max}")]
    OutOfRange {
        /// The edge.
        edge: String,
        /// The number.
        key: &'static str,
        /// Its value.
        found: u32,
        /// The lowest accepted.
        min: u32,
        /// The highest accepted.
        max: u32,
    },
    /// Rates that make blocks pile up or run out.
    #[error(
        "rates do not balance at {edge}: while `{from}` fires {from_firings} times, the other edges \
         let `{to}` fire {to_firings} times\n  that makes {made} blocks and takes {taken}"
    )]
    Unbalanced {
        /// The edge at which it shows.
        edge: String,
        /// Its producer.
        from: String,
        /// Firings of the producer.
        from_firings: u64,
        /// Its consumer.
        to: String,
        /// Firings of the consumer.
        to_firings: u64,
        /// Blocks made.
        made: u64,
        /// Blocks taken.
        taken: u64,
    },
    /// Rates whose smallest common multiple is beyond the limit.
    #[error(
        "an iteration would have more than {max} firings\n  choose rates with small common multiples"
    )]
    TooManyFirings {
        /// The limit.
        max: u64,
    },
    /// A cycle without enough initial blocks.
    #[error(
        "{} wait for each other for ever\n  give an edge of the cycle more `initial` blocks",
        cycle.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    Cycle {
        /// The tasks of a cycle, each waiting for the next one and the last for the first.
        cycle: Vec<String>,
        /// Index of an edge of it.
        edge: usize,
    },
    /// A task that a given placement leaves out.
    #[error("task `{task}` has no place\n  write: {task} = [x, y]")]
    Unplaced {
        /// The task.
        task: String,
    },
    /// A kernel with other edges than it has.
    #[error("task `{task}`: {kernel} has {accepted}, not {found}")]
    Ports {
        /// The task.
        task: String,
        /// Its kernel.
        kernel: &'static str,
        /// What it has, in words.
        accepted: String,
        /// What it was given, in words.
        found: String,
    },
    /// A kernel with a block of another size, or other rates than it has.
    #[error("{edge}: {why}")]
    KernelEdge {
        /// The edge.
        edge: String,
        /// Its index.
        index: usize,
        /// What is wrong and would be right.
        why: String,
    },
}

impl GraphError {
    /// An edge of a kernel is not as it must be.
    pub(super) fn of_kernel(wiring: &Wiring, index: usize, why: impl Into<String>) -> Self {
        let (edge, why) = (wiring.edge_name(index), why.into());
        Self::KernelEdge { edge, index, why }
    }
}
