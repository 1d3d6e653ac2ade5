// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labels that are worked out or refused, and schedules that serve another size than their own.

use std::sync::Arc;

use corecast_core::verify::Violation;
use corecast_core::{
    Arrival, ChunkId, Collective, FullCrossbar, Op, Rank, Request, RouteTree, Schedule,
    ScheduleBuilder, Spec, Split, algorithm, verify,
};

/// The labels of a rank's steps.
fn labels(schedule: &Schedule, rank: u32) -> Vec<u32> {
    let steps = schedule.steps(Rank(rank)).iter();
    steps.map(|step| step.round.0).collect()
}

#[test]
fn labels_worked_out_keep_all_rules_and_are_no_later() {
    let mut checked = 0;
    for algorithm in algorithm::all() {
        for ranks in [1, 2, 3, 4, 5, 8, 12, 17] {
            let request = Request::new(algorithm.collective(), ranks, 64);
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let rounds = schedule.rounds();
            let relabelled = verify::with_rounds(schedule);
            let certificate = verify(&relabelled, &FullCrossbar);
            assert_eq!(
                certificate.violations,
                [],
                "{algorithm:?} {ranks}\n{relabelled}"
            );
            assert!(
                relabelled.rounds() <= rounds,
                "{algorithm:?} {ranks}\n{relabelled}"
            );
            checked += 1;
        }
    }
    assert!(checked > 300, "only {checked} schedules");
}

#[test]
fn steps_that_never_happen_get_labels_too() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("stuck", spec);
    let chunks = builder.list(&[ChunkId(0)]);
    let arrival = Arrival::Store;
    for (rank, from) in [(1, 2), (2, 1)] {
        let from = Rank(from);
        builder.push(
            9,
            Rank(rank),
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        );
        builder.push(3, Rank(rank), Op::Send { to: from, chunks });
    }
    builder.message(5, Rank(0), Rank(1), &[ChunkId(0)]);
    let schedule = verify::with_rounds(builder.finish());
    assert!(!verify(&schedule, &FullCrossbar).is_correct());
    let labels = |rank| labels(&schedule, rank);
    assert_eq!((labels(1), labels(2)), (vec![0, 0, 0], vec![0, 0]));
}

/// What waits for a step that never happens never happens, and gets the label of the step before it. A
/// receive of what nobody sends is labelled as if that came.
#[test]
fn what_waits_for_ever_gets_no_label_of_its_own() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("stuck", spec);
    let (root, chunk) = (Rank(0), ChunkId(0));
    let stream = builder.add_stream(root, 1);
    let chunks = builder.list(&[chunk]);
    let arrival = Arrival::Store;
    let recv = |from| Op::Recv {
        from: Rank(from),
        chunks,
        arrival,
    };
    let send = |to| Op::Send {
        to: Rank(to),
        chunks,
    };
    // Ranks 0 and 1 wait for each other.
    let never = builder.push_on(0, (root, 0), recv(1));
    builder.push(0, root, send(1));
    builder.push(0, Rank(1), recv(0));
    builder.push(0, Rank(1), send(0));
    builder.deliver_on(0, (root, stream), (Rank(2), 0), &[chunk]);
    let waiting = builder.push_on(0, (root, stream), send(2));
    builder.wait(waiting, never);
    builder.push(0, Rank(2), recv(1));
    let schedule = verify::with_rounds(builder.finish());
    let labels = |rank| labels(&schedule, rank);
    assert_eq!(labels(0), [0, 0, 0, 0]);
    assert_eq!(labels(2), [0, 1]);
}

/// Of a message that never arrives both ends get one label, however late it comes out and wherever the
/// ranks stand in the table.
#[test]
fn labels_of_what_never_happens_reach_its_other_end() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 4, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("stuck", spec);
    let chunks = builder.list(&[ChunkId(0)]);
    builder.message(0, Rank(3), Rank(0), &[ChunkId(0)]);
    for to in [0, 1, 2] {
        builder.message(0, Rank(3), Rank(to), &[ChunkId(0)]);
    }
    let mut recv = |rank, from| {
        let from = Rank(from);
        let arrival = Arrival::Store;
        builder.push(
            0,
            Rank(rank),
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        )
    };
    recv(0, 1);
    // Ranks 1 and 2 wait for each other, and rank 0 for rank 1.
    recv(1, 2);
    recv(2, 1);
    for (from, to) in [(1, 0), (1, 2), (2, 1)] {
        let to = Rank(to);
        builder.push(0, Rank(from), Op::Send { to, chunks });
    }
    let schedule = verify::with_rounds(builder.finish());
    let labels = |rank| labels(&schedule, rank);
    assert_eq!(labels(0), [0, 1, 3]);
    assert_eq!((labels(1), labels(2)), (vec![2, 3, 3, 3], vec![3, 3, 3]));
}

/// Rank 1 takes what rank 0 sent first only behind what rank 0 sends on later, on another channel: until
/// then the message waits in a slot, and no round has both of its ends.
fn taken_late(label: [u32; 2]) -> ScheduleBuilder {
    let spec = Spec::new(&Request::new(Collective::Allgather, 2, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("late", spec);
    let [ours, theirs] = [ChunkId(0), ChunkId(1)];
    let place = builder.add_place(8);
    let [first, second] = [Rank(0), Rank(1)].map(|rank| (rank, builder.add_stream(rank, 1)));
    let lists = [ours, theirs, place].map(|place| builder.list(&[place]));
    let send = |chunks, to| Op::Send {
        to: Rank(to),
        chunks,
    };
    let recv = |chunks, from| Op::Recv {
        from: Rank(from),
        chunks,
        arrival: Arrival::Store,
    };
    builder.push(label[0], Rank(0), send(lists[0], 1));
    let received = builder.push_on(0, (Rank(0), 0), recv(lists[1], 1));
    let sent_on = builder.push_on(1, first, send(lists[1], 1));
    builder.wait(sent_on, received);
    builder.push(0, Rank(1), send(lists[1], 0));
    let taken = builder.push_on(label[1], (Rank(1), 0), recv(lists[0], 0));
    let before = builder.push_on(1, second, recv(lists[2], 0));
    builder.wait(taken, before);
    builder.set_slots(1);
    builder
}

#[test]
fn what_waits_in_a_slot_is_received_in_a_later_round() {
    for label in [[0, 1], [0, 0]] {
        let schedule = verify::with_rounds(taken_late(label).finish());
        let certificate = verify(&schedule, &FullCrossbar);
        assert_eq!(certificate.violations, [], "{schedule}");
        assert_eq!((certificate.slots_needed, certificate.rounds), (Some(1), 2));
        let rounds = |rank| schedule.steps(Rank(rank)).iter().map(|step| step.round.0);
        assert_eq!(rounds(1).collect::<Vec<_>>(), [0, 1, 1]);
    }
    // Not in an earlier one, and where nothing has to wait not in another one.
    let early = taken_late([2, 1]).finish();
    let mismatch = |found: &Violation| matches!(found, Violation::RoundMismatch { .. });
    assert!(
        verify(&early, &FullCrossbar)
            .violations
            .iter()
            .any(mismatch)
    );
    let spec = Spec::new(&Request::new(Collective::Bcast, 2, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("late for no reason", spec);
    let chunks = builder.list(&[ChunkId(0)]);
    let (arrival, [root, other]) = (Arrival::Store, [Rank(0), Rank(1)]);
    builder.push(0, root, Op::Send { to: other, chunks });
    let from = root;
    let recv = Op::Recv {
        from,
        chunks,
        arrival,
    };
    builder.push(1, other, recv);
    let found = verify(&builder.finish(), &FullCrossbar).violations;
    assert!(
        matches!(found[..], [Violation::RoundMismatch { .. }]),
        "{found:?}"
    );
}

/// What a forward passes on may have been there before: that makes it no later than its message.
#[test]
fn a_forward_of_what_is_there_is_as_late_as_its_message() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("twice", spec);
    let (root, middle, last, chunk) = (Rank(0), Rank(1), Rank(2), ChunkId(0));
    builder.message(0, root, middle, &[chunk]);
    let chunks = builder.list(&[chunk]);
    let arrival = Arrival::Store;
    builder.push(0, root, Op::Send { to: middle, chunks });
    let forward = Op::Forward {
        from: root,
        to: last,
        chunks,
        arrival,
    };
    builder.push(0, middle, forward);
    let recv = Op::Recv {
        from: middle,
        chunks,
        arrival,
    };
    builder.push(0, last, recv);
    let schedule = verify::with_rounds(builder.finish());
    let labels = [root, middle, last].map(|rank| labels(&schedule, rank.0));
    assert_eq!(labels, [vec![0, 1], vec![0, 1], vec![2]]);
}

/// Rank 1 gets the contribution of rank 2 in round 1 and that of rank 3 in round 3, in two places, and
/// combines one place with the other: the sum has been there since round 3, whichever of them it lies
/// in, and is sent in round 4.
#[test]
fn a_sum_is_as_late_as_the_later_of_its_parts() {
    let chunk = ChunkId(0);
    for (from, to) in [(0, 1), (1, 0)] {
        for round in [3, 4] {
            let spec = Spec::new(&Request::new(Collective::Reduce, 4, 8), Split::Even(1));
            let mut builder = ScheduleBuilder::new("sums", spec);
            let places = [(); 2].map(|()| builder.add_place(8));
            let middle = Rank(1);
            builder.transfer(1, (Rank(2), &[chunk]), (middle, &places[..1]));
            builder.transfer(3, (Rank(3), &[chunk]), (middle, &places[1..]));
            builder.combine(3, middle, &[places[from]], &[places[to]]);
            builder.combine(3, middle, &[chunk], &[places[to]]);
            let [sum, chunks] = [places[to], chunk].map(|place| builder.list(&[place]));
            builder.push(
                round,
                middle,
                Op::Send {
                    to: Rank(0),
                    chunks: sum,
                },
            );
            let (from, arrival) = (middle, Arrival::Reduce);
            builder.push(
                round,
                Rank(0),
                Op::Recv {
                    from,
                    chunks,
                    arrival,
                },
            );
            let violations = verify(&builder.finish(), &FullCrossbar).violations;
            match (round, &violations[..]) {
                (4, []) => {}
                (3, [Violation::SendsTooEarly { arrives_in, .. }]) => assert_eq!(arrives_in.0, 3),
                _ => panic!("{violations:?}"),
            }
        }
    }
}

/// What a copy has replaced no longer counts: rank 1 sends in round 3 what it had since round 1.
#[test]
fn a_copy_is_as_old_as_what_was_copied() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("copies", spec);
    let places = [(); 2].map(|()| builder.add_place(8));
    let (chunk, root, middle) = (ChunkId(0), Rank(0), Rank(1));
    builder.transfer(1, (root, &[chunk]), (middle, &places[..1]));
    builder.transfer(3, (root, &[chunk]), (middle, &places[1..]));
    builder.copy(3, middle, &places[..1], &places[1..]);
    builder.copy(3, middle, &places[..1], &[chunk]);
    builder.transfer(3, (middle, &places[1..]), (Rank(2), &[chunk]));
    let violations = verify(&builder.finish(), &FullCrossbar).violations;
    assert_eq!(violations, []);
}

/// A forward of round 0 sends in round 1, so that a multicast behind it cannot be of round 0.
#[test]
fn a_multicast_keeps_its_place_behind_a_forward() {
    for round in [0, 1] {
        let spec = Spec::new(&Request::new(Collective::Bcast, 5, 8), Split::Even(1));
        let mut builder = ScheduleBuilder::new("behind", spec);
        let (root, middle, chunk) = (Rank(0), Rank(1), ChunkId(0));
        let chunks = builder.list(&[chunk]);
        let (to, arrival) = (Rank(2), Arrival::Store);
        builder.push(0, root, Op::Send { to: middle, chunks });
        builder.push(
            0,
            middle,
            Op::Forward {
                from: root,
                to,
                chunks,
                arrival,
            },
        );
        builder.push(
            1,
            to,
            Op::Recv {
                from: middle,
                chunks,
                arrival,
            },
        );
        let number = builder.add_multicast(Arc::new(RouteTree::new(middle, vec![middle; 5])));
        builder.push(round, middle, Op::Multicast { number, chunks });
        for rank in [0, 2, 3, 4] {
            let from = middle;
            let recv = Op::RecvMulticast {
                from,
                number,
                chunks,
            };
            builder.push(round.max(1), Rank(rank), recv);
        }
        let violations = verify(&builder.finish(), &FullCrossbar).violations;
        let falls = |found: &Violation| matches!(found, Violation::RoundFalls { .. });
        assert_eq!(violations.iter().any(falls), round == 0, "{violations:?}");
        assert!(round == 0 || violations.is_empty(), "{violations:?}");
    }
}

/// Both ends of all messages, in the order of the receives; a send too many has no end.
#[test]
fn the_ends_of_messages_are_found() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("by hand", spec);
    builder.message(0, Rank(0), Rank(2), &[ChunkId(0)]);
    builder.message(1, Rank(0), Rank(1), &[ChunkId(0)]);
    let chunks = builder.list(&[ChunkId(0)]);
    builder.push(
        2,
        Rank(0),
        Op::Send {
            to: Rank(1),
            chunks,
        },
    );
    let ends = verify::messages(&builder.finish());
    let [first, second] = [0, 1].map(|step| (Rank(0), step));
    assert_eq!(ends, [[second, (Rank(1), 0)], [first, (Rank(2), 0)]]);
}

/// A reduction over scratch memory, with its result elsewhere.
fn with_places() -> ScheduleBuilder {
    let mut request = Request::new(Collective::Reduce, 2, 48);
    request.element_bytes = 4;
    let mut builder = ScheduleBuilder::new("places", Spec::new(&request, Split::Even(3)));
    for chunk in 0..3 {
        builder.add_result(ChunkId(chunk));
    }
    builder.add_place(32);
    builder
}

#[test]
fn places_grow_with_chunks_where_all_have_one_size() {
    let schedule = with_places().finish();
    let of = |bytes, element_bytes| {
        let mut request = Request::new(Collective::Reduce, 2, bytes);
        request.element_bytes = element_bytes;
        schedule.serving("it", &request)
    };
    let served = of(96, 4).expect("a multiple of three elements");
    let sizes: Vec<u64> = served.places().iter().map(|place| place.bytes).collect();
    assert_eq!(sizes, [32, 32, 32, 64]);
    assert_eq!(of(48, 4).expect("its own size"), schedule);
    assert_eq!(
        of(48, 8).expect("larger elements").spec().element_bytes(),
        8
    );
    let refused = of(100, 4).expect_err("no multiple").to_string();
    assert_eq!(
        refused,
        "it is for multiples of 12 bytes, as it has places beside its chunks, not for 100 bytes"
    );
}

#[test]
fn parts_of_fixed_size_stay_as_many() {
    let request = |bytes| Request::new(Collective::Bcast, 2, bytes);
    let spec = Spec::new(&request(64), Split::Fixed(16));
    let schedule = ScheduleBuilder::new("fixed", spec).finish();
    assert!(
        schedule.serving("it", &request(60)).is_ok(),
        "four parts as well"
    );
    assert!(schedule.serving("it", &request(65)).is_err());
}

#[test]
fn equal_schedules_may_share_their_lists_differently() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 3, 8), Split::Even(2));
    let (mut apart, mut together) = (
        ScheduleBuilder::new("it", spec.clone()),
        ScheduleBuilder::new("it", spec),
    );
    let list = together.list(&[ChunkId(1), ChunkId(0)]);
    for (builder, to) in [(&mut apart, 1), (&mut together, 1)] {
        builder.set_slots(to);
    }
    for to in [1, 2] {
        let chunks = apart.list(&[ChunkId(1), ChunkId(0)]);
        apart.deliver(to, Rank(0), Rank(to), chunks, Arrival::Store);
        together.deliver(to, Rank(0), Rank(to), list, Arrival::Store);
    }
    let (apart, together) = (apart.finish(), together.finish());
    assert_eq!(apart, together);
    let mut other = together.edit();
    other.steps_mut(Rank(2))[0].round.0 += 1;
    assert_ne!(apart, other.finish());
}
