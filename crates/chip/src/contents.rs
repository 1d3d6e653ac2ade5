// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything that is in a chip, also what its file does not say: words beside the numbers,
//! defaults, numbers that follow from others, and who said what.
//!
//! ```
//! use corecast_chip::Origin;
//! let chip = corecast_chip::find("tilepro64")?;
//! let placement = chip.words().find(|word| word.key == "network.placement").unwrap();
//! assert_eq!((placement.value.as_str(), placement.origin), ("square", Origin::Default));
//! let hop = chip.derived().into_iter().find(|number| number.key == "network.hop").unwrap();
//! assert_eq!((hop.value, hop.unit), (1.0, "cycles"));
//! # Ok::<(), corecast_chip::ChipError>(())
//! ```

use toml::de::{DeTable, DeValue};

use crate::chip::Chip;
use crate::clock::Clock;
use crate::facts::Derived;
use crate::mesh::Mesh;
use crate::network::NetworkSpec;

/// Keys at the top level that describe the chip and say nothing about how it works.
const PROSE: [&str; 3] = ["name", "summary", "source"];

/// Who said a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The chip's own file.
    File,
    /// A file that says only what differs from a base.
    Variant,
    /// That base.
    Base,
    /// The command line.
    Set,
    /// Nobody.
    Default,
}

impl Origin {
    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File | Self::Variant => "file",
            Self::Base => "base",
            Self::Set => "set",
            Self::Default => "default",
        }
    }
}

/// A value that is no number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Path of its key, such as `network.order`.
    pub key: String,
    /// The value; entries of a list are separated by spaces.
    pub value: String,
    /// Who said it.
    pub origin: Origin,
}

/// Key and value of every word of a file, in its order.
pub(crate) fn words(text: &str, table: &DeTable<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(text, table, "", &mut found);
    found.sort_by_key(|(offset, ..)| *offset);
    let words = found.into_iter().map(|(_, key, value)| (key, value));
    words.collect()
}

fn collect(text: &str, table: &DeTable<'_>, path: &str, found: &mut Vec<(usize, String, String)>) {
    for (key, value) in table {
        let offset = value.span().start;
        let key = key.get_ref();
        let whole = format!("{path}{key}");
        match value.get_ref() {
            DeValue::Table(number) if number.contains_key("value") => {}
            DeValue::Table(table) => collect(text, table, &format!("{whole}."), found),
            _ if path.is_empty() && PROSE.contains(&key.as_ref()) => {}
            DeValue::String(word) => found.push((offset, whole, word.to_string())),
            DeValue::Array(list) => {
                let words = list.iter().filter_map(|item| item.get_ref().as_str());
                let words: Vec<&str> = words.collect();
                found.push((offset, whole, words.join(" ")));
            }
            _ => {
                let written = text.get(value.span()).unwrap_or_default();
                found.push((offset, whole, written.to_owned()));
            }
        }
    }
}

impl Chip {
    /// Who said the value of `key`.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        let is_in = |keys: &[String]| keys.iter().any(|said| said == key);
        match &self.variant {
            _ if is_in(&self.set) => Origin::Set,
            Some(said) if is_in(said) => Origin::Variant,
            Some(_) => Origin::Base,
            None => Origin::File,
        }
    }

    /// Every value that is no number: those of the file in its order, then those that it leaves to
    /// their defaults.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let written = self.words.iter().map(|(key, value)| Word {
            key: key.clone(),
            value: value.clone(),
            origin: self.origin(key),
        });
        let is_written = |key: &str| {
            self.words.iter().any(|(written, _)| written == key)
                || self.parameters().any(|number| number.key == key)
        };
        let defaults = self.system().kind().defaults().into_iter();
        let defaults = defaults.filter(move |(key, _)| !is_written(key));
        written.chain(defaults.map(|(key, value)| Word {
            key: key.to_owned(),
            value,
            origin: Origin::Default,
        }))
    }

    /// Numbers that follow from those of the file.
    #[must_use]
    pub fn derived(&self) -> Vec<Derived> {
        let number = |key, value, unit, how| Derived {
            key,
            value,
            unit,
            how,
        };
        let mut found = match &self.network {
            NetworkSpec::Mesh(mesh) => of_mesh(mesh),
            NetworkSpec::Crossbar(bus) => vec![number(
                "network.bandwidth",
                per_ns(bus.width_bytes, &bus.clock, 1),
                "bytes/ns",
                "of a port: width in every cycle",
            )],
        };
        found.extend(self.system().kind().derived(self.cores_max));
        let cost = self.platform(1).link_cost;
        found.extend([
            number(
                "message.start",
                cost.sync_cycles,
                "cycles",
                "of the reference clock, over one hop, as algorithms are told that choose parts by it",
            ),
            number(
                "message.byte",
                cost.cycles_per_byte,
                "cycles/byte",
                "as message.start",
            ),
        ]);
        found
    }
}

fn of_mesh(mesh: &Mesh) -> Vec<Derived> {
    let (width, height) = (u64::from(mesh.grid.width), u64::from(mesh.grid.height));
    let far = |side: u64| match mesh.grid.is_torus {
        true => side / 2,
        false => side - 1,
    };
    let number = |key, value, unit, how| Derived {
        key,
        value,
        unit,
        how,
    };
    let interval = u64::from(mesh.link_interval_cycles);
    vec![
        number(
            "network.routers",
            (width * height) as f64,
            "routers",
            "width x height",
        ),
        number(
            "network.diameter",
            (far(width) + far(height)) as f64,
            "hops",
            "between the two routers farthest from each other",
        ),
        number(
            "network.hop",
            mesh.hop_cycles() as f64,
            "cycles",
            "of a head flit that waits for nobody: routing, vc_allocation, switch, link",
        ),
        number(
            "network.bandwidth",
            per_ns(mesh.flit_bytes, &mesh.clock, interval),
            "bytes/ns",
            "of a link: a flit in every cycle of the links' clock",
        ),
    ]
}

/// Bytes per nanosecond of something that moves so many in so many cycles.
fn per_ns(bytes: u64, clock: &Clock, cycles: u64) -> f64 {
    bytes as f64 * 1e3 / clock.to_ps(cycles) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line `key = ...` of a file is a number, a word or prose.
    #[test]
    fn nothing_of_a_file_is_left_out() {
        for (name, text) in crate::BUILTIN {
            let chip = Chip::builtin(name).expect("built in");
            let shown = chip.parameters().count()
                + chip
                    .words()
                    .filter(|word| word.origin != Origin::Default)
                    .count();
            let is_entry = |line: &&str| line.contains(" = ") && !line.starts_with('#');
            let entries = text.lines().filter(is_entry).count();
            if !text.contains("base = ") {
                assert_eq!(shown + PROSE.len(), entries, "{name}");
            }
            assert!(chip.derived().len() >= 4, "{name}");
            for number in chip.derived() {
                assert!(
                    number.value.is_finite() && number.value > 0.0,
                    "{name}: {number:?}"
                );
            }
        }
    }

    #[test]
    fn origins_tell_file_base_and_command_line_apart() {
        let changes = [("network.order".to_owned(), "yx".to_owned())];
        let chip = crate::find_changed("scc-800", &changes).expect("valid");
        assert_eq!(chip.origin("network.order"), Origin::Set);
        assert_eq!(chip.origin("clocks.core.period"), Origin::Variant);
        assert_eq!(chip.origin("network.vcs"), Origin::Base);
        let order = chip.words().find(|word| word.key == "network.order");
        assert_eq!(order.map(|word| word.value), Some("yx".to_owned()));
        let link = chip.words().find(|word| word.key == "network.link_clock");
        let link = link.expect("a default");
        assert_eq!(
            (link.value.as_str(), link.origin),
            ("mesh", Origin::Default)
        );
        let scc = crate::find("scc").expect("built in");
        assert_eq!(scc.origin("network.vcs"), Origin::File);
        let hop = scc
            .derived()
            .into_iter()
            .find(|number| number.key == "network.hop");
        assert_eq!(hop.map(|hop| hop.value), Some(4.0));
        // 16 bytes at 800 MHz.
        let bandwidth = scc
            .derived()
            .into_iter()
            .find(|n| n.key == "network.bandwidth");
        assert_eq!(bandwidth.map(|n| n.value), Some(12.8));
    }
}
