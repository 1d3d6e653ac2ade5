// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with a table's file, said so that it can be put right.
//!
//! As with chip files: every variant carries file, line and key and what would have been accepted;
//! the rendering is a first line and indented lines of help, golden-tested in `tests/errors`.
//!
//! ```
//! let error = corecast_tune::Table::parse("format = 2", "a.toml").unwrap_err();
//! assert!(error.to_string().starts_with("a.toml:1: `format` = 2"));
//! ```

use corecast_core::Help;
use corecast_text::{EntryError, Location, quoted};
use thiserror::Error;

/// Why a table could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file is larger than any table.
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
    /// A form of table that is not known.
    #[error("{at}: `format` = {} is not known here", quoted(found))]
    Format {
        /// Where.
        at: Box<Location>,
        /// The form as written.
        found: String,
        /// The form that is known.
        accepted: u64,
    },
    /// A key that goes only with other collectives.
    #[error("{at}: `{}` means nothing for {collective}", at.key)]
    Stray {
        /// Where.
        at: Box<Location>,
        /// The collective.
        collective: &'static str,
    },
    /// Two cells for the same ranks and bytes.
    #[error("{at}: a second cell for {ranks} ranks and {bytes} bytes")]
    Duplicate {
        /// Where the second is.
        at: Box<Location>,
        /// Its ranks.
        ranks: u32,
        /// Its bytes.
        bytes: u64,
        /// Line of the first.
        first_line: u32,
    },
}

impl Help for TableError {
    fn help(&self) -> String {
        match self {
            Self::TooLarge { bytes_max, .. } => format!("a table has at most {bytes_max} bytes"),
            Self::Entry(error) => error.help(),
            Self::Format { accepted, .. } => format!("accepted: {accepted}"),
            Self::Stray { .. } => "remove the line".to_owned(),
            Self::Duplicate { first_line, .. } => {
                format!("the first is in line {first_line}; keep one of them")
            }
        }
    }
}
