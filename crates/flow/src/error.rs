//! What can be wrong with a flow file, said so that it can be put right.
//!
//! As with chip files: every variant carries file, line and key and what would have been accepted;
//! the rendering is a first line and indented lines of help, golden-tested in `tests/errors`.
//!
//! ```
//! let error = corecast_flow::FlowFile::parse("flows = 0", "a.toml").unwrap_err();
//! assert!(error.to_string().starts_with("a.toml:1: missing key `name`"));
//! ```

use corecast_text::{Location, did_you_mean, quoted};
use thiserror::Error;

use crate::graph::GraphError;

/// Why a flow file could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file is larger than any flow file.
    #[error("{file}: too large\n  a flow file has at most {bytes_max} bytes")]
    TooLarge {
        /// The file.
        file: String,
        /// Most bytes accepted.
        bytes_max: usize,
    },
    /// The file is not TOML.
    #[error("{at}:{column}: not valid TOML: {message}\n  docs/cli.md describes flow files")]
    Syntax {
        /// Where.
        at: Box<Location>,
        /// Column in characters, counted from 1.
        column: u32,
        /// The TOML parser's reason.
        message: String,
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
        table: String,
        /// The key.
        found: String,
        /// The keys that mean something.
        accepted: Vec<&'static str>,
    },
    /// A key that must be there is not.
    #[error("{at}: missing key `{key}` {}\n  write: {form}", in_table(table))]
    MissingKey {
        /// Where its table begins.
        at: Box<Location>,
        /// The table; empty at the top level.
        table: String,
        /// The key.
        key: &'static str,
        /// What to write.
        form: String,
    },
    /// Keys of which only one can be there.
    #[error(
        "{at}: `{key}` and `{other}` exclude each other {}\n  keep one of them",
        in_table(table)
    )]
    Exclusive {
        /// Where.
        at: Box<Location>,
        /// The table.
        table: String,
        /// The key there.
        key: &'static str,
        /// The other one.
        other: &'static str,
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
        accepted: Vec<String>,
    },
    /// A name that cannot be one.
    #[error(
        "{at}: `{}` is not a name\n  names have 1 to 40 lower-case letters, digits and `-`, and \
         `memory` is taken",
        quoted(found)
    )]
    BadName {
        /// Where.
        at: Box<Location>,
        /// What was written.
        found: String,
    },
    /// Tasks and edges that are no graph.
    #[error("{at}: {}", two_lines(error))]
    Graph {
        /// Where it shows.
        at: Box<Location>,
        /// Why.
        error: GraphError,
    },
}

fn in_table(table: &str) -> String {
    match table {
        "" => "at the top level".to_owned(),
        "edges" => "in [[edges]]".to_owned(),
        table => format!("in [{table}]"),
    }
}

/// What is wrong, and on its own line what would be right.
fn two_lines(error: &GraphError) -> String {
    error.to_string().replacen("; ", "\n  ", 1)
}
