// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much can lie unread at a rank if nobody waits for permission to send, in closed forms.

use corecast_core::{
    ChunkId, Collective, Rank, Request, ScheduleBuilder, Spec, Split, algorithm, worst_queue,
};

/// The worst queue in bytes, for messages of ten bytes.
fn unread(collective: Collective, name: &str, ranks: u32) -> u64 {
    // Algorithms that cut a vector into parts get ten bytes for each.
    let bytes = match collective {
        Collective::Allreduce => 10 * u64::from(ranks),
        _ => 10,
    };
    let algorithm = algorithm::find(collective, name).expect("registered");
    let request = Request::new(collective, ranks, bytes);
    let schedule = algorithm.schedule(&request);
    worst_queue(&schedule, &|bytes| bytes).expect("correct")
}

/// A rank that does not read holds up its successors only when what it has not passed on has come
/// around: in a ring its predecessor runs ahead by one lap, `p` messages, or by all there are.
#[test]
fn a_ring_runs_ahead_by_one_lap() {
    for ranks in 2..9 {
        let lap = 10 * u64::from(ranks);
        let all = 10 * (u64::from(ranks) - 1);
        assert_eq!(unread(Collective::Allgather, "ring", ranks), all);
        let twice_around = unread(Collective::Allreduce, "ring", ranks);
        assert_eq!(twice_around, lap.min(2 * all), "{ranks} ranks");
    }
}

/// Sums of sends that nothing holds back, and chains in which nobody has more than one.
#[test]
fn what_nothing_holds_back_adds_up() {
    for ranks in 2..9 {
        let others = 10 * (u64::from(ranks) - 1);
        assert_eq!(unread(Collective::Gather, "linear", ranks), others);
        assert_eq!(unread(Collective::Alltoall, "linear", ranks), others);
        assert_eq!(unread(Collective::Scatter, "linear", ranks), 10);
        assert_eq!(unread(Collective::Bcast, "chain", ranks), 10);
    }
}

/// The worst queue where rank 0 sends groups of messages of ten bytes, and waits for rank 1's answer
/// behind each of them.
fn answered(groups: &[u32]) -> Option<u64> {
    let parts = groups.iter().sum();
    let request = Request::new(Collective::Bcast, 2, 10 * u64::from(parts));
    let mut builder = ScheduleBuilder::new("answered", Spec::new(&request, Split::Even(parts)));
    let (mut round, mut next) = (0, 0);
    for &group in groups {
        let first = ChunkId(next);
        for chunk in (next..next + group).map(ChunkId) {
            builder.message(round, Rank(0), Rank(1), &[chunk]);
            round += 1;
        }
        builder.message(round, Rank(1), Rank(0), &[first]);
        round += 1;
        next += group;
    }
    worst_queue(&builder.finish(), &|bytes| bytes)
}

/// However many messages follow, no more lie unread than rank 0 sends before it waits for an answer,
/// whether that is at the start or later.
#[test]
fn an_answer_that_is_waited_for_holds_the_sender_back() {
    assert_eq!(answered(&[1; 12]), Some(10));
    assert_eq!(answered(&[2; 6]), Some(20));
    assert_eq!(answered(&[3, 1, 1]), Some(30));
    assert_eq!(answered(&[1, 3, 1]), Some(30));
    assert_eq!(answered(&[1, 2, 4]), Some(40));
}

/// A forward passes on what it receives, so what it sends needs what it receives: rank 2 cannot get
/// it before rank 0 has sent.
#[test]
fn a_forwarded_message_needs_the_one_that_comes() {
    for ranks in 2..6 {
        assert_eq!(unread(Collective::Bcast, "ap", ranks), 10);
    }
    // Rank 2 asks rank 0 for the second message by the first step it completes; it comes through
    // rank 1, which forwards it at once. So only one of the two is ever unread at rank 2.
    let request = Request::new(Collective::Allgather, 3, 10);
    let mut builder = ScheduleBuilder::new("asked", Spec::new(&request, Split::Even(1)));
    let chunks = builder.list(&[ChunkId(0)]);
    builder.message(0, Rank(1), Rank(2), &[ChunkId(1)]);
    builder.message(1, Rank(2), Rank(0), &[ChunkId(2)]);
    let (from, to) = (Rank(0), Rank(2));
    builder.push(
        2,
        from,
        corecast_core::Op::Send {
            to: Rank(1),
            chunks,
        },
    );
    let arrival = corecast_core::Arrival::Store;
    let forward = corecast_core::Op::Forward {
        from,
        to,
        chunks,
        arrival,
    };
    builder.push(2, Rank(1), forward);
    let (from, arrival) = (Rank(1), corecast_core::Arrival::Store);
    let recv = corecast_core::Op::Recv {
        from,
        chunks,
        arrival,
    };
    builder.push(3, Rank(2), recv);
    assert_eq!(worst_queue(&builder.finish(), &|bytes| bytes), Some(10));
}

/// Where the proof would need too much memory, all that a rank receives stands in: more than a lap of
/// the ring, and never less than the truth.
#[test]
fn too_large_a_proof_is_replaced_by_all_that_comes() {
    // Steps times ranks, 2 (p - 1) p p, just exceed 2^26 at 323 ranks.
    let ranks = 323;
    let all = 10 * 2 * (u64::from(ranks) - 1);
    assert_eq!(unread(Collective::Allreduce, "ring", ranks), all);
}
