// SPDX-License-Identifier: MIT OR Apache-2.0
//! The licence in the first line of every source file, in the form of SPDX: `cargo xtask spdx` writes
//! it where it is missing, and [`mod@crate::tidy`] finds where it is.
//!
//! The hardware in `rtl` has its own tools and lines. Headers of MPI (`include`) are written from
//! tables, pages for browsers (`assets`) are made of other files, and `tests` has TOML files whose lines
//! count.

use std::fs;
use std::path::{Path, PathBuf};

/// What the line says.
const LINE: &str = "SPDX-License-Identifier: MIT OR Apache-2.0";

/// Folders with source files, files beside them, and what in the folders is none of ours.
const FOLDERS: [&str; 8] = [
    ".ci", ".cargo", "crates", "examples", "fuzz", "viewer", "xtask", "docs",
];
const BESIDE: [&str; 3] = ["Cargo.toml", "Containerfile", "rustfmt.toml"];
const SKIPPED: [&str; 8] = [
    "node_modules",
    "target",
    "corpus",
    "artifacts",
    "assets",
    "include",
    "__pycache__",
    "snapshots",
];

/// Folders whose TOML files are no sources: samples of which lines are counted, and tables that a
/// command has written.
const DATA: [&str; 2] = ["tests", "tables"];

/// How a comment of one line begins and ends, by a file's name.
fn comment(path: &Path) -> Option<(&'static str, &'static str)> {
    let Some(ending) = path.extension() else {
        let is_script = path.ends_with(".ci/run") || path.ends_with("Containerfile");
        return is_script.then_some(("# ", ""));
    };
    Some(match ending.to_str()? {
        "rs" | "ts" | "js" | "mjs" => ("// ", ""),
        "py" | "pyi" | "sh" => ("# ", ""),
        "toml"
            if !DATA
                .iter()
                .any(|folder| path.iter().any(|part| part == *folder)) =>
        {
            ("# ", "")
        }
        "c" | "h" | "css" => ("/* ", " */"),
        _ => return None,
    })
}

/// Source files without the line.
pub fn missing(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut found);
    }
    BESIDE
        .iter()
        .for_each(|name| look(root.join(name), &mut found));
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = path.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // What builds leave behind is none, and some of it is linked.
        let is_skipped = SKIPPED.contains(&&*name) || path.ends_with("viewer/build");
        if path.is_symlink() || is_skipped {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else {
            look(path, found);
        }
    }
}

/// Looks at one file.
fn look(path: PathBuf, found: &mut Vec<PathBuf>) {
    if comment(&path).is_none() {
        return;
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    let first = text.lines().find(|line| !line.starts_with("#!/"));
    if !text.is_empty() && !first.is_some_and(|line| line.contains(LINE)) {
        found.push(path);
    }
}

/// Writes the line into every file that lacks it.
///
/// # Errors
/// In words, which file cannot be written.
pub fn write(root: &Path) -> Result<(), String> {
    for path in missing(root) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let with = with_line(&path, &text);
        fs::write(&path, with).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// A file's text with the line: below the line for the shell, if it has one.
fn with_line(path: &Path, text: &str) -> String {
    let (begin, end) = comment(path).unwrap_or_default();
    let line = format!("{begin}{LINE}{end}\n");
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("#!/") => format!("{first}\n{line}{rest}"),
        _ => format!("{line}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_a_comment_of_each_language() {
        let of = |name: &str, text: &str| with_line(Path::new(name), text);
        assert_eq!(of("a.rs", "//! A.\n"), format!("// {LINE}\n//! A.\n"));
        assert_eq!(of("a.c", "int a;\n"), format!("/* {LINE} */\nint a;\n"));
        let script = of("a.sh", "#!/bin/sh\ntrue\n");
        assert_eq!(script, format!("#!/bin/sh\n# {LINE}\ntrue\n"));
        let manifest = of("crates/a/Cargo.toml", "[package]\n");
        assert_eq!(manifest, format!("# {LINE}\n[package]\n"));
        for data in [
            "crates/a/tests/errors/a.toml",
            "crates/a/tables/scc/bcast.toml",
            "LICENSE",
        ] {
            assert_eq!(comment(Path::new(data)), None, "{data}");
        }
    }
}
