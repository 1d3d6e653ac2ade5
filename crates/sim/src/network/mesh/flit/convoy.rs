// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flits of a packet whose head has reached its queue: they go all the way at once, where there is one
//! virtual channel.
//!
//! Every output on the way is the packet's until its tail has gone through, and the queue has room. So
//! nobody can get in the way any more, and the time of every flit at every router is the maximum of times
//! that are known: its own at the router before, that of the flit in front, and the one from which on it
//! has a place. What is moved is what [`FlitMesh::inject`] and [`FlitMesh::stream`] would move, in the same
//! cycles, without a turn for every few flits and router. The tail goes alone, since others wait for it.

use super::records::{Leg, Pen};
use super::{
    CONVOY, Channel, FREE, FlitMesh, NONE, Packet, State, TIME_SHIFT, free_from, place_of, retimed,
    wrapped,
};
use crate::network::mesh::interval::Interval;

/// Fewer flits than these are no convoy.
const FLITS_MIN: u32 = 4;

/// The queue at the end.
struct Lane {
    base: u32,
    capacity: u32,
    free: u32,
    last: u64,
}

impl Lane {
    /// A flit has come, at this time.
    fn passed(&mut self, time: u64) {
        self.free = if self.free + 1 == self.capacity {
            0
        } else {
            self.free + 1
        };
        self.last = time;
    }
}

impl FlitMesh {
    /// Moves no flit more than a router at a time from now on: the reference for those that go in convoys.
    pub fn without_convoys(&mut self) {
        self.void_turns.clear();
    }

    /// Moves what has been injected of a packet into its queue, and with it what is left, but for the tail,
    /// as far as the queue has room; whether it was enough for a convoy.
    pub(super) fn convoy(
        &mut self,
        channel: u32,
        (index, packet): (u32, &Packet),
        pen: &mut Pen,
    ) -> bool {
        let mut legs = std::mem::take(&mut self.legs);
        let lane = self.legs_from(channel, &mut legs);
        let held: u32 = legs.iter().map(|leg| leg.held).sum();
        let (base, capacity) = self.places_of(lane);
        let into = self.channels[lane as usize];
        let room = (capacity - u32::from(into.len)).saturating_sub(held);
        let most = room.min(packet.flits - 1 - pen.flit);
        let is_convoy = most >= FLITS_MIN;
        if is_convoy {
            let mut at_end = Lane {
                base,
                capacity,
                free: (u32::from(into.first) + u32::from(into.len)) % capacity,
                last: self.now,
            };
            let first = at_end.free;
            self.clear_way(index, &mut legs, &mut at_end);
            let written = self.write_on((index, packet), pen, most, &mut legs, &mut at_end);
            self.leave(&legs, written);
            let arrival = self.places[(base + first) as usize] >> TIME_SHIFT;
            self.arrive_in_queue(lane, (held + written) as u16, arrival);
        }
        legs.clear();
        self.legs = legs;
        is_convoy
    }

    /// The routers from `channel` on; returns the queue's channel.
    fn legs_from(&self, channel: u32, legs: &mut Vec<Leg>) -> u32 {
        let router = &self.spec.router;
        let mut at = channel;
        while at < self.ejection {
            let Channel {
                next_at,
                down,
                first,
                len,
                state,
                ..
            } = self.channels[at as usize];
            debug_assert!(
                matches!(state, State::Active | State::Starved),
                "the packet has its output"
            );
            legs.push(Leg {
                channel: at,
                base: at * self.capacity,
                first: u32::from(first),
                held: u32::from(len),
                next_at,
                hop: u64::from(if down < self.ejection {
                    router.switch + router.link
                } else {
                    router.ejection
                }),
            });
            at = down;
        }
        at
    }

    /// Moves the flits that are on their way, the foremost first, so that those behind them find empty
    /// buffers.
    fn clear_way(&mut self, packet: u32, legs: &mut [Leg], lane: &mut Lane) {
        for leg in (0..legs.len()).rev() {
            for _ in 0..legs[leg].held {
                let flit = self.places[(legs[leg].base + legs[leg].first) as usize];
                debug_assert_eq!(flit & FREE, u64::from(packet), "nobody else is there");
                self.go(flit, &mut legs[leg..], lane);
            }
        }
    }

    /// Injects flits as their core writes them, `most` of them; returns how many.
    fn write_on(
        &mut self,
        (index, packet): (u32, &Packet),
        pen: &mut Pen,
        most: u32,
        legs: &mut [Leg],
        lane: &mut Lane,
    ) -> u32 {
        let injection = u64::from(self.spec.router.injection);
        let may_flow = self.may_flow(packet.flit_interval, legs);
        let (mut written, mut flowing) = (0, 0);
        while written < most && lane.last <= self.now + CONVOY {
            if may_flow && flowing >= self.capacity {
                written += self.flow((index, packet), pen, most - written, legs, lane);
                flowing = 0;
                continue;
            }
            let place = self.places[(legs[0].base + legs[0].first) as usize];
            let start = pen.at.max(place >> TIME_SHIFT);
            pen.wrote(start, 1, packet.flit_interval);
            let has_waited = self.go(place_of(index, false, start + injection), legs, lane);
            flowing = if has_waited { 0 } else { flowing + 1 };
            written += 1;
        }
        written
    }

    /// Whether flits that have not waited are followed by others that do not, as far as the routers are
    /// concerned: each finds its place free, and the link, at this interval.
    fn may_flow(&self, interval: Interval, legs: &[Leg]) -> bool {
        let router = &self.spec.router;
        let cycles = u64::from(interval.parts() / Interval::CYCLE);
        let between = legs.iter().rev().skip(1).map(|leg| leg.hop);
        let longest = between.max().unwrap_or(0).max(router.injection.into());
        cycles >= u64::from(router.link_interval)
            && cycles * u64::from(self.capacity) >= longest + u64::from(router.credit)
    }

    /// Moves flits that wait nowhere, as long as the queue's places are free in time; returns how many. As
    /// many as a buffer has places have not waited before.
    fn flow(
        &mut self,
        (index, packet): (u32, &Packet),
        pen: &mut Pen,
        most: u32,
        legs: &mut [Leg],
        lane: &mut Lane,
    ) -> u32 {
        let router = &self.spec.router;
        let (injection, credit) = (u64::from(router.injection), u64::from(router.credit));
        let interval = u64::from(router.link_interval);
        let to_last = injection + legs.iter().map(|leg| leg.hop).sum::<u64>();
        let last_hop = legs.last().map_or(0, |leg| leg.hop);
        let mut starts = std::mem::take(&mut self.starts);
        let mut written = 0;
        while written < most && lane.last <= self.now + CONVOY {
            let (start, place) = (pen.at, (lane.base + lane.free) as usize);
            let arrival = start + to_last;
            if self.places[place] >> TIME_SHIFT > arrival - last_hop {
                break;
            }
            self.places[place] = place_of(index, false, arrival);
            lane.passed(arrival);
            pen.wrote(start, 1, packet.flit_interval);
            if starts.len() == self.capacity as usize {
                starts.pop_front();
            }
            starts.push_back(start);
            written += 1;
        }
        // What they leave in the buffers: of as many as there are places.
        let mut offset = injection;
        for leg in legs {
            leg.first = (leg.first + written) % self.capacity;
            for (behind, start) in (1..).zip(starts.iter().rev()) {
                let place = wrapped(leg.first + self.capacity - behind, self.capacity);
                self.places[(leg.base + place) as usize] = free_from(start + offset + credit);
            }
            if let Some(last) = starts.back() {
                leg.next_at = last + offset + interval;
            }
            offset += leg.hop;
        }
        starts.clear();
        self.starts = starts;
        written
    }

    /// Moves a flit that is at the first of these routers into the queue; whether it has waited anywhere.
    #[inline]
    fn go(&mut self, flit: u64, legs: &mut [Leg], lane: &mut Lane) -> bool {
        let router = &self.spec.router;
        let (credit, interval) = (u64::from(router.credit), u64::from(router.link_interval));
        let (mut time, mut has_waited) = (flit >> TIME_SHIFT, false);
        let mut rest = legs;
        while let Some((leg, behind)) = rest.split_first_mut() {
            let target = match behind.first() {
                Some(next) => next.base + next.first,
                None => lane.base + lane.free,
            };
            let free = self.places[target as usize] >> TIME_SHIFT;
            let leaves = leg.next_at.max(time).max(free);
            has_waited |= leaves > time;
            self.places[(leg.base + leg.first) as usize] = free_from(leaves + credit);
            leg.next_at = leaves + interval;
            leg.first = if leg.first + 1 == self.capacity {
                0
            } else {
                leg.first + 1
            };
            time = leaves + leg.hop;
            rest = behind;
        }
        self.places[(lane.base + lane.free) as usize] = retimed(flit, time);
        lane.passed(time);
        has_waited
    }

    /// Leaves the routers behind as they are when the last flit of the convoy has gone through.
    fn leave(&mut self, legs: &[Leg], written: u32) {
        self.flits_injected += u64::from(written);
        let mut entered = written;
        for (at, leg) in legs.iter().enumerate() {
            let channel = &mut self.channels[leg.channel as usize];
            let (state, down) = (channel.state, channel.down);
            channel.first = leg.first as u16;
            channel.len = 0;
            channel.next_at = leg.next_at;
            channel.state = State::Starved;
            channel.flits = channel.flits.saturating_add(entered);
            if at > 0 {
                self.flit_hops += u64::from(entered);
            }
            entered += leg.held;
            // Who had a flit there waits for a place, or has a turn to come, which is void now.
            if state == State::Active {
                let waiter = &mut self.channels[down as usize].waiter;
                if *waiter == leg.channel {
                    *waiter = NONE;
                } else {
                    self.void_turns[leg.channel as usize] += 1;
                }
            }
        }
    }

    /// Whether a convoy has done already what `channel` has its turn for: the oldest turns are the void ones,
    /// because flits behind a convoy act later than all of it.
    #[inline]
    pub(super) fn is_void_turn(&mut self, channel: u32) -> bool {
        let void = self.void_turns.get_mut(channel as usize);
        let Some(void) = void.filter(|void| **void > 0) else {
            return false;
        };
        *void -= 1;
        true
    }
}
