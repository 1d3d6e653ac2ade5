// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run has shown.

use corecast_core::{ChunkId, LinkUse, Rank, Time};

use crate::activity::{Activity, Cause};
use crate::held::Held;

/// One message that was delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRecord {
    /// Sender.
    pub from: Rank,
    /// Receiver.
    pub to: Rank,
    /// Payload in bytes.
    pub bytes: u64,
    /// When the sender asked to send.
    pub posted: Time,
    /// When the first word left.
    pub start: Time,
    /// When the last word arrived.
    pub end: Time,
}

/// A message that could not go on because another one used a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkHold {
    /// Coordinates (x, y) of the router that the link leaves.
    pub from: (u32, u32),
    /// Coordinates of the router that it enters; the same = the port of a core there.
    pub to: (u32, u32),
    /// Sender and receiver of the message that waited.
    pub message: (Rank, Rank),
    /// Those of the one that used the link; none = background traffic.
    pub holder: Option<(Rank, Rank)>,
}

/// What other traffic has sent during a run ([`crate::Background`]).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BackgroundUse {
    /// Packets that it had to send.
    pub packets: u64,
    /// Those of them that were not sent, because the network could not take more.
    pub held_back: u64,
}

impl BackgroundUse {
    /// The same with a further packet, which is sent or not.
    #[must_use]
    pub fn with(self, is_sent: bool) -> Self {
        Self {
            packets: self.packets + 1,
            held_back: self.held_back + u64::from(!is_sent),
        }
    }

    /// The share of its packets that was sent; none if there were none.
    #[must_use]
    pub fn sent_share(&self) -> Option<f64> {
        let sent = (self.packets - self.held_back) as f64;
        (self.packets > 0).then(|| sent / self.packets as f64)
    }
}

/// A chunk that does not hold what it should.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongChunk {
    /// Where.
    pub rank: Rank,
    /// Which chunk.
    pub chunk: ChunkId,
}

/// What a run has shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Name of the machine.
    pub machine: &'static str,
    /// First rank's start to last rank's finish.
    pub makespan: Time,
    /// When each rank finished.
    pub finish: Vec<Time>,
    /// Where each rank's time went, from zero to the makespan.
    pub activity: Vec<Activity>,
    /// Every message, in order of completion.
    pub messages: Vec<MessageRecord>,
    /// Every link of a mesh that carried something; empty on other machines.
    pub links: Vec<LinkUse>,
    /// What [`Cause::LinkBusy`] speaks of; empty where links are not simulated flit by flit.
    pub holds: Vec<LinkHold>,
    /// What other traffic has sent meanwhile.
    pub background: BackgroundUse,
    /// Chunks that do not hold what they should; empty = every rank received the right data.
    pub wrong: Vec<WrongChunk>,
    /// Final contents of every rank: the chunks it was promised.
    pub outputs: Vec<Held>,
    /// Simulated events; 0 on real machines.
    pub events: u64,
    /// Hash of all simulated events; 0 on real machines.
    pub trace_hash: u64,
}

impl Report {
    /// Whether every rank received the right data.
    #[must_use]
    pub fn delivered(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Time per kind of cause ([`Cause::KINDS`]) summed over all ranks.
    #[must_use]
    pub fn causes(&self) -> [(&'static str, Time); Cause::KINDS.len()] {
        let mut causes = Cause::KINDS.map(|kind| (kind, Time::ZERO));
        // One pass: a large run has many spans.
        for span in self.activity.iter().flat_map(Activity::spans) {
            causes[span.cause.index()].1 += span.end - span.start;
        }
        causes
    }

    /// Asserts that the causes of every rank are adjacent and sum exactly to the makespan.
    ///
    /// # Panics
    /// If they do not: the machine has lost or counted time twice.
    pub fn assert_accounted(&self) {
        for (rank, activity) in self.activity.iter().enumerate() {
            let sum = activity.total(|_| true);
            let makespan = self.makespan;
            assert_eq!(
                sum, makespan,
                "the causes of rank {rank} sum to the makespan"
            );
        }
    }

    /// The first difference to another report, in words; `None` if they are equal in time, data
    /// and events.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        for (rank, (a, b)) in self.activity.iter().zip(&other.activity).enumerate() {
            let spans = a.spans().zip(b.spans()).find(|(a, b)| a != b);
            if let Some((a, b)) = spans {
                return Some(format!("rank {rank}: {a:?} against {b:?}"));
            }
        }
        if let Some((a, b)) = self
            .messages
            .iter()
            .zip(&other.messages)
            .find(|(a, b)| a != b)
        {
            return Some(format!("{a:?} against {b:?}"));
        }
        if self.outputs != other.outputs {
            return Some("the data differ".to_owned());
        }
        let same = self.trace_hash == other.trace_hash && self.finish == other.finish;
        (!same).then(|| "the event hashes differ".to_owned())
    }
}
