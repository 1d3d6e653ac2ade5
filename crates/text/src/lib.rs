// SPDX-License-Identifier: MIT OR Apache-2.0
//! What errors about files and names that users write have in common: where something is, how it is
//! quoted, and what was probably meant; how sizes, files of cores and entries of TOML files are read with
//! such errors; and how files are read, unpacked and written.

pub mod cores;
mod entry;
pub mod file;
mod section;
pub mod size;
pub mod unpack;

use std::fmt::{self, Write as _};

use toml::de::DeValue;

pub use entry::{EntryError, in_table};
pub use section::{Item, Section, Text};

/// Longest piece of a file that an error message quotes, in characters.
pub const QUOTED_CHARS_MAX: usize = 60;

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file's name as it was given.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Path of the key concerned, such as `endpoint.order.unit`; empty at the top level.
    pub key: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A piece of the file as a message can show it: short, and without control characters.
#[must_use]
pub fn quoted(text: &str) -> String {
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

/// The nearest of `accepted`, of equally near ones the first in alphabetical order; none if more
/// than a third of its characters differ, so that `us` does not become `ns`.
#[must_use]
pub fn nearest<'a, S: AsRef<str>>(found: &str, accepted: &'a [S]) -> Option<&'a str> {
    if found.chars().count() > QUOTED_CHARS_MAX {
        return None; // far from everything, and the distance costs its length squared
    }
    let all = accepted.iter().map(AsRef::as_ref);
    let (distance, name) = all
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .min()?;
    (distance <= name.chars().count() / 3).then_some(name)
}

/// One more line of help proposing the [`nearest`] of `accepted`, or nothing if none is near.
#[must_use]
pub fn did_you_mean<S: AsRef<str>>(found: &str, accepted: &[S]) -> String {
    nearest(found, accepted).map_or_else(String::new, |name| format!("\ndid you mean `{name}`?"))
}

/// The type of a value, in words.
#[must_use]
pub fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names_are_near() {
        let accepted = ["kind", "clock", "width"];
        assert_eq!(did_you_mean("wdith", &accepted), "\ndid you mean `width`?");
        assert_eq!(did_you_mean("latency", &accepted), "");
        assert_eq!(did_you_mean(&"w".repeat(100_000), &accepted), "");
        assert_eq!(did_you_mean("us", &["ps", "ns"]), "");
        assert_eq!(did_you_mean::<&str>("x", &[]), "");
    }

    #[test]
    fn quoted_text_stays_on_its_line() {
        assert_eq!(quoted("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(quoted(&"x".repeat(61)).len(), QUOTED_CHARS_MAX + 3);
    }
}
