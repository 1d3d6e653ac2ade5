// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a program, in each format: one that is checked runs to its end or to a deadlock, and comes
//! back exactly from our own text; anything else is an error with its place; never a panic.
#![no_main]

use corecast_machine::{Oracle, RunOptions};
use corecast_replay::{CallGraph, FORMATS, MESSAGE_BYTES_MAX, Options, Replay, check, find_format};
use libfuzzer_sys::fuzz_target;

/// Programs with more would only be slow.
const CALLS_MAX: usize = 500;
const RANKS_MAX: u32 = 16;
const BYTES_MAX: u64 = 1 << 16;

fuzz_target!(|contents: &[u8]| {
    let options = Options {
        flops: Some(1e9),
        read_file: None,
    };
    for format in FORMATS {
        let read = format.read("fuzz", contents, &options);
        let graph = match read {
            Ok(read) => read.graph,
            Err(error) => {
                assert!(error.to_string().starts_with("fuzz"));
                continue;
            }
        };
        // Messages that no machine carries are refused with the program, and by our own text at once.
        let is_long = longest(&graph) > MESSAGE_BYTES_MAX;
        if graph.calls_total() > CALLS_MAX || graph.size() > RANKS_MAX || is_long {
            continue;
        }
        let own = find_format("calls").expect("our own");
        let written = own.write(&graph).expect("it can say everything");
        let written = written.text().expect("text");
        let back = own.read("fuzz", written.as_bytes(), &options);
        assert!(
            back.expect("what we write we read").graph == graph,
            "{written}"
        );
        if check(&graph).is_err() || longest(&graph) > BYTES_MAX {
            continue;
        }
        for format in FORMATS {
            let _ = format.write(&graph);
        }
        if let Ok(replay) = Replay::new(&graph, &Default::default()) {
            let _ = replay.run(&Oracle, &RunOptions::default());
        }
    }
});

/// Bytes of the longest message or block that it names.
fn longest(graph: &CallGraph) -> u64 {
    let calls = graph.ranks.iter().flatten();
    calls.map(|call| call.what.bytes_max()).max().unwrap_or(0)
}
