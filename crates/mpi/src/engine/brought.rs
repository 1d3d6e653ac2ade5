// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that a call waits for, brought to their ends by somebody else while this process sleeps
//! ([`crate::collective::carried`]).
//!
//! All that are under way are given away, whoever waits for them: a receive takes the first message that it
//! matches, which may be meant for another one.

use std::ops::Range;

use super::flight::{Landed, State};
use super::queues::Posted;
use super::{Engine, Matter};
use crate::collective::carried::{
    ANY_TAG, ANYBODY, Carried, NO_CONTEXT, Part, Stage, Task, Terms, UnderWay, carried_bytes,
};
use crate::error::Result;

/// More messages are not given away: each is looked at for every packet that comes.
const MESSAGES_MAX: usize = 64;

/// A message that is away, and where its bytes lie.
type Away = Vec<(u32, Part)>;

impl Engine {
    /// Has messages brought to their ends by who can do so, if that saves this process a wake; whether it was
    /// done, or something has come that is to be taken first. Nothing else is under way.
    ///
    /// # Errors
    /// As [`Transport::idle`](crate::transport::Transport::idle).
    pub fn bring_about(&mut self, waited: &[u32]) -> Result<bool> {
        // First bytes that go along with an announcement would have to be put together with what is asked for.
        let has_firsts = self.first_max != 0;
        let saves = self.matter.saves_wakes(waited, self.eager_max);
        if has_firsts || !saves || !self.is_quiet() {
            return Ok(false);
        }
        let Some(carrier) = self.transport.carrier() else {
            return Ok(false);
        };
        if !carrier.make_room()? {
            return Ok(true);
        }
        let bytes_max = carrier.bytes_max();
        let terms = Terms {
            short: self.eager_max as u32,
            packet: self.transport.stream_packet(0) as u32,
            // Of what nobody receives nothing is to be done.
            is_alone: true,
            name: self.matter.flights.next_name,
        };
        let Some(carrier) = self.transport.carrier() else {
            return Ok(false);
        };
        let given = self
            .matter
            .give_away(waited, self.eager_max, carrier.image());
        let Some((under_way, away, image)) = given else {
            return Ok(false);
        };
        let carried = Carried {
            context: NO_CONTEXT,
            terms,
            tasks: waited.iter().map(|&flight| Task::Wait(flight)).collect(),
            under_way,
            image,
            ..Carried::default()
        };
        if carried_bytes(carried.tasks.len(), carried.under_way.len()) > bytes_max {
            return Ok(false);
        }
        let mut back = None;
        let outcome = carrier.carry(&carried.write(), &mut |bytes| back = Carried::read(bytes));
        if let Some(back) = back {
            self.matter.take_back(&back, &away, carrier.image());
            self.count_carried(back.done);
            self.set_next_name(back.terms.name);
        }
        outcome.map(|()| true)
    }
}

impl Matter {
    /// Whether a process that waits for these would be woken more than once: by one message after the other, or
    /// by what is announced and by its parts.
    fn saves_wakes(&self, waited: &[u32], short: usize) -> bool {
        let is_long = |&flight: &u32| match self.flights.state(flight) {
            State::Posted { memory } => memory.bytes > short,
            State::Receiving { .. } => true,
            _ => false,
        };
        waited.len() > 1 || waited.iter().any(is_long)
    }

    /// All messages under way, if all of them can be given away, where their bytes lie, and the bytes of the
    /// image that these take. What is sent is copied there.
    fn give_away(
        &self,
        waited: &[u32],
        short: usize,
        image: &mut [u8],
    ) -> Option<(Vec<UnderWay>, Away, u32)> {
        let (mut under_way, mut room) = (Vec::new(), 0..image.len());
        for (flight, &state) in self.flights.under_way() {
            let name = self.flights.name(flight);
            let (peer, context, tag, bytes, stage) = match state {
                State::Receiving {
                    memory,
                    landed,
                    got,
                } if landed.bytes <= memory.bytes => {
                    let got = got as u32;
                    let stage = Stage::Coming { name, got };
                    (landed.from, 0, landed.tag, landed.bytes, stage)
                }
                // A short one waits for its receive alone, and what lies apart goes in turns.
                State::Sending {
                    memory,
                    landed,
                    first: 0,
                    to,
                    context,
                } if memory.bytes > short && !memory.is_apart() => {
                    let stage = Stage::Announced { name };
                    (to, context, landed.tag, memory.bytes, stage)
                }
                _ => return None,
            };
            let part = take(&mut room, bytes, bytes)?;
            if let State::Sending { memory, .. } = state {
                // SAFETY: who sends vouches for the memory.
                image[part.range()].copy_from_slice(unsafe { memory.bytes() });
            }
            under_way.push(UnderWay {
                post: flight,
                peer,
                context,
                tag,
                part,
                stage,
            });
        }
        let receives = self.queues.in_order();
        if under_way.len() + receives.len() > MESSAGES_MAX {
            return None;
        }
        for receive in receives {
            let Posted {
                context,
                from,
                tag,
                flight,
            } = *receive;
            // Mostly less comes than there is room for. For what is longer than this place it is given back.
            let bytes = self.flights.memory(flight).bytes;
            let least = match waited.contains(&flight) {
                true => bytes.min(short),
                false => 0,
            };
            under_way.push(UnderWay {
                post: flight,
                peer: from.unwrap_or(ANYBODY),
                context,
                tag: tag.unwrap_or(ANY_TAG),
                part: take(&mut room, least, bytes)?,
                stage: Stage::Posted,
            });
        }
        let places = under_way.iter().map(|message| (message.post, message.part));
        let away = places.collect();
        Some((under_way, away, room.start as u32))
    }

    /// What was given away is back.
    fn take_back(&mut self, carried: &Carried, away: &Away, image: &[u8]) {
        for &(flight, part) in away {
            let range = |bytes: Range<u32>| {
                let start = part.offset as usize;
                &image[start + bytes.start as usize..start + bytes.end as usize]
            };
            let got = match self.flights.state(flight) {
                State::Receiving { got, .. } => got as u32,
                _ => 0,
            };
            let is_this = |post: u32| post == flight;
            let mut ended = carried.ended.iter();
            if let Some(ended) = ended.find(|ended| is_this(ended.post)) {
                match self.queues.withdraw(flight) {
                    true => {
                        let body = range(0..ended.bytes);
                        self.flights.fill(flight, ended.peer, ended.tag, body);
                    }
                    false => self.flights.append(flight, range(got..ended.bytes)),
                }
                continue;
            }
            let mut under_way = carried.under_way.iter();
            match under_way.find(|message| is_this(message.post)) {
                // It was sent.
                None => self.flights.complete(flight),
                Some(message) => {
                    let Stage::Coming { name, got: now } = message.stage else {
                        continue;
                    };
                    if self.queues.withdraw(flight) {
                        let bytes = message.part.bytes as usize;
                        let landed = Landed::sent(message.peer, message.tag, bytes);
                        self.flights.begin(flight, landed);
                        self.flights.set_name(flight, name);
                    }
                    self.flights.append(flight, range(got..now));
                }
            }
        }
    }
}

/// The next bytes of a room: as many as wanted if there are, and not fewer than `least`.
fn take(room: &mut Range<usize>, least: usize, wanted: usize) -> Option<Part> {
    let bytes = wanted.min(room.len());
    let part = Part {
        offset: room.start as u32,
        bytes: bytes as u32,
    };
    room.start = (room.start + bytes).next_multiple_of(8).min(room.end);
    (bytes >= least).then_some(part)
}
