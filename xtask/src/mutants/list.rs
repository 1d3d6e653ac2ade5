// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mutants of an area, as `cargo mutants --list` names them.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::areas::Area;

/// A change of the code that tests should notice.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its place and what it changes, in cargo-mutants' words.
    pub name: String,
    /// From the root of the workspace on.
    pub file: String,
    pub package: String,
    pub genre: String,
    /// What stands there instead.
    pub replacement: String,
    /// What is replaced, in bytes of the file.
    pub range: Range<usize>,
}

/// Where a crate begins.
pub const CRATE_ROOT: &str = "/src/lib.rs";

/// The mutants of an area: a mutant's number is its place.
pub struct List {
    pub mutants: Vec<Mutant>,
    /// The files that have some, and the roots of their crates.
    pub sources: BTreeMap<String, String>,
}

/// Asks cargo-mutants.
///
/// # Errors
/// What is missing or not as expected, in one line.
pub fn list(root: &Path, area: &Area) -> Result<List, String> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["mutants", "--list", "--json"])
        .args(area.files.iter().map(|file| format!("--file={file}")))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!(
            "cargo mutants --list: {}; if it is missing: cargo install cargo-mutants --locked",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let found: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo mutants --list --json: {error}"))?;
    let mut sources = BTreeMap::new();
    let mut mutants = Vec::new();
    for entry in found.as_array().into_iter().flatten() {
        let file = text(entry, "file")?;
        let (folder, _) = file.split_once("/src/").unwrap_or_default();
        for file in [&file, &format!("{folder}{CRATE_ROOT}")] {
            if !sources.contains_key(file) {
                let source = fs::read_to_string(root.join(file));
                let source = source.map_err(|error| format!("{file}: {error}"))?;
                sources.insert(file.clone(), source);
            }
        }
        let source = &sources[&file];
        let at = |end: &str| {
            let place = &entry["span"][end];
            let offset = place["line"].as_u64().zip(place["column"].as_u64());
            let offset = offset.and_then(|(line, column)| byte_at(source, line, column));
            offset.ok_or_else(|| format!("cargo mutants --list: a place outside {file}: {place}"))
        };
        mutants.push(Mutant {
            name: text(entry, "name")?,
            package: text(entry, "package")?,
            genre: text(entry, "genre")?,
            replacement: text(entry, "replacement")?,
            range: at("start")?..at("end")?,
            file,
        });
    }
    match mutants.is_empty() {
        true => Err(format!("{}: no mutants", area.name)),
        false => Ok(List { mutants, sources }),
    }
}

fn text(entry: &Value, key: &str) -> Result<String, String> {
    let value = entry[key].as_str().map(str::to_owned);
    value.ok_or_else(|| format!("cargo mutants --list: no {key} in {entry}"))
}

/// The byte of a line and a column, both of which begin with 1; columns count characters.
fn byte_at(source: &str, line: u64, column: u64) -> Option<usize> {
    let mut before = 0;
    let mut lines = source.split_inclusive('\n');
    for _ in 1..line {
        before += lines.next()?.len();
    }
    let text = lines.next().unwrap_or_default();
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    Some(before + ends.into_iter().nth(column)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = "ab\nµs = 1\n";
        assert_eq!(byte_at(source, 1, 1), Some(0));
        assert_eq!(byte_at(source, 2, 1), Some(3));
        assert_eq!(byte_at(source, 2, 2), Some(5));
        assert_eq!(byte_at(source, 4, 1), None);
        assert_eq!(byte_at(source, 1, 9), None);
    }
}
