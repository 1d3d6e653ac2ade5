// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mailboxes between threads.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;

use corecast_core::Rank;
use corecast_machine::{Await, Blocked, Message, RunError, Time};

use crate::shared::{Shared, State};

/// Messages an ordered pair of ranks may have under way. One would do: a schedule that completes
/// under rendezvous completes with any buffer.
const MESSAGES_PER_PAIR: usize = 2;

/// A message and when its sender posted it.
pub(crate) struct Posted {
    pub message: Message,
    pub posted: Time,
}

/// Messages under way, per pair.
type Boxes = BTreeMap<(Rank, Rank), VecDeque<Posted>>;

/// See the module's documentation.
pub(crate) struct Post(Shared<Boxes>);

impl Deref for Post {
    type Target = Shared<Boxes>;

    fn deref(&self) -> &Shared<Boxes> {
        &self.0
    }
}

impl Post {
    pub(crate) fn new(ranks: u32, limit: Time) -> Self {
        Self(Shared::new(ranks, limit, Boxes::new()))
    }

    /// Puts a message into the mailbox of a pair, waiting while it is full.
    pub(crate) fn put(
        &self,
        from: Rank,
        to: Rank,
        message: Message,
        step: usize,
    ) -> Result<(), RunError> {
        let posted = self.now();
        let mut state = self.lock();
        while state.entry((from, to)).or_default().len() >= MESSAGES_PER_PAIR {
            let blocked = Blocked {
                rank: from,
                peer: to,
                awaits: Await::Send,
                step,
                since: posted,
                call: None,
            };
            state = self.wait(state, blocked)?;
        }
        let queue = state.entry((from, to)).or_default();
        queue.push_back(Posted { message, posted });
        self.release_from(&mut state, to, from, Await::Recv);
        Ok(())
    }

    /// Takes the next message of a pair, waiting for it.
    pub(crate) fn take(&self, from: Rank, to: Rank, step: usize) -> Result<Posted, RunError> {
        let since = self.now();
        let mut state = self.lock();
        loop {
            if let Some(posted) = state.entry((from, to)).or_default().pop_front() {
                self.release_from(&mut state, from, to, Await::Send);
                return Ok(posted);
            }
            let blocked = Blocked {
                rank: to,
                peer: from,
                awaits: Await::Recv,
                step,
                since,
                call: None,
            };
            state = self.wait(state, blocked)?;
        }
    }

    /// If `rank` waits for `peer` in this way, it can go on.
    fn release_from(&self, state: &mut State<Boxes>, rank: Rank, peer: Rank, awaits: Await) {
        let blocked = state.blocked(rank);
        if blocked.is_some_and(|blocked| blocked.peer == peer && blocked.awaits == awaits) {
            self.release(state, rank);
        }
    }
}
