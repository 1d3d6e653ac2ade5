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
    /// Those of them that were too long to go along with their envelope.
    pub announced: Traffic,
    /// Those that this rank sent to itself.
    pub to_self: Traffic,
    /// Of the announced ones those whose receiver asked for packets.
    pub streamed: Traffic,
    /// Messages that came in one copy: this rank has read them from their sender's memory, or their sender
    /// has written some of them to this rank's.
    pub read: Traffic,
    /// Messages that have come, or were announced.
    pub arrived: u64,
    /// Of those the ones that no receive waited for.
    pub unexpected: u64,
    /// Waits in which nothing came before the core would have been handed over.
    pub waits: u64,
    /// Collective accesses to files that went by two phases.
    pub two_phases: u64,
}

/// Messages, and how long they are together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// How many there were.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Traffic {
    pub(super) fn count(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

impl Counters {
    /// Messages that went along with their envelopes to other ranks: the rest of those that were sent, so
    /// that the shortest way counts nothing for it.
    #[must_use]
    pub fn eager(&self) -> Traffic {
        Traffic {
            messages: self.sent - self.announced.messages - self.to_self.messages,
            bytes: self.sent_bytes - self.announced.bytes - self.to_self.bytes,
        }
    }
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

    /// How many there were at most since [`Engine::forget_unexpected_max`].
    #[must_use]
    pub fn unexpected_max(&self) -> usize {
        self.matter.queues.kept_max()
    }

    /// Begins [`Engine::unexpected_max`] anew, with those of now.
    pub fn forget_unexpected_max(&mut self) {
        self.matter.queues.forget_kept_max();
    }

    /// Receives that no message has matched.
    #[must_use]
    pub fn posted(&self) -> usize {
        self.matter.queues.waiting()
    }

    /// Longest message that goes along with its envelope, in bytes.
    #[must_use]
    pub fn eager_max(&self) -> usize {
        self.eager_max
    }

    /// From how many bytes on messages are read from the sender's memory; `usize::MAX` if none are.
    #[must_use]
    pub fn read_min(&self) -> usize {
        self.matter.read_min
    }
}
