// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a flow cannot be studied, or has no result.

use corecast_core::{Help, Rank};
use corecast_flow::{FileError, FlowProgram, ProgramError};
use corecast_machine::RunError;
use corecast_machine_sim::pronto::FlowError;
use thiserror::Error;

/// Tasks that are named of those that wait for each other.
const SHOWN: usize = 8;

/// Why a flow cannot be studied, or has no result.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum FlowStudyError {
    /// The chip's cores run no tasks.
    #[error("{chip} has no tiles that run tasks")]
    NoTiles {
        /// The chip.
        chip: String,
    },
    /// The machine runs no tasks.
    #[error("machine {machine} runs no tasks")]
    NoTasks {
        /// The machine.
        machine: &'static str,
    },
    /// The flow file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// The flow is no program on these tiles.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Tasks have no cores.
    #[error(transparent)]
    Place(FlowError),
    /// No number of stages was asked for.
    #[error("no run was asked for")]
    NoCase,
    /// Too many runs were asked for.
    #[error("{count} runs were asked for, at most {max} are accepted")]
    TooManyCases {
        /// Runs asked for.
        count: usize,
        /// Most runs.
        max: usize,
    },
    /// Nobody but the operating system places tasks there.
    #[error("threads are placed by the operating system")]
    PlacedByOthers {
        /// The machine.
        machine: &'static str,
    },
    /// There is no mesh for other traffic.
    #[error("this computer has no mesh to disturb")]
    NothingToDisturb {
        /// The machine.
        machine: &'static str,
    },
    /// Senders cannot fill each other's buffer, so nothing needs acknowledging.
    #[error("threads have a queue for every sender and need none")]
    QueuePerSender {
        /// The machine.
        machine: &'static str,
    },
    /// The tasks do not get through even without timing.
    #[error("{flow}: the chip's buffers are too small")]
    BuffersTooSmall {
        /// Name of the flow.
        flow: String,
        /// Some tasks that wait, and for which.
        waits: Vec<(String, String)>,
    },
    /// A run ended without a result.
    #[error("{}", named(tasks, &error.to_string()))]
    Run {
        /// Names of the tasks, by their ranks.
        tasks: Vec<String>,
        /// What ended it.
        error: RunError,
    },
}

impl Help for FlowStudyError {
    fn help(&self) -> String {
        match self {
            Self::File(error) => error.help(),
            Self::Program(error) => error.help(),
            Self::Place(error) => error.help(),
            Self::Run { tasks, error } => named(tasks, &error.help()),
            _ => String::new(),
        }
    }
}

/// A text with the names of tasks in the place of their numbers.
fn named(tasks: &[String], text: &str) -> String {
    let mut text = text.to_owned();
    // The highest numbers first, so that `rank 1` does not become part of `rank 12`.
    for (rank, name) in tasks.iter().enumerate().rev() {
        let name = format!("task `{name}`");
        for word in ["rank", "task"] {
            text = text.replace(&format!("{word} {rank}"), &name);
        }
    }
    text
}

/// A run that ended without a result.
pub(crate) fn ended(program: &FlowProgram, error: RunError) -> FlowStudyError {
    let tasks = (0..program.tasks()).map(Rank);
    let names = tasks.map(|task| program.task_name(task).to_string());
    FlowStudyError::Run {
        tasks: names.collect(),
        error,
    }
}

/// Tasks that do not get through even without timing.
pub(crate) fn untimed(program: &FlowProgram, error: RunError) -> FlowStudyError {
    let RunError::Deadlock { blocked, .. } = error else {
        return ended(program, error);
    };
    let name = |rank| program.task_name(rank).to_string();
    let waits = blocked.iter().take(SHOWN);
    FlowStudyError::BuffersTooSmall {
        flow: program.graph().name().to_owned(),
        waits: waits
            .map(|blocked| (name(blocked.rank), name(blocked.peer)))
            .collect(),
    }
}
