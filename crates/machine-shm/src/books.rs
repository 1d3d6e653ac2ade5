// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank writes down of its run.

use corecast_core::Rank;
use corecast_machine::{Activity, Cause, MessageRecord, Time};

/// Where a rank's time went, and its messages.
#[derive(Default)]
pub(crate) struct Books {
    activity: Activity,
    sent: Vec<Sent>,
    received: Vec<Received>,
}

struct Sent {
    to: Rank,
    bytes: u64,
    posted: Time,
}

struct Received {
    from: Rank,
    /// Time zero until it has come.
    end: Time,
}

impl Books {
    /// A message is sent now.
    pub(crate) fn sends(&mut self, to: Rank, bytes: usize, now: Time) {
        let bytes = bytes as u64;
        self.sent.push(Sent {
            to,
            bytes,
            posted: now,
        });
    }

    /// A message is asked for; the number by which [`Books::has_come`] knows it.
    pub(crate) fn asks(&mut self, from: Rank) -> usize {
        let end = Time::ZERO;
        self.received.push(Received { from, end });
        self.received.len() - 1
    }

    /// It has come.
    pub(crate) fn has_come(&mut self, number: usize, now: Time) {
        self.received[number].end = now;
    }

    /// The time up to now belongs to this.
    pub(crate) fn fill(&mut self, now: Time, cause: Cause) {
        self.activity.fill(now, cause);
    }

    pub(crate) fn into_activity(self) -> Activity {
        self.activity
    }
}

/// All messages, in order of completion. Those of a pair are received in the order in which they were
/// sent and asked for.
pub(crate) fn messages(books: &[Books]) -> Vec<MessageRecord> {
    let mut next = vec![vec![0; books.len()]; books.len()];
    let mut all = Vec::new();
    for (to, receiver) in (0..).map(Rank).zip(books) {
        for received in &receiver.received {
            let from = received.from;
            let sender = &books[from.index()].sent;
            let at = &mut next[from.index()][to.index()];
            let Some(found) = sender[*at..].iter().position(|sent| sent.to == to) else {
                continue;
            };
            let message = &sender[*at + found];
            *at += found + 1;
            all.push(MessageRecord {
                from,
                to,
                bytes: message.bytes,
                posted: message.posted,
                start: message.posted,
                end: received.end.max(message.posted),
            });
        }
    }
    all.sort_by_key(|message| (message.end, message.from, message.to));
    all
}
