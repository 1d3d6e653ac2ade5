// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wrong with a file, where, and what would be right.

use std::fmt;

use corecast_core::Help;

/// Why a file is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileError {
    /// The file's name as it was given.
    pub file: String,
    /// Line, counted from 1; none for the file as a whole.
    pub line: Option<u32>,
    /// What is wrong.
    pub wrong: String,
    /// What would be right, one thing per line.
    pub right: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.wrong)
    }
}

impl std::error::Error for FileError {}

impl Help for FileError {
    fn help(&self) -> String {
        self.right.clone()
    }
}

/// The same before it is known in which file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Line, counted from 1; none for the file as a whole.
    pub line: Option<u32>,
    /// What is wrong.
    pub wrong: String,
    /// What would be right, one thing per line.
    pub right: String,
}

impl Fault {
    /// Something wrong in a line.
    #[must_use]
    pub fn at(line: u32, wrong: impl Into<String>, right: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            wrong: wrong.into(),
            right: right.into(),
        }
    }

    /// Something wrong with the whole file.
    #[must_use]
    pub fn whole(wrong: impl Into<String>, right: impl Into<String>) -> Self {
        Self {
            line: None,
            wrong: wrong.into(),
            right: right.into(),
        }
    }

    /// The same, when the file is known.
    #[must_use]
    pub fn in_file(self, file: &str) -> FileError {
        FileError {
            file: file.to_owned(),
            line: self.line,
            wrong: self.wrong,
            right: self.right,
        }
    }
}

/// Why a format cannot say what a schedule says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsayable {
    /// The format.
    pub format: &'static str,
    /// What it cannot say.
    pub what: String,
    /// What can be done about it.
    pub instead: String,
}

impl fmt::Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot say {}", self.format, self.what)
    }
}

impl std::error::Error for Unsayable {}

impl Help for Unsayable {
    fn help(&self) -> String {
        self.instead.clone()
    }
}
