// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter: what it asks of an endpoint, what it refuses, and how a run is judged.

use corecast_core::{
    ChunkId, Collective, Op, Rank, ReduceOp, Request, RouteTree, Schedule, ScheduleBuilder, Spec,
    Split, Step, algorithm,
};
use corecast_machine::interpreter::Walk;
use corecast_machine::{
    Job, Machine, Message, Oracle, Payload, RunError, StepProgram, Steps, Time, WrongChunk,
    run_blocking,
};

/// One thing that the program has asked of its endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Call {
    Launch,
    AtStep(usize),
    Send(Rank, usize),
    Recv(Rank),
    Exchange(Rank, Rank),
    Forward(Rank, Rank, Option<u64>),
    Multicast(usize),
    RecvMulticast(usize),
    Combine(u64),
    Copy(u64),
}

/// An endpoint that notes what it is asked, and receives the same message again and again.
struct Scripted {
    rank: Rank,
    ranks: u32,
    arrives: Message,
    calls: Vec<Call>,
}

impl Steps for Scripted {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn now(&self) -> Time {
        Time::ZERO
    }

    async fn launch(&mut self, _: &Schedule) -> Result<(), RunError> {
        self.calls.push(Call::Launch);
        Ok(())
    }

    fn at_step(&mut self, _: &Schedule, index: usize, _: &Step) {
        self.calls.push(Call::AtStep(index));
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        self.calls.push(Call::Send(to, message.len()));
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        self.calls.push(Call::Recv(from));
        Ok(self.arrives.clone())
    }

    async fn multicast(&mut self, index: usize, _: &RouteTree, _: Message) -> Result<(), RunError> {
        self.calls.push(Call::Multicast(index));
        Ok(())
    }

    async fn recv_multicast(&mut self, index: usize, _: &RouteTree) -> Result<Message, RunError> {
        self.calls.push(Call::RecvMulticast(index));
        Ok(self.arrives.clone())
    }

    async fn exchange(&mut self, to: Rank, _: Message, from: Rank) -> Result<Message, RunError> {
        self.calls.push(Call::Exchange(to, from));
        Ok(self.arrives.clone())
    }

    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        piece_bytes: Option<u64>,
    ) -> Result<Message, RunError> {
        self.calls.push(Call::Forward(from, to, piece_bytes));
        Ok(self.arrives.clone())
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        self.calls.push(Call::Combine(bytes));
        Ok(())
    }

    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        self.calls.push(Call::Copy(bytes));
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }
}

/// Zeros in chunks of these sizes.
fn zeros(sizes: &[usize]) -> Message {
    let chunk = |&size: &usize| Payload::from(vec![0; size]);
    sizes.iter().map(chunk).collect()
}

/// What `rank` asks when every message that it receives has chunks of these sizes.
fn walk(schedule: &Schedule, rank: u32, sizes: &[usize]) -> Result<Vec<Call>, RunError> {
    let mut endpoint = Scripted {
        rank: Rank(rank),
        ranks: schedule.ranks(),
        arrives: zeros(sizes),
        calls: Vec::new(),
    };
    let job = Job::new(schedule);
    run_blocking(Walk::new(&job).run(&mut endpoint))?;
    Ok(endpoint.calls)
}

fn builder(collective: Collective, ranks: u32, bytes: u64, parts: u32) -> ScheduleBuilder {
    let request = Request::new(collective, ranks, bytes);
    ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(parts)))
}

/// Combining takes the core time: every received operand is paid for by its size, chunks together,
/// and what is only stored is not.
#[test]
fn combining_is_paid_for_by_the_bytes_that_arrive() {
    let mut builder = builder(Collective::Allreduce, 2, 20, 2);
    let both = [ChunkId(0), ChunkId(1)];
    builder.reduce(0, Rank(1), Rank(0), &both);
    builder.message(1, Rank(0), Rank(1), &both);
    let schedule = builder.finish();
    assert_eq!(
        walk(&schedule, 0, &[10, 10]).expect("runs"),
        [
            Call::Launch,
            Call::AtStep(0),
            Call::Recv(Rank(1)),
            Call::Combine(20),
            Call::AtStep(1),
            Call::Send(Rank(1), 2),
        ]
    );
    assert_eq!(
        walk(&schedule, 1, &[10, 10]).expect("runs"),
        [
            Call::Launch,
            Call::AtStep(0),
            Call::Send(Rank(0), 2),
            Call::AtStep(1),
            Call::Recv(Rank(0)),
        ]
    );
}

/// What a rank copies and what it combines within itself have prices of their own.
#[test]
fn copying_is_not_combining() {
    let mut builder = builder(Collective::Allreduce, 1, 20, 2);
    builder.copy(0, Rank(0), &[ChunkId(0)], &[ChunkId(1)]);
    builder.combine(
        1,
        Rank(0),
        &[ChunkId(0), ChunkId(1)],
        &[ChunkId(1), ChunkId(0)],
    );
    assert_eq!(
        walk(&builder.finish(), 0, &[]).expect("runs"),
        [
            Call::Launch,
            Call::AtStep(0),
            Call::Copy(10),
            Call::AtStep(1),
            Call::Combine(20),
        ]
    );
}

/// A receiver knows the sizes of all chunks of its message, and takes no other message for it: none
/// that is longer or shorter, has more or fewer chunks, or cuts the same bytes elsewhere.
#[test]
fn a_message_of_another_shape_is_refused() {
    let mut builder = builder(Collective::Bcast, 2, 11, 2);
    builder.message(0, Rank(0), Rank(1), &[ChunkId(0), ChunkId(1)]);
    let schedule = builder.finish();
    assert!(walk(&schedule, 1, &[6, 5]).is_ok());
    let wrong: [&[usize]; 7] = [&[5, 6], &[6, 4], &[6, 6], &[11], &[6, 5, 0], &[6], &[]];
    for sizes in wrong {
        let refused = RunError::Shape {
            rank: Rank(1),
            from: Rank(0),
            expected: "2 chunks".to_owned(),
        };
        assert_eq!(walk(&schedule, 1, sizes), Err(refused), "{sizes:?}");
    }
}

/// Every kind of step becomes the one call that it names.
#[test]
fn steps_become_calls() {
    let mut chain = builder(Collective::Bcast, 3, 4, 1);
    chain.set_piece_bytes(Some(2));
    let chunks = chain.list(&[ChunkId(0)]);
    let (from, to, arrival) = (Rank(0), Rank(2), corecast_core::Arrival::Store);
    let forward = Op::Forward {
        from,
        to,
        chunks,
        arrival,
    };
    chain.push(0, Rank(1), forward);
    assert_eq!(
        walk(&chain.finish(), 1, &[4]).expect("runs"),
        [
            Call::Launch,
            Call::AtStep(0),
            Call::Forward(from, to, Some(2))
        ]
    );
    let doubling = algorithm::find(Collective::Allgather, "recursive-doubling");
    let request = Request::new(Collective::Allgather, 2, 4);
    let doubling = doubling.expect("registered").schedule(&request);
    assert_eq!(
        walk(&doubling, 1, &[4]).expect("runs"),
        [
            Call::Launch,
            Call::AtStep(0),
            Call::Exchange(Rank(0), Rank(0))
        ]
    );
    let request = Request::new(Collective::Bcast, 3, 4);
    let route = algorithm::find(Collective::Bcast, "static-route");
    let route = route.expect("registered").schedule(&request);
    let (root, leaf) = (walk(&route, 0, &[]), walk(&route, 2, &[4]));
    // One multicast for both receivers.
    let expected = [Call::Launch, Call::AtStep(0), Call::Multicast(0)];
    assert_eq!(root.expect("runs"), expected);
    assert_eq!(
        leaf.expect("runs"),
        [Call::Launch, Call::AtStep(0), Call::RecvMulticast(0)]
    );
    // A schedule without any step launches nothing.
    let request = Request::new(Collective::Bcast, 1, 4);
    let alone = algorithm::find(Collective::Bcast, "binomial").expect("registered");
    assert_eq!(walk(&alone.schedule(&request), 0, &[]), Ok(vec![]));
}

#[test]
fn what_a_rank_does_not_hold_it_cannot_send() {
    let mut builder = builder(Collective::Scatter, 3, 4, 1);
    builder.message(0, Rank(1), Rank(2), &[ChunkId(2)]);
    let refused = RunError::NotHeld {
        rank: Rank(1),
        step: 0,
        chunk: ChunkId(2),
    };
    assert_eq!(walk(&builder.finish(), 1, &[]), Err(refused));
}

/// The chunks that a run on the oracle finds wrong.
fn wrong(schedule: &Schedule, op: ReduceOp) -> Vec<(u32, u32)> {
    let job = Job {
        op,
        seed: 1,
        ..Job::new(schedule)
    };
    let report = Oracle.run(&job).expect("runs");
    assert_eq!(report.delivered(), report.wrong.is_empty());
    let place = |wrong: &WrongChunk| (wrong.rank.0, wrong.chunk.0);
    report.wrong.iter().map(place).collect()
}

/// Every rank is looked at, and every chunk of it: what is missing is wrong, and so is what another
/// chunk should hold.
#[test]
fn every_rank_must_hold_what_it_was_promised() {
    let whole = |last: [u32; 2]| {
        let mut builder = builder(Collective::Bcast, 3, 16, 2);
        builder.message(0, Rank(0), Rank(1), &[ChunkId(0), ChunkId(1)]);
        let send = builder.list(&[ChunkId(0), ChunkId(1)]);
        let recv = builder.list(&last.map(ChunkId));
        let to = Rank(2);
        builder.push(1, Rank(0), Op::Send { to, chunks: send });
        let (from, arrival) = (Rank(0), corecast_core::Arrival::Store);
        let chunks = recv;
        builder.push(
            1,
            Rank(2),
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        );
        builder.finish()
    };
    assert_eq!(wrong(&whole([0, 1]), ReduceOp::Sum), []);
    // The two halves under each other's names.
    assert_eq!(wrong(&whole([1, 0]), ReduceOp::Sum), [(2, 0), (2, 1)]);
    let mut missing = builder(Collective::Bcast, 4, 16, 2);
    missing.message(0, Rank(0), Rank(2), &[ChunkId(0), ChunkId(1)]);
    missing.message(1, Rank(2), Rank(3), &[ChunkId(1)]);
    let missing = missing.finish();
    assert_eq!(wrong(&missing, ReduceOp::Sum), [(1, 0), (1, 1), (3, 0)]);
}

/// A contribution that is left out or counted twice shows, where the operator notices: the largest
/// of values does not change by being looked at twice.
#[test]
fn every_contribution_must_be_in_the_result_once() {
    let reduce = |messages: &[(u32, u32)]| {
        let mut builder = builder(Collective::Reduce, 3, 64, 1);
        for (round, &(from, to)) in (0..).zip(messages) {
            builder.reduce(round, Rank(from), Rank(to), &[ChunkId(0)]);
        }
        builder.finish()
    };
    let (all, without, twice) = (
        reduce(&[(2, 1), (1, 0)]),
        reduce(&[(1, 0)]),
        reduce(&[(2, 0), (2, 1), (1, 0)]),
    );
    for op in [ReduceOp::Sum, ReduceOp::Max] {
        assert_eq!(wrong(&all, op), []);
        assert_eq!(wrong(&without, op), [(0, 0)]);
    }
    assert_eq!(wrong(&twice, ReduceOp::Sum), [(0, 0)]);
    assert_eq!(wrong(&twice, ReduceOp::Max), []);
}
