// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits that a schedule lacks are found, and none where that would be of no use.

use corecast_core::{
    Arrival, ChunkId, Collective, FullCrossbar, Op, Rank, Request, ScheduleBuilder, Spec, Split,
    StepRef, verify,
};

const CHUNK: ChunkId = ChunkId(0);

fn builder(ranks: u32) -> ScheduleBuilder {
    let spec = Spec::new(&Request::new(Collective::Bcast, ranks, 8), Split::Even(1));
    ScheduleBuilder::new("by hand", spec)
}

fn copy(builder: &mut ScheduleBuilder, at: (Rank, u32), from: ChunkId, to: ChunkId) -> StepRef {
    let [source, target] = [from, to].map(|place| builder.list(&[place]));
    let arrival = Arrival::Store;
    let copy = Op::Local {
        source,
        target,
        arrival,
    };
    builder.push_on(1, at, copy)
}

/// The waits that are added, if that makes the schedule correct.
fn added(builder: &ScheduleBuilder) -> Option<Vec<(StepRef, StepRef)>> {
    let (schedule, added) = verify::with_missing_waits(&builder.clone().finish())?;
    assert!(verify(&schedule, &FullCrossbar).is_correct());
    Some(added)
}

/// A copy has to wait for what it copies, and the other way round there would be nothing to copy.
#[test]
fn a_wait_is_found_in_the_only_useful_direction() {
    let mut builder = builder(2);
    let place = builder.add_place(8);
    let stream = builder.add_stream(Rank(1), 1);
    let (_, received) = builder.deliver_on(0, (Rank(0), 0), (Rank(1), 0), &[CHUNK]);
    let copied = copy(&mut builder, (Rank(1), stream), CHUNK, place);
    assert_eq!(added(&builder), Some(vec![(copied, received)]));
    builder.wait(copied, received);
    assert_eq!(added(&builder), Some(vec![]), "nothing is missing");
}

/// What is sent on behind the wait goes out in a later round than without it: labels that were worked out
/// are worked out again, and those that were given stay.
#[test]
fn labels_follow_the_wait_where_they_were_worked_out() {
    let spec = Spec::new(&Request::new(Collective::Reduce, 3, 8), Split::Even(1));
    let mut builder = ScheduleBuilder::new("by hand", spec);
    let chunks = builder.list(&[CHUNK]);
    builder.add_stream(Rank(1), 0);
    let mut combine = |round, (from, stream), (to, into)| {
        let (arrival, [from, to]) = (Arrival::Reduce, [from, to].map(Rank));
        let sent = builder.push_on(round, (from, stream), Op::Send { to, chunks });
        let recv = Op::Recv {
            from,
            chunks,
            arrival,
        };
        (sent, builder.push_on(round, (to, into), recv))
    };
    let (sent, _) = combine(1, (1, 0), (0, 0));
    let (_, received) = combine(0, (2, 0), (1, 1));
    let labelled = builder.finish();
    let worked_out = verify::with_rounds(labelled.clone());
    assert_eq!((labelled.rounds(), worked_out.rounds()), (2, 1));
    for schedule in [labelled, worked_out] {
        let (repaired, added) = verify::with_missing_waits(&schedule).expect("one is enough");
        assert_eq!((repaired.rounds(), added), (2, vec![(sent, received)]));
    }
}

/// No wait makes up for a message that nobody sends.
#[test]
fn what_waits_do_not_cure_is_left_alone() {
    let mut builder = builder(3);
    let place = builder.add_place(8);
    let stream = builder.add_stream(Rank(1), 1);
    builder.deliver_on(0, (Rank(0), 0), (Rank(1), 0), &[CHUNK]);
    copy(&mut builder, (Rank(1), stream), CHUNK, place);
    assert_eq!(added(&builder), None);
}

/// Two streams copy the same into one place and read it there. Behind the first write alone the second one
/// would still race with the first read: it comes behind that.
#[test]
fn a_race_behind_a_race_is_cured() {
    let mut builder = builder(2);
    let [place, first, second] = [(); 3].map(|()| builder.add_place(8));
    let root = Rank(0);
    let other = builder.add_stream(root, 1);
    builder.deliver_on(0, (root, 0), (Rank(1), 0), &[CHUNK]);
    let [_, again] = [0, other].map(|of| copy(&mut builder, (root, of), CHUNK, place));
    let [read, _] =
        [(0, first), (other, second)].map(|(of, to)| copy(&mut builder, (root, of), place, to));
    assert_eq!(added(&builder), Some(vec![(again, read)]));
}

/// Two streams read what the first one writes again at the end: a wait for each.
#[test]
fn several_races_are_cured() {
    let mut builder = builder(2);
    let [place, first, second, back] = [(); 4].map(|()| builder.add_place(8));
    let root = Rank(0);
    let streams = [1, 2].map(|channel| builder.add_stream(root, channel));
    let written = copy(&mut builder, (root, 0), CHUNK, place);
    builder.deliver_on(1, (root, 0), (Rank(1), 0), &[CHUNK]);
    let [sent, kept] = [CHUNK, back].map(|place| builder.list(&[place]));
    let send = Op::Send {
        to: root,
        chunks: sent,
    };
    builder.push(2, Rank(1), send);
    let recv = Op::Recv {
        from: Rank(1),
        chunks: kept,
        arrival: Arrival::Store,
    };
    builder.push(2, root, recv);
    let reads = [(streams[0], first), (streams[1], second)].map(|(stream, to)| {
        let read = copy(&mut builder, (root, stream), place, to);
        builder.wait(read, written);
        read
    });
    let [source, target] = [back, place].map(|place| builder.list(&[place]));
    let arrival = Arrival::Store;
    let again = Op::Local {
        source,
        target,
        arrival,
    };
    let again = builder.push_on(2, (root, 0), again);
    let mut added = added(&builder).expect("waits are enough");
    added.sort_by_key(|(_, on)| on.stream);
    assert_eq!(added, reads.map(|read| (again, read)));
}

/// Reads by two streams race with one write behind them, of which one race is shown at a time: a wait leaves
/// as many as before, and is needed all the same.
#[test]
fn races_of_one_step_are_cured_one_by_one() {
    let mut builder = builder(2);
    let [place, first, second] = [(); 3].map(|()| builder.add_place(8));
    let root = Rank(0);
    // The verifier comes to the writer last.
    let [writer, reader] = [1, 2].map(|channel| builder.add_stream(root, channel));
    builder.deliver_on(0, (root, 0), (Rank(1), 0), &[CHUNK]);
    let written = copy(&mut builder, (root, 0), CHUNK, place);
    let reads = [(0, first), (reader, second)]
        .map(|(stream, to)| copy(&mut builder, (root, stream), place, to));
    let again = copy(&mut builder, (root, writer), CHUNK, place);
    builder.wait(reads[1], written);
    builder.wait(again, written);
    let added = added(&builder).expect("waits are enough");
    let [first, second] = added[..] else {
        panic!("two are missing: {added:?}");
    };
    assert_eq!(first, (again, reads[0]));
    // On either side of the write it reads the same.
    assert!([(again, reads[1]), (reads[1], again)].contains(&second));
}
