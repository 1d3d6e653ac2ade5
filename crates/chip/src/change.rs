// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip with some of its values changed, for questions of the kind "what if".
//!
//! The change is made in the text of the file, so everything that is checked about a file is
//! checked about the changed one. A changed number is `assumed`: whatever its source was, it is not
//! the source of the new value.
//!
//! ```
//! let changes = [("network.buffer".to_owned(), "8".to_owned())];
//! let chip = corecast_chip::find_changed("tilepro64", &changes)?;
//! let buffer = chip.parameters().find(|p| p.key == "network.buffer").unwrap();
//! assert_eq!(buffer.value, 8.0);
//! assert_eq!(buffer.kind, corecast_chip::Provenance::Assumed);
//! # Ok::<(), corecast_chip::ChipError>(())
//! ```

use toml_edit::{DocumentMut, InlineTable, Item, Value};

use crate::builtin;
use crate::chip::Chip;
use crate::contents::Origin;
use crate::error::ChipError;
use crate::variant;

/// Keys whose product is the number of cores of a mesh.
const SHAPE: [&str; 3] = ["width", "height", "cores_per_router"];

/// As [`crate::find`], with the value of each key, such as `network.vcs`, replaced.
///
/// A key that the file leaves to its default can be changed, too. If the shape of a mesh is changed,
/// `cores.max` follows; where its last two routers are the memory's and the host's, they move along.
///
/// # Errors
/// As [`crate::find`]; [`ChipError::NoSuchKey`] for a key that the chip file does not have, and
/// everything that is refused in a chip file.
pub fn find_changed(name_or_path: &str, changes: &[(String, String)]) -> Result<Chip, ChipError> {
    let (text, file) = builtin::text(name_or_path)?;
    changed(text, file, changes)
}

/// As [`Chip::parse`], with the value of each key replaced as by [`find_changed`].
///
/// # Errors
/// As [`find_changed`].
pub fn parse_changed(
    text: &str,
    file: &str,
    changes: &[(String, String)],
) -> Result<Chip, ChipError> {
    changed(text.to_owned(), file.to_owned(), changes)
}

fn changed(text: String, file: String, changes: &[(String, String)]) -> Result<Chip, ChipError> {
    let unchanged = Chip::parse(&text, &file)?; // its own mistakes first, with their own lines
    if changes.is_empty() {
        return Ok(unchanged);
    }
    let (variant, named) = (text.clone(), format!("{file} as changed"));
    let (text, file) = variant::resolve(text, file)?;
    let mut said: Vec<String> = changes.iter().map(|(key, _)| key.clone()).collect();
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Chip::parse(&text, &file);
    };
    for (key, value) in changes {
        let is_set = set(&mut document, key, value).is_some()
            || add(&mut document, &unchanged, key, value).is_some();
        if !is_set {
            let mut known = keys(&document);
            known.extend(left_out(&unchanged));
            return Err(ChipError::NoSuchKey {
                file,
                key: key.clone(),
                known,
            });
        }
    }
    let is_shape = |key: &str| {
        key.strip_prefix("network.")
            .is_some_and(|k| SHAPE.contains(&k))
    };
    let is_reshaped = changes.iter().any(|(key, _)| is_shape(key));
    if is_reshaped && !changes.iter().any(|(key, _)| key == "cores.max") {
        let side = |key| number(&document, key);
        if let [Some(width), Some(height), Some(per_node)] = SHAPE.map(side) {
            let mut cores = width.saturating_mul(height).saturating_mul(per_node);
            let kind = document.get("endpoint").and_then(|table| table.get("kind"));
            if kind.and_then(Item::as_str) == Some("pronto") && cores > 2 && per_node == 1 {
                cores -= 2;
                for (key, node) in [("endpoint.memory", cores), ("endpoint.host", cores + 1)] {
                    if !changes.iter().any(|(changed, _)| changed == key) {
                        let at = format!("{},{}", node % width, node / width);
                        set(&mut document, key, &at);
                        said.push(key.to_owned());
                    }
                }
            }
            if cores > 0 {
                set(&mut document, "cores.max", &cores.to_string());
                said.push("cores.max".to_owned());
            }
        }
    }
    let changed = Chip::parse(&document.to_string(), &format!("{file} as changed"));
    let changed = changed.map_err(|error| variant::relocate_changed(error, &variant, &named))?;
    Ok(Chip {
        base: unchanged.base,
        variant: unchanged.variant,
        set: said,
        ..changed
    })
}

/// Keys that a chip's file leaves to their defaults.
fn left_out(chip: &Chip) -> impl Iterator<Item = String> {
    let words = chip.words().filter(|word| word.origin == Origin::Default);
    words.map(|word| word.key)
}

/// Says a key that a chip's file leaves to its default.
fn add(document: &mut DocumentMut, chip: &Chip, key: &str, value: &str) -> Option<()> {
    left_out(chip).find(|left_out| left_out == key)?;
    let of_key = crate::keys().into_iter().find(|known| known.path == key)?;
    let (table, key) = key.rsplit_once('.')?;
    let table = document.get_mut(table)?.as_table_like_mut()?;
    let item = match of_key.form.unit() {
        unit if unit.is_empty() => Value::from(value),
        unit => {
            let mut number = InlineTable::new();
            number.insert("value", Value::from(0));
            number.insert("unit", Value::from(unit));
            Value::from(number)
        }
    };
    table.insert(key, Item::Value(item));
    set_item(table.get_mut(key)?, value)
}

fn number(document: &DocumentMut, key: &str) -> Option<i64> {
    document
        .get("network")?
        .get(key)?
        .get("value")?
        .as_integer()
}

/// Replaces the value of a dotted key; `None` if there is none.
fn set(document: &mut DocumentMut, key: &str, value: &str) -> Option<()> {
    let mut item: &mut Item = document.as_item_mut();
    for part in key.split('.') {
        if is_number(item) {
            return None; // its unit and its source are not for changing
        }
        item = item.as_table_like_mut()?.get_mut(part)?;
    }
    set_item(item, value)
}

/// Whether this is a number with its unit and its source, in one line or in a table of its own.
fn is_number(item: &Item) -> bool {
    let table = item.as_table_like();
    let value = table.and_then(|table| table.get("value"));
    value.is_some_and(|value| !value.is_table_like())
}

/// Replaces a value.
fn set_item(item: &mut Item, value: &str) -> Option<()> {
    if is_number(item) {
        // What is no number stays a text, and the chip's own check says what is wrong with it.
        let parsed = value.parse::<Value>();
        let parsed = parsed.unwrap_or_else(|_| Value::from(value));
        let number = item.as_table_like_mut()?;
        number.insert("value", Item::Value(parsed));
        for (key, word) in [("kind", "assumed"), ("source", "set by the user")] {
            number.insert(key, Item::Value(Value::from(word)));
        }
        number.remove("fitted_to");
        return Some(());
    }
    let written = item.as_value_mut()?;
    *written = match written {
        // Entries of a list are separated by spaces, as `show chip` prints them.
        Value::Array(_) => value.split_whitespace().collect(),
        Value::InlineTable(_) => return None,
        _ => Value::from(value),
    };
    Some(())
}

/// Every key that can be changed.
pub(crate) fn keys(document: &DocumentMut) -> Vec<String> {
    let mut found = Vec::new();
    collect(document.as_item(), "", &mut found);
    found
}

fn collect(item: &Item, path: &str, found: &mut Vec<String>) {
    let table = item.as_table().filter(|_| !is_number(item));
    let Some(table) = table else {
        found.push(path.to_owned());
        return;
    };
    for (key, item) in table {
        let path = if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        };
        collect(item, &path, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkSpec;
    use corecast_core::Help as _;

    fn changed(name: &str, changes: &[(&str, &str)]) -> Result<Chip, ChipError> {
        let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
        find_changed(name, &owned.collect::<Vec<_>>())
    }

    #[test]
    fn a_changed_shape_takes_its_cores_along() {
        let chip = changed(
            "tilepro64",
            &[("network.width", "4"), ("network.order", "yx")],
        );
        let chip = chip.expect("valid");
        assert_eq!(chip.cores_max(), 32);
        let NetworkSpec::Mesh(mesh) = chip.network() else {
            panic!("a mesh");
        };
        assert_eq!((mesh.grid.width, mesh.grid.height), (4, 8));
        assert_eq!(mesh.grid.order, corecast_core::DimensionOrder::Yx);
    }

    #[test]
    fn memory_and_host_move_with_the_shape() {
        let chip = changed("nagam", &[("network.width", "6")]).expect("valid");
        assert_eq!(chip.cores_max(), 28);
        let crate::EndpointSpec::Pronto(pronto) = chip.endpoint() else {
            panic!("tiles");
        };
        assert_eq!((pronto.memory, pronto.host), ((4, 4), (5, 4)));
        let swapped = [("endpoint.memory", "3,4"), ("endpoint.host", "2,4")];
        assert!(changed("nagam", &swapped).is_ok());
    }

    #[test]
    fn fitted_numbers_become_assumed() {
        let chip = changed("park2019-bus", &[("endpoint.order", "3")]).expect("valid");
        assert_eq!(chip.count(crate::Provenance::Fitted), 1);
    }

    #[test]
    fn a_wrong_change_is_told_where_the_key_is() {
        let text = "# a comment\nname = \"mine\"\nbase = \"booksim-mesh\"\nsummary = \"a\"\n\
            source = \"me\"\n[network]\nbuffer = { value = 4, unit = \"flits\", \
            kind = \"assumed\", source = \"me\" }\n";
        let of = |key: &str| {
            let change = (key.to_owned(), "0".to_owned());
            let error = parse_changed(text, "mine.toml", &[change]).expect_err("is refused");
            error.to_string()
        };
        let base = builtin::text("booksim-mesh").expect("built in").0;
        let line = 1 + base
            .lines()
            .position(|line| line.starts_with("flit ="))
            .expect("there");
        let file = "booksim-mesh, the base of mine.toml as changed";
        let flit = format!("{file}:{line}: `network.flit` = 0 is out of range");
        assert_eq!(of("network.flit"), flit);
        let buffer = "mine.toml as changed:7: `network.buffer` = 0 is out of range";
        assert_eq!(of("network.buffer"), buffer);
    }

    /// `[network.link] value = 1` is what `network.link = { value = 1 }` is.
    #[test]
    fn a_number_in_a_table_of_its_own_is_changed_like_one_in_a_line() {
        let line = builtin::text("booksim-mesh").expect("built in").0;
        let start = line.find("\nlink = ").expect("there") + 1;
        let end = start + line[start..].find('\n').expect("a line");
        let fields = line[start..end].replace("link = {", "").replace(" }", "");
        let table = format!("[network.link]\n{}\n", fields.replace(", ", "\n").trim());
        let (before, after) = (&line[..start], &line[end..]);
        let text = format!("{before}{after}\n{table}");
        let change = [("network.link".to_owned(), "7".to_owned())];
        let [changed, same] = [&text, &line].map(|text| {
            parse_changed(text, "file.toml", &change)
                .expect("valid")
                .fingerprint()
        });
        assert_eq!(changed, same);
        let mut document: DocumentMut = text.parse().expect("TOML");
        assert!(keys(&document).contains(&"network.link".to_owned()));
        assert!(set(&mut document, "network.link.unit", "ns").is_none());
    }

    #[test]
    fn what_a_file_leaves_out_can_be_changed() {
        for (name, key, value) in [
            ("chung2011-bus", "endpoint.launch", "ready-ahead"),
            ("scc", "network.link_clock", "ddr"),
            ("booksim-mesh", "network.static_hop", "2"),
            ("booksim-mesh", "network.placement", "rows"),
        ] {
            let chip = changed(name, &[(key, value)]).expect("valid");
            let said = chip
                .words()
                .find(|word| word.key == key)
                .map(|word| word.value);
            let number = chip.parameters().find(|number| number.key == key);
            let said = said.or(number.map(|number| number.value.to_string()));
            assert_eq!(said.as_deref(), Some(value), "{key}");
        }
        let wrong = changed("chung2011-bus", &[("endpoint.launc", "held")]);
        let wrong = wrong.expect_err("is refused").with_help().to_string();
        assert!(wrong.contains("did you mean `endpoint.launch`?"), "{wrong}");
    }

    #[test]
    fn wrong_keys_and_values_are_refused() {
        let error = |changes| {
            changed("tilepro64", changes)
                .expect_err("is refused")
                .with_help()
                .to_string()
        };
        let unknown = error(&[("network.vc", "2")]);
        assert!(unknown.contains("did you mean `network.vcs`?"), "{unknown}");
        let range = error(&[("network.vcs", "0")]);
        assert!(range.contains("tilepro64.toml as changed:"), "{range}");
        assert!(
            range.contains("`network.vcs` = 0 is out of range"),
            "{range}"
        );
        let text = error(&[("network.vcs", "many")]);
        assert!(text.contains("a number"), "{text}");
        assert!(error(&[("network", "1")]).contains("no key `network`"));
    }
}
