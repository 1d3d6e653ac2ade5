// SPDX-License-Identifier: MIT OR Apache-2.0
//! House rules that a compiler does not check. Every finding says where, what, and what instead.

use std::fs;
use std::path::{Path, PathBuf};

/// Which of our crates a crate may depend on.
const ARROWS: [(&str, &[&str]); 28] = [
    ("text", &[]),
    ("core", &[]),
    ("chip", &["text", "core"]),
    ("sim", &["core"]),
    ("machine", &["core"]),
    ("rcce", &["core", "machine"]),
    ("kernels", &["core"]),
    ("flow", &["text", "core", "machine", "kernels"]),
    (
        "machine-sim",
        &["core", "chip", "sim", "machine", "rcce", "kernels", "flow"],
    ),
    (
        "machine-host",
        &["core", "machine", "rcce", "kernels", "flow"],
    ),
    ("mpi", &["core", "tune"]),
    ("coll", &["core", "mpi", "text", "tune"]),
    ("mpi-abi", &["mpi", "shm"]),
    ("mpi-mpich", &["mpi", "shm"]),
    ("shm", &["mpi"]),
    ("machine-shm", &["core", "machine", "mpi", "shm"]),
    ("mpi-sim", &["core", "machine", "mpi", "shm"]),
    ("launch", &["core", "mpi", "shm"]),
    ("render", &["core", "machine"]),
    ("tune", &["text", "core"]),
    ("exchange", &["text", "core"]),
    ("replay", &["text", "core", "machine", "mpi", "exchange"]),
    ("vectors", &["core", "chip", "machine", "machine-sim"]),
    (
        "study",
        &[
            "text",
            "core",
            "chip",
            "sim",
            "machine",
            "machine-sim",
            "machine-host",
            "machine-shm",
            "mpi",
            "mpi-sim",
            "shm",
            "launch",
            "exchange",
            "replay",
            "flow",
            "tune",
        ],
    ),
    (
        "papers",
        &[
            "core",
            "chip",
            "machine",
            "kernels",
            "flow",
            "machine-sim",
            "vectors",
            "render",
            "study",
        ],
    ),
    (
        "figures",
        &["core", "flow", "machine", "mpi", "render", "sim", "study"],
    ),
    ("viewer", &["text", "core", "chip", "machine", "study"]),
    (
        "py",
        &[
            "text",
            "core",
            "chip",
            "exchange",
            "replay",
            "launch",
            "shm",
            "sim",
            "machine",
            "machine-sim",
            "flow",
            "tune",
            "render",
            "study",
            "figures",
            "viewer",
            "papers",
        ],
    ),
];

/// Crates in which the same program must give the same events.
const DETERMINISTIC: [&str; 7] = [
    "core",
    "chip",
    "sim",
    "machine",
    "rcce",
    "machine-sim",
    "vectors",
];

/// Banned words, where they are banned, and what to write instead.
const BANNED: [(&str, &[&str], &str); 7] = [
    (
        "HashMap",
        &DETERMINISTIC,
        "BTreeMap, whose order is defined",
    ),
    (
        "HashSet",
        &DETERMINISTIC,
        "BTreeSet, whose order is defined",
    ),
    (
        "Instant::now",
        &DETERMINISTIC,
        "Endpoint::now or Kernel::now",
    ),
    ("SystemTime", &DETERMINISTIC, "virtual time"),
    (
        "println!",
        &[],
        "a returned value; only the command line prints",
    ),
    (".unwrap()", &[], "expect with the reason"),
    ("todo!", &[], "the code"),
];

/// What is to be read, beside everything in `docs`; the files that they name must exist.
const DOCUMENTS: [&str; 5] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "STYLE.md",
    "CHANGELOG.md",
];

/// Files of a crate that need each other, at most.
const CIRCLE_MAX: usize = 5;

/// Lines of a source file above which it needs to be taken apart.
const LINES_MAX: usize = 700;

/// All findings in the workspace at `root`, in order of path.
pub fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, allowed) in ARROWS {
        arrows(root, name, allowed, &mut findings);
    }
    for name in crates(root) {
        findings.extend(circles(root, &name));
    }
    for path in files(&root.join("crates")) {
        let is_source = path.extension().is_some_and(|e| e == "rs");
        let shown = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        if is_source && shown.contains("/src/") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            source(&shown, &text, &mut findings);
        }
    }
    for path in crate::spdx::missing(root) {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        findings.push(format!(
            "{shown}:1: no licence; `cargo xtask spdx` writes it"
        ));
    }
    let docs = files(&root.join("docs")).into_iter();
    let docs = docs.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let docs = docs.filter_map(|path| Some(path.strip_prefix(root).ok()?.display().to_string()));
    for name in DOCUMENTS.map(str::to_owned).into_iter().chain(docs) {
        let text = fs::read_to_string(root.join(&name)).unwrap_or_default();
        if text.is_empty() {
            findings.push(format!("{name}: missing"));
        }
        named_paths(root, &name, &text, &mut findings);
    }
    findings
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Names of the workspace's crates.
fn crates(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("crates")).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The large circles of files in a crate.
fn circles(root: &Path, name: &str) -> Vec<String> {
    let src = root.join("crates").join(name).join("src");
    let paths = files(&src).into_iter();
    let names = paths.filter_map(|path| Some(path.strip_prefix(&src).ok()?.display().to_string()));
    let names: Vec<String> = names.filter(|name| name.ends_with(".rs")).collect();
    let circles = crate::circles::larger_than(CIRCLE_MAX, &src, &names);
    let finding = |circle: Vec<String>| {
        format!(
            "crates/{name}/src: {} files need each other, more than {CIRCLE_MAX}; put what they \
             share below them: {}",
            circle.len(),
            circle.join(", ")
        )
    };
    circles.into_iter().map(finding).collect()
}

fn arrows(root: &Path, name: &str, allowed: &[&str], findings: &mut Vec<String>) {
    let path = format!("crates/{name}/Cargo.toml");
    let Ok(text) = fs::read_to_string(root.join(&path)) else {
        findings.push(format!("{path}: missing"));
        return;
    };
    let mut is_dev = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with('[') {
            is_dev = line.contains("dev-dependencies");
        }
        let Some(rest) = line.strip_prefix("corecast-").filter(|_| !is_dev) else {
            continue;
        };
        let end = rest
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .unwrap_or(rest.len());
        let on = &rest[..end];
        if !allowed.contains(&on) {
            findings.push(format!("{path}:{number}: {name} must not depend on {on}"));
        }
    }
}

fn source(path: &str, text: &str, findings: &mut Vec<String>) {
    let below_licence = text
        .strip_prefix("// SPDX")
        .and_then(|text| text.split_once('\n'));
    if !below_licence
        .map_or(text, |(_, text)| text)
        .starts_with("//!")
    {
        findings.push(format!(
            "{path}:1: no `//!` header; say what the module is and why"
        ));
    }
    // Tests may use what they like.
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let lines = code.lines().count();
    if lines > LINES_MAX {
        findings.push(format!(
            "{path}: {lines} lines; take it apart below {LINES_MAX}"
        ));
    }
    let of = path.split('/').nth(1).unwrap_or_default();
    for (number, line) in (1..).zip(code.lines()) {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (word, crates, instead) in BANNED {
            let is_banned = crates.contains(&of) || (crates.is_empty() && of != "cli");
            if is_banned && line.contains(word) {
                findings.push(format!(
                    "{path}:{number}: `{word}` is banned; use {instead}"
                ));
            }
        }
    }
}

/// Paths in backticks must exist.
fn named_paths(root: &Path, name: &str, text: &str, findings: &mut Vec<String>) {
    const FOLDERS: [&str; 6] = ["crates/", "chips/", "docs/", "fuzz/", "xtask/", "tests/"];
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split('`').skip(1).step_by(2) {
            let is_path = FOLDERS.iter().any(|folder| word.starts_with(folder))
                && !word.contains(['<', ' ', '*']);
            if is_path && !root.join(word).exists() {
                findings.push(format!("{name}:{number}: `{word}` does not exist"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        source(path, text, &mut findings);
        findings
    }

    #[test]
    fn each_rule_can_fail() {
        assert_eq!(
            findings("crates/sim/src/a.rs", "//! A.\nlet a = 1;\n"),
            [""; 0]
        );
        assert!(findings("crates/sim/src/a.rs", "let a = 1;\n")[0].contains("header"));
        let text = "//! A.\nuse std::collections::HashMap;\n";
        assert!(findings("crates/sim/src/a.rs", text)[0].contains("BTreeMap"));
        assert_eq!(findings("crates/machine-host/src/a.rs", text), [""; 0]);
        assert!(findings("crates/sim/src/a.rs", "//! A.\nx.unwrap();\n")[0].contains(":2:"));
        let long = format!("//! A.\n{}", "x();\n".repeat(LINES_MAX));
        assert!(findings("crates/sim/src/a.rs", &long)[0].contains("take it apart"));
    }

    #[test]
    fn missing_paths_are_named() {
        let mut findings = Vec::new();
        named_paths(
            Path::new("/nowhere"),
            "A.md",
            "see `crates/x.rs`",
            &mut findings,
        );
        assert_eq!(findings, ["A.md:1: `crates/x.rs` does not exist"]);
    }
}
