// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs in docs/replay.md are good ones, and the file names every format and call.

use crate::common;

use common::load;
use corecast_machine::{Oracle, RunOptions};
use corecast_replay::{FORMATS, KINDS, Replay};

const TEXT: &str = include_str!("../../../../docs/replay.md");

#[test]
fn examples_run() {
    let parts: Vec<&str> = TEXT.split("```text calls\n").skip(1).collect();
    assert!(!parts.is_empty());
    for part in parts {
        let (text, _) = part.split_once("```").expect("the example ends");
        let graph = load("docs/replay.md", text).graph;
        let replay = Replay::new(&graph, &Default::default()).expect("there are schedules");
        let run = replay.run(&Oracle, &RunOptions::default());
        assert!(run.is_ok(), "{run:?}\n{text}");
    }
}

#[test]
fn every_format_and_call_is_there() {
    for format in FORMATS {
        assert!(
            TEXT.contains(&format!("\n### {}\n", format.name())),
            "{}",
            format.name()
        );
    }
    for kind in KINDS {
        assert!(TEXT.contains(&format!("\"{kind}\"")), "{kind}");
    }
}
