// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flits on their way where there are several virtual channels: through the switch, over the link,
//! into the next buffer.

use super::{
    Channel, FREE, FlitMesh, State, TAIL, TIME_SHIFT, free_from, place_of, retimed, wrapped,
};

impl FlitMesh {
    /// Moves the first flit of `local`, which has been granted the switch, to the next router or out
    /// of the mesh; and with it those behind it, as long as nobody can get in their way.
    pub(super) fn serve(&mut self, router: u32, local: u32) {
        let Channel { output, len, .. } = self.channels[(router * self.inputs + local) as usize];
        if len > 1 && self.ahead > 0 {
            let until = self.alone_until(router, local, output);
            if until > self.now && self.pass_many(router, local, self.now, until) {
                return;
            }
        }
        self.pass_one(router, local);
    }

    /// The packet of `local` has been given an output, and could ask for the switch in the next
    /// cycle: moves its flits from then on if nobody can get in their way.
    #[inline]
    pub(super) fn pass_next(&mut self, router: u32, local: u32) -> bool {
        let Channel { output, .. } = self.channels[(router * self.inputs + local) as usize];
        let next = self.now + 1;
        // The channel given back last is free by then: see `end_packet`.
        if self.ahead == 0 || self.outputs[output as usize].next_at > next {
            return false;
        }
        let until = self.alone_until(router, local, output);
        next <= until && self.pass_many(router, local, next, until)
    }

    /// Moves the first flit of `local` in this cycle.
    fn pass_one(&mut self, router: u32, local: u32) {
        let now = self.now;
        let channel = router * self.inputs + local;
        let base = channel * self.capacity;
        let input = &mut self.channels[channel as usize];
        let Channel {
            output,
            down,
            first,
            len,
            ..
        } = *input;
        let behind = wrapped(u32::from(first) + 1, self.capacity);
        input.first = behind as u16;
        input.len = len - 1;
        input.next_at = now + 1;
        if len == 1 {
            input.state = State::Starved;
        }
        self.move_pointers(router, local, output);
        let usable = now + u64::from(self.spec.router.credit);
        let place = &mut self.places[(base + u32::from(first)) as usize];
        let flit = std::mem::replace(place, free_from(usable));
        self.wake_for_place(channel, usable);
        if flit & TAIL != 0 {
            self.end_packet(router, local, (flit & FREE) as u32, now);
            self.pass_on(down, flit);
            return;
        }
        if self.has_slow_links {
            self.outputs[output as usize].next_at = now + u64::from(self.spec.router.link_interval);
        }
        let target = self.pass_on(down, flit);
        if len == 1 {
            return;
        }
        // When the flit behind it is here and has a place, it asks for the switch.
        let arrival = self.places[(base + behind) as usize] >> TIME_SHIFT;
        let target = self.places[target as usize];
        let is_free = target & FREE == FREE;
        let input = &mut self.channels[channel as usize];
        let at = match is_free {
            true => arrival.max(target >> TIME_SHIFT),
            false => arrival,
        };
        input.state = match is_free {
            true => State::Ready,
            false => State::Active,
        };
        input.next_at = at.max(now + 1);
        self.wait_or_ask(router, local, at, is_free);
    }

    /// A flit that leaves a router in this cycle arrives at the next one or at its core. Returns the
    /// place that the flit behind it will take.
    #[inline]
    fn pass_on(&mut self, down: u32, flit: u64) -> u32 {
        let router = &self.spec.router;
        let is_ejected = down >= self.ejection;
        let (base, capacity) = self.places_of(down);
        let into = &mut self.channels[down as usize];
        let free = wrapped(u32::from(into.first) + u32::from(into.len), capacity);
        let behind = base + wrapped(free + 1, capacity);
        let place = &mut self.places[(base + free) as usize];
        if !is_ejected {
            let arrival = self.now + u64::from(router.switch + router.link);
            *place = retimed(flit, arrival);
            self.flit_hops += 1;
            self.arrive(down, (flit & FREE) as u32, 1, arrival);
            return behind;
        }
        let arrival = self.now + u64::from(router.ejection);
        if self.has_queues {
            *place = retimed(flit, arrival);
            self.arrive_in_queue(down, 1, arrival);
            return behind;
        }
        *place = free_from(arrival + u64::from(router.credit));
        into.first = wrapped(u32::from(into.first) + 1, capacity) as u16;
        into.flits = into.flits.saturating_add(1);
        self.flits_ejected += 1;
        if flit & TAIL != 0 {
            self.deliver((flit & FREE) as u32, arrival);
        }
        behind
    }

    /// Moves flits of `local` from cycle `start` on, one per cycle, until they run out, are held up,
    /// or cycle `until` is over. Does nothing, and says so, if there is a pause between them. Only
    /// ahead of the clock, and so where flits that have reached their core are taken at once.
    fn pass_many(&mut self, router: u32, local: u32, start: u64, until: u64) -> bool {
        let channel = router * self.inputs + local;
        let input = self.channels[channel as usize];
        let (output, down) = (input.output, input.down);
        let (first, len) = (u32::from(input.first), u32::from(input.len));
        let (down_base, down_capacity) = self.places_of(down);
        let into = &self.channels[down as usize];
        let room = down_capacity - u32::from(into.len);
        let free = wrapped(u32::from(into.first) + u32::from(into.len), down_capacity);
        let freed_last = wrapped(u32::from(into.first) + down_capacity - 1, down_capacity);
        let base = channel * self.capacity;
        let flit = self.places[(base + first) as usize];
        let last = self.places[(base + wrapped(first + len - 1, self.capacity)) as usize];
        let freed_last = self.places[(down_base + freed_last) as usize];
        // Flits come, and places are given back, one per cycle at most: if the last one is early
        // enough for all to move without a pause, so are all.
        if last >> TIME_SHIFT >= start + u64::from(len)
            || (last ^ flit) & FREE != 0
            || room == 0
            || freed_last >> TIME_SHIFT >= start + u64::from(room)
        {
            return false;
        }
        let flits = u64::from(len.min(room)).min(until + 1 - start) as u32;
        let time = start + u64::from(flits) - 1;
        let is_tail = flits == len && last & TAIL != 0;
        let spec = self.spec.router;
        let credit = u64::from(spec.credit);
        self.places
            .fill(base, self.capacity, first, flits, free_from(start + credit));
        let input = &mut self.channels[channel as usize];
        input.first = wrapped(first + flits, self.capacity) as u16;
        input.len = (len - flits) as u16;
        input.next_at = time + 1;
        self.move_pointers(router, local, output);
        self.wake_for_place(channel, start + credit);
        let packet = (flit & FREE) as u32;
        let (switch, ejection) = (spec.switch + spec.link, spec.ejection);
        if is_tail {
            self.end_packet(router, local, packet, time);
        } else {
            let output = &mut self.outputs[output as usize];
            (output.next_at, output.soon) = (time + 1, 0);
        }
        if down < self.ejection {
            let arrival = start + u64::from(switch);
            let arriving = place_of(packet, false, arrival);
            self.places
                .fill(down_base, down_capacity, free, flits, arriving);
            if is_tail {
                let end = wrapped(free + flits - 1, down_capacity);
                self.places[(down_base + end) as usize] |= TAIL;
            }
            self.flit_hops += u64::from(flits);
            self.arrive(down, packet, flits as u16, arrival);
        } else {
            let arrival = start + u64::from(ejection);
            self.places.fill(
                down_base,
                down_capacity,
                free,
                flits,
                free_from(arrival + credit),
            );
            let port = &mut self.channels[down as usize];
            port.first = wrapped(free + flits, down_capacity) as u16;
            port.flits = port.flits.saturating_add(flits);
            self.flits_ejected += u64::from(flits);
            if is_tail {
                // Behind the first flit, and so in a cycle to come.
                self.wheel.push(time, self.agent_of_packet(packet));
            }
        }
        if is_tail {
            return true;
        }
        let input = &mut self.channels[channel as usize];
        if flits == len {
            input.state = State::Starved;
        } else if flits == room {
            input.state = State::Active;
            self.wait_or_ask(router, local, time + 1, false);
        } else {
            input.state = State::Ready;
            self.wait_or_ask(router, local, time + 1, true);
        }
        true
    }

    /// The first flit of `local` is here in cycle `at`, which is to come, and has a place then or
    /// not: it asks for the switch, or waits.
    fn wait_or_ask(&mut self, router: u32, local: u32, at: u64, has_place: bool) {
        let channel = router * self.inputs + local;
        if at > self.now + 1 {
            self.wheel.push(at, channel);
        } else if has_place {
            self.request_switch(router, local);
        } else {
            self.wait_for_place(self.channels[channel as usize].down, channel, at);
        }
    }

    /// The tail of `packet` leaves `local` in cycle `time`, which is this one or later: its output is
    /// free, and what is behind it is routed.
    fn end_packet(&mut self, router: u32, local: u32, packet: u32, time: u64) {
        let channel = router * self.inputs + local;
        let input = &mut self.channels[channel as usize];
        let (index, vc, is_empty) = (input.output, input.out_vc, input.len == 0);
        input.state = State::Idle;
        let first = (channel * self.capacity + u32::from(input.first)) as usize;
        let switch = &mut self.switches[router as usize];
        switch.busy &= !(1 << (local & 63));
        if is_empty {
            switch.behind &= !(1 << (local & 63));
        }
        let output = &mut self.outputs[index as usize];
        output.claims &= !(1 << (local & 63));
        output.next_at = time + u64::from(self.spec.router.link_interval);
        output.free |= 1 << vc;
        // Nobody uses the link before, and so no other channel is given back until then.
        output.soon = if time == self.now { 0 } else { 1 << vc };
        if output.requests != 0 {
            self.plan(index, time + 1);
        }
        if !is_empty {
            let next = self.places[first];
            let arrival = next >> TIME_SHIFT;
            self.claim(channel, (next & FREE) as u32, arrival.max(time + 1));
            self.note_behind(channel, index, packet, [arrival, time + 1]);
        }
    }

    /// Tells a core that watches an empty queue of flits that arrive there.
    pub(super) fn arrive_in_queue(&mut self, channel: u32, flits: u16, arrival: u64) {
        let queue = &mut self.channels[channel as usize];
        queue.len += flits;
        queue.flits = queue.flits.saturating_add(u32::from(flits));
        if queue.state == State::Starved {
            queue.state = State::Idle;
            self.arrivals.push(self.arrival_of(channel, arrival));
        }
    }
}
