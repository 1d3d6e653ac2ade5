// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with a flow file, said so that it can be put right.
//!
//! As with chip files: every variant carries file, line and key and what would have been accepted;
//! the rendering is a first line and indented lines of help, golden-tested in `tests/errors`.
//!
//! ```
//! let error = corecast_flow::FlowFile::parse("flows = 0", "a.toml").unwrap_err();
//! assert!(error.to_string().starts_with("a.toml:1: missing key `name`"));
//! ```

use corecast_core::Help;
use corecast_text::{EntryError, Location, in_table, quoted};
use thiserror::Error;

use crate::graph::GraphError;

/// Why a flow file could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file is larger than any flow file.
    #[error("{file}: too large")]
    TooLarge {
        /// The file.
        file: String,
        /// Most bytes accepted.
        bytes_max: usize,
    },
    /// An entry that cannot be read.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// Keys of which only one can be there.
    #[error("{at}: `{key}` and `{other}` exclude each other {}", in_table(table))]
    Exclusive {
        /// Where.
        at: Box<Location>,
        /// The table as its header is written.
        table: String,
        /// The key there.
        key: &'static str,
        /// The other one.
        other: &'static str,
    },
    /// A name that cannot be one.
    #[error("{at}: `{}` is not a name", quoted(found))]
    BadName {
        /// Where.
        at: Box<Location>,
        /// What was written.
        found: String,
    },
    /// A number of stages for a file in which no task has any.
    #[error("{at}: no task has `stages`, of which there is to be another number")]
    NoStages {
        /// Where its tasks are.
        at: Box<Location>,
    },
    /// Tasks and edges that are no graph.
    #[error("{at}: {error}")]
    Graph {
        /// Where it shows.
        at: Box<Location>,
        /// Why.
        error: GraphError,
    },
}

impl Help for FileError {
    fn help(&self) -> String {
        match self {
            Self::TooLarge { bytes_max, .. } => {
                format!("a flow file has at most {bytes_max} bytes")
            }
            Self::Entry(error) => error.help(),
            Self::Graph { error, .. } => error.help(),
            Self::Exclusive { .. } => "keep one of them".to_owned(),
            Self::NoStages { .. } => "leave the number of stages out, or write `stages = 3` and \
         `stage_bytes = 256` into the table of a task"
                .to_owned(),
            Self::BadName { .. } => "names have 1 to 40 lower-case letters, digits and `-`, and \
         `memory` is taken"
                .to_owned(),
        }
    }
}
