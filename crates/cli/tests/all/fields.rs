// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of JSON fields: those of a document, and those that `docs/cli.md` describes.

use std::collections::BTreeSet;

use serde_json::Value;

/// The names of all fields of a document, nested ones included.
pub fn of(document: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(document, &mut names);
    names
}

fn collect(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(object) => {
            for (name, value) in object {
                into.insert(name.clone());
                collect(value, into);
            }
        }
        _ => {}
    }
}

/// The first column of the table below a heading of `docs/cli.md`.
pub fn documented(heading: &str) -> BTreeSet<String> {
    let text = include_str!("../../../../docs/cli.md");
    let heading = format!("## {heading}");
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let section = lines.take_while(|line| !line.starts_with("## "));
    let cells = section.filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let names = cells.filter(|cell| *cell != "field");
    names
        .flat_map(|cell| cell.split(", "))
        .map(str::to_owned)
        .collect()
}
