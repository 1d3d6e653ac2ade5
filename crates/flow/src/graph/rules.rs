// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold for tasks and edges before their rates are looked at: names, numbers in their
//! ranges, ends that can be told apart.

use crate::graph::error::GraphError;
use crate::graph::wiring::{BLOCK_BYTES_MAX, EDGES_MAX, Edge, End, RATE_MAX, TASKS_MAX, Wiring};

/// Checks all of it.
pub(super) fn check(wiring: &Wiring) -> Result<(), GraphError> {
    tasks(wiring)?;
    edges(wiring)
}

fn tasks(wiring: &Wiring) -> Result<(), GraphError> {
    let tasks = wiring.tasks.len();
    if tasks == 0 || tasks > TASKS_MAX {
        return Err(GraphError::Tasks { tasks });
    }
    let mut order: Vec<usize> = (0..tasks).collect();
    let name = |task: usize| wiring.tasks[task].name.as_str();
    order.sort_by_key(|&task| name(task)); // stable: by index among equals
    match order.windows(2).find(|pair| name(pair[0]) == name(pair[1])) {
        Some(pair) => Err(GraphError::TwoTasks {
            task: wiring.named_task(pair[0]),
        }),
        None => Ok(()),
    }
}

fn edges(wiring: &Wiring) -> Result<(), GraphError> {
    let edges = wiring.edges.len();
    if edges > EDGES_MAX {
        return Err(GraphError::Edges { edges });
    }
    let mut has_edge = vec![false; wiring.tasks.len()];
    for (index, edge) in wiring.edges.iter().enumerate() {
        if edge.from == edge.to {
            let edge = wiring.named_edge(index);
            return Err(GraphError::Loop { edge });
        }
        let ranges = [
            ("bytes", edge.bytes, 1, BLOCK_BYTES_MAX),
            ("produce", edge.produce, 1, RATE_MAX),
            ("consume", edge.consume, 1, RATE_MAX),
            ("initial", edge.initial, 0, initial_max(edge)),
        ];
        for (key, found, min, max) in ranges {
            if !(min..=max).contains(&found) {
                let edge = wiring.named_edge(index);
                return Err(GraphError::OutOfRange {
                    edge,
                    key,
                    found,
                    min,
                    max,
                });
            }
        }
        for task in [edge.from, edge.to].into_iter().filter_map(End::task) {
            has_edge[task] = true;
        }
    }
    let ends = wiring.edges.iter().map(|edge| (edge.from, edge.to));
    let mut pairs: Vec<(End, End, usize)> = ends.zip(0..).map(|((f, t), i)| (f, t, i)).collect();
    pairs.sort_unstable();
    let is_messages = |pair: &(End, End, usize)| pair.0 != End::Memory && pair.1 != End::Memory;
    // Of equal edges the last one is the one too many.
    let mut equal = pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let twice = equal.find(|equal| equal.len() > 1 && is_messages(&equal[0]));
    if let Some(&[.., (_, _, last)]) = twice {
        let edge = wiring.named_edge(last);
        return Err(GraphError::Parallel { edge });
    }
    match has_edge.iter().position(|&has| !has) {
        Some(task) => Err(GraphError::Unconnected {
            task: wiring.named_task(task),
        }),
        None => Ok(()),
    }
}

/// The memory buffer is filled by the host, not by a task.
fn initial_max(edge: &Edge) -> u32 {
    let is_messages = edge.from != End::Memory && edge.to != End::Memory;
    if is_messages { RATE_MAX } else { 0 }
}
