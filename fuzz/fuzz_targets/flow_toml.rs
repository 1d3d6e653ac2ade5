// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a flow file: a graph that gets through an iteration, or an error that can be shown,
//! never a panic.
#![no_main]

use corecast_flow::{Buffers, FlowFile, FlowProgram, InputBuffer, Sharing, functional};
use libfuzzer_sys::fuzz_target;

/// Runs with more firings, or more bytes, would only be slow.
const FIRINGS_MAX: u64 = 200;
const BYTES_MAX: u64 = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut file = match FlowFile::parse(&text, "fuzz.toml") {
        Ok(file) => file,
        Err(error) => {
            assert!(error.to_string().starts_with("fuzz.toml"));
            return;
        }
    };
    let graph = &file.graph;
    let blocks = (0..graph.edges().len()).map(|edge| graph.blocks(edge));
    let bytes = blocks
        .zip(graph.edges())
        .map(|(blocks, edge)| blocks * u64::from(edge.bytes));
    let initial = graph
        .edges()
        .iter()
        .map(|edge| u64::from(edge.initial * edge.bytes));
    if graph.firings().iter().sum::<u64>() > FIRINGS_MAX
        || bytes.chain(initial).sum::<u64>() > BYTES_MAX
    {
        return;
    }
    file.iterations = Some(2);
    // Buffers may be too small for a graph, which is an error; every other one gets through.
    for sharing in [Sharing::Windows, Sharing::Apart, Sharing::Free] {
        let buffers = Buffers {
            output_bytes: 256,
            input: InputBuffer {
                bytes: 512,
                word_bytes: 4,
                messages: 32,
            },
            sharing,
        };
        let Ok(program) = FlowProgram::new(&file, 1, None, buffers) else {
            continue;
        };
        if program.memory_bytes() > 1 << 20 {
            return;
        }
        let run = functional::run(&program, program.tasks(), program.memory());
        let run = run.expect("a checked graph runs");
        assert_eq!(run.memory.len(), program.memory_bytes());
    }
});
