// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with tasks of a dataflow program, where they run, and what they ask for.

use corecast_core::{Help, Rank, Time};
use thiserror::Error;

/// Why tasks cannot be run, or not on. A task is a rank.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The machine has no tiles for tasks.
    #[error("{machine} has no tiles that run tasks")]
    NoTiles {
        /// The machine or chip.
        machine: String,
    },
    /// There is nothing to run.
    #[error("a placement has at least one task")]
    NoTasks,
    /// A core that cannot run a task.
    #[error("task {task} is placed on core {core}")]
    OffTheChip {
        /// The task.
        task: Rank,
        /// Where it should run.
        core: u32,
        /// Number of cores.
        cores: u32,
    },
    /// Two tasks at one place.
    #[error("tasks {first} and {second} are both placed on core {core}")]
    SharedCore {
        /// The task with the lower number.
        first: Rank,
        /// The other one.
        second: Rank,
        /// Where both should run.
        core: u32,
    },
    /// A call names a task that does not exist.
    #[error("task {task} names task {named}")]
    UnknownTask {
        /// Who calls.
        task: Rank,
        /// Whom it names.
        named: Rank,
        /// Number of tasks.
        tasks: u32,
    },
    /// A call names its own task.
    #[error("task {task} sends to or receives from itself")]
    ToItself {
        /// Who calls.
        task: Rank,
    },
    /// A message longer than the buffer that it has to be moved into as a whole.
    #[error("task {task} sends {bytes} bytes to task {to}")]
    TooLong {
        /// Who sends.
        task: Rank,
        /// To whom.
        to: Rank,
        /// Its length.
        bytes: usize,
        /// The longest accepted.
        max: usize,
    },
    /// Both ends of a message state different lengths.
    #[error(
        "task {task} receives {expected} bytes from task {from}, whose oldest message has {sent}"
    )]
    OtherLength {
        /// Who receives.
        task: Rank,
        /// From whom.
        from: Rank,
        /// What the receiver states.
        expected: usize,
        /// What was sent.
        sent: usize,
    },
    /// An access beyond the external memory buffer.
    #[error(
        "task {task} accesses bytes {address} to {} of the external memory buffer, which has {max}",
        u128::from(*address) + *bytes as u128
    )]
    BeyondMemory {
        /// Who calls.
        task: Rank,
        /// The first byte.
        address: u64,
        /// How many.
        bytes: usize,
        /// Capacity in bytes.
        max: u64,
    },
    /// Initial contents that the external memory buffer does not hold.
    #[error(
        "{bytes} bytes of initial contents do not fit into the external memory buffer of {max}"
    )]
    MemoryTooSmall {
        /// The contents.
        bytes: usize,
        /// Capacity in bytes.
        max: u64,
    },
    /// A message that was sent and never received.
    #[error("the {bytes} bytes that task {from} sent to task {to} at {posted} were never received")]
    NeverReceived {
        /// Who sent.
        from: Rank,
        /// To whom.
        to: Rank,
        /// Its length.
        bytes: usize,
        /// When.
        posted: Time,
    },
    /// A task was to be moved while messages were on their way from or to it.
    #[error("task {task} cannot be moved to core {core} at {at}: {why}")]
    NotAtRest {
        /// The task.
        task: Rank,
        /// Where it should go.
        core: u32,
        /// When.
        at: Time,
        /// What is on its way.
        why: Unrest,
    },
    /// A rate that is no share.
    #[error("an injector's rate is a share from 0 to 1, not {rate}")]
    Rate {
        /// The rate, as written.
        rate: String,
    },
    /// A line that no packet holds.
    #[error("an injector's line has {bytes} bytes")]
    Line {
        /// Its length.
        bytes: u64,
        /// Payload of a packet.
        max: u64,
    },
}

/// Why a task cannot be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unrest {
    /// Requests of its core are under way.
    #[error("it has requests under way")]
    Asking,
    /// Its core has a message that it has not received.
    #[error("a message for it has not been received")]
    Unreceived,
    /// Its core's engine is at work.
    #[error("its engine is copying")]
    Copying,
    /// Another task is where it should go.
    #[error("task {0} runs there")]
    Taken(Rank),
    /// A message for it is on its way.
    #[error("a message for it is on its way")]
    Expected,
    /// A message that it sent is on its way.
    #[error("a message that it sent is on its way")]
    Sent,
}

impl Help for TaskError {
    fn help(&self) -> String {
        match self {
            Self::NoTiles { .. } => "use a chip with endpoints of kind pronto".to_owned(),
            Self::OffTheChip { cores, .. } => format!("cores are 0 to {}", cores - 1),
            Self::SharedCore { .. } => "a core runs one task".to_owned(),
            Self::UnknownTask { tasks, .. } => {
                format!("with {tasks} tasks it must be 0 to {}", tasks - 1)
            }
            Self::ToItself { .. } => "messages go to other tasks".to_owned(),
            Self::TooLong { max, .. } => format!(
                "a message is moved into the output buffer \
         as a whole, so it has at most {max}: send it in parts"
            ),
            Self::OtherLength { .. } => "both calls must state the same length".to_owned(),
            Self::NotAtRest { .. } => "move it when nothing is on its \
         way from or to it"
                .to_owned(),
            Self::Line { max, .. } => format!("it must have 4 to {max}, the payload of a packet"),
            _ => String::new(),
        }
    }
}
