//! What can be wrong with a table's file, said so that it can be put right.
//!
//! As with chip files: every variant carries file, line and key and what would have been accepted;
//! the rendering is a first line and indented lines of help, golden-tested in `tests/errors`.
//!
//! ```
//! let error = corecast_tune::Table::parse("format = 2", "a.toml").unwrap_err();
//! assert!(error.to_string().starts_with("a.toml:1: `format` = 2"));
//! ```

use std::fmt::{self, Write as _};

use thiserror::Error;

/// Longest piece of a file that an error message quotes, in characters.
const QUOTED_CHARS_MAX: usize = 60;

/// A place in a table's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file's name as it was given.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// The key concerned, such as `cell.ranks`; empty for the whole file.
    pub key: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

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

/// A piece of the file as a message can show it: short, and without control characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == QUOTED_CHARS_MAX {
            shown.push_str("...");
            break;
        }
        if c.is_control() {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn in_table(table: &str) -> String {
    if table.is_empty() {
        "at the top level".to_owned()
    } else {
        format!("in [[{table}]]")
    }
}

/// A line proposing the nearest of `accepted`, or nothing if none is near.
fn did_you_mean(found: &str, accepted: &[&str]) -> String {
    if found.chars().count() > QUOTED_CHARS_MAX {
        return String::new(); // far from everything, and the distance costs its length squared
    }
    let nearest = accepted
        .iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), *name))
        .min(); // of equally near names the first in alphabetical order
    match nearest {
        Some((distance, name)) if distance <= name.chars().count() / 3 => {
            format!("\n  did you mean `{name}`?")
        }
        _ => String::new(),
    }
}
