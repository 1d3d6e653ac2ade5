// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flow files of `examples/` are read, run and give what was computed without them.

use std::path::{Path, PathBuf};

use corecast_flow::expected;
use corecast_flow::{
    Buffers, Changes, FlowFile, FlowProgram, Input, InputBuffer, Sharing, functional,
};
use corecast_kernels::jpeg::{Sampling, generate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn program(name: &str, flows: u32, changes: Changes, message_bytes: usize) -> FlowProgram {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).expect("readable");
    let file = FlowFile::parse_with(&text, name, changes).unwrap_or_else(|e| panic!("{e}"));
    let input = match &file.input {
        Input::File(path) => Some(std::fs::read(folder().join(path)).expect("readable")),
        Input::Random(_) => None,
    };
    let buffers = Buffers {
        output_bytes: message_bytes,
        input: InputBuffer {
            bytes: 512,
            word_bytes: 4,
            messages: 32,
        },
        sharing: Sharing::Windows,
    };
    let program = FlowProgram::new(&file, flows, input.as_deref(), buffers);
    program.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs a program without timing and compares with the direct computation; returns how many
/// comparisons there were.
fn check(program: &FlowProgram) -> usize {
    let before = program.memory();
    let run = functional::run(program, program.tasks(), before.clone()).expect("it runs");
    let mut compared = 0;
    for flow in 0..program.flows() {
        for expected in expected(program, flow, &before) {
            let found = &run.memory[program.range(flow, expected.edge)];
            assert!(
                found == expected.bytes,
                "flow {flow} differs from {}",
                expected.what
            );
            compared += 1;
        }
    }
    compared
}

#[test]
fn pictures_are_those_of_the_direct_decoder() {
    // An iteration has one MCU, or two that two transforms share.
    for (name, iterations) in [("jpeg-3.toml", 64 * 64), ("jpeg-4.toml", 64 * 64 / 2)] {
        let program = program(name, 2, Changes::default(), 256);
        assert_eq!(check(&program), 2, "{name}");
        assert_eq!(program.iterations(), iterations, "{name}");
    }
}

#[test]
fn streams_are_those_of_the_direct_computation() {
    for name in ["fir.toml", "custom.toml"] {
        for stages in 1..=8 {
            let changes = Changes {
                stages: Some(stages),
                ..Changes::default()
            };
            // Messages smaller than blocks, too.
            for message_bytes in [256, 60] {
                let program = program(name, 1, changes, message_bytes);
                assert_eq!(program.tasks(), stages, "{name}");
                assert_eq!(check(&program), 1, "{name}");
            }
        }
    }
}

#[test]
fn costs_run_and_change_the_memory_buffer() {
    let program = program("costs.toml", 3, Changes::default(), 256);
    assert_eq!(program.graph().firings(), [2, 2, 2, 1]);
    let run = functional::run(&program, program.tasks(), program.memory()).expect("it runs");
    for flow in 0..3 {
        let edge = program.graph().edges().len() - 1;
        let written = &run.memory[program.range(flow, edge)];
        assert_eq!(written.len(), 64 * 100);
        assert!(
            written
                .chunks(64)
                .all(|block| block.iter().any(|&byte| byte != 0))
        );
    }
}

/// `CORECAST_BLESS=1` writes the file.
#[test]
fn the_picture_is_the_generated_one() {
    let path = folder().join("landscape-512.jpg");
    let generated = generate(512, 512, 75, Sampling::C444, None, 1);
    if std::env::var_os("CORECAST_BLESS").is_some() {
        std::fs::write(&path, &generated).expect("writable");
    }
    assert!(std::fs::read(&path).expect("readable") == generated);
}
