//! Port bytes of every collective, worked out by hand, and the conditions behind them.

use corecast_core::bounds::{self, bcast_word_times, log2_ceil, must_receive};
use corecast_core::{Collective, Rank, Request};

/// Bytes that the most loaded port has to move in one direction.
fn port_bytes(collective: Collective, ranks: u32, bytes: u64) -> u64 {
    bounds::of(&Request::new(collective, ranks, bytes)).port_bytes
}

/// What enters or leaves some rank at least, for `p` ranks and blocks, vectors or messages of `n`
/// bytes.
#[test]
fn ports_move_what_is_not_their_own() {
    use Collective as C;
    for p in 2..10_u64 {
        for n in [0, 1, 7, 60] {
            let of = |collective| port_bytes(collective, p as u32, n);
            assert_eq!(of(C::Bcast), n, "every rank but the root receives it");
            assert_eq!(of(C::Reduce), n, "every rank but the root sends it");
            assert_eq!(of(C::Scatter), (p - 1) * n, "the root sends it");
            assert_eq!(of(C::Gather), (p - 1) * n, "the root receives it");
            assert_eq!(of(C::Allgather), (p - 1) * n, "everybody receives it");
            // A rank's contributions to the blocks of all others cannot be combined with each other.
            assert_eq!(of(C::ReduceScatter), (p - 1) * n, "everybody sends it");
            assert_eq!(of(C::Alltoall), (p - 1) * n, "everybody sends it");
            assert_eq!(of(C::Barrier), 0, "a barrier has no payload");
            // Every element but a p-th of them goes out and comes back, in whole bytes.
            assert_eq!(of(C::Allreduce), (2 * (p - 1) * n).div_ceil(p));
        }
    }
    assert_eq!(port_bytes(C::Allreduce, 4, 100), 150);
    assert_eq!(port_bytes(C::Allreduce, 3, 100), 134, "133.3, whole bytes");
}

/// Blocks between pairs: the busiest port is the largest sum of a row or a column, without what a
/// rank keeps for itself.
#[test]
fn unequal_blocks_load_the_port_of_the_largest_sum() {
    let of = |counts: [u64; 9]| {
        let mut request = Request::new(Collective::Alltoallv, 3, 0);
        request.counts = Some(counts.to_vec().into());
        bounds::of(&request).port_bytes
    };
    assert_eq!(of([900, 1, 2, 3, 900, 4, 5, 6, 900]), 5 + 6, "rank 2 sends");
    assert_eq!(
        of([900, 1, 5, 3, 900, 7, 2, 4, 900]),
        5 + 7,
        "rank 2 receives"
    );
    assert_eq!(of([900, 0, 0, 0, 900, 0, 0, 0, 900]), 0);
}

/// Knowledge at most doubles in a round: `2^r` ranks know after `r` of them.
#[test]
fn rounds_double_what_is_known() {
    for ranks in 1..=130_u32 {
        let rounds = log2_ceil(ranks);
        assert!(1_u64 << rounds >= u64::from(ranks));
        assert!(rounds == 0 || 1_u64 << (rounds - 1) < u64::from(ranks));
    }
    for collective in Collective::ALL {
        for (ranks, rounds) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4)] {
            let request = Request::new(collective, ranks, 8);
            assert_eq!(bounds::of(&request).rounds, rounds, "{collective} {ranks}");
        }
    }
    // The last of the words doubles its holders when the others have gone.
    assert_eq!(bcast_word_times(8, 1), 3);
    assert_eq!(bcast_word_times(8, 10), 9 + 3);
    assert_eq!(bcast_word_times(9, 10), 9 + 4);
    assert_eq!(bcast_word_times(2, 10), 9 + 1);
    assert_eq!((bcast_word_times(1, 10), bcast_word_times(8, 0)), (0, 0));
}

/// Who has to receive something: everybody but the one who has it, only the one who wants it, or all.
#[test]
fn who_must_receive() {
    use Collective as C;
    let who = |collective| {
        let request = Request::new(collective, 4, 8).with_root(Rank(2));
        let ranks = (0..4).filter(|&rank| must_receive(&request, Rank(rank)));
        ranks.collect::<Vec<u32>>()
    };
    for collective in Collective::ALL {
        let expected: &[u32] = match collective {
            C::Bcast | C::Scatter => &[0, 1, 3],
            C::Gather | C::Reduce => &[2],
            _ => &[0, 1, 2, 3],
        };
        assert_eq!(who(collective), expected, "{collective}");
        let alone = Request::new(collective, 1, 8);
        assert!(!must_receive(&alone, Rank(0)));
    }
}
