// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip file that says only what differs from another chip.
//!
//! ```text
//! base = "scc"             # a built-in chip
//! name = "mine"
//! [clocks.core]
//! period = { value = 800, unit = "MHz", ... }
//! ```
//!
//! Everything else is as in the base.

use corecast_text::{EntryError, Location, Text};
use toml::de::{DeTable, DeValue};
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::builtin;
use crate::change;
use crate::error::ChipError;

/// The text and the name of the file with its base filled in; as they are if it has none.
///
/// # Errors
/// [`EntryError::UnknownName`] for a base that is not built in; [`EntryError::Syntax`] for numbers
/// beyond 64 bits.
pub(crate) fn resolve(text: String, file: String) -> Result<(String, String), ChipError> {
    // What is no TOML is for the parser to refuse.
    let has_base = DeTable::parse(&text).is_ok_and(|table| table.get_ref().contains_key("base"));
    if !has_base {
        return Ok((text, file));
    }
    let mut variant = text.parse::<DocumentMut>().map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Text::new(&file, &text).syntax(offset, error.message(), "")
    })?;
    let base = variant.remove("base").unwrap_or_default();
    let Some(name) = base.as_str() else {
        let key = "base".to_owned();
        let line = line(&text, &key).unwrap_or(1);
        let error = EntryError::WrongType {
            at: Box::new(Location { file, line, key }),
            expected: "a text",
            found: match base.type_name() {
                "table" | "inline table" => "a table",
                "array" | "array of tables" => "a list",
                "integer" | "float" => "a number",
                "boolean" => "a boolean",
                _ => "a date",
            },
            form: "base = \"scc\"".to_owned(),
        };
        return Err(error.into());
    };
    let Some((_, base_text)) = builtin::BUILTIN.iter().find(|(known, _)| *known == name) else {
        let key = "base".to_owned();
        let line = line(&text, &key).unwrap_or(1);
        let error = EntryError::UnknownName {
            at: Box::new(Location { file, line, key }),
            found: name.to_owned(),
            accepted: builtin::builtin_names().map(str::to_owned).collect(),
        };
        return Err(error.into());
    };
    let mut whole: DocumentMut = base_text.parse().expect("built-in chips are TOML");
    overlay(whole.as_table_mut(), variant.as_table());
    resolve(whole.to_string(), format!("{name}, the base of {file}"))
}

/// A variant that calls itself what its base is called: nobody could tell their results apart.
pub(crate) fn without_name(file: &str) -> ChipError {
    let at = Location {
        file: file.to_owned(),
        line: 1,
        key: "name".to_owned(),
    };
    let error = EntryError::MissingKey {
        at: Box::new(at),
        table: String::new(),
        key: "name",
        form: "name = \"my-chip\"".to_owned(),
    };
    error.into()
}

/// The base of a variant's file, and the keys that the file itself says.
pub(crate) fn said(text: &str) -> (Option<String>, Vec<String>) {
    let Ok(variant) = text.parse::<DocumentMut>() else {
        return (None, Vec::new());
    };
    let base = variant.get("base").and_then(Item::as_str);
    (base.map(str::to_owned), change::keys(&variant))
}

/// The same error with its place in the variant, if the key or its table is there.
pub(crate) fn relocate(mut error: ChipError, text: &str, file: &str) -> ChipError {
    if let Some(at) = error.location_mut() {
        let mut path = at.key.as_str();
        let mut found = line(text, path);
        while found.is_none()
            && let Some((table, _)) = path.rsplit_once('.')
        {
            path = table;
            found = line(text, path);
        }
        if let Some(line) = found {
            file.clone_into(&mut at.file);
            at.line = line;
        }
    }
    error
}

/// The same error, of a chip that was changed, with its place in the variant, if the variant says the key.
pub(crate) fn relocate_changed(mut error: ChipError, text: &str, file: &str) -> ChipError {
    if let Some(at) = error.location_mut()
        && let Some(line) = line(text, &at.key)
    {
        (at.file, at.line) = (file.to_owned(), line);
    }
    error
}

/// The line of a dotted key.
fn line(text: &str, path: &str) -> Option<u32> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut offset = None;
    for part in path.split('.') {
        let (key, value) = table.get_key_value(part)?;
        offset = Some(key.span().start);
        if let DeValue::Table(inner) = value.get_ref() {
            table = inner;
        }
    }
    Some(Text::new("", text).at(offset?, "").line)
}

/// Replaces what `variant` says; keys stay on their lines, with the comments before them.
fn overlay(base: &mut Table, variant: &Table) {
    for (key, item) in variant {
        match (base.get_mut(key), item) {
            (Some(Item::Table(old)), Item::Table(new)) => overlay(old, new),
            (Some(Item::Table(old)), Item::Value(Value::InlineTable(new))) => {
                overlay(old, &new.clone().into_table());
            }
            (Some(old), Item::Value(_)) => old.clone_from(item),
            _ => {
                base.insert(key, item.clone());
            }
        }
    }
}
