// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the memory buffer holds what it must.

use crate::expected::expected;
use crate::program::FlowProgram;

/// A comparison of results with what was computed without the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Which flow.
    pub flow: u32,
    /// What it was compared with, in words.
    pub what: &'static str,
    /// Whether every byte is equal.
    pub is_equal: bool,
}

/// Compares the memory buffer with what it must hold. Machines may leave out zeros at its end.
pub(super) fn checks(program: &FlowProgram, memory: &[u8], functional: &[u8]) -> Vec<Check> {
    let mut checks = Vec::new();
    let begin = program.memory();
    let part = |range: std::ops::Range<usize>| range.map(|i| memory.get(i).copied().unwrap_or(0));
    for flow in 0..program.flows() {
        for expected in expected(program, flow, &begin) {
            let found = part(program.range(flow, expected.edge));
            let is_equal = found.eq(expected.bytes.iter().copied());
            checks.push(Check {
                flow,
                what: expected.what,
                is_equal,
            });
        }
        let whole = program.flow_range(flow);
        let is_equal = part(whole.clone()).eq(functional[whole].iter().copied());
        checks.push(Check {
            flow,
            what: "a run without timing",
            is_equal,
        });
    }
    checks
}
