// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a placement is judged by: cores, bytes between tasks, and the cost of one on the other.

use corecast_core::random::{GAMMA, SplitMix64};

use crate::graph::End;
use crate::program::FlowProgram;

/// Where cores are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sites {
    /// Coordinates (x, y) of every core.
    pub cores: Vec<(u32, u32)>,
    /// Those of the memory buffer.
    pub memory: (u32, u32),
}

/// Who exchanges how much.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Two tasks, and bytes from one to the other in an iteration.
    pub between: Vec<(usize, usize, u64)>,
    /// For every task, bytes from and to the memory buffer in an iteration.
    pub memory: Vec<u64>,
}

impl Traffic {
    /// The traffic of all flows of a program.
    #[must_use]
    pub fn of(program: &FlowProgram) -> Self {
        let graph = program.graph();
        let mut traffic = Self {
            between: Vec::new(),
            memory: vec![0; program.tasks() as usize],
        };
        for flow in 0..program.flows() {
            for (index, edge) in graph.edges().iter().enumerate() {
                let bytes = graph.blocks(index) * u64::from(edge.bytes);
                let rank = |task| program.rank(flow, task).index();
                match (edge.from, edge.to) {
                    (End::Task(from), End::Task(to)) => {
                        traffic.between.push((rank(from), rank(to), bytes));
                    }
                    (End::Task(task), _) | (_, End::Task(task)) => {
                        traffic.memory[rank(task)] += bytes
                    }
                    (End::Memory, End::Memory) => {}
                }
            }
        }
        traffic
    }

    /// For every task its partners with the bytes in both directions.
    pub(super) fn partners(&self) -> Vec<Vec<(usize, u64)>> {
        let mut partners = vec![Vec::new(); self.memory.len()];
        for &(a, b, bytes) in &self.between {
            partners[a].push((b, bytes));
            partners[b].push((a, bytes));
        }
        partners
    }
}

pub(super) fn hops(a: (u32, u32), b: (u32, u32)) -> u64 {
    u64::from(a.0.abs_diff(b.0)) + u64::from(a.1.abs_diff(b.1))
}

/// Bytes times hops of an iteration, `cores` having the core of every task.
#[must_use]
pub fn cost(traffic: &Traffic, sites: &Sites, cores: &[u32]) -> u64 {
    let at = |task: usize| sites.cores[cores[task] as usize];
    let between = traffic
        .between
        .iter()
        .map(|&(a, b, bytes)| bytes * hops(at(a), at(b)));
    let memory = traffic.memory.iter().enumerate();
    between.sum::<u64>()
        + memory
            .map(|(t, bytes)| bytes * hops(at(t), sites.memory))
            .sum::<u64>()
}

/// The random numbers of placements. Their states follow each other, `mixed` makes up for it.
pub(super) fn random(seed: u64) -> SplitMix64 {
    SplitMix64::with_gamma(seed.wrapping_add(GAMMA), 1)
}
