// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a flow cannot become a program: its input, or a limit.

use corecast_core::Help;
use corecast_kernels::jpeg::JpegError;
use thiserror::Error;

use super::buffers::InputBuffer;

/// Most bytes of the memory buffer: 1 GiB.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Most firings of all tasks of all flows in a run.
pub const RUN_FIRINGS_MAX: u64 = 1 << 26;

/// Why a flow cannot become a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Nothing says how long the run is.
    #[error("nothing says how many iterations there are")]
    NoIterations,
    /// The file and the input say different things.
    #[error("the input has {of_input} iterations, not {iterations}")]
    OtherIterations {
        /// As the input says.
        of_input: u64,
        /// As the file says.
        iterations: u64,
    },
    /// The run has more firings than the limit.
    #[error("{firings} firings are more than the {RUN_FIRINGS_MAX} of a run")]
    TooManyFirings {
        /// How many it would be.
        firings: u64,
    },
    /// The data need more memory than the limit.
    #[error("{bytes} bytes are more than the {MEMORY_BYTES_MAX} of a memory buffer")]
    TooMuchMemory {
        /// How many it would be.
        bytes: u64,
    },
    /// A task whose buffer has no room for what it takes to get through.
    #[error(
        "the input buffer of task `{task}`, {bytes} bytes and {messages} messages, has no room for what must wait there"
    )]
    NoRoom {
        /// The task.
        task: String,
        /// Bytes of its buffer.
        bytes: usize,
        /// Most messages in it.
        messages: usize,
        /// A buffer that has; none if the largest has not.
        enough: Option<InputBuffer>,
    },
    /// The tasks need a file.
    #[error("task `{task}` needs a file")]
    NoInput {
        /// The task.
        task: String,
    },
    /// The input is not what a kernel can read.
    #[error("the input of task `{task}`: {error}")]
    Input {
        /// The task.
        task: String,
        /// What is wrong.
        error: JpegError,
    },
    /// Decoders of one graph that need different numbers of iterations.
    #[error("task `{task}`: two decoders of one graph must need as many iterations")]
    OtherDecoder {
        /// The second of them.
        task: String,
    },
}

impl ProgramError {
    /// What of an input buffer is too small, `bytes` or `messages`, and which size is enough.
    #[must_use]
    pub fn larger(&self) -> Vec<(&'static str, usize)> {
        let Self::NoRoom {
            bytes,
            messages,
            enough: Some(enough),
            ..
        } = self
        else {
            return Vec::new();
        };
        let sizes = [
            ("bytes", enough.bytes, *bytes),
            ("messages", enough.messages, *messages),
        ];
        let larger = sizes.into_iter().filter(|(_, size, given)| size > given);
        larger.map(|(what, size, _)| (what, size)).collect()
    }
}

impl Help for ProgramError {
    fn help(&self) -> String {
        match self {
            Self::NoIterations => "write `iterations = 100` at the top of the file".to_owned(),
            Self::OtherIterations { .. } => "remove `iterations`".to_owned(),
            Self::TooManyFirings { .. } => "use fewer flows or iterations".to_owned(),
            Self::TooMuchMemory { .. } => "use fewer flows, \
         iterations or smaller blocks"
                .to_owned(),
            Self::NoRoom {
                enough: Some(_), ..
            } => {
                let larger = self.larger().into_iter();
                let larger: Vec<String> = larger
                    .map(|(what, size)| format!("{size} {what}"))
                    .collect();
                format!("it has with {}", larger.join(" and "))
            }
            Self::NoRoom { .. } => {
                "no buffer is large enough: use fewer initial blocks, or rates closer to each other"
                    .to_owned()
            }
            Self::Input { error, .. } => error.help(),
            Self::OtherDecoder { .. } => "give them equal edges".to_owned(),
            Self::NoInput { .. } => "write `file = \"...\"` into [input]".to_owned(),
        }
    }
}
