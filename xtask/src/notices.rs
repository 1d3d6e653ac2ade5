// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask notices`: the licences of what others have written and corecast is distributed with, as one
//! text; `cargo xtask dist` puts it into the archive and the wheel.
//!
//! What is linked is what `cargo metadata` names for this computer's kind of processor, without what only
//! builds or tests it; the files lie with each package. What the viewer's page contains stands in the page
//! (`viewer/vite.config.ts`), and the font's licence beside the font.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What it is called wherever it lies.
pub const FILE: &str = "THIRD-PARTY.txt";

/// The crates that others are linked into.
const BINARIES: [&str; 5] = [
    "corecast",
    "corecast-coll",
    "corecast-mpi-abi",
    "corecast-mpi-mpich",
    "corecast-py",
];

const PAGE: &str = "crates/viewer/assets/page.html";
/// The comment in the page.
const PAGE_BEGIN: &str = "<!-- Licences of what this page contains beside corecast's own code.\n";
const PAGE_END: &str = "-->";

const FONT: &str = "crates/render/assets/LICENSE-DejaVu.txt";

const RULE: &str =
    "\n------------------------------------------------------------------------------\n\n";

/// Something by others: what it is called, and its licence.
type Named = (String, String);

/// All notices; whoever has the same text stands above it together.
#[derive(Default)]
struct Notices(BTreeMap<String, BTreeSet<String>>);

impl Notices {
    fn add(&mut self, (name, licence): &Named, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\u{c}', "");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n").trim_matches('\n').to_owned();
        let names = self.0.entry(text).or_default();
        names.insert(format!("{name} ({licence})"));
    }

    fn text(&self) -> String {
        let mut all: Vec<(&BTreeSet<String>, &String)> =
            self.0.iter().map(|(text, names)| (names, text)).collect();
        all.sort();
        let parts = all.into_iter().map(|(names, text)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{}\n\n{text}\n", names.join("\n"))
        });
        let parts: Vec<String> = parts.collect();
        format!(
            "corecast is licensed under MIT or Apache-2.0, at your option (LICENSE-MIT,\n\
             LICENSE-APACHE). It is distributed with the following works of others, which\n\
             remain under their own licences.\n{RULE}{}",
            parts.join(RULE)
        )
    }
}

/// Writes them into a file.
///
/// # Errors
/// What is missing, in one line.
pub fn write(root: &Path, to: &Path) -> Result<(), String> {
    let text = text(root)?;
    fs::write(to, text).map_err(|error| format!("{}: {error}", to.display()))
}

/// All of them.
fn text(root: &Path) -> Result<String, String> {
    let mut notices = Notices::default();
    let read = |path: &Path| {
        let text = fs::read_to_string(path);
        text.map_err(|error| format!("{}: {error}", path.display()))
    };
    for package in linked(root)? {
        let files = files_of(&package.folder, &package.named.1)?;
        if files.is_empty() {
            let name = &package.named.0;
            return Err(format!("{name}: its package has no licence's text"));
        }
        for file in files {
            let text = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            notices.add(&package.named, &String::from_utf8_lossy(&text));
        }
    }
    let own = read(&root.join("LICENSE-MIT"))?;
    let terms = own.find("Permission is hereby granted");
    let terms = &own[terms.ok_or("LICENSE-MIT is not as usual")?..];
    let rust = ("Rust's standard library", "MIT OR Apache-2.0");
    notices.add(
        &(rust.0.to_owned(), rust.1.to_owned()),
        &format!("Copyright (c) The Rust Project contributors\n\n{terms}"),
    );
    let font = ("DejaVu Sans, in PDF and PNG", "Bitstream Vera and Arev");
    let font = (font.0.to_owned(), font.1.to_owned());
    notices.add(&font, &read(&root.join(FONT))?);
    for (named, text) in in_page(&read(&root.join(PAGE))?)? {
        notices.add(&named, &text);
    }
    Ok(notices.text())
}

/// A package that is linked.
struct Package {
    named: Named,
    folder: std::path::PathBuf,
}

/// Packages of others that are linked into [`BINARIES`].
fn linked(root: &Path) -> Result<Vec<Package>, String> {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", &host]);
    let output = cargo
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata: {}", said.trim_end()));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    linked_in(&metadata).ok_or_else(|| "cargo metadata is not as usual".to_owned())
}

/// The same out of what `cargo metadata` says.
fn linked_in(metadata: &Value) -> Option<Vec<Package>> {
    let packages = metadata["packages"].as_array()?;
    let nodes = metadata["resolve"]["nodes"].as_array()?;
    let package = |id: &str| packages.iter().find(|package| package["id"] == id);
    let roots = packages.iter().filter(|package| {
        let name = package["name"].as_str();
        package["source"].is_null() && name.is_some_and(|name| BINARIES.contains(&name))
    });
    let mut ahead: Vec<&str> = roots.filter_map(|package| package["id"].as_str()).collect();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    while let Some(id) = ahead.pop() {
        if is_macro(package(id)?) || !found.insert(id) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id)?;
        for needed in node["deps"].as_array()? {
            let mut kinds = needed["dep_kinds"].as_array()?.iter();
            if kinds.any(|kind| kind["kind"].is_null()) {
                ahead.push(needed["pkg"].as_str()?);
            }
        }
    }
    let all = found.into_iter().map(|id| {
        let package = package(id)?;
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        let licence = package["license"].as_str().unwrap_or("see below");
        let is_ours = package["source"].is_null();
        Some((!is_ours).then(|| Package {
            named: (format!("{name} {version}"), licence.to_owned()),
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
        }))
    });
    let all: Option<Vec<Option<Package>>> = all.collect();
    Some(all?.into_iter().flatten().collect())
}

/// Whether a package is a macro, which writes code for the compiler and is not linked itself.
fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array();
    let mut kinds = targets.into_iter().flatten().map(|target| &target["kind"]);
    kinds.any(|kind| *kind == serde_json::json!(["proc-macro"]))
}

/// The files in a package's folder that have to come along.
fn files_of(folder: &Path, licence: &str) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: BTreeSet<String> = names.collect();
    let chosen = chosen(&names, licence).into_iter();
    Ok(chosen.map(|name| folder.join(name)).collect())
}

/// Of files of a package those that say under which terms it comes: where MIT is one of several to choose
/// from, those of MIT, and whatever goes with any of them.
fn chosen<'a>(names: &'a BTreeSet<String>, licence: &str) -> Vec<&'a str> {
    let begins = |name: &str, words: &[&str]| {
        let name = name.to_lowercase();
        words.iter().any(|word| name.starts_with(word))
    };
    let is_licence = |name: &&str| begins(name, &["license", "licence", "unlicense"]);
    let goes_along = |name: &&str| begins(name, &["copyright", "copying", "notice", "authors"]);
    let names = || names.iter().map(String::as_str);
    let is_choice = !licence.contains("AND") && licence.contains("MIT");
    let of_mit = names().filter(|name| is_licence(name) && name.to_lowercase().contains("mit"));
    let of_mit: Vec<&str> = of_mit.collect();
    let licences = match is_choice && !of_mit.is_empty() {
        true => of_mit,
        false => names().filter(is_licence).collect(),
    };
    licences
        .into_iter()
        .chain(names().filter(goes_along))
        .collect()
}

/// What the page names in its comment: of each package a line `## NAME (LICENCE)` and the text.
fn in_page(page: &str) -> Result<Vec<(Named, String)>, String> {
    let comment = page
        .split_once(PAGE_BEGIN)
        .and_then(|(_, rest)| rest.split_once(PAGE_END));
    let (comment, _) = comment.ok_or_else(|| format!("{PAGE}: it names no licences"))?;
    let parts = comment.split("\n## ").skip(1).map(|part| {
        let (head, text) = part.split_once('\n')?;
        let (name, licence) = head.strip_suffix(')')?.split_once(" (")?;
        Some(((name.to_owned(), licence.to_owned()), text.to_owned()))
    });
    let parts: Option<Vec<_>> = parts.collect();
    let parts = parts.filter(|parts| !parts.is_empty());
    parts.ok_or_else(|| format!("{PAGE}: its licences are not as usual"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds a dependency without a licence's text hears of it here.
    #[test]
    fn every_package_that_is_linked_has_its_text() {
        let text = text(crate::root()).expect("all are there");
        for line in [
            "\nrayon ",
            "\npyo3 ",
            "\nresvg ",
            "\nDejaVu Sans, in PDF and PNG (",
            "\nd3-scale ",
            "\nd3-array ",
            "\nRust's standard library (MIT OR Apache-2.0)\n",
        ] {
            assert!(text.contains(line), "{line:?}");
        }
        // Tools that only build or test are not passed on.
        for line in ["\nsyn ", "\nproptest ", "\nvite ", "\ncorecast-core "] {
            assert!(!text.contains(line), "{line:?}");
        }
    }

    #[test]
    fn the_files_of_mit_are_taken_where_it_can_be_chosen() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let both: BTreeSet<String> = names(&["LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "src"]);
        for licence in ["MIT OR Apache-2.0", "MIT/Apache-2.0"] {
            assert_eq!(chosen(&both, licence), ["LICENSE-MIT", "NOTICE"]);
        }
        let all = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];
        assert_eq!(chosen(&both, "Apache-2.0 AND MIT"), all);
        let one: BTreeSet<String> = names(&["LICENSE.txt", "README.md"]);
        assert_eq!(chosen(&one, "MIT OR Apache-2.0"), ["LICENSE.txt"]);
        assert!(chosen(&names(&["README.md"]), "MIT").is_empty());
    }

    #[test]
    fn equal_texts_stand_once() {
        let mut notices = Notices::default();
        for (name, text) in [("b 1", "one\r\n"), ("a 2", "one"), ("c 3", "other\n")] {
            notices.add(&(name.to_owned(), "MIT".to_owned()), text);
        }
        let text = notices.text();
        assert!(text.contains("\na 2 (MIT)\nb 1 (MIT)\n\none\n"), "{text}");
        assert!(text.ends_with("\nc 3 (MIT)\n\nother\n"), "{text}");
    }

    #[test]
    fn a_page_without_licences_is_refused() {
        let page = format!("<p>{PAGE_BEGIN}\n## d3 4.0 (ISC)\nCopyright\n-->");
        let found = in_page(&page).expect("one");
        let named = ("d3 4.0".to_owned(), "ISC".to_owned());
        assert_eq!(found, [(named, "Copyright\n".to_owned())]);
        for page in ["", PAGE_BEGIN, "<!-- Licences -->"] {
            assert!(in_page(page).is_err(), "{page:?}");
        }
    }
}
