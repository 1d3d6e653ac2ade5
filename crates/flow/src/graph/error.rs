// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules of a graph, as errors: which one does not hold, and what would be right.

use std::fmt;

use corecast_core::Help;
use thiserror::Error;

use crate::graph::kernel_rule::KernelRule;
use crate::graph::wiring::{EDGES_MAX, TASKS_MAX};

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
    #[error("two tasks are called `{task}`")]
    TwoTasks {
        /// The first of them.
        task: NamedTask,
    },
    /// A task that nothing is connected to.
    #[error("task `{task}` has no edge")]
    Unconnected {
        /// The task.
        task: NamedTask,
    },
    /// An edge that does not connect two things.
    #[error("{edge} begins where it ends")]
    Loop {
        /// The edge.
        edge: NamedEdge,
    },
    /// Two edges that the receiver could not tell apart.
    #[error("there are two edges {edge}")]
    Parallel {
        /// The edge.
        edge: NamedEdge,
    },
    /// A number of an edge beyond its range.
    #[error("{edge}: `{key}` = {found} is out of range")]
    OutOfRange {
        /// The edge.
        edge: NamedEdge,
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
        "rates do not balance at {edge}: while `{}` fires {from_firings} times, the other edges \
         let `{}` fire {to_firings} times",
        edge.ends[0], edge.ends[1]
    )]
    Unbalanced {
        /// The edge at which it shows.
        edge: NamedEdge,
        /// Firings of the producer.
        from_firings: u64,
        /// Firings of the consumer.
        to_firings: u64,
        /// Blocks made.
        made: u64,
        /// Blocks taken.
        taken: u64,
    },
    /// Rates whose smallest common multiple is beyond the limit.
    #[error("an iteration would have more than {max} firings")]
    TooManyFirings {
        /// The limit.
        max: u64,
    },
    /// A cycle without enough initial blocks.
    #[error("{} wait for each other for ever", cycle.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", "))]
    Cycle {
        /// The tasks of a cycle, each waiting for the next one and the last for the first.
        cycle: Vec<NamedTask>,
        /// An edge of it.
        edge: NamedEdge,
    },
    /// A task that a given placement leaves out.
    #[error("task `{task}` has no place")]
    Unplaced {
        /// The task.
        task: NamedTask,
    },
    /// A kernel with other edges than it has.
    #[error("task `{task}`: {kernel} has {accepted}, not {found}")]
    Ports {
        /// The task.
        task: NamedTask,
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
        edge: NamedEdge,
        /// What is wrong.
        why: KernelRule,
    },
}

/// A task with its name, for who has no graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedTask {
    /// Its index.
    pub index: usize,
    /// Its name.
    pub name: String,
}

/// An edge with the names of its ends, for who has no graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedEdge {
    /// Its index.
    pub index: usize,
    /// The names of its ends.
    pub ends: [String; 2],
}

impl fmt::Display for NamedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for NamedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = &self.ends;
        write!(f, "{from} -> {to}")
    }
}

/// What an error of a graph is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Culprit {
    /// The edge of this index.
    Edge(usize),
    /// The task of this index.
    Task(usize),
}

impl GraphError {
    /// The edge or the task at which it shows, if it is one.
    #[must_use]
    pub fn culprit(&self) -> Option<Culprit> {
        match self {
            Self::Loop { edge }
            | Self::Parallel { edge }
            | Self::OutOfRange { edge, .. }
            | Self::Unbalanced { edge, .. }
            | Self::Cycle { edge, .. }
            | Self::KernelEdge { edge, .. } => Some(Culprit::Edge(edge.index)),
            Self::TwoTasks { task }
            | Self::Unconnected { task }
            | Self::Unplaced { task }
            | Self::Ports { task, .. } => Some(Culprit::Task(task.index)),
            Self::Tasks { .. } | Self::Edges { .. } | Self::TooManyFirings { .. } => None,
        }
    }
}

impl Help for GraphError {
    fn help(&self) -> String {
        match self {
            Self::TwoTasks { .. } => "every task needs its own name".to_owned(),
            Self::Unconnected { .. } => "connect it or remove it".to_owned(),
            Self::Loop { .. } => "a task keeps by itself what it needs later".to_owned(),
            Self::Parallel { .. } => {
                "a message carries nothing but its sender, so put both blocks into one".to_owned()
            }
            Self::OutOfRange { max, min, .. } => format!("accepted: {min} to {max}"),
            Self::Unbalanced { made, taken, .. } => {
                format!("that makes {made} blocks and takes {taken}")
            }
            Self::TooManyFirings { .. } => "choose rates with small common multiples".to_owned(),
            Self::Cycle { .. } => "give an edge of the cycle more `initial` blocks".to_owned(),
            Self::KernelEdge { why, .. } => why.help(),
            Self::Unplaced { task, .. } => format!("write: {task} = [x, y]"),
            _ => String::new(),
        }
    }
}
