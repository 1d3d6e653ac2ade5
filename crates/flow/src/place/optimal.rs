// SPDX-License-Identifier: MIT OR Apache-2.0
//! The true optimum of small graphs, to compare `near` with.

use crate::place::board::Board;
use crate::place::traffic::{Sites, Traffic};

/// The lowest cost of all placements, found by trying all that are not certainly worse than `known`,
/// the cost of some placement; nothing if that takes more than `steps` steps.
#[must_use]
pub fn optimal(traffic: &Traffic, sites: &Sites, steps: u64, known: u64) -> Option<u64> {
    let partners = traffic.partners();
    // Tasks with much traffic first, each next to one that has a core already.
    let tasks = traffic.memory.len();
    let mut order: Vec<usize> = Vec::new();
    let mut pull: Vec<u64> = traffic.memory.clone();
    while order.len() < tasks {
        let free = (0..tasks).filter(|task| !order.contains(task));
        let task = free.max_by_key(|&task| pull[task])?;
        order.push(task);
        for &(partner, bytes) in &partners[task] {
            pull[partner] += bytes;
        }
    }
    let mut search = Search {
        board: Board {
            traffic,
            sites,
            partners: &partners,
            core: vec![None; tasks],
            task: vec![None; sites.cores.len()],
        },
        order,
        best: known,
        steps,
    };
    search.extend(0, 0).then_some(search.best)
}

struct Search<'a> {
    board: Board<'a>,
    order: Vec<usize>,
    best: u64,
    steps: u64,
}

impl Search<'_> {
    /// Tries all cores for the task number `depth`, the ones before costing `paid`; false if there
    /// are no steps left.
    fn extend(&mut self, depth: usize, paid: u64) -> bool {
        let Some(&task) = self.order.get(depth) else {
            self.best = self.best.min(paid);
            return true;
        };
        let free = (0..self.board.task.len()).filter(|&core| self.board.task[core].is_none());
        let mut cores: Vec<(u64, usize)> = free
            .map(|core| (self.board.cost_at(task, core), core))
            .collect();
        cores.sort_unstable();
        for (more, core) in cores {
            if paid + more >= self.best {
                break; // all further ones cost at least as much
            }
            if self.steps == 0 {
                return false;
            }
            self.steps -= 1;
            self.board.put(task, core);
            let is_hopeful = paid + more + self.at_least(depth + 1) < self.best;
            let went_through = !is_hopeful || self.extend(depth + 1, paid + more);
            self.board.core[task] = None;
            self.board.task[core] = None;
            if !went_through {
                return false;
            }
        }
        true
    }

    /// What the tasks from `depth` on cost at least: each at its best free core, a hop between those
    /// without a core.
    fn at_least(&self, depth: usize) -> u64 {
        let free: Vec<usize> = (0..self.board.task.len())
            .filter(|&core| self.board.task[core].is_none())
            .collect();
        let mut sum = 0;
        for &task in &self.order[depth..] {
            // Most tasks of a large graph are far from those that have a core, and free of cost.
            if self.board.is_drawn(task) {
                let costs = free.iter().map(|&core| self.board.cost_at(task, core));
                sum += costs.min().unwrap_or(0);
            }
            let waiting = self.board.partners[task]
                .iter()
                .filter(|&&(partner, _)| self.board.core[partner].is_none() && partner > task);
            sum += waiting.map(|&(_, bytes)| bytes).sum::<u64>();
        }
        sum
    }
}
