// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cores' side: injection, and what waits to be taken at ejection.

use std::ops::RangeInclusive;

use super::records::Pen;
use super::{
    AHEAD, CONVOY, Channel, FREE, Flit, FlitMesh, NONE, Output, QueueEvent, State, TAIL,
    TIME_SHIFT, UnderWay, all_of, free_from, place_of, wrapped,
};
use crate::network::mesh::spec::{SIDES, VcChoice};

impl FlitMesh {
    /// The channel in which a core's next packet goes: the one that its receiver has, or the first
    /// one with room after that of the packet before, or else just the first one after it.
    fn channel_for(&self, core: u32, packet: u32) -> u32 {
        let router = core / self.spec.grid.per_node;
        let port = SIDES + core % self.spec.grid.per_node;
        let base = (router * self.ports + port) * self.vcs;
        if self.spec.router.vc_choice == VcChoice::Receiver {
            return base + self.ways[packet as usize].receiver % self.vcs;
        }
        let last = u32::from(self.sources[core as usize].last_vc);
        let mut turns = (1..=self.vcs).map(|turn| base + (last + turn) % self.vcs);
        let has_room = |&channel: &u32| {
            let place = self.places[self.next_place(channel)];
            place & FREE == FREE && place >> TIME_SHIFT <= self.now
        };
        turns.find(has_room).unwrap_or(base + (last + 1) % self.vcs)
    }

    /// Injects as much of the first packet of a core as has a place.
    pub(super) fn inject(&mut self, core: u32) {
        let source = &self.sources[core as usize];
        let packet = source.queue[0];
        let mut pen = Pen {
            flit: source.flit,
            at: self.now.max(source.next_at),
            early: 0,
        };
        if pen.flit > 0 && pen.at == source.next_at {
            pen.early = source.early;
        }
        let channel = if pen.flit == 0 {
            self.channel_for(core, packet)
        } else {
            source.channel
        };
        let UnderWay {
            packet: of,
            has_way,
            ..
        } = self.packets[packet as usize];
        let mut ahead = self.now + AHEAD;
        // Of others' traffic links are counted to the end of a run: it does not go that far ahead.
        let may_go = has_way && of.reports_injection && pen.flit > 0;
        if may_go && self.convoy(channel, (packet, &of), &mut pen) {
            // What follows is the tail, or waits for room: neither is written before its time.
            ahead = self.now;
        }
        let is_exact = self.vcs > 1 && (self.ahead == 0 || of.reports_injection);
        while pen.flit < of.flits {
            let place = self.places[self.next_place(channel)];
            if place & FREE != FREE {
                self.wait_for_place(channel, self.waiter_of_core(core), pen.at);
                break;
            }
            let start = pen.at.max(place >> TIME_SHIFT);
            if start > ahead || (start > self.now && (is_exact || pen.flit == 0)) {
                self.injections.push(start, core);
                break;
            }
            if pen.flit == 0 {
                self.packets[packet as usize].injected = start;
            }
            let end = match is_exact || !of.flit_interval.is_cycle() {
                true => start,
                false => ahead,
            };
            let put = self.put(channel, packet, of.flits - pen.flit, [start, end]);
            pen.wrote(start, put, of.flit_interval);
        }
        let source = &mut self.sources[core as usize];
        source.channel = channel;
        (source.next_at, source.early) = (pen.at, pen.early);
        source.flit = pen.flit;
        if pen.flit == of.flits {
            source.queue.pop_front();
            source.flit = 0;
            if of.reports_injection {
                self.injected.push((of.tag, pen.at));
            }
            source.last_vc = (channel % self.vcs) as u8;
            if source.queue.is_empty() {
                source.is_scheduled = false;
            } else {
                self.injections.push(pen.at, core);
            }
        }
    }

    /// Injects those of the last `left` flits of `packet` that have a place in `channel` in the cycles
    /// from `start` to `end`, one in each without a pause; the first has one. Returns their number.
    fn put(&mut self, channel: u32, packet: u32, left: u32, [start, end]: [u64; 2]) -> u32 {
        let base = channel * self.capacity;
        let Channel { first, len, .. } = self.channels[channel as usize];
        let free = wrapped(u32::from(first) + u32::from(len), self.capacity);
        let room = self.capacity - u32::from(len);
        let most = left.min(room).min((end + 1 - start) as u32);
        let mut flits = 1;
        while flits < most {
            let place = base + wrapped(free + flits, self.capacity);
            if self.places[place as usize] >> TIME_SHIFT > start + u64::from(flits) {
                break;
            }
            flits += 1;
        }
        let arrival = start + u64::from(self.spec.router.injection);
        let flit = place_of(packet, false, arrival);
        self.places.fill(base, self.capacity, free, flits, flit);
        if flits == left {
            let tail = wrapped(free + flits - 1, self.capacity);
            self.places[(base + tail) as usize] |= TAIL;
        }
        self.flits_injected += u64::from(flits);
        self.arrive(channel, packet, flits as u16, arrival);
        flits
    }

    /// Takes, for every packet that asked for it and is wholly injected, its tag and the cycle
    /// after its tail; cycles may lie a little ahead.
    pub fn take_injected(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.injected)
    }

    /// Takes the arrivals that were watched for and are now known, cycles lying ahead.
    pub fn take_arrivals(&mut self) -> Vec<QueueEvent> {
        std::mem::take(&mut self.arrivals)
    }

    fn lane(&self, core: u32, queue: u32) -> u32 {
        assert!(
            self.has_queues && queue < self.lanes,
            "queue {queue} of core {core}"
        );
        self.ejection + core * self.lanes + queue
    }

    /// The oldest flit of a core's queue; it may still be on its way.
    ///
    /// # Panics
    /// If the mesh has no queues, or not this one.
    #[must_use]
    pub fn front(&self, core: u32, queue: u32) -> Option<Flit> {
        let channel = self.lane(core, queue);
        let lane = &self.channels[channel as usize];
        if lane.len == 0 {
            return None;
        }
        let place = self.places[(self.places_of(channel).0 + u32::from(lane.first)) as usize];
        Some(Flit {
            packet: self.packets[(place & FREE) as usize].packet,
            is_tail: place & TAIL != 0,
            arrival: place >> TIME_SHIFT,
        })
    }

    /// Takes the oldest flit of a core's queue, at its arrival or in the current cycle if that is
    /// later.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self, core: u32, queue: u32) -> Flit {
        let flit = self.front(core, queue);
        self.take_many((core, queue), 1, |_| unreachable!("it is the only one"));
        flit.expect("a flit is there to be taken")
    }

    /// How many cycles ahead of the current one [`FlitMesh::take_many`] may take flits: none with several
    /// virtual channels. With one a packet whose first flit has come has the way into its core until its
    /// last one has, so that no other comes between.
    #[must_use]
    pub const fn take_ahead(&self) -> u64 {
        if self.vcs == 1 { CONVOY } else { 0 }
    }

    /// The same for a core that reads on, up to `most` flits, as long as those of the packet come without a
    /// pause, each within these cycles: it has come in the first of them, and is taken in the last, which
    /// may be to come ([`FlitMesh::take_ahead`]). How many it takes, and whether the packet ends with them.
    ///
    /// # Panics
    /// If there is none.
    pub fn take_many(
        &mut self,
        (core, queue): (u32, u32),
        most: u64,
        cycles_of: impl Fn(u64) -> RangeInclusive<u64>,
    ) -> (u64, bool) {
        let channel = self.lane(core, queue);
        let (base, capacity) = self.places_of(channel);
        let last = self.now + self.take_ahead();
        let most = if self.vcs == 1 { most } else { 1 };
        let credit = u64::from(self.spec.router.credit);
        let Channel { first, len, .. } = self.channels[channel as usize];
        assert!(len > 0, "a flit is there to be taken");
        let (mut first, mut words) = (u32::from(first), 0);
        let mut ended = None;
        let mut first_usable = 0;
        while words < most && words < u64::from(len) && ended.is_none() {
            let place = &mut self.places[(base + first) as usize];
            let arrival = *place >> TIME_SHIFT;
            let taken = if words == 0 {
                arrival.max(self.now)
            } else {
                let cycles = cycles_of(words);
                if *cycles.end() > last || arrival > *cycles.start() {
                    break;
                }
                arrival.max(*cycles.end())
            };
            if *place & TAIL != 0 {
                ended = Some(((*place & FREE) as u32, taken));
            }
            let usable = taken + credit;
            *place = free_from(usable);
            if words == 0 {
                first_usable = usable;
            }
            first = if first + 1 == capacity { 0 } else { first + 1 };
            words += 1;
        }
        let lane = &mut self.channels[channel as usize];
        lane.first = first as u16;
        lane.len -= words as u16;
        self.wake_for_place(channel, first_usable);
        self.flits_ejected += words;
        if let Some((packet, taken)) = ended {
            self.deliver(packet, taken);
        }
        (words, ended.is_some())
    }

    /// Asks to be told by [`FlitMesh::take_arrivals`] when a flit comes into a core's empty queue.
    ///
    /// # Panics
    /// If the mesh has no queues, or not this one, or it is not empty: then look at its front.
    pub fn watch(&mut self, core: u32, queue: u32) {
        let channel = self.lane(core, queue);
        let lane = &mut self.channels[channel as usize];
        assert_eq!(lane.len, 0, "only an empty queue is watched");
        lane.state = State::Starved;
    }

    /// Whether a core's queue is full and held up a flit in the cycle before. If not,
    /// [`FlitMesh::take_arrivals`] tells when it has, unless [`FlitMesh::watch`] is called before.
    ///
    /// # Panics
    /// If the mesh has no queues, or not this one.
    pub fn watch_full(&mut self, core: u32, queue: u32) -> bool {
        let channel = self.lane(core, queue);
        let lane = &mut self.channels[channel as usize];
        if lane.waiter == NONE {
            lane.state = State::Watched;
            return false;
        }
        let seen = lane.next_at + 1;
        if seen > self.now {
            self.arrivals.push(self.arrival_of(channel, seen));
        }
        seen <= self.now
    }

    /// News of a core's queue.
    pub(super) fn arrival_of(&self, channel: u32, cycle: u64) -> QueueEvent {
        let lane = channel - self.ejection;
        QueueEvent {
            core: lane / self.lanes,
            queue: lane % self.lanes,
            cycle,
        }
    }

    /// Whether nothing is left behind: flits in = flits out, every buffer's place is free again
    /// (so every credit is back), no output is held.
    ///
    /// # Errors
    /// What is left, in words.
    pub fn conservation(&self) -> Result<u64, String> {
        let (injected, ejected) = (self.flits_injected, self.flits_ejected);
        if injected != ejected {
            return Err(format!("{injected} flits were injected, {ejected} ejected"));
        }
        if let Some(at) = self.channels.iter().position(|channel| channel.len > 0) {
            return Err(format!(
                "channel {at} holds {} flits",
                self.channels[at].len
            ));
        }
        if let Some(place) = self.places.iter().position(|&place| place & FREE != FREE) {
            return Err(format!("the credit of place {place} is not back"));
        }
        let held = |output: &Output| {
            let all = if self.vcs > 1 && output.down >= self.ejection {
                all_of(self.lanes)
            } else {
                all_of(self.vcs)
            };
            output.down != NONE && (output.free != all || output.requests != 0)
        };
        match self.outputs.iter().position(held) {
            Some(output) => Err(format!("output {output} is still held")),
            None => Ok(injected),
        }
    }
}
