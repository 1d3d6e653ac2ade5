// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many blocks a cycle lets on its edges: those need no window.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::graph::{Edge, End, Graph};
use crate::program::buffers::Sharing;

/// Most steps of the simulation that looks for the bound of an edge.
const STEPS_MAX: u64 = 200_000;

/// For every edge, the most blocks that can be on it, if a cycle bounds them: the consumer fires only
/// when nothing else of the cycles can, so the producer is as far ahead as it ever gets. Tasks outside
/// are taken to have sent everything already. In so many iterations no more come to an edge than are
/// sent in them. Where there are no windows nobody asks.
pub(super) fn bounds(graph: &Graph, iterations: u64, sharing: Sharing) -> Vec<Option<u64>> {
    if sharing != Sharing::Windows {
        return vec![None; graph.edges().len()];
    }
    let part = parts(graph);
    let bound = |(index, edge): (usize, &Edge)| {
        let (End::Task(from), End::Task(to)) = (edge.from, edge.to) else {
            return None;
        };
        let all = iterations
            .saturating_mul(graph.blocks(index))
            .saturating_add(u64::from(edge.initial));
        (part[from] == part[to]).then(|| bound(graph, &part, index, to).min(all))
    };
    graph.edges().iter().enumerate().map(bound).collect()
}

/// See [`bounds`]; as good as no bound if it takes too long to find.
fn bound(graph: &Graph, part: &[usize], index: usize, to: usize) -> u64 {
    let edges = graph.edges();
    let is_inside = |end: End| end.task().is_some_and(|task| part[task] == part[to]);
    let tasks: Vec<usize> = (0..part.len())
        .filter(|&task| part[task] == part[to])
        .collect();
    let inputs = tasks
        .iter()
        .map(|&task| graph.inputs(task).filter(|&i| is_inside(edges[i].from)));
    let inputs: Vec<Vec<usize>> = inputs.map(Iterator::collect).collect();
    let mut held: Vec<u64> = edges.iter().map(|edge| u64::from(edge.initial)).collect();
    let mut steps = STEPS_MAX;
    let mut most = held[index];
    let mut lazy = graph.firings()[to];
    loop {
        let can = |at: usize| {
            inputs[at]
                .iter()
                .all(|&i| held[i] >= u64::from(edges[i].consume))
        };
        let eager = (0..tasks.len()).find(|&at| tasks[at] != to && can(at));
        let own = (0..tasks.len()).find(|&at| tasks[at] == to && lazy > 0 && can(at));
        let Some(at) = eager.or(own) else {
            return most;
        };
        lazy -= u64::from(tasks[at] == to);
        inputs[at]
            .iter()
            .for_each(|&i| held[i] -= u64::from(edges[i].consume));
        graph
            .outputs(tasks[at])
            .for_each(|i| held[i] += u64::from(edges[i].produce));
        most = most.max(held[index]);
        match steps.checked_sub(tasks.len() as u64) {
            Some(left) => steps = left,
            None => return u64::MAX,
        }
    }
}

/// For every task the lowest of those that lie on common cycles with it.
fn parts(graph: &Graph) -> Vec<usize> {
    let tasks = graph.tasks().len();
    let mut next = DiGraph::<(), ()>::with_capacity(tasks, graph.edges().len());
    let nodes: Vec<NodeIndex> = (0..tasks).map(|_| next.add_node(())).collect();
    for edge in graph.edges() {
        if let (End::Task(from), End::Task(to)) = (edge.from, edge.to) {
            next.add_edge(nodes[from], nodes[to], ());
        }
    }
    let mut part = vec![tasks; tasks];
    for component in tarjan_scc(&next) {
        let lowest = component.iter().min().map_or(0, |node| node.index());
        component
            .iter()
            .for_each(|node| part[node.index()] = lowest);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Cost, Firing, Task};

    #[test]
    fn parts_are_the_lowest_tasks_of_common_cycles() {
        // Two cycles that share task 1, a chain into them, and one out of them.
        let edges = [
            (0, 1, 0),
            (1, 2, 0),
            (2, 1, 1),
            (1, 3, 0),
            (3, 1, 1),
            (3, 4, 0),
        ];
        let edge = |(from, to, initial)| Edge {
            from: End::Task(from),
            to: End::Task(to),
            bytes: 8,
            produce: 1,
            consume: 1,
            initial,
        };
        let task = |index| Task {
            name: format!("t{index}"),
            job: Firing::Cost(Cost::Fixed(1)),
        };
        let graph = Graph::new("test", (0..5).map(task).collect(), edges.map(edge).to_vec());
        assert_eq!(parts(&graph.expect("a graph")), [0, 1, 1, 1, 4]);
    }
}
