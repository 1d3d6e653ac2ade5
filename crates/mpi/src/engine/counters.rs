// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an engine has done, for those who ask (`MPI_T`).
#![forbid(unsafe_code)]

use super::Engine;

/// Plain numbers, which only grow; one rank counts for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Messages that were sent, those of the library included.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages that have come, or were announced.
    pub arrived: u64,
    /// Of those the ones that no receive waited for.
    pub unexpected: u64,
    /// Waits in which nothing came before the core would have been handed over.
    pub waits: u64,
    /// Collective accesses to files that went by two phases.
    pub two_phases: u64,
}

impl Engine {
    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.matter.counters
    }

    /// A wait begins.
    pub fn count_wait(&mut self) {
        self.matter.counters.waits += 1;
    }

    /// A collective access goes by two phases.
    pub fn count_two_phases(&mut self) {
        self.matter.counters.two_phases += 1;
    }

    /// Messages that no receive has taken yet.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.matter.queues.kept()
    }

    /// Longest message that goes along with its envelope, in bytes.
    #[must_use]
    pub fn eager_max(&self) -> usize {
        self.eager_max
    }

    /// Whether longer ones are read from the sender's memory.
    #[must_use]
    pub fn reads_remotely(&self) -> bool {
        self.matter.reads_remotely
    }
}
