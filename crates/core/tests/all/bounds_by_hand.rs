// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must pass ports and cuts in every collective, worked out by hand, and the conditions behind
//! it.

use corecast_core::bounds::{self, bcast_word_times, log2_ceil, must_receive};
use corecast_core::{Collective, Grid, Rank, Request};

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

/// Cuts as `(links, bytes)`.
fn cuts(request: &Request, grid: &Grid) -> Vec<(u64, u64)> {
    let cuts = bounds::cuts(request, &(*grid).into()).into_iter();
    cuts.map(|cut| (cut.links, cut.bytes)).collect()
}

/// What a scatter has for both sides of its root crosses each cut once, away from the root.
#[test]
fn cuts_are_crossed_away_from_the_root_of_a_scatter() {
    let row = Grid::mesh(4, 1);
    let scatter = Request::new(Collective::Scatter, 4, 10).with_root(Rank(1));
    assert_eq!(cuts(&scatter, &row), [(1, 10), (1, 20), (1, 10)]);
    let column = Grid::mesh(1, 4);
    assert_eq!(cuts(&scatter, &column), [(1, 10), (1, 20), (1, 10)]);
    for line in [row, column] {
        let ring = Grid {
            is_torus: true,
            ..line
        };
        assert_eq!(cuts(&scatter, &ring), [(2, 10), (2, 20), (2, 10)]);
    }
}

/// Ten ranks on five of 3 x 2 routers, in the upper row two of three. Five messages from rank to
/// rank, each of another size, pass cuts between columns and rows and around four routers.
#[test]
fn cuts_of_single_messages() {
    let grid = Grid {
        per_node: 2,
        ..Grid::mesh(3, 2)
    };
    let mut request = Request::new(Collective::Alltoallv, 10, 0).with_root(Rank(2));
    let mut counts = vec![0; 100];
    let messages = [
        (4, 6, 100),    // the south-east router to the north-west one
        (9, 0, 1_000),  // the last one to the first one
        (2, 8, 10_000), // the root's to the last one
        (3, 7, 7),      // the root's to the north-west one
        (5, 5, 90_000), // to itself
        (8, 9, 80_000), // to a rank at the same router
    ];
    for (from, to, bytes) in messages {
        counts[from * 10 + to] = bytes;
    }
    request.counts = Some(counts.into());
    let between_columns = [(2, 1_000 + 100 + 7), (2, 100)]; // all westward
    let between_rows = [(3, 10_000 + 100 + 7), (3, 1_000)]; // north and south
    let around_first = [(2, 1_000)];
    let around_south_east = [(2, 100)];
    let around_last = [(3, 1_000), (3, 10_000)]; // out and in
    let around_root = [(3, 10_000 + 7)];
    let expected = [
        &between_columns[..],
        &between_rows,
        &around_first,
        &around_south_east,
        &around_last,
        &around_root,
    ];
    assert_eq!(cuts(&request, &grid), expected.concat());
}

/// Ranks that share the only router have nothing to cross.
#[test]
fn a_single_router_has_no_cuts() {
    let grid = Grid {
        per_node: 4,
        ..Grid::mesh(1, 1)
    };
    let request = Request::new(Collective::Alltoall, 4, 10);
    assert_eq!(cuts(&request, &grid), []);
}

/// What all ranks together receive, and how often two partial results become one.
#[test]
fn volumes_count_every_rank_that_receives() {
    use Collective as C;
    for p in 2..10_u64 {
        for n in [0, 1, 7, 60] {
            let request = |collective| Request::new(collective, p as u32, n);
            let volume = |collective| bounds::volume_bytes(&request(collective));
            for once in [C::Bcast, C::Scatter, C::Gather, C::Reduce] {
                assert_eq!(volume(once), (p - 1) * n, "{once}: all but one");
            }
            assert_eq!(volume(C::Allreduce), 2 * (p - 1) * n, "there and back");
            for all in [C::Allgather, C::ReduceScatter, C::Alltoall] {
                assert_eq!(volume(all), p * (p - 1) * n, "{all}: from all others");
            }
            assert_eq!(volume(C::Barrier), 0);
            let combined = |collective| bounds::combined_bytes(&request(collective));
            assert_eq!(combined(C::Reduce), (p - 1) * n);
            assert_eq!(combined(C::Allreduce), (p - 1) * n);
            assert_eq!(combined(C::ReduceScatter), p * (p - 1) * n);
            for nothing in [C::Bcast, C::Gather, C::Allgather, C::Alltoall] {
                assert_eq!(combined(nothing), 0, "{nothing}");
            }
        }
    }
    let mut request = Request::new(C::Alltoallv, 3, 0);
    request.counts = Some(vec![900, 1, 2, 4, 900, 8, 16, 32, 900].into());
    assert_eq!(bounds::volume_bytes(&request), 1 + 2 + 4 + 8 + 16 + 32);
}

/// Ports at the ends of the longest ways, and one in the middle.
#[test]
fn witnesses_are_at_the_corners() {
    let of = |request: &Request, grid: &Grid| {
        let witnesses = bounds::witnesses(request, &(*grid).into()).into_iter();
        witnesses.map(|rank| rank.0).collect::<Vec<_>>()
    };
    // The corner farthest from (1, 0) of 4 x 3 routers is (3, 2).
    let grid = Grid::mesh(4, 3);
    let scatter = Request::new(Collective::Scatter, 12, 8);
    assert_eq!(of(&scatter.clone().with_root(Rank(1)), &grid), [1, 11]);
    assert_eq!(of(&scatter.with_root(Rank(10)), &grid), [0, 10]);
    // 21 ranks in pairs: two rows of four routers, and two and a half; (1, 1) is in the middle.
    let pairs = Grid {
        per_node: 2,
        ..grid
    };
    let allgather = Request::new(Collective::Allgather, 21, 8);
    assert_eq!(of(&allgather, &pairs), [0, 7, 10, 16, 20]);
    // A row that is not full ends with the last rank.
    let few = Request::new(Collective::Allgather, 3, 8);
    assert_eq!(of(&few, &pairs), [0, 2]);
    // In an alltoallv all of them, as long as they are not too many.
    let unequal = |ranks| Request::new(Collective::Alltoallv, ranks, 8);
    assert_eq!(of(&unequal(6), &pairs), [0, 1, 2, 3, 4, 5]);
    let wide = Grid::mesh(64, 17);
    assert_eq!(of(&unequal(1024), &wide).len(), 1024);
    assert_eq!(of(&unequal(1025), &wide), [0, 63, 543, 1024]);
}
