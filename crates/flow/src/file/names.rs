// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names in a flow file; the rest of its reading is `corecast_text`'s.

use corecast_text::{Item, Section};

use crate::file::error::FileError;
use crate::graph::MEMORY;

/// Seeds are whole numbers that every TOML library can write.
pub(crate) const SEED_MAX: u64 = i64::MAX as u64;

/// Every entry with its name, in file order; names are checked.
pub(crate) fn named<'a>(section: &Section<'a>) -> Result<Vec<(&'a str, Item<'a>)>, FileError> {
    let entries = section.entries().map(|(at, name, item)| {
        if is_name(name) {
            return Ok((name, item));
        }
        let found = name.to_owned();
        Err(FileError::BadName { at, found })
    });
    entries.collect()
}

/// The elements of a list.
pub(crate) fn list<'a>(item: &Item<'a>) -> Result<Vec<Item<'a>>, FileError> {
    let refused = || item.wrong_type("a list", "[...]").into();
    item.elements().ok_or_else(refused)
}

/// Whether a text can be the name of a flow or a task.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&text.len()) && text.chars().all(is_part) && text != MEMORY
}
