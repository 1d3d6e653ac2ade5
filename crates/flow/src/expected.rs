// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must be in the memory buffer at the end, as far as it can be told without the graph.

use corecast_kernels::{custom, fir, words};

use crate::graph::{End, Firing, Graph, Routine};
use crate::program::FlowProgram;

/// What must be in a part of the memory buffer at the end, worked out without the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// What it is compared with, in words.
    pub what: &'static str,
    /// Index of the edge that it comes from.
    pub edge: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What must be in the memory buffer at the end, as far as it can be told without the graph.
#[must_use]
pub fn expected(program: &FlowProgram, flow: u32, memory: &[u8]) -> Vec<Expected> {
    let graph = program.graph();
    let mut all = Vec::new();
    for (index, edge) in graph.edges().iter().enumerate() {
        if edge.to == End::Memory && graph.routine(edge.from) == Some(Routine::Colour) {
            all.extend(program.setup().picture().map(|picture| Expected {
                what: "the picture of the direct decoder",
                edge: index,
                bytes: picture.rgb.clone(),
            }));
        }
        if edge.from == End::Memory {
            let input = &memory[program.range(flow, index)];
            let direct = direct(graph, index, input);
            all.extend(direct.map(|(edge, bytes)| Expected {
                what: "the direct computation",
                edge,
                bytes,
            }));
        }
    }
    all
}

/// What a chain of one kernel from an edge out of the memory buffer makes of `input`, worked out
/// without it, and the edge into the memory buffer where it goes; nothing if it is no such chain.
fn direct(graph: &Graph, edge: usize, input: &[u8]) -> Option<(usize, Vec<u8>)> {
    let words = words::from_bytes(input).ok()?;
    let mut task = graph.edges()[edge].to.task()?;
    let routine = graph.routine(End::Task(task))?;
    let (mut taps, mut rounds) = (0, 0_u64);
    let output = loop {
        let Firing::Kernel(job) = &graph.tasks()[task].job else {
            return None;
        };
        if job.kernel.routine != routine {
            return None;
        }
        match routine {
            Routine::Fir => taps = job.values[0] as u32,
            Routine::Custom => rounds += job.values[0],
            _ => return None,
        }
        let (_, output) = graph.through(task);
        match graph.edges()[output].to {
            End::Memory => break output,
            End::Task(next) => task = next,
        }
    };
    let result = match routine {
        Routine::Fir => fir::direct(&words, taps).ok()?,
        _ => custom::direct(&words, u32::try_from(rounds).ok()?),
    };
    Some((output, words::to_bytes(&result)))
}
