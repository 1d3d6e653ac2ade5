//! The value of a dataflow program: tasks, edges, and what must hold for them.
//!
//! A graph is a synchronous dataflow graph (Lee and Messerschmitt 1987, "Synchronous Data Flow",
//! doi 10.1109/PROC.1987.13876): a task fires when all its input blocks are there, and every firing
//! takes and makes fixed numbers of blocks. [`Graph::new`] is the only way to make one, so every
//! graph has rates that balance and can run for ever in bounded memory.
//!
//! ```
//! use corecast_flow::{Cost, Edge, End, Graph, Job, Task};
//! let task = |name: &str| Task { name: name.into(), job: Job::Cost(Cost::Fixed(100)) };
//! let edge = |from, to, produce, consume| Edge { from, to, bytes: 64, produce, consume, initial: 0 };
//! let graph = Graph::new(
//!     "pair",
//!     vec![task("a"), task("b")],
//!     vec![edge(End::Task(0), End::Task(1), 2, 3)],
//! ).unwrap();
//! assert_eq!(graph.firings(), [3, 2]);
//! ```

use thiserror::Error;

use crate::cost::Cost;
use crate::kernel::KernelJob;
use crate::rates;

/// Most tasks of a graph.
pub const TASKS_MAX: usize = 1024;
/// Most edges of a graph.
pub const EDGES_MAX: usize = 8192;
/// Most bytes of a block.
pub const BLOCK_BYTES_MAX: u32 = 1 << 20;
/// Most blocks that a firing takes or makes on one edge, and most initial blocks of an edge.
pub const RATE_MAX: u32 = 4096;

/// What a task does when it fires.
#[derive(Clone, PartialEq, Debug)]
pub enum Job {
    /// It computes for so long; what it sends depends on all that it has received, so that every
    /// lost, doubled or exchanged block shows in the results.
    Cost(Cost),
    /// A real computation.
    Kernel(KernelJob),
}

/// A task.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// Its name, unique in the graph.
    pub name: String,
    /// What it does.
    pub job: Job,
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
pub struct Graph {
    name: String,
    tasks: Vec<Task>,
    edges: Vec<Edge>,
    firings: Vec<u64>,
    order: Vec<usize>,
}

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
    #[error("two tasks are called `{name}`; every task needs its own name")]
    TwoTasks {
        /// The name.
        name: String,
    },
    /// A task that nothing is connected to.
    #[error("task `{task}` has no edge; connect it or remove it")]
    Unconnected {
        /// The task.
        task: String,
    },
    /// An edge that does not connect two things.
    #[error("{edge} begins where it ends; a task keeps by itself what it needs later")]
    Loop {
        /// The edge.
        edge: String,
    },
    /// Two edges that the receiver could not tell apart.
    #[error(
        "there are two edges {edge}; a message carries nothing but its sender, so put both blocks into one"
    )]
    Parallel {
        /// The edge.
        edge: String,
    },
    /// A number of an edge beyond its range.
    #[error("{edge}: `{key}` = {found} is out of range; accepted: {min} to {max}")]
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
         let `{to}` fire {to_firings} times; that makes {made} blocks and takes {taken}"
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
        "an iteration would have more than {max} firings; choose rates with small common multiples"
    )]
    TooManyFirings {
        /// The limit.
        max: u64,
    },
    /// A cycle without enough initial blocks.
    #[error(
        "{} wait for each other for ever; give an edge of the cycle more `initial` blocks",
        cycle.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    Cycle {
        /// The tasks of a cycle, each waiting for the next one and the last for the first.
        cycle: Vec<String>,
        /// Index of an edge of it.
        edge: usize,
    },
    /// A task that a given placement leaves out.
    #[error("task `{task}` has no place; write: {task} = [x, y]")]
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

impl Graph {
    /// A graph, checked.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn new(name: &str, tasks: Vec<Task>, edges: Vec<Edge>) -> Result<Self, GraphError> {
        let mut graph = Self {
            name: name.to_owned(),
            tasks,
            edges,
            firings: Vec::new(),
            order: Vec::new(),
        };
        graph.check_tasks()?;
        graph.check_edges()?;
        graph.firings = rates::firings(&graph)?;
        rates::check_cycles(&graph)?;
        graph.order = rates::order(&graph);
        for (index, task) in graph.tasks.iter().enumerate() {
            if let Job::Kernel(job) = &task.job {
                job.check(&graph, index)?;
            }
        }
        Ok(graph)
    }

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

    /// How often each task fires in an iteration: the smallest numbers that leave as many blocks on
    /// every edge as there were.
    #[must_use]
    pub fn firings(&self) -> &[u64] {
        &self.firings
    }

    /// For every task its place in an order that follows the edges without initial blocks.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
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

    /// Blocks that cross an edge in an iteration.
    #[must_use]
    pub fn blocks(&self, edge: usize) -> u64 {
        let edge = &self.edges[edge];
        match (edge.from, edge.to) {
            (End::Task(from), _) => self.firings[from] * u64::from(edge.produce),
            (_, End::Task(to)) => self.firings[to] * u64::from(edge.consume),
            (End::Memory, End::Memory) => unreachable!("refused by `Graph::new`"),
        }
    }

    /// The name of an edge's end.
    #[must_use]
    pub fn end_name(&self, end: End) -> &str {
        match end {
            End::Memory => MEMORY,
            End::Task(index) => self.tasks.get(index).map_or("?", |task| &task.name),
        }
    }

    /// An edge in words.
    #[must_use]
    pub fn edge_name(&self, edge: usize) -> String {
        let Edge { from, to, .. } = self.edges[edge];
        format!("{} -> {}", self.end_name(from), self.end_name(to))
    }

    fn check_tasks(&self) -> Result<(), GraphError> {
        let tasks = self.tasks.len();
        if tasks == 0 || tasks > TASKS_MAX {
            return Err(GraphError::Tasks { tasks });
        }
        let mut names: Vec<&str> = self.tasks.iter().map(|task| task.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(GraphError::TwoTasks {
                name: pair[0].to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn check_edges(&self) -> Result<(), GraphError> {
        let edges = self.edges.len();
        if edges > EDGES_MAX {
            return Err(GraphError::Edges { edges });
        }
        let mut has_edge = vec![false; self.tasks.len()];
        for (index, edge) in self.edges.iter().enumerate() {
            if edge.from == edge.to {
                let edge = self.edge_name(index);
                return Err(GraphError::Loop { edge });
            }
            let ranges = [
                ("bytes", edge.bytes, 1, BLOCK_BYTES_MAX),
                ("produce", edge.produce, 1, RATE_MAX),
                ("consume", edge.consume, 1, RATE_MAX),
                ("initial", edge.initial, 0, self.initial_max(edge)),
            ];
            for (key, found, min, max) in ranges {
                if !(min..=max).contains(&found) {
                    let edge = self.edge_name(index);
                    return Err(GraphError::OutOfRange {
                        edge,
                        key,
                        found,
                        min,
                        max,
                    });
                }
            }
            for task in [edge.from, edge.to].into_iter().filter_map(End::task) {
                has_edge[task] = true;
            }
        }
        let mut pairs: Vec<(End, End)> = self.edges.iter().map(|e| (e.from, e.to)).collect();
        pairs.sort_unstable();
        let is_messages = |pair: &(End, End)| pair.0 != End::Memory && pair.1 != End::Memory;
        let twice = pairs
            .windows(2)
            .find(|two| two[0] == two[1] && is_messages(&two[0]));
        if let Some(&[(from, to), _]) = twice {
            let edge = format!("{} -> {}", self.end_name(from), self.end_name(to));
            return Err(GraphError::Parallel { edge });
        }
        match has_edge.iter().position(|&has| !has) {
            Some(task) => Err(GraphError::Unconnected {
                task: self.tasks[task].name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The memory buffer is filled by the host, not by a task.
    fn initial_max(&self, edge: &Edge) -> u32 {
        let is_messages = edge.from != End::Memory && edge.to != End::Memory;
        if is_messages { RATE_MAX } else { 0 }
    }
}

/// How the memory buffer is called where tasks are.
pub const MEMORY: &str = "memory";
