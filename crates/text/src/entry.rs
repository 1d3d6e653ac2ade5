// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with an entry of a TOML file, whatever the file describes.
//!
//! Every variant carries file, line and key and what would have been accepted. The crates whose
//! files these are golden-test the rendering.

use thiserror::Error;

use crate::{Location, did_you_mean, quoted};

/// Why an entry could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The file is not TOML.
    #[error("{at}:{column}: not valid TOML: {message}")]
    Syntax {
        /// Where.
        at: Box<Location>,
        /// Column in characters, counted from 1.
        column: u32,
        /// The TOML parser's reason.
        message: String,
        /// Where such files are described, as a line of its own; may be empty.
        help: &'static str,
    },
    /// A key that means nothing here.
    #[error("{at}: unknown key `{}` {}", quoted(found), in_table(table))]
    UnknownKey {
        /// Where.
        at: Box<Location>,
        /// The table it stands in as its header is written; empty at the top level.
        table: String,
        /// The key.
        found: String,
        /// The keys that mean something.
        accepted: Vec<&'static str>,
    },
    /// A key that must be there is not.
    #[error("{at}: missing key `{key}` {}", in_table(table))]
    MissingKey {
        /// Where its table begins.
        at: Box<Location>,
        /// The table as its header is written; empty at the top level.
        table: String,
        /// The key.
        key: &'static str,
        /// What to write.
        form: String,
    },
    /// A value of another type.
    #[error("{at}: `{}` is {found}, not {expected}", at.key)]
    WrongType {
        /// Where.
        at: Box<Location>,
        /// What was needed.
        expected: &'static str,
        /// What was found.
        found: &'static str,
        /// What to write.
        form: String,
    },
    /// A value outside what is accepted.
    #[error("{at}: `{}` = {} is out of range", at.key, quoted(found))]
    OutOfRange {
        /// Where.
        at: Box<Location>,
        /// The value as written.
        found: String,
        /// What is accepted, in words.
        accepted: String,
    },
    /// A name that does not exist, where only a few do.
    #[error("{at}: `{}` cannot be `{}`", at.key, quoted(found))]
    UnknownName {
        /// Where.
        at: Box<Location>,
        /// The name found.
        found: String,
        /// The names that exist.
        accepted: Vec<String>,
    },
}

impl EntryError {
    /// Where it is.
    pub fn location_mut(&mut self) -> &mut Location {
        match self {
            Self::Syntax { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::MissingKey { at, .. }
            | Self::WrongType { at, .. }
            | Self::OutOfRange { at, .. }
            | Self::UnknownName { at, .. } => at,
        }
    }
}

/// Where a key stands, in words; `header` as the table's is written, empty at the top level.
#[must_use]
pub fn in_table(header: &str) -> String {
    match header {
        "" => "at the top level".to_owned(),
        header => format!("in {header}"),
    }
}

impl EntryError {
    /// What would be right instead, one thing per line.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::UnknownKey {
                accepted, found, ..
            } => format!(
                "accepted keys: {}{}",
                accepted.join(", "),
                did_you_mean(found, accepted)
            ),
            Self::MissingKey { form, .. } => format!("write: {form}"),
            Self::WrongType { form, .. } => format!("write: {form}"),
            Self::OutOfRange { accepted, .. } => format!("accepted: {accepted}"),
            Self::UnknownName {
                accepted, found, ..
            } => format!(
                "accepted values: {}{}",
                accepted.join(", "),
                did_you_mean(found, accepted)
            ),
            Self::Syntax { help, .. } => (*help).to_owned(),
        }
    }
}
