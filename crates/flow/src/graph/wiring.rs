// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks and the edges between them, whether or not they make a graph.
//!
//! Apart from [`Graph`](crate::Graph), which is made only of one that obeys all rules: the rules look
//! at this.

use crate::graph::error::{GraphError, NamedEdge, NamedTask};
use crate::graph::job::{Firing, Routine};
use crate::graph::kernel_rule::KernelRule;

/// How the memory buffer is called where tasks are.
pub const MEMORY: &str = "memory";
/// Most tasks of a graph.
pub const TASKS_MAX: usize = 1024;
/// Most edges of a graph.
pub const EDGES_MAX: usize = 8192;
/// Most bytes of a block.
pub const BLOCK_BYTES_MAX: u32 = 1 << 20;
/// Most blocks that a firing takes or makes on one edge, and most initial blocks of an edge.
pub const RATE_MAX: u32 = 4096;

/// A task.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// Its name, unique in the graph.
    pub name: String,
    /// What it does.
    pub job: Firing,
}

/// Where an edge begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// The external memory buffer.
    Memory,
    /// The task of this index.
    Task(usize),
}

impl End {
    /// The task, if it is one.
    #[must_use]
    pub const fn task(self) -> Option<usize> {
        match self {
            Self::Memory => None,
            Self::Task(index) => Some(index),
        }
    }
}

/// A stream of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Who makes the blocks.
    pub from: End,
    /// Who takes them.
    pub to: End,
    /// Bytes of a block.
    pub bytes: u32,
    /// Blocks that a firing of `from` makes.
    pub produce: u32,
    /// Blocks that a firing of `to` takes.
    pub consume: u32,
    /// Blocks of zeros that `from` sends before its first firing.
    pub initial: u32,
}

/// See the module's documentation.
#[derive(Clone, PartialEq, Debug)]
pub struct Wiring {
    pub(super) name: String,
    pub(super) tasks: Vec<Task>,
    pub(super) edges: Vec<Edge>,
}

impl Wiring {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tasks.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Its edges.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Indices of the edges into a task, in order.
    pub fn inputs(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        let ends_here = move |edge: &&(usize, &Edge)| edge.1.to == End::Task(task);
        let edges = self.edges.iter().enumerate();
        edges
            .filter(move |edge| ends_here(&edge))
            .map(|(index, _)| index)
    }

    /// Indices of the edges out of a task, in order.
    pub fn outputs(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        let edges = self.edges.iter().enumerate();
        edges
            .filter(move |(_, edge)| edge.from == End::Task(task))
            .map(|(index, _)| index)
    }

    /// The name of an edge's end.
    #[must_use]
    pub fn end_name(&self, end: End) -> &str {
        match end {
            End::Memory => MEMORY,
            End::Task(index) => self.tasks.get(index).map_or("?", |task| &task.name),
        }
    }

    /// An edge with the names of its ends.
    #[must_use]
    pub fn named_edge(&self, index: usize) -> NamedEdge {
        let Edge { from, to, .. } = self.edges[index];
        let ends = [from, to].map(|end| self.end_name(end).to_owned());
        NamedEdge { index, ends }
    }

    /// A task with its name.
    #[must_use]
    pub fn named_task(&self, index: usize) -> NamedTask {
        let name = self.tasks[index].name.clone();
        NamedTask { index, name }
    }

    /// An edge of a kernel is not as it must be.
    pub(super) fn refuse(&self, edge: usize, why: KernelRule) -> GraphError {
        let edge = self.named_edge(edge);
        GraphError::KernelEdge { edge, why }
    }

    /// What the kernel of an edge's end runs, if it has one.
    pub(crate) fn routine(&self, end: End) -> Option<Routine> {
        match &self.tasks[end.task()?].job {
            Firing::Kernel(job) => Some(job.kernel.routine),
            Firing::Cost(_) => None,
        }
    }

    /// The one input and the one output of a task.
    pub(crate) fn through(&self, task: usize) -> (usize, usize) {
        let input = self.inputs(task).next().expect("checked: it has one input");
        let output = self
            .outputs(task)
            .next()
            .expect("checked: it has one output");
        (input, output)
    }
}
