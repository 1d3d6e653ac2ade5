//! What can be wrong with a table's file, said so that it can be put right.
//!
//! As with chip files: every variant carries file, line and key and what would have been accepted;
//! the rendering is a first line and indented lines of help, golden-tested in `tests/errors`.
//!
//! ```
//! let error = corecast_tune::Table::parse("format = 2", "a.toml").unwrap_err();
//! assert!(error.to_string().starts_with("a.toml:1: `format` = 2"));
//! ```

use corecast_text::{Location, did_you_mean, quoted};
use thiserror::Error;

/// Why a table could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file is larger than any table.
    #[error("{file}: too large\n  a table has at most {bytes_max} bytes")]
    TooLarge {
        /// The file.
        file: String,
        /// Most bytes accepted.
        bytes_max: usize,
    },
    /// The file is not TOML.
    #[error("{at}:{column}: not valid TOML: {message}\n  `corecast tune -o FILE` writes tables")]
    Syntax {
        /// Where.
        at: Box<Location>,
        /// Column in characters, counted from 1.
        column: u32,
        /// The TOML parser's reason.
        message: String,
    },
    /// A form of table that is not known.
    #[error(
        "{at}: `format` = {} is not known here\n  accepted: {accepted}",
        quoted(found)
    )]
    Format {
        /// Where.
        at: Box<Location>,
        /// The form as written.
        found: String,
        /// The form that is known.
        accepted: u64,
    },
    /// A key that means nothing here.
    #[error(
        "{at}: unknown key `{}` {}\n  accepted keys: {}{}",
        quoted(found), in_table(table), accepted.join(", "), did_you_mean(found, accepted)
    )]
    UnknownKey {
        /// Where.
        at: Box<Location>,
        /// The table it stands in; empty at the top level.
        table: &'static str,
        /// The key.
        found: String,
        /// The keys that mean something.
        accepted: &'static [&'static str],
    },
    /// A key that must be there is not.
    #[error("{at}: missing key `{key}` {}\n  write: {form}", in_table(table))]
    MissingKey {
        /// Where its table begins.
        at: Box<Location>,
        /// The table; empty at the top level.
        table: &'static str,
        /// The key.
        key: &'static str,
        /// What to write.
        form: String,
    },
    /// A key that goes only with other collectives.
    #[error("{at}: `{}` means nothing for {collective}\n  remove the line", at.key)]
    Stray {
        /// Where.
        at: Box<Location>,
        /// The collective.
        collective: &'static str,
    },
    /// A value of another type.
    #[error("{at}: `{}` is {found}, not {expected}\n  write: {form}", at.key)]
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
    #[error("{at}: `{}` = {} is out of range\n  accepted: {accepted}", at.key, quoted(found))]
    OutOfRange {
        /// Where.
        at: Box<Location>,
        /// The value as written.
        found: String,
        /// What is accepted, in words.
        accepted: String,
    },
    /// A name that does not exist.
    #[error(
        "{at}: `{}` cannot be `{}`\n  accepted values: {}{}",
        at.key, quoted(found), accepted.join(", "), did_you_mean(found, accepted)
    )]
    UnknownName {
        /// Where.
        at: Box<Location>,
        /// The name found.
        found: String,
        /// The names that exist.
        accepted: Vec<&'static str>,
    },
    /// Two cells for the same ranks and bytes.
    #[error(
        "{at}: a second cell for {ranks} ranks and {bytes} bytes\n  \
         the first is in line {first_line}; keep one of them"
    )]
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

fn in_table(table: &str) -> String {
    if table.is_empty() {
        "at the top level".to_owned()
    } else {
        format!("in [[{table}]]")
    }
}
