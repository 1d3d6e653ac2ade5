//! A chip file that says only what differs from another chip.
//!
//! ```text
//! base = "scc"             # a built-in chip
//! name = "mine"
//! [clocks.core]
//! period = { value = 800, unit = "MHz", ... }
//! ```
//!
//! Everything else is as in the base. What is wrong with the whole is reported for "FILE over BASE",
//! with the lines of both together.

use toml_edit::{DocumentMut, Item, Table};

use crate::builtin;
use crate::error::ChipError;

/// The text and the name of the file with its base filled in; as they are if it has none.
///
/// # Errors
/// [`ChipError::UnknownChip`] for a base that is not built in.
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
    overlay(whole.as_table_mut(), variant.as_table());
    resolve(whole.to_string(), format!("{file} over {name}"))
}

/// Replaces what `variant` says.
fn overlay(base: &mut Table, variant: &Table) {
    for (key, item) in variant {
        match (base.get_mut(key), item) {
            (Some(Item::Table(old)), Item::Table(new)) => overlay(old, new),
            _ => {
                base.insert(key, item.clone());
            }
        }
    }
}
