// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of an engine is under way.
#![forbid(unsafe_code)]

use super::Engine;
use super::single_copy::Timed;
use crate::transport::Wanted;

impl Engine {
    /// What is under way, with contexts: messages that nobody has received or sent.
    #[must_use]
    pub fn waits_for(&self) -> Vec<(u32, Wanted)> {
        let receives = self.matter.queues.posted().map(|posted| {
            let wanted = Wanted {
                is_receive: true,
                peer: posted.from,
                tag: posted.tag,
                comm: String::new(),
            };
            (posted.context, wanted)
        });
        let sends = self.matter.flights.sends().map(|(context, to, tag)| {
            let wanted = Wanted {
                is_receive: false,
                peer: Some(to),
                tag: Some(tag),
                comm: String::new(),
            };
            (context, wanted)
        });
        receives.chain(sends).collect()
    }

    /// Whether nothing is under way: no packet waits for room, no bytes are being moved.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let matter = &self.matter;
        matter.waiting == 0
            && matter.streams.is_empty()
            && matter.pulls.is_empty()
            && matter.pushes.is_empty()
            && !matter.timed.as_ref().is_some_and(Timed::is_running)
    }

    /// As [`Engine::is_quiet`], of what is on its way to or from these ranks.
    #[must_use]
    pub fn is_quiet_with(&self, ranks: &[u32]) -> bool {
        let matter = &self.matter;
        let is_quiet = |&rank: &u32| matter.outboxes[rank as usize].is_empty();
        let is_theirs = |rank: u32| ranks.contains(&rank);
        ranks.iter().all(is_quiet)
            && !matter.streams.iter().any(|stream| is_theirs(stream.to))
            && !matter.pulls.iter().any(|pull| is_theirs(pull.from))
            && !matter.pushes.iter().any(|push| is_theirs(push.to))
    }
}
