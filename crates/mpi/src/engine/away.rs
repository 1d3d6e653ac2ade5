// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an engine knows of the messages of a collective, for who goes on with it elsewhere
//! ([`crate::collective::carried`]).
#![forbid(unsafe_code)]

use super::flight::{Landed, State};
use super::memory::Memory;
use super::packet::Packet;
use super::queues::{Arrived, Body};
use super::{Engine, Flight};
use crate::collective::carried::{Done, Early, Stage};

impl Engine {
    /// How many messages of a context and a tag have come that no receive has taken, and the bytes of those
    /// that are here; `None` if somebody waits for the receipt of one, or it is to be read from its sender's
    /// memory, or longer than 4 GiB.
    #[must_use]
    pub fn early(&self, context: u32, tag: i32) -> Option<(usize, usize)> {
        let mut all = self.matter.queues.of(context, tag);
        all.try_fold((0, 0), |(messages, bytes), arrived| match &arrived.body {
            Body::Bytes(body) => Some((messages + 1, bytes + body.len())),
            Body::Announced {
                bytes: length,
                address: 0,
                ..
            } if u32::try_from(*length).is_ok() => Some((messages + 1, bytes)),
            Body::Sync(..) | Body::Announced { .. } => None,
        })
    }

    /// Takes them out, with their senders, those of a sender in their order.
    pub fn take_early(&mut self, context: u32, tag: i32) -> Vec<(u32, Early)> {
        let mut taken = Vec::new();
        while let Some(arrived) = self.matter.queues.take(context, None, Some(tag)) {
            let early = match arrived.body {
                Body::Bytes(body) => Early::Bytes(body),
                Body::Announced { bytes, theirs, .. } => Early::Announced {
                    bytes: bytes as u32,
                    name: theirs,
                },
                Body::Sync(..) => unreachable!("`early` was asked"),
            };
            taken.push((arrived.from, early));
        }
        taken
    }

    /// The inverse of [`Engine::take_early`]: no receive waits for any of them.
    pub fn keep_early(&mut self, context: u32, tag: i32, early: Vec<(u32, Early)>) {
        let packet = Packet::eager(context, tag);
        for (from, early) in early {
            let body = match early {
                Early::Bytes(body) => Body::Bytes(body),
                Early::Announced { bytes, name } => Body::Announced {
                    bytes: bytes as usize,
                    address: 0,
                    theirs: name,
                },
            };
            let arrived = Arrived::new(from, packet, body);
            self.matter.queues.keep(arrived);
        }
    }

    /// How far a message has come that has not landed; `None` where somebody else can not go on with it: it
    /// has another length than its receive, or some of it went along with its announcement.
    #[must_use]
    pub fn stage(&self, flight: &Flight) -> Option<Stage> {
        let name = self.matter.flights.name(flight.0);
        match self.matter.flights.state(flight.0) {
            State::Posted { .. } => Some(Stage::Posted),
            State::Receiving {
                memory,
                landed,
                got,
            } => (landed.bytes == memory.bytes).then_some(Stage::Coming {
                name,
                got: got as u32,
            }),
            State::Sending { first, .. } => (first == 0).then_some(Stage::Announced { name }),
            State::Landed(_) | State::Free(_) => None,
        }
    }

    /// A message has come as far as this elsewhere; it had begun here.
    pub fn set_stage(&mut self, flight: &Flight, stage: Stage) {
        if let Stage::Coming { got, .. } = stage {
            self.matter.flights.set_got(flight.0, got as usize);
        }
    }

    /// The same of one that has ended there.
    pub fn end(&mut self, flight: &Flight) {
        self.matter.flights.complete(flight.0);
        self.forget(flight);
    }

    /// A message that has begun elsewhere, and that was asked for or announced there. It goes on here.
    ///
    /// # Panics
    /// If it is a receive that nothing has come for: [`Engine::recv`] is for those.
    pub fn adopt(
        &mut self,
        (context, tag): (u32, i32),
        peer: u32,
        memory: Memory,
        stage: Stage,
    ) -> Flight {
        let (name, state) = match stage {
            Stage::Posted => unreachable!("it is received like any other"),
            Stage::Coming { name, got } => {
                let landed = Landed::sent(peer, tag, memory.bytes);
                let got = got as usize;
                let state = State::Receiving {
                    memory,
                    landed,
                    got,
                };
                (name, state)
            }
            Stage::Announced { name } => {
                let landed = Landed::sent(self.matter.rank, tag, memory.bytes);
                let state = State::Sending {
                    memory,
                    landed,
                    first: 0,
                    to: peer,
                    context,
                };
                (name, state)
            }
        };
        Flight(self.matter.flights.add_named(name, state))
    }

    /// What the next message is called that begins elsewhere.
    #[must_use]
    pub fn next_name(&self) -> u32 {
        self.matter.flights.next_name
    }

    /// Messages have begun elsewhere up to this name.
    pub fn set_next_name(&mut self, name: u32) {
        self.matter.flights.next_name = name;
    }

    /// Counts messages that somebody else has sent and received for this rank.
    pub fn count_carried(&mut self, done: Done) {
        let counters = &mut self.matter.counters;
        counters.sent += u64::from(done.sent);
        counters.sent_bytes += u64::from(done.sent_bytes);
        counters.arrived += u64::from(done.arrived);
        counters.unexpected += u64::from(done.unexpected);
        counters.announced.messages += u64::from(done.announced);
        counters.announced.bytes += u64::from(done.announced_bytes);
        counters.streamed.messages += u64::from(done.streamed);
        counters.streamed.bytes += u64::from(done.streamed_bytes);
    }
}
