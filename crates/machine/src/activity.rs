// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a rank's time went.
//!
//! Every picosecond of every rank belongs to exactly one [`Cause`]: an [`Activity`] only grows at
//! its end, so its spans are adjacent by construction and sum to the makespan.
//!
//! ```
//! use corecast_core::Rank;
//! use corecast_machine::{Activity, Cause, Time};
//! let mut activity = Activity::default();
//! activity.fill(Time::from_ps(10), Cause::Handshake);
//! activity.fill(Time::from_ps(30), Cause::WaitPeer(Rank(1)));
//! activity.fill(Time::from_ps(25), Cause::Transfer); // already accounted for: no effect
//! assert_eq!(activity.total(|cause| matches!(cause, Cause::WaitPeer(_))).ps(), 20);
//! ```

use corecast_core::{Rank, Time};

/// What a rank spends time on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The core computes: it arrives late, or combines operands of a reduction.
    Compute,
    /// A peer has not reached the matching step.
    WaitPeer(Rank),
    /// The port of this rank is busy with an earlier transfer.
    PortBusy(Rank),
    /// The message waited for is held up on its way by another one: entry of
    /// [`crate::Report::holds`].
    LinkBusy(u32),
    /// The buffer for messages that leave is full; the oldest of them is for this rank.
    BufferFull(Rank),
    /// A memory outside the core's tile has not answered.
    Memory,
    /// Commands, requests, grants, completions and notifications.
    Handshake,
    /// The message layer computes: what its calls and messages take beside their words.
    Software,
    /// Words move.
    Transfer,
    /// Reading and ordering the status of the other ranks.
    Ordering,
    /// The rank has finished.
    Idle,
}

impl Cause {
    /// The kinds of cause, in the order in which they are shown.
    pub const KINDS: [&'static str; 11] = [
        "compute",
        "wait_peer",
        "port_busy",
        "link_busy",
        "buffer_full",
        "memory",
        "handshake",
        "software",
        "transfer",
        "ordering",
        "idle",
    ];

    /// The kind of this cause, one of [`Cause::KINDS`].
    #[must_use]
    pub const fn kind(self) -> &'static str {
        Self::KINDS[self.index()]
    }

    /// Index of its kind in [`Cause::KINDS`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Compute => 0,
            Self::WaitPeer(_) => 1,
            Self::PortBusy(_) => 2,
            Self::LinkBusy(_) => 3,
            Self::BufferFull(_) => 4,
            Self::Memory => 5,
            Self::Handshake => 6,
            Self::Software => 7,
            Self::Transfer => 8,
            Self::Ordering => 9,
            Self::Idle => 10,
        }
    }

    /// Whether words move or are held up on their way, by a link, a port or a full buffer.
    #[must_use]
    pub const fn is_network(self) -> bool {
        matches!(
            self,
            Self::Transfer | Self::LinkBusy(_) | Self::PortBusy(_) | Self::BufferFull(_)
        )
    }

    /// The rank waited for, if the cause is a wait.
    #[must_use]
    pub const fn peer(self) -> Option<Rank> {
        match self {
            Self::WaitPeer(peer) | Self::PortBusy(peer) | Self::BufferFull(peer) => Some(peer),
            _ => None,
        }
    }
}

/// A stretch of time with one cause, `[start, end)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// What the time was spent on.
    pub cause: Cause,
    /// Begin.
    pub start: Time,
    /// End, later than the begin.
    pub end: Time,
}

/// Spans for which room is made at first.
const SPANS_FIRST: usize = 8;

/// The spans of one rank, adjacent from time zero.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Activity {
    /// Cause and end of each; it begins where the one before ends.
    spans: Vec<(Cause, Time)>,
    /// Cause and end of the last span, here because a large run fills spans of a million ranks in
    /// turn and would wait for the memory of each.
    last: Option<Cause>,
    end: Time,
}

impl Activity {
    /// Up to when time is accounted for.
    #[must_use]
    pub const fn end(&self) -> Time {
        self.end
    }

    /// Attributes the time from [`Activity::end`] to `until` to `cause`; no effect if there is
    /// none.
    pub fn fill(&mut self, until: Time, cause: Cause) {
        if until <= self.end {
            return;
        }
        self.end = until;
        if self.last.replace(cause) == Some(cause)
            && let Some(last) = self.spans.last_mut()
        {
            last.1 = until;
            return;
        }
        if self.spans.is_empty() {
            // A rank with one message has about as many; a million ranks grow only once.
            self.spans.reserve_exact(SPANS_FIRST);
        }
        self.spans.push((cause, until));
    }

    /// The spans in order of time.
    #[must_use]
    pub fn spans(&self) -> impl ExactSizeIterator<Item = Span> {
        let mut start = Time::ZERO;
        self.spans.iter().map(move |&(cause, end)| {
            let start = std::mem::replace(&mut start, end);
            Span { cause, start, end }
        })
    }

    /// One of them.
    #[must_use]
    pub fn span(&self, index: usize) -> Option<Span> {
        let &(cause, end) = self.spans.get(index)?;
        let before = index.checked_sub(1).map(|before| self.spans[before]);
        let start = before.map_or(Time::ZERO, |(_, end)| end);
        Some(Span { cause, start, end })
    }

    /// Time of all spans whose cause fulfils `keep`.
    pub fn total(&self, keep: impl Fn(Cause) -> bool) -> Time {
        let kept = self.spans().filter(|span| keep(span.cause));
        kept.fold(Time::ZERO, |sum, span| sum + (span.end - span.start))
    }
}
