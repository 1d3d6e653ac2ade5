// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks on cores while a placement is looked for.

use crate::place::traffic::{Sites, Traffic, hops};

/// Tasks on cores, with the task of every core.
pub(super) struct Board<'a> {
    pub(super) traffic: &'a Traffic,
    pub(super) sites: &'a Sites,
    pub(super) partners: &'a [Vec<(usize, u64)>],
    pub(super) core: Vec<Option<u32>>,
    pub(super) task: Vec<Option<usize>>,
}

impl Board<'_> {
    /// What `task` costs at a core, with the partners that have a core.
    pub(super) fn cost_at(&self, task: usize, core: usize) -> u64 {
        let at = self.sites.cores[core];
        let partners = self.partners[task].iter().filter_map(|&(partner, bytes)| {
            let partner = self.core[partner]?;
            Some(bytes * hops(at, self.sites.cores[partner as usize]))
        });
        partners.sum::<u64>() + self.traffic.memory[task] * hops(at, self.sites.memory)
    }

    /// Whether anything makes a difference between cores for `task`.
    pub(super) fn is_drawn(&self, task: usize) -> bool {
        let mut partners = self.partners[task].iter();
        self.traffic.memory[task] > 0 || partners.any(|&(partner, _)| self.core[partner].is_some())
    }

    pub(super) fn put(&mut self, task: usize, core: usize) {
        self.core[task] = Some(core as u32);
        self.task[core] = Some(task);
    }

    /// Exchanges what two cores have, and says by how much the cost has grown.
    pub(super) fn exchange(&mut self, a: usize, b: usize) -> i64 {
        let cost = |board: &Self| {
            let of = |core: usize| board.task[core].map_or(0, |task| board.cost_at(task, core));
            of(a) + of(b)
        };
        let before = cost(self);
        self.task.swap(a, b);
        for core in [a, b] {
            if let Some(task) = self.task[core] {
                self.core[task] = Some(core as u32);
            }
        }
        // Traffic between the two is counted twice before and after, over the same distance.
        cost(self) as i64 - before as i64
    }

    pub(super) fn cores(&self) -> Vec<u32> {
        self.core
            .iter()
            .map(|core| core.expect("every task has a core"))
            .collect()
    }
}
