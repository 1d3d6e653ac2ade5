// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shapes that several algorithms share.
//!
//! ```
//! use corecast_core::{Rank, pattern::Rotation};
//! let around = Rotation { root: Rank(2), ranks: 4 };
//! assert_eq!(around.rank(0), Rank(2));
//! assert_eq!(around.rank(3), Rank(1));
//! assert_eq!(around.position(Rank(1)), 3);
//! ```

mod fold;
mod halving;
mod hop_rounds;
mod kary;
mod ring;
mod slots;
mod tree;

pub use fold::Fold;
pub use halving::{halve, join};
pub use hop_rounds::hop_round_slots;
pub use kary::KaryTree;
pub use ring::ring_pass;
pub use slots::{SLOT_RANKS_MAX, Slots, contention_free_slots};
pub use tree::{TreeEdge, binomial_edges};

use crate::ids::Rank;
use crate::request::Request;
use crate::schedule::{Arrival, ChunkList, Op};

/// Numbers the ranks from the root onwards: position 0 is the root, position `i` is rank
/// `(root + i) mod ranks`.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// The rank at position 0.
    pub root: Rank,
    /// Number of ranks, at least 1.
    pub ranks: u32,
}

impl Rotation {
    /// The rotation of a rooted request.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        Self {
            root: request.root,
            ranks: request.ranks,
        }
    }

    /// The rank at `position`, taken modulo the number of ranks.
    #[must_use]
    pub fn rank(self, position: u32) -> Rank {
        let sum = u64::from(self.root.0) + u64::from(position);
        Rank((sum % u64::from(self.ranks)) as u32)
    }

    /// The position of `rank`.
    #[must_use]
    pub fn position(self, rank: Rank) -> u32 {
        (rank.0 + self.ranks - self.root.0) % self.ranks
    }
}

/// Whom the holder of an interval hands the other half to, in a [`recursive_halving`].
///
/// All messages of one round stay inside disjoint intervals whatever the choice; what differs is
/// how far they travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Partner {
    /// The position that mirrors the holder's in the interval; the distance is anything up to the
    /// whole interval.
    Mirror,
    /// The position half an interval away; the distance is at most half the interval, so it halves
    /// every round.
    Halfway,
}

/// One message of a [`recursive_halving`]: from then on `to` answers for `first..=last`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandOver {
    /// Round of the message.
    pub round: u32,
    /// Position of the sender.
    pub from: u32,
    /// Position of the receiver, inside `first..=last`.
    pub to: u32,
    /// Lowest position of the half handed over.
    pub first: u32,
    /// Highest position of the half handed over.
    pub last: u32,
}

/// Halves the positions `0..size` until every position answers for itself alone, starting from
/// `holder`; ascending rounds.
///
/// An odd interval has the larger half below. Takes `ceil(log2 size)` rounds and `size - 1`
/// messages for any size and holder.
///
/// ```
/// use corecast_core::pattern::{Partner, recursive_halving};
/// let messages = recursive_halving(4, 0, Partner::Halfway);
/// let pairs: Vec<_> = messages.iter().map(|m| (m.round, m.from, m.to)).collect();
/// assert_eq!(pairs, [(0, 0, 2), (1, 0, 1), (1, 2, 3)]);
/// ```
///
/// # Source
/// Barnett, Gupta, Payne, Shuler, van de Geijn 1994 (recursive halving, "minimum spanning tree").
#[must_use]
pub fn recursive_halving(size: u32, holder: u32, partner: Partner) -> Vec<HandOver> {
    let mut messages = Vec::new();
    let mut intervals = Vec::from_iter((size > 1).then(|| (0, size - 1, holder)));
    let mut round = 0;
    while !intervals.is_empty() {
        let mut halves = Vec::with_capacity(2 * intervals.len());
        for &(first, last, from) in &intervals {
            let below = (last - first) / 2 + 1;
            let (lower, upper) = ((first, first + below - 1), (first + below, last));
            let is_lower = from <= lower.1;
            let (own, other) = if is_lower {
                (lower, upper)
            } else {
                (upper, lower)
            };
            let wanted = match partner {
                Partner::Mirror => first + last - from,
                Partner::Halfway if is_lower => from + below,
                Partner::Halfway => from - below,
            };
            // The middle of an odd interval has no mirror image and nobody half an interval away.
            let to = wanted.clamp(other.0, other.1);
            messages.push(HandOver {
                round,
                from,
                to,
                first: other.0,
                last: other.1,
            });
            halves.extend([(own.0, own.1, from), (other.0, other.1, to)]);
        }
        halves.retain(|&(first, last, _)| first < last);
        intervals = halves;
        round += 1;
    }
    messages
}

/// One step of a pipeline or ring in which either side may be missing: `send` to a rank, `recv`
/// from a rank and store, both together, or `None` if there is nothing to do.
#[must_use]
pub fn pass_on(send: Option<(Rank, ChunkList)>, recv: Option<(Rank, ChunkList)>) -> Option<Op> {
    let arrival = Arrival::Store;
    Some(match (send, recv) {
        (Some((to, send)), Some((from, recv))) => Op::Exchange {
            to,
            send,
            from,
            recv,
            arrival,
        },
        (Some((to, chunks)), None) => Op::Send { to, chunks },
        (None, Some((from, chunks))) => Op::Recv {
            from,
            chunks,
            arrival,
        },
        (None, None) => return None,
    })
}
