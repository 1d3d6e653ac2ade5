// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks of other worlds: those that join while this one runs.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

use super::Engine;
use crate::error::Result;

impl Engine {
    /// Makes the ways to ranks of other worlds, as far as there are some among these.
    ///
    /// # Errors
    /// [`crate::Class::Other`] where there is no way.
    pub fn reach(&mut self, ranks: &[u32]) -> Result<()> {
        for &rank in ranks {
            if self.is_of_one_world(&[rank]) {
                continue;
            }
            self.transport.reach(rank)?;
            let matter = &mut self.matter;
            let count = matter.outboxes.len().max(rank as usize + 1);
            matter.outboxes.resize_with(count, VecDeque::new);
            matter.announced.resize(count, (0, None));
            matter.queues.grow(count);
        }
        Ok(())
    }

    /// Whether all these ranks were started with this one.
    #[must_use]
    pub fn is_of_one_world(&self, ranks: &[u32]) -> bool {
        let first = self.transport.first();
        let own = first..first + self.transport.ranks();
        ranks.iter().all(|rank| own.contains(rank))
    }
}
