// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which order the blocks of a firing are taken and sent.
//!
//! A firing takes blocks from its inputs in turn, as evenly as their rates allow, and those of tasks
//! that come first in the graph first; it sends in the same manner. So no task waits for one sender
//! while it could take blocks of another one whose buffers are full, as long as rates are aligned.
//! Kernels go round their edges in the order of the file.

use crate::graph::{End, Firing, Graph};

impl Graph {
    /// Numbers of a task's inputs, each as often as a firing takes a block of it.
    pub(crate) fn turns_in(&self, task: usize) -> Vec<usize> {
        let inputs = self.inputs(task).map(|index| &self.edges()[index]);
        turns(inputs.map(|edge| (edge.consume, self.place(task, edge.from))))
    }

    /// Numbers of a task's outputs, each as often as a firing sends a block to it.
    pub(crate) fn turns_out(&self, task: usize) -> Vec<usize> {
        let outputs = self.outputs(task).map(|index| &self.edges()[index]);
        turns(outputs.map(|edge| (edge.produce, self.place(task, edge.to))))
    }

    /// When it is the turn of an edge of `task` whose other end is `end`; none = first.
    fn place(&self, task: usize, end: End) -> Option<usize> {
        let of_graph = matches!(self.tasks()[task].job, Firing::Cost(_));
        end.task()
            .filter(|_| of_graph)
            .map(|task| self.order()[task])
    }
}

/// Edges by their numbers, spread evenly; they have a rate and the place of the task at their other
/// end.
fn turns(edges: impl Iterator<Item = (u32, Option<usize>)>) -> Vec<usize> {
    let mut turns = Vec::new();
    for (index, (rate, place)) in edges.enumerate() {
        // Fractions with one denominator, so that they can be compared.
        turns.extend((0..rate).map(|k| {
            (
                u64::from(k) * u64::from(u32::MAX) / u64::from(rate),
                place,
                index,
            )
        }));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, _, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::turns;

    #[test]
    fn blocks_are_spread_evenly() {
        let edges = [(4, Some(5)), (2, Some(1)), (1, None)];
        assert_eq!(turns(edges.into_iter()), [2, 1, 0, 0, 1, 0, 0]);
    }
}
