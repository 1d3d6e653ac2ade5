// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a step of a thread block waits for: of every other thread block of its rank the last step, in
//! the order in which they were named.

use std::collections::BTreeMap;

/// A step of a rank: its thread block, and its place there.
pub(crate) type At = (usize, usize);

/// The steps for which one waits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Waits {
    /// The step of every thread block, behind its place in the order.
    of: BTreeMap<usize, (usize, usize)>,
}

impl Waits {
    /// One step more; of two in one thread block the later counts.
    pub(super) fn add(&mut self, (block, step): At) {
        let place = self.of.len();
        let (_, last) = self.of.entry(block).or_insert((place, step));
        *last = step.max(*last);
    }

    /// Takes out the step of a thread block.
    pub(super) fn remove(&mut self, block: usize) -> Option<usize> {
        self.of.remove(&block).map(|(_, step)| step)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.of.len()
    }

    /// By thread block.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = At> {
        self.of.iter().map(|(&block, &(_, step))| (block, step))
    }

    /// In the order in which they were named.
    pub(super) fn in_order(&self) -> Vec<At> {
        let mut all: Vec<_> = self.of.iter().collect();
        all.sort_by_key(|(_, (place, _))| *place);
        all.into_iter()
            .map(|(&block, &(_, step))| (block, step))
            .collect()
    }
}

impl FromIterator<At> for Waits {
    fn from_iter<I: IntoIterator<Item = At>>(all: I) -> Self {
        let mut waits = Self::default();
        for at in all {
            waits.add(at);
        }
        waits
    }
}
