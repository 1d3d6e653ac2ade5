// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of messages that every machine must run alike: tags, wildcards, sizes, order, probes,
//! what is left over, and who waits for whom.

use corecast_core::random::SplitMix64;
use corecast_core::{Rank, Time};

use crate::endpoint::{
    Done, Endpoint, Pending, Program, ProgramRun, Programs, Received, Source, Tag, TagFilter,
};
use crate::error::RunError;
use crate::job::RunOptions;
use crate::payload::Payload;

use super::patterns;

/// Sizes in bytes around those of lines, packets, blocks and buffers, up to several of them.
const SIZES: [usize; 16] = [
    0, 1, 3, 4, 31, 32, 33, 127, 128, 129, 1000, 4096, 4097, 8128, 8193, 20_000,
];

/// Bytes that tell where they are from.
pub(super) fn bytes(seed: u64, len: usize) -> Payload {
    let mut random = SplitMix64::new(seed);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend(random.next().to_le_bytes());
    }
    bytes.truncate(len);
    bytes.into()
}

/// Every machine passes all of these checks.
///
/// # Panics
/// If one does not, with the check and what was wrong.
pub fn exchanges_messages(machine: &impl Programs, options: &RunOptions) {
    tags_choose_messages(machine, options);
    anybody_may_send(machine, options);
    sizes_are_known_on_arrival(machine, options);
    messages_do_not_overtake(machine, options);
    nobody_is_held_up(machine, options);
    many_may_be_pending(machine, options);
    envelopes_come_first(machine, options);
    ranks_send_to_themselves(machine, options);
    computing_takes_time(machine, options);
    misuse_is_told(machine, options);
    deadlocks_are_named(machine, options);
    for seed in 0..12 {
        patterns::check(machine, options, seed);
    }
}

/// Equal runs of a simulator have equal events.
///
/// # Panics
/// If two runs differ.
pub fn messages_are_repeatable(machine: &impl Programs, options: &RunOptions) {
    for seed in 0..3 {
        let [a, b] = [(); 2].map(|()| patterns::check(machine, options, seed));
        assert!(a.events > 0, "a simulator counts its events");
        assert_eq!(a.messages, b.messages, "seed {seed}: the same messages");
        assert_eq!(a.finish, b.finish, "seed {seed}: the same times");
        let hashes = [&a, &b].map(|run| (run.events, run.trace_hash));
        assert_eq!(hashes[0], hashes[1], "seed {seed}: the same events");
    }
}

/// Runs a program that must succeed.
fn run<P: Program>(
    machine: &impl Programs,
    ranks: u32,
    program: &P,
    options: &RunOptions,
    case: &str,
) -> ProgramRun<P::Output> {
    let run = machine.run_programs(ranks, program, options);
    let run = run.unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(run.outputs.len(), ranks as usize, "{case}: all ranks end");
    run
}

/// Messages with other tags wait for their turn, in whatever order their receiver wants them.
struct Tags;

impl Program for Tags {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let lengths = |tag: Tag| SIZES[tag as usize % SIZES.len()];
        let tags = [3, 0, 9, 7, 1, 12, 15];
        if endpoint.rank() == Rank(0) {
            let mut sent = Vec::new();
            for tag in tags {
                let payload = bytes(tag.into(), lengths(tag));
                sent.push(endpoint.isend(Rank(1), tag, payload).await?);
            }
            for pending in sent {
                endpoint.wait(pending).await?;
            }
            return Ok(());
        }
        let mut wanted = tags;
        wanted.sort_unstable();
        for tag in wanted {
            let from = Source::From(Rank(0));
            let message = endpoint.recv(from, TagFilter::Is(tag)).await?;
            let payload = bytes(tag.into(), lengths(tag));
            let from = Rank(0);
            assert_eq!(message, Received { from, tag, payload });
        }
        Ok(())
    }
}

fn tags_choose_messages(machine: &impl Programs, options: &RunOptions) {
    run(machine, 2, &Tags, options, "tags out of order");
}

/// All ranks send to rank 0, which takes what comes and answers.
struct Anybody;

impl Program for Anybody {
    type Output = Vec<Rank>;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Vec<Rank>, RunError> {
        let (me, others) = (endpoint.rank(), endpoint.ranks() - 1);
        let mut seen = Vec::new();
        if me != Rank(0) {
            let len = 10 * me.index();
            endpoint
                .send(Rank(0), me.0, bytes(me.0.into(), len))
                .await?;
            let answer = endpoint.recv(Source::Any, TagFilter::Any).await?;
            assert_eq!((answer.from, answer.tag), (Rank(0), 100 + me.0));
            return Ok(vec![answer.from]);
        }
        for _ in 0..others {
            let message = endpoint.recv(Source::Any, TagFilter::Any).await?;
            let from = message.from;
            assert_eq!(message.tag, from.0, "its sender's tag");
            assert_eq!(message.payload, bytes(from.0.into(), 10 * from.index()));
            seen.push(from);
            endpoint.send(from, 100 + from.0, bytes(0, 5)).await?;
        }
        Ok(seen)
    }
}

fn anybody_may_send(machine: &impl Programs, options: &RunOptions) {
    for ranks in [2, 5] {
        let run = run(machine, ranks, &Anybody, options, "any source");
        let mut seen = run.outputs[0].clone();
        seen.sort_unstable();
        assert!(seen.into_iter().eq((1..ranks).map(Rank)), "each once");
    }
}

/// A message of every size, there and back, to a receiver that does not know it.
struct Sizes;

impl Program for Sizes {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        for (tag, len) in (0..).zip(SIZES) {
            let payload = bytes(len as u64, len);
            let peer = Rank(1 - endpoint.rank().0);
            if endpoint.rank() == Rank(0) {
                endpoint.send(peer, tag, payload.clone()).await?;
            }
            let message = endpoint.recv(Source::From(peer), TagFilter::Any).await?;
            assert_eq!(message.payload.len(), len, "nothing is cut");
            assert_eq!((message.tag, message.payload), (tag, payload.clone()));
            if endpoint.rank() == Rank(1) {
                endpoint.send(peer, tag, payload).await?;
            }
        }
        Ok(())
    }
}

fn sizes_are_known_on_arrival(machine: &impl Programs, options: &RunOptions) {
    let run = run(machine, 2, &Sizes, options, "sizes");
    if run.messages.is_empty() {
        return; // the oracle writes none down
    }
    assert_eq!(run.messages.len(), 2 * SIZES.len(), "each is written down");
    let moved: u64 = run.messages.iter().map(|message| message.bytes).sum();
    let sizes: usize = SIZES.iter().sum();
    assert_eq!(moved, 2 * sizes as u64, "with its payload's bytes");
}

/// Messages that the same receive matches come in the order sent, long ones and short ones.
struct Order;

impl Program for Order {
    type Output = Vec<usize>;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Vec<usize>, RunError> {
        let sizes = [5000, 0, 40, 9000, 1, 0, 300, 2];
        let (tag, from) = (5, Source::From(Rank(0)));
        let mut pending = Vec::new();
        if endpoint.rank() == Rank(0) {
            for size in sizes {
                pending.push(endpoint.isend(Rank(1), tag, bytes(1, size)).await?);
            }
            for pending in pending {
                endpoint.wait(pending).await?;
            }
            return Ok(sizes.into());
        }
        // Half of them are asked for before any can have come, in turns by tag and without.
        for index in 0..sizes.len() / 2 {
            let tag = [TagFilter::Is(tag), TagFilter::Any][index % 2];
            pending.push(endpoint.irecv(from, tag).await?);
        }
        let mut lengths = Vec::new();
        for pending in pending {
            let message = endpoint.wait(pending).await?.received();
            lengths.push(message.expect("a receive").payload.len());
        }
        while lengths.len() < sizes.len() {
            let message = endpoint.recv(from, TagFilter::Any).await?;
            lengths.push(message.payload.len());
        }
        Ok(lengths)
    }
}

fn messages_do_not_overtake(machine: &impl Programs, options: &RunOptions) {
    let run = run(machine, 2, &Order, options, "order per pair");
    assert_eq!(run.outputs[0], run.outputs[1]);
}

/// Long messages that nobody wants yet hold up no others: rank 1 wants what rank 2 sends after it has
/// got what rank 0 has sent behind the one for rank 1. And all send to each other first.
struct HeldUp;

impl Program for HeldUp {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let long = |seed| bytes(seed, 12_000);
        let (me, ranks) = (endpoint.rank(), endpoint.ranks());
        match me {
            Rank(0) => {
                let first = endpoint.isend(Rank(1), 1, long(1)).await?;
                let second = endpoint.isend(Rank(2), 2, long(2)).await?;
                endpoint.wait(first).await?;
                endpoint.wait(second).await?;
            }
            Rank(1) => {
                let from = Source::From(Rank(2));
                let token = endpoint.recv(from, TagFilter::Any).await?;
                assert_eq!(token.payload, long(3));
                let from = Source::From(Rank(0));
                let message = endpoint.recv(from, TagFilter::Is(1)).await?;
                assert_eq!(message.payload, long(1));
            }
            Rank(2) => {
                let from = Source::From(Rank(0));
                let message = endpoint.recv(from, TagFilter::Any).await?;
                assert_eq!(message.payload, long(2));
                endpoint.send(Rank(1), 3, long(3)).await?;
            }
            _ => {}
        }
        let mut pending = Vec::new();
        for to in (0..ranks).map(Rank).filter(|&to| to != me) {
            let seed = u64::from(me.0 * ranks + to.0);
            pending.push(endpoint.isend(to, 4, long(seed)).await?);
        }
        for from in (0..ranks).map(Rank).rev().filter(|&from| from != me) {
            let message = endpoint.recv(Source::From(from), TagFilter::Is(4)).await?;
            let seed = u64::from(from.0 * ranks + me.0);
            assert_eq!(message.payload, long(seed));
        }
        for pending in pending {
            assert_eq!(endpoint.wait(pending).await?, Done::Sent);
        }
        Ok(())
    }
}

fn nobody_is_held_up(machine: &impl Programs, options: &RunOptions) {
    run(
        machine,
        4,
        &HeldUp,
        options,
        "messages that nobody wants yet",
    );
}

/// Sends and receives of all with all, many at once, that end in any order.
struct Crowd;

impl Program for Crowd {
    type Output = usize;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<usize, RunError> {
        const EACH: Tag = 6;
        let (me, ranks) = (endpoint.rank(), endpoint.ranks());
        let others = || (0..ranks).map(Rank).filter(|&rank| rank != me);
        let len = |from: Rank, tag: Tag| (37 * from.index() + 211 * tag as usize) % 900;
        let mut pending: Vec<Pending> = Vec::new();
        for tag in 0..EACH {
            for peer in others() {
                let receive = endpoint.irecv(Source::From(peer), TagFilter::Is(tag));
                pending.push(receive.await?);
            }
        }
        for tag in (0..EACH).rev() {
            for peer in others() {
                let payload = bytes(tag.into(), len(me, tag));
                pending.push(endpoint.isend(peer, tag, payload).await?);
            }
        }
        let mut received = 0;
        while !pending.is_empty() {
            let (index, done) = endpoint.wait_any(&pending).await?;
            let _over = pending.remove(index);
            if let Done::Received(message) = done {
                let payload = bytes(message.tag.into(), len(message.from, message.tag));
                assert_eq!(message.payload, payload);
                received += 1;
            }
        }
        Ok(received)
    }
}

fn many_may_be_pending(machine: &impl Programs, options: &RunOptions) {
    let run = run(machine, 4, &Crowd, options, "many pending");
    assert_eq!(run.outputs, [18; 4]);
}

/// What a probe has seen is what the receive takes; looks without waiting come to an end.
struct Probes;

impl Program for Probes {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let me = endpoint.rank();
        if me != Rank(0) {
            for tag in [me.0, me.0 + 10] {
                let payload = bytes(tag.into(), 100 * tag as usize);
                let sent = endpoint.isend(Rank(0), tag, payload).await?;
                while endpoint.test(&sent).await?.is_none() {}
            }
            return Ok(());
        }
        let none = endpoint
            .iprobe(Source::From(Rank(1)), TagFilter::Is(99))
            .await?;
        assert_eq!(none, None, "nobody sends that");
        let others = endpoint.ranks() - 1;
        for _ in 0..others {
            let seen = endpoint.probe(Source::Any, TagFilter::Any).await?;
            assert_eq!(seen.bytes, 100 * u64::from(seen.tag));
            let from = Source::From(seen.from);
            let message = endpoint.recv(from, TagFilter::Is(seen.tag)).await?;
            assert_eq!(message.payload.len() as u64, seen.bytes);
        }
        for _ in 0..others {
            let seen = loop {
                let seen = endpoint.iprobe(Source::Any, TagFilter::Any).await?;
                if let Some(seen) = seen {
                    break seen;
                }
            };
            let from = Source::From(seen.from);
            let receive = endpoint.irecv(from, TagFilter::Is(seen.tag)).await?;
            let message = loop {
                if let Some(done) = endpoint.test(&receive).await? {
                    break done.received().expect("a receive");
                }
            };
            assert_eq!((message.from, message.tag), (seen.from, seen.tag));
            assert_eq!(message.payload.len() as u64, seen.bytes);
        }
        Ok(())
    }
}

fn envelopes_come_first(machine: &impl Programs, options: &RunOptions) {
    run(machine, 3, &Probes, options, "probes");
}

/// Every rank sends to itself, before and after it asks to receive.
struct Oneself;

impl Program for Oneself {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let me = endpoint.rank();
        let late = endpoint.irecv(Source::Any, TagFilter::Is(2)).await?;
        let first = endpoint.isend(me, 1, bytes(1, 9000)).await?;
        let second = endpoint.isend(me, 2, bytes(2, 3)).await?;
        let message = endpoint.recv(Source::From(me), TagFilter::Any).await?;
        assert_eq!((message.tag, message.payload), (1, bytes(1, 9000)));
        let message = endpoint.wait(late).await?.received().expect("a receive");
        assert_eq!((message.from, message.payload), (me, bytes(2, 3)));
        endpoint.wait(first).await?;
        endpoint.wait(second).await?;
        Ok(())
    }
}

fn ranks_send_to_themselves(machine: &impl Programs, options: &RunOptions) {
    for ranks in [1, 3] {
        run(machine, ranks, &Oneself, options, "messages to oneself");
    }
}

/// Computes, and says how long that has taken.
struct Computing(Time);

impl Program for Computing {
    type Output = Time;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Time, RunError> {
        let start = endpoint.now();
        endpoint.compute(self.0).await?;
        Ok(endpoint.now() - start)
    }
}

fn computing_takes_time(machine: &impl Programs, options: &RunOptions) {
    let time = Time::from_ps(70_000_000);
    let run = run(machine, 2, &Computing(time), options, "computing");
    let has_time = run.finish.iter().any(|&finish| finish > Time::ZERO);
    for (taken, activity) in run.outputs.iter().zip(&run.activity) {
        assert!(!has_time || *taken >= time, "{taken} of {time}");
        let computed = activity.total(|cause| cause == crate::Cause::Compute);
        assert!(!has_time || computed >= time, "written down: {computed}");
    }
}

/// What a program does wrong.
#[derive(Clone, Copy)]
enum Wrong {
    /// It names a rank that there is not.
    Rank,
    /// It asks twice for the same end.
    Twice,
    /// It leaves a message behind.
    Unreceived,
    /// It does not wait for a receive.
    NotWaitedFor,
}

impl Program for Wrong {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let me = endpoint.rank();
        if me != Rank(0) {
            return Ok(());
        }
        match self {
            Self::Rank => endpoint.send(Rank(7), 0, bytes(0, 4)).await,
            Self::Twice => {
                let sent = endpoint.isend(me, 0, bytes(0, 4)).await?;
                endpoint.recv(Source::Any, TagFilter::Any).await?;
                assert!(endpoint.test(&sent).await?.is_some(), "it is with itself");
                endpoint.test(&sent).await.map(drop)
            }
            Self::Unreceived => {
                let _sent = endpoint.isend(me, 3, bytes(0, 4)).await?;
                Ok(())
            }
            Self::NotWaitedFor => {
                let _receive = endpoint.irecv(Source::Any, TagFilter::Any).await?;
                Ok(())
            }
        }
    }
}

fn misuse_is_told(machine: &impl Programs, options: &RunOptions) {
    let cases = [
        (Wrong::Rank, "a message names rank 7"),
        (Wrong::Twice, "what is asked about has ended"),
        (
            Wrong::Unreceived,
            "rank 0 ends without receiving the 4 bytes with tag 3 from rank 0",
        ),
        (
            Wrong::NotWaitedFor,
            "rank 0 ends with 1 receives that it has not waited for",
        ),
    ];
    for (wrong, text) in cases {
        let error = machine.run_programs(2, &wrong, options).map(drop);
        let error = error.expect_err(text).to_string();
        assert!(error.contains(text), "{error}");
    }
}

/// Rank 0 waits for rank 1, which waits for rank 2, which waits for rank 1; rank 3 for anybody.
struct Cycle;

impl Program for Cycle {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let (from, tag) = match endpoint.rank().0 {
            0 => (Source::From(Rank(1)), TagFilter::Any),
            1 => (Source::From(Rank(2)), TagFilter::Is(8)),
            2 => (Source::From(Rank(1)), TagFilter::Any),
            _ => (Source::Any, TagFilter::Is(9)),
        };
        endpoint.recv(from, tag).await.map(drop)
    }
}

/// A message that its receiver does not want.
struct Unwanted;

impl Program for Unwanted {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let peer = Rank(1 - endpoint.rank().0);
        if endpoint.rank() == Rank(0) {
            endpoint.send(peer, 1, bytes(0, 100)).await?;
        }
        endpoint
            .recv(Source::From(peer), TagFilter::Is(2))
            .await
            .map(drop)
    }
}

fn deadlocks_are_named(machine: &impl Programs, options: &RunOptions) {
    let error = machine.run_programs(4, &Cycle, options);
    let Err(RunError::Deadlock { blocked, .. }) = &error else {
        panic!("a cycle is a deadlock, not {:?}", error.err());
    };
    let ranks: Vec<u32> = blocked.iter().map(|blocked| blocked.rank.0).collect();
    assert!(matches!(ranks[..2], [1, 2] | [2, 1]), "the cycle first");
    let text = error.map(drop).expect_err("it is one").to_string();
    for line in [
        "rank 0 waits for a message from rank 1",
        "rank 1 waits for a message from rank 2 with tag 8",
        "rank 3 waits for a message from any rank with tag 9",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let error = machine.run_programs(2, &Unwanted, options).map(drop);
    let text = error.expect_err("nobody sends tag 2").to_string();
    let line = "rank 1 waits for a message from rank 0 with tag 2";
    assert!(text.contains(line), "{text}");
}
