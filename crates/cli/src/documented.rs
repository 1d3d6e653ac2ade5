// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the commands that the documents show can be typed: every one is parsed as `main` would.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::args::Cli;
use crate::mpirun;

/// How commands begin where the command itself is called.
const CALLS: [&str; 3] = [
    "cargo run --release -p corecast -- ",
    "~/corecast/bin/corecast ",
    "corecast ",
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a document")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and all pages, by name.
fn documents() -> Vec<(String, String)> {
    let pages = std::fs::read_dir(root().join("docs")).expect("a folder");
    let mut paths: Vec<PathBuf> = pages.flatten().map(|page| page.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.push(root().join("README.md"));
    paths.sort();
    let named = |path: PathBuf| (path.display().to_string(), read(&path));
    paths.into_iter().map(named).collect()
}

/// What of a line of a shell belongs to its first command; none if the shell makes it of something.
fn of_shell(line: &str) -> Option<Vec<&str>> {
    let words = line.split_whitespace();
    let ends = |word: &&str| {
        ["|", "||", "&&", "2>&1", "done", "#", "\\"].contains(word) || word.starts_with(['>', '<'])
    };
    let words: Vec<&str> = words
        .take_while(|word| !ends(word))
        .map(|word| word.trim_end_matches(';'))
        .collect();
    let is_made = |word: &&str| word.contains(['$', '\'', '"', '{']) || *word == "...";
    (!words.iter().any(is_made)).then_some(words)
}

/// The commands of a document, with the numbers of their lines: those that stand in blocks behind a
/// prompt, and in tables of commands what stands in their last column.
fn commands(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut found = Vec::new();
    let mut is_table = false;
    for (number, line) in (1..).zip(text.lines()) {
        let typed = line.strip_prefix("$ ").unwrap_or_default();
        let call = CALLS.iter().find_map(|call| typed.strip_prefix(call));
        found.extend(call.and_then(of_shell).map(|words| (number, words)));
        is_table = line == "| question | command |" || is_table && line.starts_with('|');
        let answers = line.trim_end_matches(" |").rsplit_once("| ");
        if let Some((_, answers)) = answers.filter(|_| is_table) {
            let spans = answers.split('`').skip(1).step_by(2);
            let typed = spans.filter(|span| span.contains(' ') && !span.starts_with('-'));
            found.extend(typed.filter_map(of_shell).map(|words| (number, words)));
        }
    }
    found
}

#[test]
fn every_command_of_the_documents_can_be_typed() {
    let mut seen = 0;
    for (name, text) in documents() {
        for (line, words) in commands(&text) {
            let typed = ["corecast"].into_iter().chain(words.iter().copied());
            let parsed = Cli::try_parse_from(mpirun::usual(typed.map(Into::into)));
            if let Err(error) = parsed {
                assert!(!error.use_stderr(), "{name}:{line}: {words:?}\n{error}");
            }
            seen += 1;
        }
    }
    assert!(seen > 80, "{seen} commands");
}

#[test]
fn commands_are_found_in_blocks_and_tables() {
    let text = "$ corecast run bcast > out.txt\n\
        | question | command |\n| who? | `verify a b`, then `LD_PRELOAD` |\n\n| `x y` | `z w` |\n\
        $ corecast run $NAME\n$ cargo test\n";
    let found = vec![(1, vec!["run", "bcast"]), (3, vec!["verify", "a", "b"])];
    assert_eq!(commands(text), found);
}
