// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which receive gets which message: any calls of a few ranks, and by the letter of the standard (MPI 5.0,
//! 3.5) whether what came of them may be.
//!
//! Packets come when the transport likes, so that there is more than one right answer. What is asked is
//! that messages of one sender do not overtake each other, that receives do not either, that nothing
//! stays that belongs together, and that bytes and statuses are those of the message.

use corecast_mpi::datatype::{Form, Recipe};
use corecast_mpi::handle::{ANY_SOURCE, ANY_TAG, CommId, MessageId, RequestId, TypeId};
use corecast_mpi::{
    Attached, Buffer, Class, Communicator, Group, Holder, Process, SendMode, Status,
};

use super::{Choices, marked, world};

/// Messages of a run: each has a length that no other one has.
const MESSAGES_MAX: usize = 64;
/// Calls of a run.
const CALLS_MAX: usize = 300;
const TAGS: usize = 3;
/// A context that no other communicator of these ranks has.
const CONTEXT: u32 = 1000;
/// What no message has written.
const UNTOUCHED: u8 = 0xee;
/// Rounds without anything that has moved, after which nothing will: the transport delivers two of three
/// times.
const QUIET_ROUNDS: u32 = 64;

struct Message {
    from: u32,
    to: u32,
    comm: usize,
    tag: i32,
    bytes: usize,
    /// Of the sender, until it has ended.
    request: Option<RequestId>,
    /// How many receives there were when it ended, if that says that it was received.
    received_before: Option<usize>,
    _memory: Box<[u8]>,
}

/// A receive, or a probe that took a message.
struct Receive {
    at: u32,
    comm: usize,
    /// World rank, and tag; none = any.
    from: Option<u32>,
    tag: Option<i32>,
    room: usize,
    is_apart: bool,
    request: Option<RequestId>,
    memory: Box<[u8]>,
    /// What was probed and is to be received.
    taken: Option<(MessageId, Buffer)>,
    got: Option<usize>,
    is_cancelled: bool,
}

impl Receive {
    fn takes(&self, message: &Message) -> bool {
        (self.at, self.comm) == (message.to, message.comm)
            && self.from.is_none_or(|from| from == message.from)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }

    fn is_pending(&self) -> bool {
        self.got.is_none() && !self.is_cancelled
    }
}

struct Run {
    ranks: Vec<Process>,
    /// All ranks, and all in reverse; the same at each.
    comms: [CommId; 2],
    /// Bytes with a gap behind each; the same at each.
    apart: TypeId,
    messages: Vec<Message>,
    receives: Vec<Receive>,
}

/// Any calls.
pub fn check(choices: &mut Choices) {
    let mut run = Run::new(1 + choices.below(4) as u32, choices.byte().into());
    for _ in 0..CALLS_MAX {
        if choices.are_over() {
            break;
        }
        run.call(choices);
    }
    run.end();
}

impl Run {
    fn new(ranks: u32, seed: u64) -> Self {
        let (mut comms, mut apart) = ([CommId::WORLD; 2], TypeId::NULL);
        let transports = world::transports(ranks, seed).into_iter();
        let all = transports.enumerate().map(|(rank, transport)| {
            let mut process = Process::new(Box::new(transport));
            let reverse = Group::new((0..ranks).rev().collect());
            let number = ranks - 1 - rank as u32;
            let reverse = Communicator::new(CONTEXT, reverse, number, "reverse");
            comms[1] = process.comms.insert(reverse).expect("the first");
            let of = process.datatype(TypeId::BYTE).expect("it is predefined");
            let recipe = Recipe::Resized {
                lower: 0,
                extent: 2,
                of: of.clone(),
            };
            apart = process.make_type(recipe, Form::Int).expect("it is allowed");
            process.commit_type(apart).expect("as just made");
            let attached = Attached {
                address: std::ptr::null_mut(),
                bytes: 1 << 20,
            };
            let attached = process.attach_buffer(Holder::Process, attached);
            attached.expect("the first");
            process
        });
        Self {
            ranks: all.collect(),
            comms,
            apart,
            messages: Vec::new(),
            receives: Vec::new(),
        }
    }

    fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The rank in a communicator of a world rank, or the other way round.
    fn turned(&self, comm: usize, rank: u32) -> u32 {
        match comm {
            0 => rank,
            _ => self.size() - 1 - rank,
        }
    }

    fn process(&mut self, rank: u32) -> &mut Process {
        &mut self.ranks[rank as usize]
    }

    /// Memory for so many bytes, and the buffer that it is.
    fn memory(&self, bytes: usize, is_apart: bool) -> (Box<[u8]>, Buffer) {
        let stride = 1 + usize::from(is_apart);
        let mut memory = vec![UNTOUCHED; (bytes * stride).max(1)].into_boxed_slice();
        let buffer = Buffer {
            address: memory.as_mut_ptr(),
            count: bytes,
            datatype: if is_apart { self.apart } else { TypeId::BYTE },
        };
        (memory, buffer)
    }

    fn call(&mut self, choices: &mut Choices) {
        let rank = choices.below(self.ranks.len()) as u32;
        match choices.below(12) {
            0..3 => self.send(rank, choices),
            3..6 => self.receive(rank, choices),
            6 => self.probe(rank, choices),
            7 => {
                let pattern = self.pattern(choices);
                if self.take(rank, pattern, choices) && choices.is_true() {
                    self.receive_taken(self.receives.len() - 1);
                }
            }
            8 => self.cancel(choices),
            9 => self.test(),
            _ => {
                self.process(rank).progress().expect("no rank has died");
            }
        }
    }

    fn send(&mut self, from: u32, choices: &mut Choices) {
        let number = self.messages.len();
        if number == MESSAGES_MAX {
            return;
        }
        let to = choices.below(self.ranks.len()) as u32;
        let (comm, tag) = (choices.below(2), choices.below(TAGS) as i32);
        let bytes = number + MESSAGES_MAX * choices.below(6);
        let is_apart = choices.is_true();
        let (mut memory, buffer) = self.memory(bytes, is_apart);
        let stride = 1 + usize::from(is_apart);
        for (index, byte) in memory.iter_mut().step_by(stride).take(bytes).enumerate() {
            *byte = marked(number + index);
        }
        let mode = choices.one_of(&[
            SendMode::Standard,
            SendMode::Standard,
            SendMode::Synchronous,
            SendMode::Buffered,
        ]);
        let (there, id) = (self.turned(comm, to) as i32, self.comms[comm]);
        let is_prepared = choices.below(4) == 0;
        let process = self.process(from);
        let request = match is_prepared {
            false => process.isend(buffer, there, tag, id, mode),
            true => process
                .prepare_send(buffer, there, tag, id, mode)
                .and_then(|request| process.start(request).map(|()| request)),
        };
        self.messages.push(Message {
            from,
            to,
            comm,
            tag,
            bytes,
            request: Some(request.expect("all is as it should be")),
            received_before: (mode == SendMode::Synchronous).then_some(usize::MAX),
            _memory: memory,
        });
    }

    /// A communicator, and from whom and of which tag.
    fn pattern(&self, choices: &mut Choices) -> (usize, Option<u32>, Option<i32>) {
        let comm = choices.below(2);
        let from = choices.below(self.ranks.len() + 1) as u32;
        let tag = choices.below(TAGS + 1);
        let from = (from < self.size()).then_some(from);
        (comm, from, (tag < TAGS).then_some(tag as i32))
    }

    /// The same as a call takes it.
    fn given(&self, (comm, from, tag): (usize, Option<u32>, Option<i32>)) -> (i32, i32, CommId) {
        let from = from.map_or(ANY_SOURCE, |from| self.turned(comm, from) as i32);
        (from, tag.unwrap_or(ANY_TAG), self.comms[comm])
    }

    fn add_receive(
        &mut self,
        at: u32,
        (comm, from, tag): (usize, Option<u32>, Option<i32>),
        choices: &mut Choices,
    ) -> Buffer {
        let room = MESSAGES_MAX * choices.below(7);
        let is_apart = choices.is_true();
        let (memory, buffer) = self.memory(room, is_apart);
        self.receives.push(Receive {
            at,
            comm,
            from,
            tag,
            room,
            is_apart,
            request: None,
            memory,
            taken: None,
            got: None,
            is_cancelled: false,
        });
        buffer
    }

    fn receive(&mut self, at: u32, choices: &mut Choices) {
        let pattern = self.pattern(choices);
        let buffer = self.add_receive(at, pattern, choices);
        let (from, tag, comm) = self.given(pattern);
        let is_prepared = choices.below(4) == 0;
        let process = self.process(at);
        let request = match is_prepared {
            false => process.irecv(buffer, from, tag, comm),
            true => process
                .prepare_recv(buffer, from, tag, comm)
                .and_then(|request| process.start(request).map(|()| request)),
        };
        let last = self.receives.last_mut().expect("as just added");
        last.request = Some(request.expect("all is as it should be"));
    }

    /// What a probe sees is what a receive would take.
    fn probe(&mut self, at: u32, choices: &mut Choices) {
        let pattern = self.pattern(choices);
        let (from, tag, comm) = self.given(pattern);
        let process = self.process(at);
        let seen = process.iprobe(from, tag, comm).expect("nothing is wrong");
        if let Some(status) = seen {
            let buffer = self.add_receive(at, pattern, choices);
            let number = self.number(at, pattern.0, &status);
            let process = self.process(at);
            let request = process.irecv(buffer, from, tag, comm);
            let last = self.receives.last_mut().expect("as just added");
            last.request = Some(request.expect("all is as it should be"));
            // It may still be on its way; which one it is shows in the end.
            last.got = Some(number);
        }
    }

    /// Takes a message that has come, to be received later; `false`: there is none.
    fn take(
        &mut self,
        at: u32,
        pattern: (usize, Option<u32>, Option<i32>),
        choices: &mut Choices,
    ) -> bool {
        let (from, tag, comm) = self.given(pattern);
        let process = self.process(at);
        let taken = process.improbe(from, tag, comm).expect("nothing is wrong");
        let Some((message, status)) = taken else {
            return false;
        };
        let number = self.number(at, pattern.0, &status);
        let buffer = self.add_receive(at, pattern, choices);
        let last = self.receives.last_mut().expect("as just added");
        last.got = Some(number);
        last.taken = Some((message, buffer));
        true
    }

    fn receive_taken(&mut self, index: usize) {
        let receive = &mut self.receives[index];
        let Some((message, buffer)) = receive.taken.take() else {
            return;
        };
        let process = &mut self.ranks[receive.at as usize];
        let request = process.begin_recv_probed(buffer, message);
        let request = request.and_then(|request| process.keep(request));
        receive.request = Some(request.expect("all is as it should be"));
    }

    /// The message that a status is of.
    fn number(&self, at: u32, comm: usize, status: &Status) -> usize {
        let number = status.bytes as usize % MESSAGES_MAX;
        let message = &self.messages[number];
        assert_eq!(status.bytes as usize, message.bytes);
        assert_eq!((message.to, message.comm), (at, comm));
        assert_eq!(status.tag, message.tag);
        assert_eq!(status.source, self.turned(comm, message.from) as i32);
        number
    }

    fn cancel(&mut self, choices: &mut Choices) {
        if self.receives.is_empty() {
            return;
        }
        let receive = &self.receives[choices.below(self.receives.len().min(256))];
        if let Some(request) = receive.request {
            let at = receive.at;
            self.process(at).cancel(request).expect("it is a message");
        }
    }

    /// Sees what has ended.
    fn test(&mut self) {
        for index in 0..self.messages.len() {
            let message = &self.messages[index];
            let Some(request) = message.request else {
                continue;
            };
            let from = message.from;
            let process = self.process(from);
            let ended = process.test(request).expect("sends do not fail");
            if ended.is_some() {
                let is_persistent = process.has_request(request);
                if is_persistent {
                    process.free_request(request).expect("it has ended");
                }
                let receives = self.receives.len();
                let message = &mut self.messages[index];
                message.request = None;
                message.received_before = message.received_before.map(|_| receives);
            }
        }
        for index in 0..self.receives.len() {
            self.test_receive(index);
        }
    }

    fn test_receive(&mut self, index: usize) {
        let (at, comm) = (self.receives[index].at, self.receives[index].comm);
        let Some(request) = self.receives[index].request else {
            return;
        };
        let process = self.process(at);
        let ended = process.test(request);
        if matches!(ended, Ok(None)) {
            return;
        }
        if process.has_request(request) {
            process.free_request(request).expect("it has ended");
        }
        let (status, is_cut) = match ended {
            Ok(status) => (status.expect("it has ended"), false),
            Err(error) => {
                assert_eq!(error.class, Class::Truncate);
                (*error.status.expect("that of the message"), true)
            }
        };
        self.receives[index].request = None;
        if status.is_cancelled {
            assert_eq!(self.receives[index].got, None);
            self.receives[index].is_cancelled = true;
            return;
        }
        let number = self.number(at, comm, &status);
        let bytes = self.messages[number].bytes;
        let receive = &mut self.receives[index];
        assert_eq!(*receive.got.get_or_insert(number), number);
        assert_eq!(is_cut, bytes > receive.room);
        let stride = 1 + usize::from(receive.is_apart);
        let wanted = (0..receive.memory.len()).map(|place| {
            let (index, gap) = (place / stride, place % stride);
            match gap == 0 && index < bytes.min(receive.room) {
                true => marked(number + index),
                false => UNTOUCHED,
            }
        });
        assert!(wanted.eq(receive.memory.iter().copied()), "its bytes");
    }

    /// Until nothing moves any more.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < QUIET_ROUNDS {
            let mut has_moved = false;
            for process in &mut self.ranks {
                has_moved |= process.progress().expect("no rank has died");
            }
            quiet = if has_moved { 0 } else { quiet + 1 };
        }
    }

    fn end(&mut self) {
        for index in 0..self.receives.len() {
            self.receive_taken(index);
        }
        self.settle();
        self.test();
        self.compare();
        for index in 0..self.receives.len() {
            let receive = &self.receives[index];
            if let Some(request) = receive.request {
                assert!(receive.is_pending(), "it has a message");
                let at = receive.at;
                self.process(at).cancel(request).expect("it is a message");
            }
        }
        self.test();
        assert!(self.receives.iter().all(|it| it.request.is_none()));
        // What nobody has asked for is still there.
        for rank in 0..self.size() {
            for comm in 0..self.comms.len() {
                while self.take(rank, (comm, None, None), &mut Choices::new(&[])) {}
            }
        }
        for index in 0..self.receives.len() {
            self.receive_taken(index);
        }
        self.settle();
        self.test();
        let mut got: Vec<usize> = self.receives.iter().filter_map(|it| it.got).collect();
        got.sort_unstable();
        assert!(
            got.iter().copied().eq(0..self.messages.len()),
            "all messages have come, each once: {got:?}"
        );
        assert!(self.messages.iter().all(|it| it.request.is_none()));
        assert!(self.ranks.iter().all(Process::is_quiet));
    }

    /// Whether what was received may be.
    fn compare(&self) {
        let receiver = |message: usize| {
            let mut all = self.receives.iter();
            all.position(|receive| receive.got == Some(message))
        };
        for (index, receive) in self.receives.iter().enumerate() {
            let Some(got) = receive.got else {
                let mut sent = self.messages.iter().enumerate();
                assert!(
                    receive.is_cancelled
                        || !sent
                            .any(|(number, it)| receive.takes(it) && receiver(number).is_none()),
                    "receive {index} waits for what is there"
                );
                continue;
            };
            let message = &self.messages[got];
            assert!(receive.takes(message), "receive {index} took {got}");
            assert_eq!(
                receiver(got),
                Some(index),
                "message {got} was received twice"
            );
            for (earlier, other) in self.messages[..got].iter().enumerate() {
                if other.from == message.from && receive.takes(other) {
                    assert!(
                        receiver(earlier).is_some_and(|receiver| receiver < index),
                        "message {got} has overtaken {earlier}"
                    );
                }
            }
            for (earlier, other) in self.receives[..index].iter().enumerate() {
                assert!(
                    !(other.is_pending() && other.takes(message)),
                    "receive {index} has overtaken {earlier}"
                );
            }
        }
        for (number, message) in self.messages.iter().enumerate() {
            let Some(receives) = message
                .received_before
                .filter(|_| message.request.is_none())
            else {
                continue;
            };
            assert!(
                receiver(number).is_some_and(|receiver| receiver < receives),
                "the synchronous send {number} has ended before its receive began"
            );
        }
    }
}
