// SPDX-License-Identifier: MIT OR Apache-2.0
//! What README.md shows is what its commands print and draw today.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How its commands begin.
const CALL: &str = "$ cargo run --release -p corecast -- ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_first_commands_print_what_stands_below_them() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("a document");
    let mut compared = 0;
    for (command, rest) in text.split(CALL).skip(1).filter_map(|s| s.split_once('\n')) {
        // What a command prints is the next block, unless a heading is before it.
        let own = rest.split("\n## ").next().unwrap_or_default();
        let own = own.split("```console").next().unwrap_or_default();
        let Some((_, block)) = own.split_once("```text\n") else {
            continue;
        };
        let shown = block.split("```").next().unwrap_or_default();
        let shown = shown.split("...\n").next().unwrap_or_default();
        let printed = run(command);
        assert!(printed.starts_with(shown), "{command}\n{shown}\n{printed}");
        compared += 1;
    }
    assert_eq!(compared, 2);
}

#[test]
fn the_picture_is_what_its_command_draws() {
    let drawn = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme.svg");
    run(
        "run allreduce --chip park2019-bus --ranks 8 --algorithm rabenseifner --bytes 256 --svg readme.svg",
    );
    let kept = std::fs::read_to_string(root().join("docs/allreduce.svg")).expect("a picture");
    assert_eq!(std::fs::read_to_string(drawn).expect("written"), kept);
}
