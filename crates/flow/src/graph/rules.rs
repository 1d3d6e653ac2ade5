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
    let mut names: Vec<&str> = wiring.tasks.iter().map(|task| task.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(GraphError::TwoTasks {
            name: pair[0].to_owned(),
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
            let edge = wiring.edge_name(index);
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
                let edge = wiring.edge_name(index);
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
    let mut pairs: Vec<(End, End)> = wiring.edges.iter().map(|e| (e.from, e.to)).collect();
    pairs.sort_unstable();
    let is_messages = |pair: &(End, End)| pair.0 != End::Memory && pair.1 != End::Memory;
    let twice = pairs
        .windows(2)
        .find(|two| two[0] == two[1] && is_messages(&two[0]));
    if let Some(&[(from, to), _]) = twice {
        let edge = format!("{} -> {}", wiring.end_name(from), wiring.end_name(to));
        return Err(GraphError::Parallel { edge });
    }
    match has_edge.iter().position(|&has| !has) {
        Some(task) => Err(GraphError::Unconnected {
            task: wiring.tasks[task].name.clone(),
        }),
        None => Ok(()),
    }
}

/// The memory buffer is filled by the host, not by a task.
fn initial_max(edge: &Edge) -> u32 {
    let is_messages = edge.from != End::Memory && edge.to != End::Memory;
    if is_messages { RATE_MAX } else { 0 }
}
