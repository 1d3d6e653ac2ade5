// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a graph of small and large messages completes: small ones are sent without asking, large ones
//! wait for their receivers.
//!
//! A schedule counts the messages that a connection holds, not their bytes, so what depends on them is
//! found here, where the graph is. Time has no part in it: what can begin does, and nothing that has
//! ended takes away from what another one can do, so one order is as good as any.

/// "No partner" of an operation.
const NONE: u32 = u32::MAX;

/// Operations of all ranks, numbered through.
#[derive(Default)]
pub(super) struct Progress {
    operations: Vec<Operation>,
    followers: Vec<Vec<u32>>,
}

/// What is known of an operation.
#[derive(Clone, Copy)]
struct Operation {
    partner: u32,
    is_send: bool,
    /// Whether a send waits for its receiver.
    asks: bool,
    /// How many operations have to end before it begins.
    missing: u32,
    has_begun: bool,
    has_ended: bool,
}

impl Progress {
    /// One operation more; returns its number.
    pub(super) fn add(&mut self, is_send: bool, asks: bool) -> u32 {
        self.operations.push(Operation {
            partner: NONE,
            is_send,
            asks,
            missing: 0,
            has_begun: false,
            has_ended: false,
        });
        self.followers.push(Vec::new());
        self.operations.len() as u32 - 1
    }

    /// An operation begins when another one has ended.
    pub(super) fn wait(&mut self, operation: u32, on: u32) {
        self.operations[operation as usize].missing += 1;
        self.followers[on as usize].push(operation);
    }

    /// A send and a receive have one message.
    pub(super) fn meet(&mut self, send: u32, recv: u32) {
        self.operations[send as usize].partner = recv;
        self.operations[recv as usize].partner = send;
    }

    /// Whether all operations end. Those without a partner wait for nobody.
    pub(super) fn completes(mut self) -> bool {
        let numbers = 0..self.operations.len() as u32;
        let ready = numbers.filter(|&number| self.operations[number as usize].missing == 0);
        let mut ready: Vec<u32> = ready.collect();
        while let Some(number) = ready.pop() {
            self.operations[number as usize].has_begun = true;
            let this = self.operations[number as usize];
            let partner = self.operations.get(this.partner as usize).copied();
            let is_met = partner.is_none_or(|partner| partner.has_begun);
            if is_met || (this.is_send && !this.asks) {
                self.end(number, &mut ready);
            }
            if is_met && partner.is_some() {
                self.end(this.partner, &mut ready);
            }
        }
        self.operations.iter().all(|operation| operation.has_ended)
    }

    fn end(&mut self, number: u32, ready: &mut Vec<u32>) {
        if std::mem::replace(&mut self.operations[number as usize].has_ended, true) {
            return;
        }
        for &follower in &self.followers[number as usize] {
            let missing = &mut self.operations[follower as usize].missing;
            *missing -= 1;
            if *missing == 0 {
                ready.push(follower);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranks that send to each other and receive afterwards.
    fn exchange(asks: [bool; 2]) -> Progress {
        let mut progress = Progress::default();
        let [[a, b], [c, d]] = asks.map(|asks| {
            let (send, recv) = (progress.add(true, asks), progress.add(false, false));
            progress.wait(recv, send);
            [send, recv]
        });
        progress.meet(a, d);
        progress.meet(c, b);
        progress
    }

    #[test]
    fn one_of_two_may_ask() {
        assert!(exchange([false, false]).completes());
        assert!(exchange([true, false]).completes());
        assert!(!exchange([true, true]).completes());
    }
}
