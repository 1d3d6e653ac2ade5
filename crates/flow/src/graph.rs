// SPDX-License-Identifier: MIT OR Apache-2.0
//! The value of a dataflow program: tasks, edges, and what must hold for them.
//!
//! A graph is a synchronous dataflow graph (Lee and Messerschmitt 1987, "Synchronous Data Flow",
//! doi 10.1109/PROC.1987.13876): a task fires when all its input blocks are there, and every firing
//! takes and makes fixed numbers of blocks. [`Graph::new`] is the only way to make one, so every
//! graph has rates that balance and can run for ever in bounded memory.
//!
//! ```
//! use corecast_flow::{Cost, Edge, End, Graph, Firing, Task};
//! let task = |name: &str| Task { name: name.into(), job: Firing::Cost(Cost::Fixed(100)) };
//! let edge = |from, to, produce, consume| Edge { from, to, bytes: 64, produce, consume, initial: 0 };
//! let graph = Graph::new(
//!     "pair",
//!     vec![task("a"), task("b")],
//!     vec![edge(End::Task(0), End::Task(1), 2, 3)],
//! ).unwrap();
//! assert_eq!(graph.firings(), [3, 2]);
//! ```

mod cost;
mod error;
mod job;
mod kernel_edges;
mod kernel_rule;
mod rates;
mod rules;
mod turns;
mod wiring;

use std::ops::Deref;

pub use cost::{CYCLES_MAX, Cost};
pub use error::{Culprit, GraphError, NamedEdge, NamedTask};
pub(crate) use job::Routine;
pub use job::{Firing, KERNELS, Kernel, KernelJob, Parameter};
pub use kernel_rule::KernelRule;
pub use wiring::{
    BLOCK_BYTES_MAX, EDGES_MAX, Edge, End, MEMORY, RATE_MAX, TASKS_MAX, Task, Wiring,
};

/// See the module's documentation. It can be read like its [`Wiring`].
#[derive(Clone, PartialEq, Debug)]
pub struct Graph {
    wiring: Wiring,
    firings: Vec<u64>,
    order: Vec<usize>,
}

impl Graph {
    /// A graph, checked.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn new(name: &str, tasks: Vec<Task>, edges: Vec<Edge>) -> Result<Self, GraphError> {
        let wiring = Wiring {
            name: name.to_owned(),
            tasks,
            edges,
        };
        rules::check(&wiring)?;
        let firings = rates::firings(&wiring)?;
        rates::check_cycles(&wiring, &firings)?;
        let order = rates::order(&wiring);
        for task in 0..wiring.tasks().len() {
            kernel_edges::check(&wiring, task)?;
        }
        Ok(Self {
            wiring,
            firings,
            order,
        })
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
}

impl Deref for Graph {
    type Target = Wiring;

    fn deref(&self) -> &Wiring {
        &self.wiring
    }
}
