// SPDX-License-Identifier: MIT OR Apache-2.0
//! One message for a user who asked for something impossible, and the exit code that goes with it.

use std::fmt;

use corecast_core::Help;
use corecast_text::size::SizeError;

use crate::style;

/// Why the program ends without doing what was asked.
#[derive(Debug)]
pub struct Failure {
    message: String,
    helps: Vec<String>,
    /// The exit code: 1 a check failed, 2 bad input, 3 a limit or a deadlock.
    pub code: u8,
}

impl Failure {
    /// Bad input.
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            helps: Vec::new(),
            code: 2,
        }
    }

    /// A check that failed; the answer is printed all the same.
    pub fn check(message: impl Into<String>) -> Self {
        Self {
            code: 1,
            ..Self::input(message)
        }
    }

    /// What a library says against the input, and what would be right.
    pub fn library(error: &impl Help) -> Self {
        let help = error.help();
        let lines = help.lines().filter(|line| !line.is_empty());
        lines.fold(Self::input(error.to_string()), Self::help)
    }

    /// The same of what it says against a file.
    pub fn library_in(file: &str, error: &impl Help) -> Self {
        let failure = Self::library(error);
        Self {
            message: format!("{file}: {}", failure.message),
            ..failure
        }
    }

    /// The same about one run of several.
    pub fn of_run(mut self, run: &str) -> Self {
        self.message = format!("{run}: {}", self.message);
        self
    }

    /// Adds what the user can do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }

    /// A name that does not exist, with the nearest one and all that do.
    pub fn unknown(kind: &str, plural: &str, name: &str, known: &[&str]) -> Self {
        let mut failure = Self::input(format!("there is no {kind} called `{name}`"));
        if let Some(nearest) = corecast_text::nearest(name, known) {
            failure = failure.help(format!("did you mean `{nearest}`?"));
        }
        failure.help(format!("{plural}: {}", known.join(", ")))
    }
}

/// Several lines, with styles.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", style::bad("error:"), self.message)?;
        let label = style::help("help:");
        let mut helps = self.helps.iter();
        helps.try_for_each(|help| writeln!(f, "  {label} {help}"))
    }
}

impl From<SizeError> for Failure {
    fn from(error: SizeError) -> Self {
        Self::input(error.message).help(error.help)
    }
}
