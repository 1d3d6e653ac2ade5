// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labels that are worked out, each by hand: rounds begin with 0, a stream sends once and receives
//! once in a round, and what has arrived is sent on in a later one.

use corecast_core::{
    Arrival, ChunkId, Collective, Op, Rank, Request, ScheduleBuilder, Spec, Split, verify,
};

fn builder(collective: Collective, ranks: u32) -> ScheduleBuilder {
    let spec = Spec::new(&Request::new(collective, ranks, 8), Split::Even(1));
    ScheduleBuilder::new("by hand", spec)
}

/// The labels of every rank's steps, one stream behind the other; those that are there count for
/// nothing.
fn labels(mut builder: ScheduleBuilder) -> Vec<Vec<u32>> {
    for rank in (0..builder.spec().ranks()).map(Rank) {
        for step in builder.steps_mut(rank) {
            step.round.0 = 77;
        }
    }
    let schedule = verify::with_rounds(builder.finish());
    let of = |rank| schedule.steps(rank).iter().map(|step| step.round.0);
    schedule
        .all_ranks()
        .map(|rank| of(rank).collect())
        .collect()
}

/// The second stream of rank 1 waits for what the first receives in round 0, copies it at once, and
/// sends it in round 1.
#[test]
fn what_was_copied_is_sent_in_a_later_round() {
    let mut builder = builder(Collective::Bcast, 3);
    let (chunk, place) = (ChunkId(0), builder.add_place(8));
    let (root, middle, last) = (Rank(0), Rank(1), Rank(2));
    let [second, at_last] = [middle, last].map(|rank| builder.add_stream(rank, 1));
    let (_, received) = builder.deliver_on(0, (root, 0), (middle, 0), &[chunk]);
    let [source, target] = [chunk, place].map(|place| builder.list(&[place]));
    let arrival = Arrival::Store;
    let copy = Op::Local {
        source,
        target,
        arrival,
    };
    let copied = builder.push_on(0, (middle, second), copy);
    builder.wait(copied, received);
    builder.deliver_on(0, (middle, second), (last, at_last), &[place]);
    assert_eq!(labels(builder), [vec![0], vec![0, 0, 1], vec![1]]);
}

/// Rank 1 receives in rounds 0 and 1, so that rank 3 sends in round 1; what it combines has been
/// there since round 1, in whichever of the two places, and is sent in round 2. A copy is as old as
/// what was copied, and is sent in round 1.
#[test]
fn sums_are_as_late_as_the_later_of_their_parts() {
    let chunk = ChunkId(0);
    for (arrival, from, to, sent) in [
        (Arrival::Reduce, 0, 1, 2),
        (Arrival::Reduce, 1, 0, 2),
        (Arrival::Store, 0, 1, 1),
        (Arrival::Store, 1, 0, 2),
    ] {
        let mut builder = builder(Collective::Reduce, 4);
        let places = [(); 2].map(|()| builder.add_place(8));
        let middle = Rank(1);
        builder.transfer(0, (Rank(2), &[chunk]), (middle, &places[..1]));
        builder.transfer(0, (Rank(3), &[chunk]), (middle, &places[1..]));
        let [source, target] = [places[from], places[to]].map(|place| builder.list(&[place]));
        let local = Op::Local {
            source,
            target,
            arrival,
        };
        builder.push(0, middle, local);
        builder.combine(0, middle, &[chunk], &[places[to]]);
        builder.transfer(0, (middle, &[places[to]]), (Rank(0), &[chunk]));
        assert_eq!(
            labels(builder),
            [vec![sent], vec![0, 1, 1, 1, sent], vec![0], vec![1]],
            "{arrival:?} from {from} to {to}"
        );
    }
}

/// A forward of round 0 sends in round 1: the next forward is of that round, and what its rank sends
/// behind it, or its other stream once it has waited for it, goes in round 2 or 1.
#[test]
fn a_forward_sends_a_round_later() {
    let mut builder = builder(Collective::Allgather, 5);
    let [passing, own] = [0, 1].map(|chunk| builder.list(&[ChunkId(chunk)]));
    let arrival = Arrival::Store;
    let forward = |from, to| Op::Forward {
        from: Rank(from),
        to: Rank(to),
        chunks: passing,
        arrival,
    };
    let send = |to, chunks| Op::Send {
        to: Rank(to),
        chunks,
    };
    let recv = |from, chunks| Op::Recv {
        from: Rank(from),
        chunks,
        arrival,
    };
    let [second, at_last] = [1, 4].map(|rank| builder.add_stream(Rank(rank), 1));
    builder.push(0, Rank(0), send(1, passing));
    let forwarded = builder.push_on(0, (Rank(1), 0), forward(0, 2));
    builder.push(0, Rank(1), send(4, own));
    let waiting = builder.push_on(0, (Rank(1), second), send(4, own));
    builder.wait(waiting, forwarded);
    builder.push(0, Rank(2), forward(1, 3));
    builder.push(0, Rank(3), recv(2, passing));
    builder.push(0, Rank(4), recv(1, own));
    builder.push_on(0, (Rank(4), at_last), recv(1, own));
    assert_eq!(
        labels(builder),
        [vec![0], vec![0, 2, 1], vec![1], vec![2], vec![2, 1]]
    );
}

/// Two ranks that send twice before they receive twice: with one send in a round each message would
/// have to be later than itself, so all are in one round.
#[test]
fn messages_that_cross_share_a_round() {
    let mut builder = builder(Collective::Allgather, 2);
    for rank in [0, 1] {
        let [own, other] = [rank, 1 - rank].map(|chunk| builder.list(&[ChunkId(chunk)]));
        let (peer, arrival) = (Rank(1 - rank), Arrival::Store);
        for chunks in [own, own] {
            builder.push(0, Rank(rank), Op::Send { to: peer, chunks });
        }
        for chunks in [other, other] {
            let from = peer;
            let recv = Op::Recv {
                from,
                chunks,
                arrival,
            };
            builder.push(0, Rank(rank), recv);
        }
    }
    assert_eq!(labels(builder), [[0; 4], [0; 4]]);
}

/// Ranks 0 and 1 wait for each other: what never ends has the label of what comes before it in its
/// stream, or that of the other end of its message if it is later.
#[test]
fn what_never_ends_has_the_label_of_what_did() {
    let mut builder = builder(Collective::Bcast, 4);
    builder.message(0, Rank(0), Rank(2), &[ChunkId(0)]);
    builder.message(0, Rank(0), Rank(3), &[ChunkId(0)]);
    let chunks = builder.list(&[ChunkId(0)]);
    for (rank, peer) in [(0, Rank(1)), (1, Rank(0))] {
        let recv = Op::Recv {
            from: peer,
            chunks,
            arrival: Arrival::Store,
        };
        builder.push(0, Rank(rank), recv);
        builder.push(0, Rank(rank), Op::Send { to: peer, chunks });
    }
    assert_eq!(
        labels(builder),
        [vec![0, 1, 1, 1], vec![1, 1], vec![0], vec![1]]
    );
}
