//! Why a flow cannot become a program: its input, or a limit.

use thiserror::Error;

/// Most bytes of the memory buffer: 1 GiB.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Most firings of all tasks of all flows in a run.
pub const RUN_FIRINGS_MAX: u64 = 1 << 26;

/// Why a flow cannot become a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Nothing says how long the run is.
    #[error(
        "nothing says how many iterations there are\n  write `iterations = 100` at the top of the file"
    )]
    NoIterations,
    /// The file and the input say different things.
    #[error("the input has {of_input} iterations, not {iterations}\n  remove `iterations`")]
    OtherIterations {
        /// As the input says.
        of_input: u64,
        /// As the file says.
        iterations: u64,
    },
    /// The run has more firings than the limit.
    #[error(
        "{firings} firings are more than the {RUN_FIRINGS_MAX} of a run\n  use fewer flows or iterations"
    )]
    TooManyFirings {
        /// How many it would be.
        firings: u64,
    },
    /// The data need more memory than the limit.
    #[error(
        "{bytes} bytes are more than the {MEMORY_BYTES_MAX} of a memory buffer\n  use fewer flows, \
         iterations or smaller blocks"
    )]
    TooMuchMemory {
        /// How many it would be.
        bytes: u64,
    },
    /// A task with more senders than its buffer has room for.
    #[error(
        "the input buffer of task `{task}`, {bytes} bytes, has no room for what its senders may have on their way\n  use fewer senders, fewer initial blocks or a larger buffer"
    )]
    NoRoom {
        /// The task.
        task: String,
        /// Bytes of its buffer.
        bytes: usize,
    },
    /// The tasks need a file.
    #[error("task `{task}` needs a file\n  write `file = \"...\"` into [input]")]
    NoInput {
        /// The task.
        task: String,
    },
    /// The input is not what a kernel can read.
    #[error("the input of task `{task}`: {why}")]
    Input {
        /// The task.
        task: String,
        /// What is wrong.
        why: String,
    },
    /// Tasks of one graph that do not go together.
    #[error("task `{task}`: {why}")]
    Kernel {
        /// The task.
        task: String,
        /// What is wrong, and what would be right.
        why: String,
    },
}
