// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs of messages that are right by construction: what every rank must receive is known
//! beforehand, so machines are compared with it and not with each other.
//!
//! A program has phases. In each, every rank begins all its sends and asks for all its messages in
//! a random order, and only then waits, in another; or it asks for them one after the other. Both
//! end on every machine that keeps the rules, however little it buffers.

use corecast_core::Rank;
use corecast_core::random::SplitMix64;

use crate::endpoint::{
    Done, Endpoint, Envelope, Program, ProgramRun, Programs, Received, Source, Tag, TagFilter,
};
use crate::error::RunError;
use crate::job::RunOptions;
use crate::payload::Payload;

use super::messages::bytes;

/// From here on every tag is that of one message: any rank may have sent it.
const UNIQUE: Tag = 1000;

/// A message of a phase.
#[derive(Clone, Copy, Debug)]
struct Message {
    from: Rank,
    to: Rank,
    tag: Tag,
    len: usize,
    seed: u64,
}

impl Message {
    fn payload(&self) -> Payload {
        bytes(self.seed, self.len)
    }
}

/// What a rank does in a phase.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Sends and receives in the order of the calls.
    calls: Vec<Post>,
    /// Whether receives wait at once, when all sends have begun.
    is_blocking: bool,
    /// What its receives get, in their order.
    expected: Vec<Received>,
}

#[derive(Clone, Copy, Debug)]
enum Post {
    Send(Message),
    Recv(Source, TagFilter),
}

/// Phases, with a part per rank.
#[derive(Debug)]
pub(super) struct Pattern {
    phases: Vec<Vec<Part>>,
    seed: u64,
}

/// Runs a random program and compares what every rank has received.
///
/// # Panics
/// If the run fails or a rank has received something else.
pub(super) fn check(
    machine: &impl Programs,
    options: &RunOptions,
    seed: u64,
) -> ProgramRun<Vec<Received>> {
    let ranks = 2 + (SplitMix64::new(seed).next() % 5) as u32;
    let pattern = Pattern::drawn(ranks, seed);
    let run = machine.run_programs(ranks, &pattern, options);
    let run = run.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    for (rank, output) in run.outputs.iter().enumerate() {
        let parts = pattern.phases.iter().map(|phase| &phase[rank].expected);
        let expected: Vec<&Received> = parts.flatten().collect();
        assert!(!pattern.phases.is_empty(), "a program has phases");
        assert_eq!(output.len(), expected.len(), "seed {seed}, rank {rank}");
        for (index, (got, expected)) in output.iter().zip(expected).enumerate() {
            let of = |message: &Received| (message.from, message.tag, message.payload.len());
            let case = format!("seed {seed}, rank {rank}, receive {index}");
            assert_eq!(of(got), of(expected), "{case}");
            assert_eq!(got.payload, expected.payload, "{case}: other bytes");
        }
    }
    run
}

impl Pattern {
    fn drawn(ranks: u32, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed.wrapping_add(77));
        let phases = (0..3).map(|number| phase(number, ranks, &mut random));
        let phases = phases.collect();
        Self { phases, seed }
    }
}

fn phase(number: Tag, ranks: u32, random: &mut SplitMix64) -> Vec<Part> {
    const SIZES: [u64; 6] = [1, 5, 40, 300, 3000, 12_000];
    let count = 1 + random.next() % (3 * u64::from(ranks));
    let mut messages: Vec<Message> = Vec::new();
    for index in 0..count {
        let mut rank = || Rank((random.next() % u64::from(ranks)) as u32);
        let (from, to) = (rank(), rank());
        let most = SIZES[(random.next() % SIZES.len() as u64) as usize];
        messages.push(Message {
            from,
            to,
            tag: match random.next() % 4 {
                0 => UNIQUE * (number + 1) + index as Tag,
                tag => tag as Tag,
            },
            len: (random.next() % most) as usize,
            seed: random.next(),
        });
    }
    let part = |rank| {
        let is_blocking = random.next().is_multiple_of(3);
        part(&messages, rank, is_blocking, random)
    };
    (0..ranks).map(Rank).map(part).collect()
}

fn part(messages: &[Message], me: Rank, is_blocking: bool, random: &mut SplitMix64) -> Part {
    // Messages to this rank in the order in which each sender sends them.
    let mine: Vec<&Message> = messages.iter().filter(|message| message.to == me).collect();
    let mut wanted = mine.clone();
    random.shuffle(&mut wanted);
    let mut filters: Vec<(Source, TagFilter)> = Vec::new();
    for message in &wanted {
        let from = Source::From(message.from);
        let exact = TagFilter::Is(message.tag);
        filters.push(match random.next() % 3 {
            _ if message.tag >= UNIQUE => (Source::Any, exact),
            0 => (from, TagFilter::Any),
            _ => (from, exact),
        });
    }
    let expected = match matched(&filters, &mine) {
        Some(expected) => expected,
        None => {
            // Some receive would take what another one needs: all of them say what they want.
            for (filter, message) in filters.iter_mut().zip(&wanted) {
                *filter = (Source::From(message.from), TagFilter::Is(message.tag));
            }
            matched(&filters, &mine).expect("a receive for each message")
        }
    };
    let sends = messages.iter().filter(|message| message.from == me);
    let sends: Vec<Post> = sends.map(|message| Post::Send(*message)).collect();
    let mut recvs = filters.into_iter().map(|(from, tag)| Post::Recv(from, tag));
    let mut sends = sends.into_iter();
    let mut calls = Vec::new();
    loop {
        let first_send = is_blocking || random.next().is_multiple_of(2);
        let next = match first_send {
            true => sends.next().or_else(|| recvs.next()),
            false => recvs.next().or_else(|| sends.next()),
        };
        match next {
            Some(call) => calls.push(call),
            None => break,
        }
    }
    Part {
        calls,
        is_blocking,
        expected,
    }
}

/// What each receive takes of messages that come in this order: the first one that it matches and no
/// receive before it has taken. None if one is left over. A receive from any rank names a tag that
/// only one message has, so the order between senders does not count.
fn matched(filters: &[(Source, TagFilter)], messages: &[&Message]) -> Option<Vec<Received>> {
    let mut taken: Vec<Option<&Message>> = vec![None; filters.len()];
    for message in messages {
        let envelope = Envelope {
            from: message.from,
            tag: message.tag,
            bytes: message.len as u64,
        };
        let mut free = filters.iter().zip(&taken);
        let index =
            free.position(|(&(from, tag), taken)| taken.is_none() && envelope.matches(from, tag))?;
        taken[index] = Some(message);
    }
    let all = taken.into_iter().map(|message| {
        message.map(|message| Received {
            from: message.from,
            tag: message.tag,
            payload: message.payload(),
        })
    });
    all.collect()
}

impl Program for Pattern {
    type Output = Vec<Received>;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Vec<Received>, RunError> {
        let me = endpoint.rank();
        let mut random = SplitMix64::new(self.seed ^ (u64::from(me.0) << 32));
        let mut output = Vec::new();
        for phase in &self.phases {
            let part = &phase[me.index()];
            let mut received: Vec<Option<Received>> = Vec::new();
            let mut pending = Vec::new();
            for call in &part.calls {
                match *call {
                    Post::Send(message) => {
                        let (to, tag) = (message.to, message.tag);
                        let sent = endpoint.isend(to, tag, message.payload()).await?;
                        pending.push((sent, None));
                    }
                    Post::Recv(from, tag) if part.is_blocking => {
                        if random.next().is_multiple_of(2) {
                            let seen = endpoint.probe(from, tag).await?;
                            assert!(seen.matches(from, tag), "what was asked for");
                        }
                        received.push(Some(endpoint.recv(from, tag).await?));
                    }
                    Post::Recv(from, tag) => {
                        let receive = endpoint.irecv(from, tag).await?;
                        pending.push((receive, Some(received.len())));
                        received.push(None);
                    }
                }
            }
            random.shuffle(&mut pending);
            let (mut pending, mut places): (Vec<_>, Vec<_>) = pending.into_iter().unzip();
            while !pending.is_empty() {
                let (index, done) = match random.next() % 3 {
                    0 => endpoint.wait_any(&pending).await?,
                    1 => match endpoint.test(&pending[0]).await? {
                        Some(done) => (0, done),
                        None => continue,
                    },
                    _ => endpoint.wait_any(&pending[..1]).await?,
                };
                let _over = pending.remove(index);
                match (places.remove(index), done) {
                    (Some(place), Done::Received(message)) => received[place] = Some(message),
                    (None, Done::Sent) => {}
                    (place, done) => panic!("{done:?} at {place:?}"),
                }
            }
            output.extend(received.into_iter().flatten());
        }
        Ok(output)
    }
}
