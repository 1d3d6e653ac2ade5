// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a kernel demands of its edges, as values.

use corecast_core::Help;
use corecast_kernels::jpeg::BLOCK_BYTES;
use thiserror::Error;

/// What an edge of a kernel is against.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum KernelRule {
    /// It begins at the wrong stage.
    #[error("it must come from {stage}")]
    From {
        /// The right one, in words.
        stage: &'static str,
    },
    /// It ends at the wrong stage.
    #[error("it must go to {stage}")]
    To {
        /// The right one, in words.
        stage: &'static str,
    },
    /// Blocks of a picture that have another size.
    #[error("`bytes` = {bytes}")]
    PictureBlock {
        /// Their size.
        bytes: u32,
    },
    /// Blocks that are no whole number of what a kernel reads.
    #[error("`bytes` = {bytes}")]
    Multiple {
        /// Their size.
        bytes: u32,
        /// What it must be a multiple of.
        unit: u32,
    },
    /// Blocks behind a kernel that are not as long as those before it make them.
    #[error("`bytes` = {bytes}")]
    Behind {
        /// Their size.
        bytes: u32,
        /// Bytes of the blocks before the kernel.
        before: u32,
        /// The right size.
        expected: u32,
    },
    /// Blocks that are there before the first one.
    #[error("a {whole} begins with its first block")]
    Initial {
        /// What the blocks are parts of.
        whole: &'static str,
    },
    /// A firing takes or makes one block.
    #[error("`{key}` = {rate}")]
    OneBlock {
        /// Which of both.
        key: &'static str,
        /// Its value.
        rate: u32,
        /// The kernel.
        kernel: &'static str,
    },
    /// Edges of one task whose rates differ.
    #[error("`{key}` = {rate}")]
    SameRate {
        /// Which rate.
        key: &'static str,
        /// Its value.
        rate: u32,
        /// That of the first edge.
        first: u32,
    },
    /// Blocks that would come back in another order.
    #[error("blocks must come back in the order in which they went out")]
    Order,
    /// More stages than taps.
    #[error("{taps} taps cannot be split into {stages} stages")]
    Stages {
        /// Taps of the filter.
        taps: u64,
        /// Stages of the filter.
        stages: u32,
    },
    /// A filter between other tasks.
    #[error("a filter goes from the memory buffer to the memory buffer")]
    FilterEnds,
}

impl Help for KernelRule {
    fn help(&self) -> String {
        match self {
            Self::From { .. } | Self::To { .. } => String::new(),
            Self::PictureBlock { .. } => format!("a block of a JPEG decoder has {BLOCK_BYTES}"),
            Self::Multiple { unit, .. } => format!("it must be a multiple of {unit}"),
            Self::Behind {
                before, expected, ..
            } => format!("behind blocks of {before} it must be {expected}"),
            Self::Initial { .. } => "remove `initial`".to_owned(),
            Self::OneBlock { kernel, .. } => {
                format!("a firing of {kernel} takes and makes 1 block")
            }
            Self::SameRate { first, .. } => {
                format!("it must be the same on all of them, {first}")
            }
            Self::Order => "let all transforms of one jpeg-huffman send to one jpeg-colour, and \
                            write their edges in one order"
                .to_owned(),
            Self::Stages { .. } => "use fewer".to_owned(),
            Self::FilterEnds => "use `stages` to split it".to_owned(),
        }
    }
}
