//! A chip file that says only what differs from another chip.
//!
//! ```text
//! base = "scc"             # a built-in chip
//! name = "mine"
//! [clocks.core]
//! period = { value = 800, unit = "MHz", ... }
//! ```
//!
//! Everything else is as in the base; keys that the base does not have are refused. What is then
//! wrong with the whole is reported for "FILE over BASE".

use toml_edit::{DocumentMut, Item, Table};

use crate::builtin;
use crate::change::keys;
use crate::error::ChipError;

/// The text and the name of the file with its base filled in; as they are if it has none.
///
/// # Errors
/// [`ChipError::UnknownChip`] for a base that is not built in, [`ChipError::NoSuchKey`] for a key
/// that the base does not have.
pub(crate) fn resolve(text: String, file: String) -> Result<(String, String), ChipError> {
    // What is no TOML is for the parser to refuse.
    let Ok(mut variant) = text.parse::<DocumentMut>() else {
        return Ok((text, file));
    };
    let Some(base) = variant.remove("base") else {
        return Ok((text, file));
    };
    let name = base.as_str().unwrap_or_default();
    let Some((_, base_text)) = builtin::BUILTIN.iter().find(|(known, _)| *known == name) else {
        return Err(ChipError::UnknownChip {
            name: name.to_owned(),
            known: builtin::builtin_names().collect(),
        });
    };
    let mut whole: DocumentMut = base_text.parse().expect("built-in chips are TOML");
    if let Err(key) = overlay(whole.as_table_mut(), variant.as_table(), "") {
        let known = keys(&whole);
        return Err(ChipError::NoSuchKey { file, key, known });
    }
    resolve(whole.to_string(), format!("{file} over {name}"))
}

/// Replaces what `variant` says; the path of the first key that is not there.
fn overlay(base: &mut Table, variant: &Table, path: &str) -> Result<(), String> {
    for (key, item) in variant {
        let path = match path {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        let Some(old) = base.get_mut(key) else {
            return Err(path);
        };
        match (old, item) {
            (Item::Table(old), Item::Table(new)) => overlay(old, new, &path)?,
            (old, new) => *old = new.clone(),
        }
    }
    Ok(())
}
