//! What the user is told when something cannot be done.

use std::fmt;

use corecast_machine::RunError;

/// One message, what would be right, and the exit code.
#[derive(Debug)]
pub struct CliError {
    message: String,
    help: Vec<String>,
    code: u8,
}

impl CliError {
    /// Bad input: exit code 2.
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: Vec::new(),
            code: 2,
        }
    }

    /// A check failed: exit code 1.
    pub fn check(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: Vec::new(),
            code: 1,
        }
    }

    /// Adds a line that says what would be right.
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    /// An unknown name, with the nearest known one and the list.
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let nearest = known
            .iter()
            .map(|known| (strsim::damerau_levenshtein(name, known), known))
            .filter(|(distance, known)| *distance <= known.len().div_ceil(2))
            .min();
        let mut error = Self::input(format!("unknown {what} `{name}`"));
        if let Some((_, nearest)) = nearest {
            error = error.help(format!("did you mean `{nearest}`?"));
        }
        error.help(format!("there are: {}", known.join(", ")))
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        self.help
            .iter()
            .try_for_each(|line| writeln!(f, "  help: {line}"))
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        let code = if error.is_limit() { 3 } else { 2 };
        Self {
            message: error.to_string(),
            help: Vec::new(),
            code,
        }
    }
}

impl From<corecast_chip::ChipError> for CliError {
    fn from(error: corecast_chip::ChipError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<corecast_core::RequestError> for CliError {
    fn from(error: corecast_core::RequestError) -> Self {
        Self::input(error.to_string())
    }
}
