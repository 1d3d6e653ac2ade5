// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules put in one stream per rank: what stays whole, what is taken apart, and what is copied.

use corecast_core::verify::Violation;
use corecast_core::{
    Arrival, ChunkId, Collective, FullCrossbar, Op, Rank, Request, Schedule, ScheduleBuilder, Spec,
    Split, in_one_stream, slots_needed, verify,
};

/// What it makes of a schedule, which must be correct but for labels.
fn linear(schedule: &Schedule) -> Schedule {
    let linear = in_one_stream(schedule).expect("it completes").into_owned();
    assert!(linear.is_plain());
    let certificate = verify(&linear, &FullCrossbar);
    assert_eq!(certificate.slots_needed, Some(0), "{linear}");
    let is_label = |found: &Violation| {
        matches!(
            found,
            Violation::RoundFalls { .. } | Violation::SendsTooEarly { .. }
        )
    };
    let wrong = certificate.violations.iter().find(|found| !is_label(found));
    assert_eq!(wrong, None, "{linear}");
    linear
}

/// What both ranks exchange in one step stays one step.
#[test]
fn an_exchange_stays_whole_in_one_stream() {
    let spec = Spec::new(&Request::new(Collective::Allgather, 2, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("swapped", spec);
    for rank in [0, 1] {
        let [send, recv] = [rank, 1 - rank].map(|rank| builder.list(&[ChunkId(rank)]));
        let op = Op::Exchange {
            to: Rank(1 - rank),
            send,
            from: Rank(1 - rank),
            recv,
            arrival: Arrival::Store,
        };
        builder.push(0, Rank(rank), op);
    }
    builder.set_slots(1);
    let schedule = builder.finish();
    assert!(!schedule.is_plain(), "it claims a slot");
    let linear = linear(&schedule);
    for rank in [0, 1].map(Rank) {
        assert_eq!(linear.steps(rank).len(), 1, "{linear}");
        assert!(matches!(linear.steps(rank)[0].op, Op::Exchange { .. }));
    }
}

/// A message that passes rank 1 twice, by a forward of each of its streams: in one stream the first
/// forward would wait for the second, so both are taken apart.
#[test]
fn what_passes_a_rank_twice_is_taken_apart() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 4, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("there and back", spec);
    let place = builder.add_place(8);
    let [chunk, again] = [ChunkId(0), place].map(|place| builder.list(&[place]));
    let forward = |from, to, chunks| Op::Forward {
        from: Rank(from),
        to: Rank(to),
        chunks,
        arrival: Arrival::Store,
    };
    let stream = builder.add_stream(Rank(1), 0);
    builder.push(
        0,
        Rank(0),
        Op::Send {
            to: Rank(1),
            chunks: chunk,
        },
    );
    builder.push(0, Rank(1), forward(0, 2, chunk));
    builder.push(1, Rank(2), forward(1, 1, chunk));
    builder.push_on(2, (Rank(1), stream), forward(2, 3, again));
    let (from, arrival) = (Rank(1), Arrival::Store);
    builder.push(
        3,
        Rank(3),
        Op::Recv {
            from,
            chunks: chunk,
            arrival,
        },
    );
    let schedule = builder.finish();
    assert!(verify(&schedule, &FullCrossbar).is_correct());
    let linear = linear(&schedule);
    assert_eq!(linear.steps(Rank(1)).len(), 4, "{linear}");
}

/// A forward stays whole if the rank keeps what passes. If not, and it adds its own contribution to
/// what passes, it copies that, adds what arrives, and sends the sum.
#[test]
fn a_forward_stays_whole_if_the_rank_keeps_what_passes() {
    let forwarded = |collective, arrival, at_end| {
        let spec = Spec::new(&Request::new(collective, 3, 8), Split::Even(1));
        let mut builder = ScheduleBuilder::new("forwarded", spec);
        let chunks = builder.list(&[ChunkId(0)]);
        // A reduction ends where a broadcast begins.
        let [first, last] = match arrival {
            Arrival::Store => [Rank(0), Rank(2)],
            _ => [Rank(2), Rank(0)],
        };
        builder.push(
            0,
            first,
            Op::Send {
                to: Rank(1),
                chunks,
            },
        );
        let forward = Op::Forward {
            from: first,
            to: last,
            chunks,
            arrival,
        };
        builder.push(0, Rank(1), forward);
        let recv = Op::Recv {
            from: Rank(1),
            chunks,
            arrival: at_end,
        };
        builder.push(1, last, recv);
        builder.set_slots(1);
        let schedule = builder.finish();
        assert!(verify(&schedule, &FullCrossbar).is_correct());
        linear(&schedule)
    };
    let kept = forwarded(Collective::Bcast, Arrival::Store, Arrival::Store);
    assert!(matches!(
        kept.steps(Rank(1)),
        [step] if matches!(step.op, Op::Forward { .. })
    ));
    let passed = forwarded(Collective::Reduce, Arrival::PassOn, Arrival::Reduce);
    assert!(matches!(
        passed
            .steps(Rank(1))
            .iter()
            .map(|step| step.op)
            .collect::<Vec<_>>()[..],
        [
            Op::Local {
                arrival: Arrival::Store,
                ..
            },
            Op::Recv {
                arrival: Arrival::Reduce,
                ..
            },
            Op::Send { .. }
        ]
    ));
}

/// Rank 2 adds what rank 1 sends it to its own contribution while it sends that to rank 0, who takes
/// it only after something else that rank 2's other stream gets from rank 1 later. So the two halves
/// of the exchange lie apart, the receive first, and what it sends is copied before.
#[test]
fn an_exchange_that_is_taken_apart_sends_what_was_held_before() {
    let spec = Spec::new(&Request::new(Collective::Reduce, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("apart", spec);
    let place = builder.add_place(8);
    let [chunk, passing] = [ChunkId(0), place].map(|place| builder.list(&[place]));
    let [root, first, middle] = [0, 1, 2].map(Rank);
    let [at_root, at_first, at_middle] =
        [root, first, middle].map(|rank| builder.add_stream(rank, 1));
    let before = builder.push_on(
        0,
        (first, 0),
        Op::Send {
            to: middle,
            chunks: chunk,
        },
    );
    let exchange = Op::Exchange {
        to: root,
        send: chunk,
        from: first,
        recv: chunk,
        arrival: Arrival::Reduce,
    };
    builder.push(0, middle, exchange);
    let sent = builder.push_on(
        1,
        (first, at_first),
        Op::Send {
            to: middle,
            chunks: chunk,
        },
    );
    builder.wait(sent, before);
    let arrival = Arrival::Store;
    let recv = Op::Recv {
        from: first,
        chunks: passing,
        arrival,
    };
    builder.push_on(1, (middle, at_middle), recv);
    let send = Op::Send {
        to: root,
        chunks: passing,
    };
    builder.push_on(2, (middle, at_middle), send);
    let arrival = Arrival::Reduce;
    let recv = Op::Recv {
        from: middle,
        chunks: chunk,
        arrival,
    };
    let passed = builder.push_on(2, (root, at_root), recv);
    let last = builder.push_on(0, (root, 0), recv);
    builder.wait(last, passed);
    let linear = linear(&builder.finish());
    let ops = linear.steps(middle).iter().map(|step| step.op);
    assert!(
        matches!(
            ops.collect::<Vec<_>>()[..],
            [
                Op::Local { .. },
                Op::Recv {
                    arrival: Arrival::Reduce,
                    ..
                },
                Op::Recv {
                    arrival: Arrival::Store,
                    ..
                },
                Op::Send { .. },
                Op::Send { .. }
            ]
        ),
        "{linear}"
    );
}

/// Alone they are as the certificate says, and none without a message.
#[test]
fn slots_are_counted_alone() {
    for (first, needed) in [(true, 0), (false, 1)] {
        let spec = Spec::new(&Request::new(Collective::Allgather, 2, 8), Split::Even(1));
        let mut builder = ScheduleBuilder::new("both", spec);
        let arrival = Arrival::Store;
        for me in [0, 1] {
            let other = Rank(1 - me);
            let [own, theirs] = [me, 1 - me].map(|chunk| builder.list(&[ChunkId(chunk)]));
            let send = Op::Send {
                to: other,
                chunks: own,
            };
            let recv = Op::Recv {
                from: other,
                chunks: theirs,
                arrival,
            };
            let order = match first && me == 1 {
                true => [recv, send],
                false => [send, recv],
            };
            for op in order {
                builder.push(0, Rank(me), op);
            }
        }
        let schedule = builder.finish();
        assert_eq!(slots_needed(&schedule).ok(), Some(needed));
        let certificate = verify(&schedule, &FullCrossbar);
        assert_eq!(certificate.slots_needed, Some(needed));
    }
    let spec = Spec::new(&Request::new(Collective::Bcast, 2, 8), Split::Even(1));
    let empty = ScheduleBuilder::new("empty", spec).finish();
    assert_eq!(slots_needed(&empty).ok(), Some(0));
}

/// Two ranks send before they receive, three times: what comes too early lies in the same slot each
/// time.
#[test]
fn a_slot_is_used_again() {
    let parts = 3;
    let spec = Spec::new(
        &Request::new(Collective::Allgather, 2, 24),
        Split::Even(parts),
    );
    let mut builder = ScheduleBuilder::new("crossed", spec);
    for part in 0..parts {
        for rank in [0, 1] {
            let [own, other] = [rank, 1 - rank].map(|of| {
                let chunk = builder.spec().chunk(of, part);
                builder.list(&[chunk])
            });
            let peer = Rank(1 - rank);
            let send = Op::Send {
                to: peer,
                chunks: own,
            };
            builder.push(part, Rank(rank), send);
            let recv = Op::Recv {
                from: peer,
                chunks: other,
                arrival: Arrival::Store,
            };
            builder.push(part, Rank(rank), recv);
        }
    }
    builder.set_slots(1);
    let schedule = builder.finish();
    assert!(verify(&schedule, &FullCrossbar).is_correct());
    assert_eq!(linear(&schedule).places().len(), 1);
}

/// The other way round rank 0 takes what rank 2 sends before anything comes to rank 2: what was sent
/// needs no copy.
#[test]
fn an_exchange_that_has_sent_copies_nothing() {
    let spec = Spec::new(&Request::new(Collective::Reduce, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("apart", spec);
    let place = builder.add_place(8);
    let [root, first, middle] = [0, 1, 2].map(Rank);
    let [at_first, at_middle] = [first, middle].map(|rank| builder.add_stream(rank, 1));
    let chunk = builder.list(&[ChunkId(0)]);
    let passing = builder.list(&[place]);
    let arrival = Arrival::Reduce;
    let exchange = Op::Exchange {
        to: root,
        send: chunk,
        from: first,
        recv: chunk,
        arrival,
    };
    builder.push(0, middle, exchange);
    let recv = Op::Recv {
        from: middle,
        chunks: chunk,
        arrival,
    };
    builder.push(0, root, recv);
    // Only then rank 0 calls rank 1, who sends to the other stream of rank 2 first.
    let (_, called) = builder.deliver_on(1, (root, 0), (first, 0), &[]);
    let send = Op::Send {
        to: middle,
        chunks: chunk,
    };
    let sent = builder.push_on(1, (first, at_first), send);
    builder.wait(sent, called);
    let recv = Op::Recv {
        from: first,
        chunks: passing,
        arrival: Arrival::Store,
    };
    builder.push_on(1, (middle, at_middle), recv);
    let last = builder.push_on(0, (first, 0), send);
    builder.wait(last, sent);
    let schedule = builder.finish();
    assert_eq!(verify(&schedule, &FullCrossbar).slots_needed, Some(0));
    let linear = in_one_stream(&schedule).expect("it completes");
    let ops = linear.steps(middle).iter().map(|step| step.op);
    assert!(
        matches!(
            ops.collect::<Vec<_>>()[..],
            [
                Op::Send { .. },
                Op::Recv {
                    arrival: Arrival::Store,
                    ..
                },
                Op::Recv {
                    arrival: Arrival::Reduce,
                    ..
                }
            ]
        ),
        "{linear}"
    );
}
