// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every key of a chip file: what may stand there, what it means, and what holds without it.
//!
//! What may stand there the parser says itself: it notes what it asks for (the module `form`), and the
//! list is what it has asked for in the built-in chips, which are of every kind. What a key means is in
//! the table of the module `means`; a test finds keys that it lacks, and those that nobody asks for.
//!
//! ```
//! use corecast_chip::{Form, keys};
//! let keys = keys();
//! let width = keys.iter().find(|key| key.path == "network.width" && key.of == "mesh, torus");
//! assert_eq!(width.unwrap().form.unit(), "routers");
//! ```

mod means;

use crate::builtin::BUILTIN;
use crate::form::{Form, Seen};
use crate::kinds::EndpointSpec;
use crate::network::NetworkSpec;
use crate::parse::parse;

/// A key of chip files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// Its path, such as `network.width`; `NAME` stands for a name of the file's own.
    pub path: String,
    /// Of chips with a network or an endpoint of these kinds; empty for all.
    pub of: &'static str,
    /// What may stand there.
    pub form: Form,
    /// What holds if it is not there; none if it has to be.
    pub default: Option<&'static str>,
    /// What it means.
    pub means: &'static str,
}

/// Fields of a number, which are no keys of their own.
const FIELDS: [&str; 5] = [".value", ".unit", ".kind", ".source", ".fitted_to"];

/// Key and form of all that the parser asks for in one chip, with the kinds that these tables are of.
fn asked(name: &str, text: &str) -> Vec<(String, &'static str, Form)> {
    let seen = Seen::default();
    let chip = parse(text, name, &seen).expect("built-in chips are read by every test");
    let network = match chip.network() {
        NetworkSpec::Crossbar(_) => "crossbar",
        NetworkSpec::Mesh(_) => "mesh, torus",
    };
    let endpoint = match chip.endpoint() {
        EndpointSpec::Mpe(_) => "mpe",
        EndpointSpec::Udn(_) => "udn",
        EndpointSpec::Rcce(_) => "rcce",
        EndpointSpec::Pronto(_) => "pronto",
    };
    let seen = seen.into_forms();
    let numbers: Vec<String> = seen
        .iter()
        .filter(|(_, form)| matches!(form, Form::Whole { .. } | Form::Number { .. }))
        .map(|(path, _)| path.clone())
        .collect();
    let is_field = |path: &str| {
        let number = FIELDS.iter().find_map(|field| path.strip_suffix(field));
        number.is_some_and(|number| numbers.iter().any(|path| path == number))
    };
    let keys = seen.into_iter().filter(|(path, _)| !is_field(path));
    let keys = keys.map(|(path, form)| {
        let parts: Vec<&str> = path.split('.').collect();
        let of = match parts[0] {
            // What a table is of its kind says, which is a key of all.
            _ if parts.last() == Some(&"kind") => "",
            "network" => network,
            "endpoint" | "memory" | "core" => endpoint,
            _ => "",
        };
        let path = match &parts[..] {
            ["clocks", _, key] => format!("clocks.NAME.{key}"),
            _ => path,
        };
        (path, of, form)
    });
    keys.collect()
}

/// All keys, by table, in the order in which the reference has them.
#[must_use]
pub fn keys() -> Vec<Key> {
    let asked: Vec<_> = BUILTIN
        .iter()
        .flat_map(|(name, text)| asked(name, text))
        .collect();
    let means = means::MEANS.iter().flat_map(|of| {
        let key = move |&(key, default, means): &means::Meaning| {
            let path = match of.table {
                "" => key.to_owned(),
                table => format!("{table}.{key}"),
            };
            (path, of.of, default, means)
        };
        of.keys.iter().map(key)
    });
    let keys = means.filter_map(|(path, of, default, means)| {
        let found = asked
            .iter()
            .find(|(other, kind, _)| *other == path && *kind == of);
        let form = match (found, &*path) {
            (Some((_, _, form)), _) => form.clone(),
            // A variant of another chip is the other chip when it is read.
            (None, "base") => Form::Text,
            _ => return None,
        };
        Some(Key {
            path,
            of,
            form,
            default,
            means,
        })
    });
    keys.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Chip;

    #[test]
    fn every_key_of_the_parser_is_in_the_list_and_every_key_of_the_list_is_read() {
        let asked = BUILTIN.iter().flat_map(|(name, text)| asked(name, text));
        let asked: BTreeSet<(String, &str)> = asked.map(|(path, of, _)| (path, of)).collect();
        assert!(asked.len() > 80, "{asked:#?}");
        let listed = means::MEANS.iter().flat_map(|of| {
            of.keys.iter().map(move |(key, ..)| match of.table {
                "" => ((*key).to_owned(), of.of),
                table => (format!("{table}.{key}"), of.of),
            })
        });
        let listed: BTreeSet<(String, &str)> = listed.collect();
        let missing: Vec<_> = asked.difference(&listed).collect();
        assert!(missing.is_empty(), "say what these mean: {missing:#?}");
        let stray: Vec<_> = listed
            .difference(&asked)
            .filter(|(key, _)| key != "base")
            .collect();
        assert!(stray.is_empty(), "nobody reads these: {stray:#?}");
        assert_eq!(keys().len(), listed.len());
    }

    /// Keys that a file may leave out are those that have a default here.
    #[test]
    fn defaults_are_those_of_the_chips() {
        let keys = keys();
        for (name, _) in BUILTIN {
            let chip = Chip::builtin(name).expect("built in");
            for (path, _) in chip.system().kind().defaults() {
                let of_path = keys.iter().filter(|key| key.path == path);
                assert!(of_path.clone().count() > 0, "{path}");
                assert!(of_path.clone().all(|key| key.default.is_some()), "{path}");
            }
        }
        for (name, text) in BUILTIN.iter().filter(|(_, text)| !text.contains("base = ")) {
            for key in keys
                .iter()
                .filter(|key| key.default.is_none() && key.path != "base")
            {
                let (table, last) = key.path.rsplit_once('.').unwrap_or(("", &key.path));
                let header = format!("[{table}]");
                let is_there = table.is_empty() || text.contains(&header);
                let is_of = key.of.is_empty()
                    || key
                        .of
                        .split(", ")
                        .any(|kind| text.contains(&format!("kind = \"{kind}\"")));
                if is_there && is_of {
                    assert!(
                        text.contains(&format!("\n{last} = ")),
                        "{name}: {}",
                        key.path
                    );
                }
            }
        }
    }
}
