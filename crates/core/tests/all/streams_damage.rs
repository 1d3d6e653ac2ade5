// SPDX-License-Identifier: MIT OR Apache-2.0
//! One correct schedule that has everything, and what the verifier says when something is wrong with
//! it; and how it looks as text.

use corecast_core::verify::{VIOLATIONS_MAX, Violation};
use corecast_core::{
    Arrival, ChunkId, Collective, FullCrossbar, Op, Rank, Request, RouteTree, ScheduleBuilder,
    Spec, Split, StepRef, verify,
};

const CHUNK: ChunkId = ChunkId(0);
/// A second partial sum.
const PARTIAL: ChunkId = ChunkId(1);
/// Where the sum must lie at the end.
const RESULT: ChunkId = ChunkId(2);

fn at(rank: u32, stream: u32, step: u32) -> StepRef {
    let rank = Rank(rank);
    StepRef { rank, stream, step }
}

/// Rank 0 gets the contributions of ranks 1 and 2 (who combines that of rank 3 without keeping it)
/// by two streams, in two places; sums them up in a third, and sends the sum to all.
fn allreduce() -> ScheduleBuilder {
    let spec = Spec::new(&Request::new(Collective::Allreduce, 4, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("everything", spec);
    assert_eq!(
        (builder.add_place(8), builder.add_result(CHUNK)),
        (PARTIAL, RESULT)
    );
    let [chunk, partial] = [CHUNK, PARTIAL].map(|chunk| builder.list(&[chunk]));
    let root = Rank(0);
    let streams = [builder.add_stream(root, 1), builder.add_stream(Rank(2), 1)];
    builder.reduce(0, Rank(1), root, &[CHUNK]);
    builder.copy(1, root, &[CHUNK], &[RESULT]);
    builder.combine(1, root, &[PARTIAL], &[RESULT]);
    builder.push(
        0,
        Rank(3),
        Op::Send {
            to: Rank(2),
            chunks: chunk,
        },
    );
    // The messages of rank 3 come over channel 1, too.
    builder.set_first_channel(Rank(3), 1);
    let forward = Op::Forward {
        from: Rank(3),
        to: root,
        chunks: chunk,
        arrival: Arrival::PassOn,
    };
    builder.push_on(0, (Rank(2), streams[1]), forward);
    let recv = Op::Recv {
        from: Rank(2),
        chunks: partial,
        arrival: Arrival::Store,
    };
    builder.push_on(1, (root, streams[0]), recv);
    builder.wait(at(0, 0, 2), at(0, 1, 0));
    // Rank 3 receives by a stream of channel 0.
    let parents = vec![root, root, root, Rank(1)];
    let number = builder.add_multicast(RouteTree::new(root, parents).into());
    let result = builder.list(&[RESULT]);
    builder.push(
        2,
        root,
        Op::Multicast {
            number,
            chunks: result,
        },
    );
    let last = builder.add_stream(Rank(3), 0);
    for (rank, stream) in [(1, 0), (2, 0), (3, last)] {
        let recv = Op::RecvMulticast {
            from: root,
            number,
            chunks: result,
        };
        builder.push_on(2, (Rank(rank), stream), recv);
    }
    builder
}

/// What the verifier says about the schedule after a change.
fn says(change: impl FnOnce(&mut ScheduleBuilder)) -> Vec<String> {
    let mut builder = allreduce();
    change(&mut builder);
    let violations = verify(&builder.finish(), &FullCrossbar).violations;
    violations.iter().map(ToString::to_string).collect()
}

fn first(change: impl FnOnce(&mut ScheduleBuilder)) -> String {
    says(change).into_iter().next().expect("something is wrong")
}

#[test]
fn it_is_correct_and_shows_all_that_matters() {
    assert_eq!(says(|_| {}), [""; 0]);
    let mut builder = allreduce();
    builder.set_slots(2);
    builder.set_piece_bytes(Some(4));
    builder.set_transport(corecast_core::Transport::SharedBuffers);
    let schedule = builder.finish().without_flow_control();
    insta::assert_snapshot!(schedule.to_string(), @r"
    allreduce everything: ranks 4, bytes 8, rounds 3, messages 6, piece bytes 4, through shared buffers, no flow control, slots 2
    place 1: bytes 8
    place 2: bytes 8, result 0
    mcast 0: 0>1,2 1>3
    P0/0    r0 recv 1 [0] reduce          r1 copy [0]>[2]; r1 combine [1]>[2] after 1:0  r2 mcast 0 [2]
    P0/1@1                                r1 recv 2 [1]
    P1      r0 send 0 [0]                                                                r2 recv 0 [2] mcast 0
    P2/0                                                                                 r2 recv 0 [2] mcast 0
    P2/1@1  r0 fwd 3>0 [0] reduce unkept
    P3/0@1  r0 send 2 [0]
    P3/1                                                                                 r2 recv 0 [2] mcast 0
    ");
    assert_eq!(
        schedule.clone().edit().finish(),
        schedule,
        "taken apart and put together again"
    );
}

/// Rank 0 keeps the second partial sum, 8 bytes, and whichever of its streams is ahead, the first one
/// has an operand of 8 bytes beside it; where the sum goes is no buffer.
#[test]
fn what_streams_hold_is_added_up() {
    let certificate = verify(&allreduce().finish(), &FullCrossbar);
    assert_eq!(certificate.max_buffer_bytes, 16);
}

#[test]
fn streams_that_touch_the_same_place_race() {
    let unordered = first(|builder| builder.waits_mut().clear());
    insta::assert_snapshot!(unordered, @"rank 0, stream 0, step 2, round 1: reads chunk 1, which stream 1, step 0 writes, and nothing decides which comes first");
}

#[test]
fn streams_that_wait_for_each_other_never_end() {
    let circle = first(|builder| builder.wait(at(0, 1, 0), at(0, 0, 3)));
    insta::assert_snapshot!(circle, @"deadlock, however many slots a connection has: rank 0 waits for its stream 1, step 0 (stream 0, step 2, round 1); rank 0 waits for its stream 0, step 3 (stream 1, step 0, round 1)");
    let itself = first(|builder| builder.wait(at(0, 1, 0), at(0, 1, 0)));
    insta::assert_snapshot!(itself, @"deadlock, however many slots a connection has: rank 0 waits for its stream 1, step 0 (stream 1, step 0, round 1)");
}

#[test]
fn a_connection_has_one_stream_at_each_end() {
    let shared = first(|builder| {
        let stream = builder.add_stream(Rank(2), 1);
        builder.deliver_on(2, (Rank(2), stream), (Rank(0), 1), &[CHUNK]);
    });
    insta::assert_snapshot!(shared, @"rank 2, stream 2, step 0, round 2: sends to rank 0 over channel 1, as does stream 1, step 0");
    let elsewhere = says(|builder| builder.set_first_channel(Rank(3), 0));
    insta::assert_snapshot!(elsewhere.join("\n"), @r"
    rank 3, stream 0, step 0, round 0: the message to rank 2 is never received
    rank 2, stream 1, step 0, round 0: the message expected from rank 3 is never sent
    rank 0 ends with chunk 0 lacking rank 3
    rank 1 ends with chunk 0 lacking rank 3
    rank 2 ends with chunk 0 lacking rank 3
    rank 3 ends with chunk 0 lacking rank 3
    ");
}

#[test]
fn a_label_may_not_fall_from_what_is_waited_for() {
    let falls = first(|builder| {
        builder.stream_mut(Rank(0), 0)[1].round.0 = 0;
        builder.stream_mut(Rank(0), 0)[2].round.0 = 0;
    });
    insta::assert_snapshot!(falls, @"rank 0, stream 0, step 2, round 0: the program has been in round 1 before");
    // A copy has arrived when its original did.
    let early = first(|builder| {
        builder.stream_mut(Rank(0), 0)[3].round.0 = 1;
        for (rank, stream) in [(1, 0), (2, 0), (3, 1)] {
            let steps = builder.stream_mut(Rank(rank), stream);
            steps.last_mut().expect("a receive").round.0 = 1;
        }
    });
    insta::assert_snapshot!(early, @"rank 0, stream 0, step 3, round 1: sends chunk 2, which arrives in round 1: round 2 is the earliest");
}

#[test]
fn every_contribution_is_in_the_sum_once_wherever_it_lies() {
    let local = |op: fn(&mut ScheduleBuilder) -> Op| {
        says(|builder| {
            let op = op(builder);
            builder.stream_mut(Rank(0), 0)[2].op = op;
        })
    };
    let missing = local(|builder| Op::Local {
        source: builder.list(&[]),
        target: builder.list(&[]),
        arrival: Arrival::Reduce,
    });
    insta::assert_snapshot!(missing[0], @"rank 0 ends with chunk 0 lacking rank 2");
    let twice = local(|builder| Op::Local {
        source: builder.list(&[CHUNK]),
        target: builder.list(&[RESULT]),
        arrival: Arrival::Reduce,
    });
    insta::assert_snapshot!(twice[0], @"rank 0, stream 0, step 2, round 1: the contribution of rank 0 enters chunk 2 twice");
    let kept = first(|builder| {
        let Op::Forward { arrival, .. } = &mut builder.stream_mut(Rank(2), 1)[0].op else {
            panic!("a forward");
        };
        *arrival = Arrival::Store;
    });
    insta::assert_snapshot!(kept, @"rank 0 ends with chunk 0 lacking rank 2");
}

#[test]
fn what_is_not_there_is_neither_copied_nor_reduced_into() {
    let steps = says(|builder| builder.copy(3, Rank(1), &[PARTIAL], &[CHUNK]));
    insta::assert_snapshot!(steps[0], @"rank 1, step 2, round 3: copies or combines chunk 1, which it does not hold");
    let steps = says(|builder| builder.combine(3, Rank(1), &[CHUNK], &[PARTIAL]));
    insta::assert_snapshot!(steps[0], @"rank 1, step 2, round 3: reduces into chunk 1, which it does not hold");
}

#[test]
fn places_come_in_pairs_of_one_size() {
    let unequal = first(|builder| builder.copy(3, Rank(1), &[CHUNK, PARTIAL], &[RESULT]));
    insta::assert_snapshot!(unequal, @"rank 1, step 2, round 3: a local step reads 2 places and writes 1");
    let copied = first(|builder| {
        let place = builder.add_place(4);
        builder.copy(3, Rank(1), &[RESULT], &[place]);
    });
    insta::assert_snapshot!(copied, @"rank 1, step 2, round 3: chunk 2 has 8 bytes, and chunk 3, where it goes, 4");
    let sent = first(|builder| {
        let place = builder.add_place(4);
        builder.transfer(3, (Rank(1), &[RESULT]), (Rank(2), &[place]));
    });
    insta::assert_snapshot!(sent, @"rank 1, step 2, round 3: chunk 2 has 8 bytes, and chunk 3, where it goes, 4");
    let unknown = first(|builder| builder.copy(3, Rank(1), &[ChunkId(9)], &[RESULT]));
    insta::assert_snapshot!(unknown, @"rank 1, step 2, round 3: chunk 9 does not exist");
    let nothing = first(|builder| {
        let Op::Recv { arrival, .. } = &mut builder.stream_mut(Rank(0), 1)[0].op else {
            panic!("a receive");
        };
        *arrival = Arrival::PassOn;
    });
    insta::assert_snapshot!(nothing, @"rank 0, stream 1, step 0, round 1: only a forward can combine without keeping the result");
}

#[test]
fn chunks_in_the_place_of_others_are_found() {
    let spec = Spec::new(&Request::new(Collective::Bcast, 2, 16), Split::Even(2));
    let mut builder = ScheduleBuilder::new("swapped", spec);
    let place = builder.add_place(8);
    builder.transfer(0, (Rank(0), &[CHUNK]), (Rank(1), &[place]));
    builder.copy(0, Rank(1), &[place, place], &[CHUNK, ChunkId(1)]);
    let violations = verify(&builder.finish(), &FullCrossbar).violations;
    insta::assert_snapshot!(violations[0].to_string(), @"rank 1 ends with chunk 0 in the place of chunk 1");
    let spec = Spec::new(&Request::new(Collective::Reduce, 2, 16), Split::Even(2));
    let mut builder = ScheduleBuilder::new("mixed", spec);
    let place = builder.add_place(8);
    builder.transfer(0, (Rank(1), &[CHUNK]), (Rank(0), &[place]));
    builder.combine(0, Rank(0), &[place], &[ChunkId(1)]);
    let violations = verify(&builder.finish(), &FullCrossbar).violations;
    insta::assert_snapshot!(violations[0].to_string(), @"rank 0, step 1, round 0: reduces contributions to chunk 0 into chunk 1, where those to chunk 1 are");
}

#[test]
fn a_multicast_reaches_everybody_from_its_root() {
    let step = |builder: &mut ScheduleBuilder, rank, change: fn(&mut Op)| {
        let steps = builder.stream_mut(Rank(rank), if rank == 3 { 1 } else { 0 });
        change(&mut steps.last_mut().expect("a multicast").op);
    };
    let lost = first(|builder| builder.stream_mut(Rank(3), 1).clear());
    insta::assert_snapshot!(lost, @"rank 0, stream 0, step 3, round 2: the message to rank 3 is never received");
    let plain = first(|builder| {
        step(builder, 2, |op| {
            if let Op::RecvMulticast { from, chunks, .. } = *op {
                let arrival = Arrival::Store;
                *op = Op::Recv {
                    from,
                    chunks,
                    arrival,
                };
            }
        });
    });
    insta::assert_snapshot!(plain, @"rank 0, stream 0, step 3, round 2: sends multicast 0, and rank 2 receives a plain message");
    let unknown = first(|builder| {
        step(builder, 2, |op| {
            if let Op::RecvMulticast { number, .. } = op {
                *number = 3;
            }
        });
    });
    insta::assert_snapshot!(unknown, @"rank 2, stream 0, step 0, round 2: multicast 3 does not exist");
    let elsewhere = first(|builder| {
        step(builder, 2, |op| {
            if let Op::RecvMulticast { from, .. } = op {
                *from = Rank(1);
            }
        });
    });
    insta::assert_snapshot!(elsewhere, @"rank 2, stream 0, step 0, round 2: the routes of multicast 0 begin at rank 0");
    let twice = first(|builder| {
        let steps = builder.stream_mut(Rank(0), 0);
        steps.extend(steps.last().copied());
    });
    insta::assert_snapshot!(twice, @"rank 0, stream 0, step 4, round 2: multicast 0 has been sent before");
    let tree = |parents: [u32; 4]| RouteTree::new(Rank(0), parents.map(Rank).to_vec());
    let circle = first(|builder| {
        builder.add_multicast(tree([0, 3, 0, 1]).into());
    });
    insta::assert_snapshot!(circle, @"multicast 1: no way leads from its root to rank 1");
    let small = first(|builder| {
        let tree = RouteTree::new(Rank(0), vec![Rank(0); 3]);
        builder.add_multicast(tree.into());
    });
    insta::assert_snapshot!(small, @"multicast 1: no way leads from its root to rank 3");
}

/// Rank 0 sends to ranks 1 and 3 in one message, and rank 3 tells rank 2.
fn to_some() -> ScheduleBuilder {
    let spec = Spec::new(&Request::new(Collective::Bcast, 4, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("some", spec);
    let tree = RouteTree::to_some(Rank(0), 4, &[(Rank(0), Rank(3)), (Rank(3), Rank(1))]);
    builder.multicast(0, tree.into(), &[CHUNK]);
    builder.message(1, Rank(3), Rank(2), &[CHUNK]);
    builder
}

#[test]
fn a_multicast_can_leave_ranks_out() {
    let certificate = verify(&to_some().finish(), &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!((certificate.messages, certificate.rounds), (3, 2));
    assert!(certificate.is_deadlock_free());
    let says = |builder: ScheduleBuilder| {
        let violations = verify(&builder.finish(), &FullCrossbar).violations;
        violations[0].to_string()
    };
    let mut outsider = to_some();
    let receives = outsider.steps_mut(Rank(1))[0];
    outsider.steps_mut(Rank(2)).insert(0, receives);
    insta::assert_snapshot!(says(outsider), @"rank 2, step 0, round 0: the message expected from rank 0 is never sent");
    let mut missing = to_some();
    missing.steps_mut(Rank(1)).clear();
    insta::assert_snapshot!(says(missing), @"rank 0, step 0, round 0: the message to rank 1 is never received");
    let mut beside = to_some();
    let tree = RouteTree::to_some(Rank(0), 4, &[(Rank(2), Rank(3))]);
    beside.add_multicast(tree.into());
    insta::assert_snapshot!(says(beside), @"multicast 1: no way leads from its root to rank 3");
}

/// A multicast is done when every rank has taken it: one that would be ready only after another rank
/// has gone on makes all of them wait.
#[test]
fn a_multicast_waits_for_its_last_receiver() {
    let late = says(|builder| {
        let chunks = builder.list(&[RESULT]);
        builder.push(
            3,
            Rank(1),
            Op::Send {
                to: Rank(2),
                chunks,
            },
        );
        let recv = Op::Recv {
            from: Rank(1),
            chunks,
            arrival: Arrival::Store,
        };
        builder.push(3, Rank(2), recv);
        builder.steps_mut(Rank(2)).swap(0, 1);
    });
    insta::assert_snapshot!(late.join("\n"), @r"
    deadlock with fewer than 1 slot per connection: rank 0 waits to send to rank 2 (stream 0, step 3, round 2); rank 2 waits to receive from rank 1 (stream 0, step 0, round 3); rank 1 waits to receive from rank 0 (step 1, round 2)
    rank 2, stream 0, step 1, round 2: the program has been in round 3 before
    ");
}

/// However much is missing at the end, the list begins with the race that may be its cause.
#[test]
fn a_race_is_told_before_what_is_missing() {
    let parts = 2 * VIOLATIONS_MAX as u32;
    let request = Request::new(Collective::Bcast, 2, 8 * u64::from(parts));
    let spec = Spec::new(&request, Split::Even(parts));
    let mut builder = ScheduleBuilder::new("by hand", spec);
    let place = builder.add_place(8);
    let [chunk, copy] = [CHUNK, place].map(|chunk| builder.list(&[chunk]));
    let (root, receiver) = (Rank(0), Rank(1));
    builder.message(0, root, receiver, &[CHUNK]);
    let stream = builder.add_stream(receiver, 1);
    let reads = Op::Local {
        source: chunk,
        target: copy,
        arrival: Arrival::Store,
    };
    builder.push_on(1, (receiver, stream), reads);
    let violations = verify(&builder.finish(), &FullCrossbar).violations;
    assert_eq!(violations.len(), VIOLATIONS_MAX);
    assert!(
        matches!(violations[0], Violation::Race { .. }),
        "{violations:?}"
    );
}
