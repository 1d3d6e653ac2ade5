// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bound where engines in hardware move words over a bus: a sum of terms that every schedule
//! pays.
//!
//! * `command + request + ready` before any data can move: some message is the first, and its
//!   sender must have been told, have asked and have been answered;
//! * the words of the most loaded port ([`bounds::Bounds::port_bytes`]), one per cycle; messages
//!   are rounded up to words each, so cutting them never needs fewer. In a broadcast
//!   `words - 1 + ceil(log2 ranks)` ([`bounds::bcast_word_times`]): before cycle `words` some byte
//!   has not yet left the root, and the ranks that hold it at most double per cycle;
//! * `complete + notify` after the last word: no rank continues before it has been told.
//!
//! Every message carries at least the first and the last term, so this also bounds requests without
//! payload. If rank `r` is busy ([`Request::busy_bytes`]) and has to receive `m` bytes, it cannot
//! finish before `words(busy) + words(m) + complete + notify`, as its port serves one transfer at a
//! time; the result is the larger of both.

use corecast_core::{Collective, Rank, Request, bounds};

use super::Mpe;
use crate::network::Crossbar;

/// Fewest picoseconds of any schedule, among at least two ranks that have something to say.
pub(super) fn ps(bus: &Crossbar, mpe: &Mpe, request: &Request) -> u64 {
    let port_bytes = bounds::of(request).port_bytes;
    let word_times = match request.collective {
        Collective::Bcast => bounds::bcast_word_times(request.ranks, bus.words(port_bytes)),
        _ => bus.words(port_bytes),
    };
    let both = |engine_cycles, word_times| {
        let engine_ps = mpe.clock.to_ps(engine_cycles);
        engine_ps.saturating_add(bus.clock.to_ps(word_times))
    };
    let all_free_ps = both(mpe.message_cycles(), word_times);
    let ending_cycles = mpe.complete_cycles.saturating_add(mpe.notify_cycles);
    let busy_ranks = (0..request.ranks)
        .map(Rank)
        .filter(|&rank| request.busy_bytes_of(rank) > 0);
    let busy_ps = busy_ranks
        .filter_map(|rank| Some((rank, received_bytes(request, rank)?)))
        .map(|(rank, bytes)| {
            let busy_words = bus.words(request.busy_bytes_of(rank));
            both(ending_cycles, busy_words.saturating_add(bus.words(bytes)))
        })
        .max()
        .unwrap_or(0);
    all_free_ps.max(busy_ps)
}

/// Fewest bytes that `rank` must receive; `None` if it need not receive any message.
fn received_bytes(request: &Request, rank: Rank) -> Option<u64> {
    use Collective as C;
    if !bounds::must_receive(request, rank) {
        return None;
    }
    let others = u64::from(request.ranks) - 1;
    let bytes = request.bytes;
    match request.collective {
        C::Bcast | C::Scatter | C::Reduce | C::Allreduce | C::ReduceScatter => Some(bytes),
        C::Gather | C::Allgather | C::Alltoall => Some(others.saturating_mul(bytes)),
        C::Barrier => Some(0),
        C::Alltoallv => {
            let counts = request.counts.as_ref()?;
            let sent_by = |from: u32| {
                counts
                    .get((from * request.ranks + rank.0) as usize)
                    .copied()
            };
            let received = (0..request.ranks)
                .filter(|&from| from != rank.0)
                .filter_map(sent_by)
                .fold(0, u64::saturating_add);
            (received > 0).then_some(received) // nothing to receive: no message is needed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chip;

    fn park() -> Chip {
        Chip::builtin("park2019-bus").expect("is built in")
    }

    fn bound(request: &Request) -> u64 {
        park().bound_cycles(request)
    }

    #[test]
    fn a_message_between_two_ranks_is_exactly_its_parts() {
        for words in 0..40 {
            let request = Request::new(Collective::Bcast, 2, 4 * words);
            assert_eq!(bound(&request), 1 + 1 + 1 + words + 1 + 4);
        }
    }

    #[test]
    fn never_above_the_atomic_chain() {
        let chip = park();
        // Without ongoing transfers the chain takes 7 + 2 (N - 1) + (words - 1) cycles.
        for ranks in 2..=32 {
            for bytes in 1..=2048 {
                let chain = 7 + 2 * (u64::from(ranks) - 1) + u64::div_ceil(bytes, 4) - 1;
                let request = Request::new(Collective::Bcast, ranks, bytes);
                let bound = chip.bound_cycles(&request);
                assert!(
                    bound <= chain,
                    "{ranks} ranks, {bytes} bytes: {bound} > {chain}"
                );
                assert!(ranks > 2 || bound == chain, "two ranks have one way");
            }
        }
    }

    #[test]
    fn never_above_parks_times() {
        // Park 2019, Table 2, the visible rows: P1 busy with 32 bytes, 4 bytes are broadcast.
        for (ranks, best_cycles) in [(4, 19), (8, 23)] {
            let mut request = Request::new(Collective::Bcast, ranks, 4);
            request.busy_bytes = vec![0; ranks as usize];
            request.busy_bytes[1] = 32;
            assert!(bound(&request) <= best_cycles);
            assert_eq!(bound(&request), 8 + 1 + 1 + 4);
        }
    }

    #[test]
    fn never_above_chungs_times() {
        // Chung 2011, 4.1: 2 kB are broadcast to 3 leaves in 7750 ns at best.
        let chip = Chip::builtin("chung2011-bus").expect("is built in");
        let request = Request::new(Collective::Bcast, 4, 2048);
        assert!(chip.bound_cycles(&request) * 5 <= 7750);
    }

    #[test]
    fn single_ranks_and_silence_are_free() {
        for collective in Collective::ALL {
            assert_eq!(bound(&Request::new(collective, 1, 64)), 0);
            assert_eq!(
                bound(&Request::new(collective, 5, 0)),
                match collective {
                    Collective::Alltoallv => 0,
                    _ => 8,
                }
            );
        }
    }

    #[test]
    fn ports_and_busy_receivers_count() {
        let gather = |busy_rank: usize| {
            let mut request = Request::new(Collective::Gather, 4, 10);
            request.busy_bytes = vec![0; 4];
            request.busy_bytes[busy_rank] = 4000;
            request
        };
        assert_eq!(bound(&Request::new(Collective::Gather, 4, 10)), 8 + 8);
        assert_eq!(bound(&gather(0)), 1000 + 8 + 5, "the root receives");
        assert_eq!(bound(&gather(1)), 8 + 8, "the others do not");
        let mut request = Request::new(Collective::Alltoallv, 2, 0);
        request.counts = Some(vec![0, 40, 0, 0].into());
        request.busy_bytes = vec![4000, 0];
        assert_eq!(bound(&request), 8 + 10, "rank 0 receives nothing");
        request.busy_bytes = vec![0, 4000];
        assert_eq!(bound(&request), 1000 + 10 + 5);
    }

    #[test]
    fn the_largest_requests_do_not_overflow() {
        let mut request = Request::new(Collective::Bcast, 1 << 20, (1 << 43) - 1);
        request.busy_bytes = vec![u64::MAX; 1 << 20];
        assert!(request.check().is_ok());
        assert!(bound(&request) > 1 << 40);
    }
}
