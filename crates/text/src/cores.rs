// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that say which core every rank gets, line by line; whether a chip has the cores is asked later.
//!
//! ```
//! let list = corecast_text::cores::list("4\n# far\n0 # rank 1\n", 48).unwrap();
//! assert_eq!(list, [(1, "4"), (3, "0")]);
//! let pairs = corecast_text::cores::list("1 7\n0 3\n", 48).unwrap();
//! assert_eq!(pairs, [(2, "3"), (1, "7")]);
//! ```

use std::fmt;

use crate::quoted;

/// The forms of a file.
pub const LINES: &str =
    "one core per line, for rank 0, 1, ..., or lines of a rank and its core; `#` begins a comment";

/// What is wrong in which line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: Wrong,
}

/// What can be wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// More than two words.
    Words(usize),
    /// One word where lines before have another number.
    Mixed,
    /// No rank.
    Rank(String),
    /// No core.
    Core(String),
    /// A rank that had a core in this line.
    Twice(usize, usize),
    /// A rank without a core before one that has one.
    Missing(usize),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => write!(f, "{words} words"),
            Self::Mixed => f.write_str("some lines have a core, others a rank and its core"),
            Self::Rank(word) => write!(f, "`{word}` is no rank"),
            Self::Core(word) => write!(f, "`{word}` is no core"),
            Self::Twice(rank, line) => {
                write!(f, "rank {rank} has a core already, in line {line}")
            }
            Self::Missing(rank) => write!(f, "rank {rank} has no core, a later one has"),
        }
    }
}

/// By rank, of which there are at most `ranks_max`: the line of its core, and what stands there.
///
/// # Errors
/// The first line that is wrong, or the last one where a rank is missing.
pub fn list(text: &str, ranks_max: u32) -> Result<Vec<(usize, &str)>, LineError> {
    let mut entries: Vec<Option<(usize, &str)>> = Vec::new();
    let mut width = None;
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()) {
        let refuse = |what| Err(LineError { line, what });
        let text = text.split('#').next().unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let (rank, core) = match words[..] {
            [] => continue,
            [core] => (entries.len(), core),
            [rank, core] => match rank.parse::<u32>() {
                Ok(rank) if rank < ranks_max => (rank as usize, core),
                _ => return refuse(Wrong::Rank(quoted(rank))),
            },
            _ => return refuse(Wrong::Words(words.len())),
        };
        if !core.chars().all(|c| c.is_ascii_digit()) {
            return refuse(Wrong::Core(quoted(core)));
        }
        if width.is_some_and(|width| width != words.len()) {
            return refuse(Wrong::Mixed);
        }
        (width, last) = (Some(words.len()), line);
        if rank >= entries.len() {
            entries.resize(rank + 1, None);
        }
        if let Some((before, _)) = entries[rank].replace((line, core)) {
            return refuse(Wrong::Twice(rank, before));
        }
    }
    if let Some(rank) = entries.iter().position(Option::is_none) {
        let (line, what) = (last, Wrong::Missing(rank));
        return Err(LineError { line, what });
    }
    Ok(entries.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_has_a_line() {
        for (text, line, told) in [
            ("0\n\n1 2\n", 3, "some lines have a core"),
            ("0 2\n1\n", 2, "some lines have a core"),
            ("0 2\n0 3\n", 2, "rank 0 has a core already, in line 1"),
            ("0 2\n2 3\n# end\n", 2, "rank 1 has no core"),
            ("-1 2\n", 1, "`-1` is no rank"),
            ("4294967295 2\n", 1, "`4294967295` is no rank"),
            ("0 1 2\n", 1, "3 words"),
            ("0,1\n", 1, "`0,1` is no core"),
        ] {
            let error = list(text, 1 << 20).expect_err(text);
            assert_eq!(error.line, line, "{text:?}");
            assert!(
                error.what.to_string().starts_with(told),
                "{text:?}: {error:?}"
            );
        }
        assert_eq!(list("# none\n", 48), Ok(Vec::new()));
    }
}
