// SPDX-License-Identifier: MIT OR Apache-2.0
//! What no schedule can beat.
//!
//! Bounds are stated for one-ported full-duplex ranks: per round a rank sends at most one message
//! and receives at most one. They hold for every algorithm, so a report can always print the gap.
//!
//! ```
//! use corecast_core::{Collective, Request, bounds};
//! let bounds = bounds::of(&Request::new(Collective::Bcast, 8, 64));
//! assert_eq!((bounds.rounds, bounds.port_bytes), (3, 64));
//! ```

mod crossing;

pub use crossing::{
    Crossing, Cut, Group, Way, between, combined_bytes, cuts, through, volume_bytes, witnesses,
};

use crate::collective::Collective;
use crate::ids::Rank;
use crate::request::Request;

/// Lower bounds of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Rounds of any schedule that stores a message before it passes it on: `ceil(log2 ranks)`
    /// for every collective in which one rank reaches or hears all others (information at most
    /// doubles per round); 0 for a single rank. In an alltoallv a rank that has something for, or
    /// hears from, `k` others needs `ceil(log2 (k + 1))` of them.
    pub rounds: u32,
    /// Bytes that the most loaded port must move in one direction.
    pub port_bytes: u64,
}

/// `ceil(log2 ranks)`.
///
/// # Panics
/// If `ranks` is 0.
#[must_use]
pub fn log2_ceil(ranks: u32) -> u32 {
    assert!(ranks > 0, "a communicator has at least one rank");
    ranks.next_power_of_two().trailing_zeros()
}

/// The bounds of `request`.
///
/// Port bytes: a broadcast enters every leaf whole; a scatter leaves the root but for its own
/// block, a gather enters it; an allgather enters every rank but for its own block; in a reduction
/// without combining inside the network every rank that wants the result receives at least one
/// other vector's worth, and in an allreduce `2 (p - 1) / p` vectors (Patarasuk and Yuan 2009,
/// Theorem 1); in a reduce_scatter each rank sends `p - 1` blocks' worth; in an alltoall every rank
/// sends and receives what is not its own.
#[must_use]
pub fn of(request: &Request) -> Bounds {
    use Collective as C;
    let (p, n) = (u64::from(request.ranks), request.bytes);
    if p == 1 {
        return Bounds {
            rounds: 0,
            port_bytes: 0,
        };
    }
    let port_bytes = match request.collective {
        C::Bcast | C::Reduce => n,
        C::Scatter | C::Gather | C::Allgather | C::ReduceScatter | C::Alltoall => (p - 1) * n,
        C::Allreduce => (2 * (p - 1) * n).div_ceil(p),
        C::Alltoallv => alltoallv_port_bytes(request),
        C::Barrier => 0,
    };
    let rounds = match request.collective {
        C::Alltoallv => alltoallv_rounds(request.ranks, |from, to| {
            let counts = request.counts.as_deref().unwrap_or_default();
            counts
                .get((from * request.ranks + to) as usize)
                .copied()
                .unwrap_or(0)
        }),
        _ => log2_ceil(request.ranks),
    };
    Bounds { rounds, port_bytes }
}

/// Fewest rounds of an alltoallv in which `from` has `count(from, to)` bytes for `to`: what a rank
/// has said has been heard by at most twice as many ranks after each round, and what a rank has
/// heard comes from at most twice as many.
pub(crate) fn alltoallv_rounds(ranks: u32, count: impl Fn(u32, u32) -> u64) -> u32 {
    let others = |of: u32| (0..ranks).filter(move |&other| other != of);
    let peers = (0..ranks).map(|rank| {
        let heard_by = others(rank).filter(|&to| count(rank, to) > 0).count();
        let hears = others(rank).filter(|&from| count(from, rank) > 0).count();
        heard_by.max(hears) as u32 // fewer than there are ranks
    });
    log2_ceil(peers.max().unwrap_or(0) + 1)
}

fn alltoallv_port_bytes(request: &Request) -> u64 {
    let Some(counts) = &request.counts else {
        return 0;
    };
    let ranks = request.ranks;
    let count = |from: u32, to: u32| counts[(from * ranks + to) as usize];
    let others = |of: u32| (0..ranks).filter(move |&other| other != of);
    (0..ranks)
        .map(|r| {
            let sent: u64 = others(r).map(|to| count(r, to)).sum();
            let received: u64 = others(r).map(|from| count(from, r)).sum();
            sent.max(received)
        })
        .max()
        .unwrap_or(0)
}

/// Fewest word times that a broadcast of `words` words needs when every port moves one word per
/// word time in each direction and any word may be passed on alone: `words - 1 + ceil(log2 p)`
/// (Bar-Noy and Kipnis 1994), 0 if there is nothing to send.
#[must_use]
pub fn bcast_word_times(ranks: u32, words: u64) -> u64 {
    if ranks == 1 || words == 0 {
        return 0;
    }
    words - 1 + u64::from(log2_ceil(ranks))
}

/// Whether `rank` has to receive anything in `request` (and so cannot finish before its port is
/// free to receive).
#[must_use]
pub fn must_receive(request: &Request, rank: Rank) -> bool {
    use Collective as C;
    if request.ranks == 1 {
        return false;
    }
    match request.collective {
        C::Bcast | C::Scatter => rank != request.root,
        C::Gather | C::Reduce => rank == request.root,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_hand() {
        let of = |collective, ranks, bytes| of(&Request::new(collective, ranks, bytes));
        assert_eq!(
            of(Collective::Bcast, 1, 64),
            Bounds {
                rounds: 0,
                port_bytes: 0
            }
        );
        assert_eq!(
            of(Collective::Gather, 5, 10),
            Bounds {
                rounds: 3,
                port_bytes: 40
            }
        );
        assert_eq!(
            of(Collective::Allreduce, 4, 100),
            Bounds {
                rounds: 2,
                port_bytes: 150
            }
        );
        assert_eq!(
            of(Collective::Alltoallv, 3, 4),
            Bounds {
                rounds: 2,
                port_bytes: 8
            }
        );
    }

    #[test]
    fn an_alltoallv_needs_as_many_rounds_as_its_busiest_rank() {
        let rounds = |counts: [u64; 16]| {
            let mut request = Request::new(Collective::Alltoallv, 4, 0);
            request.counts = Some(counts.into());
            of(&request).rounds
        };
        assert_eq!(rounds([9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9]), 0);
        assert_eq!(rounds([0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0]), 1);
        assert_eq!(rounds([0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 2);
        assert_eq!(rounds([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), 2);
    }

    #[test]
    fn words_pipeline_behind_the_doubling() {
        assert_eq!(bcast_word_times(8, 1), 3);
        assert_eq!(bcast_word_times(8, 16), 18);
        assert_eq!(bcast_word_times(1, 16), 0);
        assert_eq!(bcast_word_times(8, 0), 0);
    }
}
