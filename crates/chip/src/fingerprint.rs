// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tells two chips apart that take different times.
//!
//! Results that are kept for later, such as decision tables, hold only for the chip they were
//! found on. A name does not say that: a file can be edited, and `--set` changes values. So the
//! fingerprint is taken over what a chip file *says about time*: every word (kind of network and
//! endpoint, order of dimensions, protocol, which clock runs what) and every number with its key,
//! value and unit. Name, summary, sources, kinds of provenance, comments and the order of lines
//! are left out.
//!
//! ```
//! let chip = corecast_chip::find("tilepro64")?;
//! let changes = [("network.buffer".to_owned(), "8".to_owned())];
//! let changed = corecast_chip::find_changed("tilepro64", &changes)?;
//! assert_ne!(changed.fingerprint(), chip.fingerprint());
//! assert_eq!(chip.fingerprint().len(), 16);
//! # Ok::<(), corecast_chip::ChipError>(())
//! ```

use corecast_core::hash::fnv_1a;
use toml::de::{DeTable, DeValue};

use crate::placement::Placement;
use crate::provenance::Entry;

/// Keys at the top level that say nothing about time.
const PROSE: [&str; 3] = ["name", "summary", "source"];

/// The fingerprint of a file that was read and found good; `numbers` are those it has.
pub(crate) fn of(text: &str, document: &DeTable<'_>, numbers: &[Entry]) -> u64 {
    let mut lines = Vec::new();
    words(text, document, "", &mut lines);
    lines.extend(numbers.iter().map(|entry| {
        let number = entry.parameter();
        // The bits, so that no digit is lost; `4` and `4.0` are the same number.
        let bits = number.value.to_bits();
        format!("{} {bits:x} {}\n", number.key, number.unit)
    }));
    lines.sort_unstable();
    fnv_1a(lines.concat().as_bytes())
}

/// Every value that is no number, with its key.
fn words(text: &str, table: &DeTable<'_>, path: &str, lines: &mut Vec<String>) {
    for (key, value) in table {
        let key = key.get_ref();
        match value.get_ref() {
            DeValue::Table(number) if number.contains_key("value") => {}
            DeValue::Table(table) => words(text, table, &format!("{path}{key}."), lines),
            _ if path.is_empty() && PROSE.contains(&key.as_ref()) => {}
            // A list of cores is the same one with commas, blanks or both between them.
            DeValue::String(word) if path == "network." && key == "placement" => {
                let entries: Vec<&str> = Placement::entries(word).collect();
                lines.push(format!("{path}{key} {}\n", entries.join(" ")));
            }
            DeValue::String(word) => lines.push(format!("{path}{key} {word}\n")),
            _ => {
                let written = text.get(value.span()).unwrap_or_default();
                lines.push(format!("{path}{key} {written}\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::builtin::BUILTIN;
    use crate::change::find_changed;
    use crate::chip::Chip;

    fn parse(text: &str) -> Chip {
        Chip::parse(text, "chip.toml").expect("valid")
    }

    #[test]
    fn a_placement_has_one_whatever_stands_between_its_cores() {
        let of = |cores: &str| {
            let changes = [("network.placement".to_owned(), cores.to_owned())];
            let chip = find_changed("scc", &changes);
            chip.expect("cores of the chip").fingerprint()
        };
        assert_eq!(of("0,5,10"), of("0 5 10"));
        assert_eq!(of("0, 5,  10"), of("0 5 10"));
        assert_ne!(of("0 5 11"), of("0 5 10"));
        assert_ne!(of("12"), of("1 2"));
    }

    #[test]
    fn any_changed_number_changes_it() {
        let mut changed = 0;
        for &(name, text) in BUILTIN {
            let chip = parse(text);
            for number in chip.parameters() {
                let changes = [(number.key.to_owned(), (number.value + 1.0).to_string())];
                // Some values are bound to others; what is refused has no fingerprint.
                if let Ok(other) = find_changed(name, &changes) {
                    let key = number.key;
                    assert_ne!(other.fingerprint(), chip.fingerprint(), "{name}: {key}");
                    changed += 1;
                }
            }
        }
        assert!(changed > 50, "only {changed} numbers");
    }

    #[test]
    fn changed_words_change_it() {
        let (_, text) = BUILTIN
            .iter()
            .find(|(name, _)| *name == "tilepro64")
            .expect("built in");
        let chip = parse(text);
        let changes = [
            (r#"order = "xy""#, r#"order = "yx""#),
            (r#"protocol = "ready""#, r#"protocol = "synchronous""#),
        ];
        for (word, other) in changes {
            assert!(text.contains(word), "{word}");
            let changed = parse(&text.replace(word, other));
            assert_ne!(changed.fingerprint(), chip.fingerprint(), "{other}");
        }
    }

    #[test]
    fn what_says_nothing_about_time_does_not() {
        for &(name, text) in BUILTIN {
            let chip = parse(text);
            let told = text
                .replace("source = \"", "source = \"Somebody: ")
                .replace("summary = \"", "summary = \"Once more: ")
                .replace(&format!("name = \"{name}\""), "name = \"other\"")
                .replace("kind = \"published\"", "kind = \"assumed\"");
            let told = parse(&format!("# A comment.\n\n{told}\n# Another.\n"));
            assert_ne!(told, chip, "something was changed");
            assert_eq!(told.fingerprint(), chip.fingerprint(), "{name}");
        }
    }

    #[test]
    fn built_in_chips_have_different_ones() {
        let mut all: Vec<_> = BUILTIN.iter().map(|(_, text)| parse(text)).collect();
        all.sort_by_key(Chip::fingerprint);
        all.dedup_by_key(|chip| chip.fingerprint());
        assert_eq!(all.len(), BUILTIN.len());
    }
}
