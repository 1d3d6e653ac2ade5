// SPDX-License-Identifier: MIT OR Apache-2.0
//! The licence in the first line of every source file, in the form of SPDX: `cargo xtask spdx` writes
//! it where it is missing, and [`mod@crate::tidy`] finds where it is.
//!
//! The hardware in `rtl` has its own tools and lines. Headers of MPI (`include`) are written from
//! tables, and pages for browsers (`assets`) are made of other files.

use std::fs;
use std::path::{Path, PathBuf};

/// What the line says.
const LINE: &str = "SPDX-License-Identifier: MIT OR Apache-2.0";

/// Folders with source files, and what in them is none of ours.
const FOLDERS: [&str; 6] = ["crates", "examples", "fuzz", "viewer", "xtask", "docs"];
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

/// How a comment of one line begins and ends, by the ending of a file's name.
fn comment(path: &Path) -> Option<(&'static str, &'static str)> {
    let ending = path.extension()?.to_str()?;
    Some(match ending {
        "rs" | "ts" | "js" | "mjs" => ("// ", ""),
        "py" | "pyi" | "sh" => ("# ", ""),
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
        } else if comment(&path).is_some() {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let first = text.lines().find(|line| !line.starts_with("#!/"));
            if !text.is_empty() && !first.is_some_and(|line| line.contains(LINE)) {
                found.push(path);
            }
        }
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
    }
}
