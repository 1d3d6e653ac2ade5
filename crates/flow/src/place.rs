// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which core runs which task.
//!
//! The cost of a placement is the bytes of an iteration times the hops that they travel, those to
//! and from the memory buffer included. `near` builds a placement around the tasks with the most
//! traffic, improves it by simulated annealing, and ends where no exchange of two cores helps.
//! [`optimal`] finds the true optimum of small graphs, to compare with.
//!
//! ```
//! use corecast_flow::place::{Sites, Traffic, cost, near, optimal};
//! let sites = Sites { cores: vec![(0, 0), (1, 0), (0, 1), (1, 1)], memory: (2, 0) };
//! let traffic = Traffic { between: vec![(0, 1, 10)], memory: vec![5, 0] };
//! let cores = near(&traffic, &sites, 1);
//! assert_eq!(cost(&traffic, &sites, &cores), 15);
//! assert_eq!(optimal(&traffic, &sites, 1000, 15), Some(15));
//! ```

mod board;
mod near;
mod optimal;
mod traffic;

use corecast_core::Help;
use corecast_core::Rank;
use thiserror::Error;

use crate::file::Placement;
use crate::program::FlowProgram;

pub use near::near;
pub use optimal::optimal;
pub use traffic::{Sites, Traffic, cost};

/// Why tasks have no cores.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// More tasks than cores.
    #[error("{tasks} tasks do not fit on {cores} cores")]
    TooFewCores {
        /// How many tasks there are.
        tasks: usize,
        /// How many cores.
        cores: usize,
    },
    /// A given place without a core.
    #[error("task `{task}` cannot be at ({x}, {y})")]
    NoCore {
        /// The task.
        task: String,
        /// Its place.
        x: u32,
        /// Its place.
        y: u32,
    },
    /// Places are given for another number of flows.
    #[error("the file places the tasks of {given} flow{}, not of {flows}", if *given == 1 { "" } else { "s" })]
    OtherFlows {
        /// How many the file places.
        given: usize,
        /// How many there are.
        flows: u32,
    },
}

/// The core of every task of a program.
///
/// # Errors
/// The placement does not fit the cores.
pub fn place(
    program: &FlowProgram,
    placement: &Placement,
    sites: &Sites,
    seed: u64,
) -> Result<Vec<u32>, PlaceError> {
    let (tasks, cores) = (program.tasks() as usize, sites.cores.len());
    if tasks > cores {
        return Err(PlaceError::TooFewCores { tasks, cores });
    }
    let mut order: Vec<u32> = (0..cores as u32).collect();
    let at = |core: &u32| sites.cores[*core as usize];
    match placement {
        Placement::Near => return Ok(near(&Traffic::of(program), sites, seed)),
        Placement::Row => order.sort_by_key(|core| (at(core).1, at(core).0)),
        Placement::Column => order.sort_by_key(|core| (at(core).0, at(core).1)),
        Placement::Random => traffic::random(seed).shuffle(&mut order),
        Placement::Given(given) if given.len() != program.flows() as usize => {
            return Err(PlaceError::OtherFlows {
                given: given.len(),
                flows: program.flows(),
            });
        }
        Placement::Given(given) => {
            let named = (0..).map(Rank).zip(given.iter().flatten());
            let core = |(rank, &(x, y)): (Rank, &(u32, u32))| {
                let core = sites.cores.iter().position(|&core| core == (x, y));
                let no_core = || PlaceError::NoCore {
                    task: program.task_name(rank),
                    x,
                    y,
                };
                core.map(|core| core as u32).ok_or_else(no_core)
            };
            return named.map(core).collect();
        }
    }
    order.truncate(tasks);
    Ok(order)
}

impl Help for PlaceError {
    fn help(&self) -> String {
        match self {
            Self::TooFewCores { .. } => "use fewer flows or stages, or a larger chip".to_owned(),
            Self::NoCore { .. } => "there is no core that tasks can use".to_owned(),
            Self::OtherFlows { .. } => {
                "keep the file's number of flows, or choose a placement that \
         is worked out: near, row, column or random"
                    .to_owned()
            }
        }
    }
}
