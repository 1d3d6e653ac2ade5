// SPDX-License-Identifier: MIT OR Apache-2.0
//! What would be right, beside what is wrong.
//!
//! The first line of an error says what is wrong, and is what `Display` gives. What would be right
//! instead is asked for apart: a face may render it in its own way or leave it out, and an error
//! inside another one keeps it.
//!
//! ```
//! use corecast_core::{Collective, Help as _, Rank, Request};
//! let request = Request::new(Collective::Bcast, 4, 64).with_root(Rank(4));
//! let error = request.check().unwrap_err();
//! assert_eq!(error.to_string(), "root 4 is out of range");
//! assert_eq!(error.help(), "with 4 ranks the root is 0 to 3");
//! let both = "root 4 is out of range\n  with 4 ranks the root is 0 to 3";
//! assert_eq!(error.with_help().to_string(), both);
//! ```

use std::fmt;

/// An error that knows what would be right.
pub trait Help: fmt::Display {
    /// What would be right instead, one thing per line; empty where nothing is known.
    fn help(&self) -> String;

    /// The error with its help below it, indented.
    fn with_help(&self) -> WithHelp<'_, Self> {
        WithHelp(self)
    }
}

/// An error with its help. See [`Help::with_help`].
#[derive(Debug)]
pub struct WithHelp<'a, E: ?Sized>(&'a E);

impl<E: Help + ?Sized> fmt::Display for WithHelp<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let help = self.0.help();
        let mut lines = help.lines().filter(|line| !line.is_empty());
        lines.try_for_each(|line| write!(f, "\n  {line}"))
    }
}
