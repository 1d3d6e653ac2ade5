// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs of messages over a segment: every message arrives once, where it should, with its
//! bytes, in the order of its sender.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};
use std::thread;

use corecast_mpi::datatype::{Recipe, Type};
use corecast_mpi::handle::TypeId;
use corecast_mpi::transport::Transport as _;
use corecast_mpi::{Engine, Flight, Landed, Memory, Mode};
use corecast_shm::{Port, Segment};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Message {
    from: u32,
    to: u32,
    tag: i32,
    bytes: usize,
    mode: Mode,
    /// Whether its bytes lie apart, where it comes from and where it goes to.
    is_apart: [bool; 2],
}

/// Memory for a message: its bytes in one piece, or with gaps behind every third.
struct Place {
    memory: Vec<u8>,
    bytes: usize,
    triples: Option<Arc<Type>>,
}

/// What is in a gap, and stays there.
const GAP: u8 = 0xee;

impl Place {
    fn of(contents: &[u8], is_apart: bool) -> Self {
        let bytes = contents.len();
        if !is_apart {
            let memory = contents.to_vec();
            return Self {
                memory,
                bytes,
                triples: None,
            };
        }
        let mut memory = vec![GAP; bytes.div_ceil(3) * 5];
        for (triple, part) in memory.chunks_mut(5).zip(contents.chunks(3)) {
            triple[..part.len()].copy_from_slice(part);
        }
        let byte = Type::named(TypeId::BYTE).expect("a predefined datatype");
        let together = Recipe::Contiguous {
            count: 3,
            of: Arc::new(byte),
        };
        let together = Type::new(together).expect("three bytes");
        let resized = Recipe::Resized {
            lower: 0,
            extent: 5,
            of: Arc::new(together),
        };
        let triples = Type::new(resized).expect("five bytes");
        Self {
            memory,
            bytes,
            triples: Some(Arc::new(triples)),
        }
    }

    /// # Safety
    /// It lives until the operation that this is given to is complete.
    unsafe fn memory(&mut self) -> Memory {
        let address = self.memory.as_mut_ptr();
        // SAFETY: the caller's promise; elements take five bytes each.
        unsafe {
            match &self.triples {
                None => Memory::new(address, self.bytes),
                Some(triples) => Memory::apart(address, triples, self.bytes),
            }
        }
    }

    fn contents(self) -> Vec<u8> {
        if self.triples.is_none() {
            return self.memory;
        }
        let mut contents = Vec::with_capacity(self.bytes + 2);
        for triple in self.memory.chunks_exact(5) {
            assert_eq!(triple[3..], [GAP; 2], "bytes in a gap");
            contents.extend_from_slice(&triple[..3]);
        }
        contents.truncate(self.bytes);
        contents
    }
}

/// How a rank asks for what is sent to it.
#[derive(Clone, Copy, Debug)]
enum Asks {
    /// For each message by sender and tag, in the order of all.
    Exactly,
    /// By sender alone.
    BySender,
    /// For anything.
    Anything,
    /// For anything, after a probe that takes it.
    Probed,
}

fn message(ranks: u32) -> impl Strategy<Value = Message> {
    let bytes = prop_oneof![0..200_usize, 15_000..18_000_usize, 10_000..300_000_usize];
    let mode = prop_oneof![4 => Just(Mode::Standard), 1 => Just(Mode::Synchronous)];
    let parts = (0..ranks, 0..ranks, 0..3, bytes, mode, any::<[bool; 2]>());
    parts.prop_map(|(from, to, tag, bytes, mode, is_apart)| Message {
        from,
        to,
        tag,
        bytes,
        mode,
        is_apart,
    })
}

fn program() -> impl Strategy<Value = (u32, Vec<Message>, Vec<Asks>, bool)> {
    (1..5_u32).prop_flat_map(|ranks| {
        let asks = prop_oneof![
            Just(Asks::Exactly),
            Just(Asks::BySender),
            Just(Asks::Anything),
            Just(Asks::Probed)
        ];
        let messages = prop::collection::vec(message(ranks), 0..60);
        let asks = prop::collection::vec(asks, ranks as usize);
        (Just(ranks), messages, asks, any::<bool>())
    })
}

/// What all messages are cut out of: many are long, and sanitizers look at every byte that is not copied.
/// Who starts threads makes it before: ThreadSanitizer does not see how the standard library orders that.
static ALL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    // No two packets of a message are alike.
    let all = 0..400_000_usize;
    all.map(|at| (at * 7 + at / 1000) as u8).collect()
});

/// The bytes of the message of this number: those of the next begin 13 further.
fn contents(number: usize, bytes: usize) -> Vec<u8> {
    ALL[number * 13..][..bytes].to_vec()
}

struct Receive {
    flight: Flight,
    buffer: Place,
}

/// Runs one rank; what it received, in the order in which it asked.
fn run(mut engine: Engine, rank: u32, messages: &[Message], asks: Asks) -> Vec<(Landed, Vec<u8>)> {
    let mut outgoing: Vec<(usize, Place)> = Vec::new();
    let ours = messages.iter().enumerate();
    for (number, message) in ours.filter(|(_, message)| message.from == rank) {
        let place = Place::of(&contents(number, message.bytes), message.is_apart[0]);
        outgoing.push((number, place));
    }
    let mut sends = Vec::new();
    let mut receives = Vec::new();
    let incoming: Vec<&Message> = messages
        .iter()
        .filter(|message| message.to == rank)
        .collect();
    let largest = incoming
        .iter()
        .map(|message| message.bytes)
        .max()
        .unwrap_or(0);
    let mut wanted: VecDeque<&&Message> = incoming.iter().collect();
    let mut done = Vec::new();
    let mut calls = 0;
    // Sends and receives are begun in turns, so that some messages are expected and some not.
    let mut next = 0;
    loop {
        let mut has_moved = engine.progress().expect("nobody dies");
        if let Some((number, bytes)) = outgoing.get_mut(next) {
            let message = &messages[*number];
            // SAFETY: `outgoing` is not changed before the run is over.
            let memory = unsafe { bytes.memory() };
            let sent = engine.send(5, message.to, message.tag, memory, message.mode);
            sends.extend(sent.expect("nobody dies"));
            next += 1;
            has_moved = true;
        }
        if let Some(message) = wanted.front() {
            let mut buffer = Place::of(&vec![0; largest], message.is_apart[1]);
            // SAFETY: the buffer's memory stays where it is until the flight has landed.
            let memory = unsafe { buffer.memory() };
            let flight = match asks {
                Asks::Exactly => {
                    Some(engine.recv(5, Some(message.from), Some(message.tag), memory))
                }
                Asks::BySender => Some(engine.recv(5, Some(message.from), None, memory)),
                Asks::Anything => Some(engine.recv(5, None, None, memory)),
                Asks::Probed => {
                    let taken = engine.take(5, None, None);
                    taken.map(|(taken, _)| engine.recv_taken(taken, memory))
                }
            };
            if let Some(flight) = flight {
                let flight = flight.expect("nobody dies");
                receives.push(Receive { flight, buffer });
                wanted.pop_front();
                has_moved = true;
            }
        }
        let is_over = next == outgoing.len()
            && wanted.is_empty()
            && sends.iter().all(|flight| engine.landed(flight).is_some())
            && receives
                .iter()
                .all(|receive| engine.landed(&receive.flight).is_some())
            && engine.is_quiet();
        if is_over {
            break;
        }
        calls = if has_moved { 0 } else { calls + 1 };
        if !has_moved {
            engine.transport().idle(calls).expect("nobody dies");
        }
    }
    for flight in sends {
        engine.release(flight);
    }
    for Receive { flight, buffer } in receives {
        done.push((engine.release(flight), buffer.contents()));
    }
    // Others may still need this rank's answers: its last words are in the rings already.
    engine.transport().finish();
    done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_message_arrives_once_in_order(
        (ranks, messages, asks, is_read) in program()
    ) {
        LazyLock::force(&ALL);
        let segment = Segment::create(ranks).expect("memory for a few ranks");
        segment.set_read_min(if is_read { 0 } else { usize::MAX });
        let received: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..ranks)
                .map(|rank| {
                    let port = Port::on(&segment, rank).expect("the rank is free");
                    let (messages, asks) = (&messages, asks[rank as usize]);
                    scope.spawn(move || run(Engine::new(Box::new(port)), rank, messages, asks))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for (rank, received) in (0..).zip(&received) {
            let mut expected: Vec<(usize, &Message)> =
                messages.iter().enumerate().filter(|(_, message)| message.to == rank).collect();
            prop_assert_eq!(received.len(), expected.len());
            let by_tag = matches!(asks[rank as usize], Asks::Exactly);
            for (landed, buffer) in received {
                // The earliest of this sender (and tag) that has not come yet.
                let at = expected.iter().position(|(_, message)| {
                    message.from == landed.from && (!by_tag || message.tag == landed.tag)
                });
                let (number, message) = expected.remove(at.expect("it was sent"));
                prop_assert_eq!((landed.tag, landed.bytes), (message.tag, message.bytes));
                prop_assert_eq!(&buffer[..message.bytes], &contents(number, message.bytes)[..]);
            }
        }
    }
}

#[test]
fn a_message_that_is_too_long_is_cut_off_and_says_its_length() {
    for (bytes, is_apart) in [(100, false), (20_000, false), (100, true), (20_000, true)] {
        let segment = Segment::create(1).expect("memory for one rank");
        let mut engine = Engine::new(Box::new(Port::on(&segment, 0).expect("the rank is free")));
        let mut long = contents(1, bytes);
        let mut short = Place::of(&[0; 10], is_apart);
        // SAFETY: both live until the end of the test.
        let (from, into) = unsafe { (Memory::new(long.as_mut_ptr(), bytes), short.memory()) };
        let sent = engine
            .send(0, 0, 1, from, Mode::Standard)
            .expect("nobody dies");
        assert_eq!(sent, None);
        let flight = engine.recv(0, None, None, into).expect("nobody dies");
        assert_eq!(engine.release(flight).bytes, bytes);
        assert_eq!(short.contents(), long[..10]);
    }
}

#[test]
fn a_rank_may_send_itself_what_lies_in_the_same_memory() {
    let segment = Segment::create(1).expect("memory for one rank");
    let mut engine = Engine::new(Box::new(Port::on(&segment, 0).expect("the rank is free")));
    let mut place = Place::of(&contents(1, 300), true);
    let message = place.memory[..300].to_vec();
    // SAFETY: it lives until the end of the test.
    let (from, into) = unsafe { (Memory::new(place.memory.as_mut_ptr(), 300), place.memory()) };
    let flight = engine.recv(0, None, None, into).expect("nobody dies");
    let sent = engine.send(0, 0, 1, from, Mode::Standard);
    assert_eq!(sent.expect("nobody dies"), None);
    assert_eq!(engine.release(flight).bytes, 300);
    assert_eq!(place.contents(), message);
}

#[test]
fn memory_is_not_read_where_first_bytes_may_follow() {
    const BYTES: usize = 100_000;
    let segment = Segment::create(2).expect("memory for two ranks");
    let engine = |rank, read_min| {
        segment.set_read_min(read_min);
        Engine::new(Box::new(
            Port::on(&segment, rank).expect("the rank is free"),
        ))
    };
    // Ranks may differ in it: each has seen for itself whether it works.
    let (mut sender, mut receiver) = (engine(0, usize::MAX), engine(1, 0));
    let (mut message, mut got) = (contents(1, BYTES), vec![0; BYTES]);
    // SAFETY: both live until the end of the test.
    let (from, into) = unsafe {
        (
            Memory::new(message.as_mut_ptr(), BYTES),
            Memory::new(got.as_mut_ptr(), BYTES),
        )
    };
    let sent = sender.send(0, 1, 1, from, Mode::Standard);
    let sent = sent.expect("nobody dies").expect("it is long");
    let flight = receiver.recv(0, None, None, into).expect("nobody dies");
    receiver.progress().expect("nobody dies");
    assert_eq!(receiver.landed(&flight), None, "the sender was not asked");
    while receiver.landed(&flight).is_none() {
        sender.progress().expect("nobody dies");
        receiver.progress().expect("nobody dies");
    }
    assert!(sender.landed(&sent).is_some());
    assert_eq!(got, contents(1, BYTES));
}

#[test]
fn the_death_of_a_rank_ends_the_others_with_its_name() {
    let segment = Segment::create(2).expect("memory for two ranks");
    let mut engine = Engine::new(Box::new(Port::on(&segment, 0).expect("the rank is free")));
    let _other = Port::on(&segment, 1).expect("the rank is free");
    assert!(!segment.has_finished(1));
    segment.died(1, "was killed by signal 9 (SIGKILL)");
    let error = (0..).find_map(|calls| engine.transport().idle(calls).err());
    let error = error.expect("it is told in the end");
    assert_eq!(error.to_string(), "rank 1 was killed by signal 9 (SIGKILL)");
}

#[test]
fn a_rank_is_taken_once() {
    let segment = Segment::create(2).expect("memory for two ranks");
    let port = Port::on(&segment, 1).expect("the rank is free");
    let error = Port::on(&segment, 1).err().expect("it is taken");
    assert_eq!(
        error.to_string(),
        "rank 1 has attached before; each rank of a job is one process, once"
    );
    drop(port);
    assert_eq!(
        Segment::create(0).expect_err("no ranks").to_string(),
        "0 ranks cannot share a segment; from 1 to 1024 can"
    );
}

/// One rank sends and the other takes, so that nothing but the ring says when there is room again: of
/// short packets there is none because there are so many, of long ones, where many ranks share what
/// there is for them, because they are so long.
#[test]
fn a_stream_of_packets_goes_round_and_round() {
    LazyLock::force(&ALL);
    let segment = Segment::create(64).expect("memory that is taken as it is used");
    let port = |rank| Port::on(&segment, rank).expect("the rank is free");
    let (mut sender, mut receiver) = (port(0), port(1));
    let longest = sender.packet_max();
    let lengths: Vec<usize> = [[40, 0, 41], [longest; 3]].concat();
    let lengths: Vec<usize> = lengths
        .chunks(3)
        .flat_map(|some| some.repeat(300))
        .collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            for (number, &length) in lengths.iter().enumerate() {
                let body = contents(number, length);
                while !sender.send(1, (number as u64, 7), &body) {
                    sender.idle_awake(1).expect("nobody dies");
                }
            }
            sender.finish();
        });
        let mut coming = lengths.iter().enumerate();
        while coming.len() > 0 {
            let has_come = receiver.receive(None, &mut |from, head, body| {
                let (number, &length) = coming.next().expect("no more than were sent");
                assert_eq!((from, head), (0, (number as u64, 7)));
                assert_eq!(body, contents(number, length));
            });
            if !has_come {
                receiver.idle_awake(1).expect("nobody dies");
            }
        }
        receiver.finish();
    });
}
