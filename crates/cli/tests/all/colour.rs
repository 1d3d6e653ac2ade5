// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colours are for people: pipes, files and programs never see an escape byte.

use std::process::{Command, Output};

const ANSWERS: [&str; 8] = [
    "run bcast --ranks 4",
    "verify alltoall",
    "explain bcast --ranks 4",
    "compare bcast --ranks 2,4",
    "reproduce park2019",
    "show chip park2019-bus",
    "list algorithms",
    "--help",
];

fn run(arguments: &str, variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .envs(variables.iter().copied())
        .output()
        .expect("the binary runs")
}

fn has_escapes(bytes: &[u8]) -> bool {
    bytes.contains(&0x1b)
}

/// What is left without the escape sequences, all of which are of the form ESC [ ... m.
fn plain(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).expect("text");
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').expect("a style").1
    })
}

#[test]
fn pipes_see_no_colour() {
    for arguments in ANSWERS {
        let output = run(arguments, &[]);
        assert!(!output.stdout.is_empty(), "{arguments}");
        assert!(!has_escapes(&output.stdout), "{arguments}");
    }
    assert!(!has_escapes(&run("run bcats", &[]).stderr));
}

#[test]
fn forced_colour_changes_nothing_but_colour() {
    let force = [("CLICOLOR_FORCE", "1")];
    for arguments in ANSWERS {
        let (coloured, piped) = (run(arguments, &force), run(arguments, &[]));
        assert!(has_escapes(&coloured.stdout), "{arguments}");
        assert_eq!(plain(&coloured.stdout), plain(&piped.stdout), "{arguments}");
    }
    assert!(has_escapes(&run("run bcats", &force).stderr));
}

#[test]
fn no_means_no() {
    for arguments in ANSWERS {
        let output = run(arguments, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]);
        assert!(!has_escapes(&output.stdout), "{arguments}");
    }
}

#[test]
fn documents_and_files_have_no_colour() {
    let force = [("CLICOLOR_FORCE", "1")];
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("colour.txt");
    let file = file.to_str().expect("a path in unicode");
    for arguments in ANSWERS.into_iter().filter(|&answer| answer != "--help") {
        let json = run(&format!("{arguments} --json"), &force);
        assert!(!has_escapes(&json.stdout), "{arguments}");
        run(&format!("{arguments} -o {file}"), &force);
        let written = std::fs::read(file).expect("written");
        assert!(!has_escapes(&written), "{arguments}");
    }
}
