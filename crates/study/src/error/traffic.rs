// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why traffic cannot be put on a mesh.

use corecast_core::Help;
use corecast_sim::traffic::{NoPattern, TraceError, TrafficError};
use corecast_text::file::ReadError;
use thiserror::Error;

/// Why traffic cannot be put on a mesh.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum TrafficStudyError {
    /// The chip is a bus.
    #[error("{chip} is a bus, and traffic needs a mesh")]
    Bus {
        /// The chip.
        chip: String,
    },
    /// The pattern does not exist on this mesh.
    #[error(transparent)]
    Pattern(#[from] NoPattern),
    /// The load cannot be.
    #[error(transparent)]
    Load(#[from] TrafficError),
    /// A trace cannot be unpacked.
    #[error("cannot read `{file}`: {error}")]
    Packed {
        /// Where it is from.
        file: String,
        /// What is wrong.
        error: ReadError,
    },
    /// A trace cannot be read.
    #[error("{file}: {error}")]
    Trace {
        /// Where it is from.
        file: String,
        /// What is wrong.
        error: TraceError,
    },
    /// Who asked does not want to know any more.
    #[error("stopped")]
    Stopped,
    /// The mesh cannot be built.
    #[error(transparent)]
    Mesh(TrafficError),
}

impl Help for TrafficStudyError {
    fn help(&self) -> String {
        match self {
            Self::Load(error) | Self::Mesh(error) => error.help(),
            Self::Packed {
                error: ReadError::TooLarge { .. },
                ..
            } => "cut the trace into several".to_owned(),
            Self::Packed { .. } => "pack the trace again, with bzip2 or gzip".to_owned(),
            Self::Bus { .. } | Self::Pattern(_) | Self::Trace { .. } | Self::Stopped => {
                String::new()
            }
        }
    }
}
