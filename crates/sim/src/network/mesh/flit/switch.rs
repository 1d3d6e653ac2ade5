//! Flits on their way: through the switch, over the link, into the next buffer.

use super::{
    AHEAD, Arrival, Channel, FREE, FlitMesh, NONE, PORTS_MAX, State, TAIL, TIME_SHIFT, first_from,
    for_each_bit, free_from, place_of,
};

impl FlitMesh {
    /// Sends the flits of a packet that has its output, as far as they are here and have a place.
    ///
    /// Only with a single virtual channel: then nobody competes for the switch, every time is the
    /// maximum of times that are known, and flits may be moved ahead of the clock.
    pub(super) fn stream(&mut self, channel: u32) {
        let router = self.spec.router;
        let (credit, interval) = (u64::from(router.credit), u64::from(router.link_interval));
        let ahead = self.now + AHEAD;
        let base = channel * self.capacity;
        let Channel {
            next_at,
            output,
            down,
            mut first,
            mut len,
            ..
        } = self.channels[channel as usize];
        let is_ejected = down >= self.ejection;
        let hop = u64::from(if is_ejected {
            router.ejection
        } else {
            router.switch + router.link
        });
        let into = self.channels[down as usize];
        let (down_base, down_capacity) = self.places_of(down);
        let mut free = u32::from(into.first) + u32::from(into.len);
        if free >= down_capacity {
            free -= down_capacity;
        }
        let is_sunk = is_ejected && !self.has_queues;
        let mut at = self.now.max(next_at);
        let (mut moved, mut first_arrival) = (0_u16, 0);
        let mut state = State::Active;
        let mut behind = None;
        loop {
            let place = (base + u32::from(first)) as usize;
            let flit = self.places[place];
            let target_place = (down_base + free) as usize;
            let target = self.places[target_place];
            if target & FREE != FREE {
                self.channels[down as usize].waiter = channel;
                break;
            }
            let time = at.max(flit >> TIME_SHIFT).max(target >> TIME_SHIFT);
            if time > ahead {
                self.wheel.push(time, channel);
                break;
            }
            let arrival = time + hop;
            self.places[place] = free_from(time + credit);
            self.places[target_place] = if is_sunk {
                free_from(arrival + credit)
            } else {
                (arrival << TIME_SHIFT) | (flit & (TAIL | FREE))
            };
            first = if u32::from(first) + 1 == self.capacity {
                0
            } else {
                first + 1
            };
            free = if free + 1 == down_capacity {
                0
            } else {
                free + 1
            };
            len -= 1;
            if moved == 0 {
                first_arrival = arrival;
                let waiter = std::mem::replace(&mut self.channels[channel as usize].waiter, NONE);
                if waiter != NONE {
                    self.wheel.push(time + credit, waiter);
                }
            }
            moved += 1;
            at = time + interval;
            if flit & TAIL != 0 {
                at = time + 1;
                // The next head takes `vc_allocation` to the link, which is in use until then.
                let again = (time + interval).saturating_sub(u64::from(router.vc_allocation));
                let freed = &mut self.outputs[output as usize];
                freed.free = 1;
                freed.next_at = at.max(again);
                if freed.requests != 0 {
                    let again = freed.next_at;
                    self.plan(output, again);
                }
                if is_sunk {
                    self.deliver((flit & FREE) as u32, arrival);
                }
                state = State::Idle;
                if len > 0 {
                    state = State::Routing;
                    let arrival = self.places[(base + u32::from(first)) as usize] >> TIME_SHIFT;
                    let start = arrival.max(at) + u64::from(router.routing);
                    self.wheel.push(start, channel);
                    behind = Some(((flit & FREE) as u32, [arrival, at]));
                }
                break;
            }
            if len == 0 {
                state = State::Starved;
                break;
            }
        }
        let input = &mut self.channels[channel as usize];
        input.next_at = at;
        input.first = first;
        input.len = len;
        input.state = state;
        input.has_turned = false;
        if moved == 0 {
            return;
        }
        if let Some((ahead, times)) = behind {
            self.note_behind(channel, output, ahead, times);
        }
        if is_sunk {
            let into = &mut self.channels[down as usize];
            into.first = free as u16;
            into.flits = into.flits.saturating_add(u32::from(moved));
            self.flits_ejected += u64::from(moved);
        } else if is_ejected {
            self.arrive_in_queue(down, moved, first_arrival);
        } else {
            self.flit_hops += u64::from(moved);
            self.arrive(down, moved, first_arrival);
        }
    }

    #[inline]
    pub(super) fn ask_for_switch(&mut self, channel: u32) {
        let down = self.channels[channel as usize].down;
        if !self.has_place(down, channel) {
            return;
        }
        let router = channel / self.inputs;
        let local = self.channels[channel as usize].local;
        let requests = &mut self.switch_requests[router as usize];
        if *requests == 0 {
            self.switching.push(router);
        }
        *requests |= 1 << local;
    }

    /// Allocates the switch of a router.
    pub(super) fn switch(&mut self, router: u32) {
        let requests = std::mem::take(&mut self.switch_requests[router as usize]);
        let (base, vcs) = (router * self.inputs, self.vcs);
        let outputs = router * self.ports;
        if requests.is_power_of_two() {
            // Nobody to choose from, which is the usual case below saturation.
            let local = requests.trailing_zeros();
            let output = self.channels[(base + local) as usize].output;
            if self.outputs[output as usize].next_at > self.now {
                self.wheel.push(self.now + 1, base + local);
            } else {
                self.take_switch(outputs, local / vcs, output - outputs, local % vcs);
                self.forward(base + local);
            }
            return;
        }
        // Per output the inputs with a flit for it; then per input the outputs that chose it.
        let mut inputs_of = [0_u32; PORTS_MAX];
        for_each_bit(requests, |local| {
            let index = self.channels[(base + local) as usize].output;
            if self.outputs[index as usize].next_at <= self.now {
                inputs_of[(index - outputs) as usize] |= 1 << (local / vcs);
            }
        });
        let mut offers = [0_u32; PORTS_MAX];
        let mut offered = 0_u64;
        for output in 0..self.ports {
            let inputs = inputs_of[output as usize];
            if inputs != 0 {
                let pointer = self.switch_pointers[(outputs + output) as usize][0];
                let input = first_from(u64::from(inputs), pointer);
                offers[input as usize] |= 1 << output;
                offered |= 1 << input;
            }
        }
        let mut granted = 0_u64;
        while offered != 0 {
            let input = offered.trailing_zeros();
            offered &= offered - 1;
            let [_, output_first, vc_first] = self.switch_pointers[(outputs + input) as usize];
            let output = first_from(u64::from(offers[input as usize]), output_first);
            let asking = (requests >> (input * vcs)) & ((1 << vcs) - 1);
            let mut for_output = 0_u64;
            for_each_bit(asking, |vc| {
                if self.channels[(base + input * vcs + vc) as usize].output == outputs + output {
                    for_output |= 1 << vc;
                }
            });
            let vc = first_from(for_output, vc_first);
            self.take_switch(outputs, input, output, vc);
            granted |= 1 << (input * vcs + vc);
        }
        for_each_bit(requests & !granted, |local| {
            self.wheel.push(self.now + 1, base + local)
        });
        for_each_bit(granted, |local| self.forward(base + local));
    }

    /// Moves the pointers behind an accepted offer.
    fn take_switch(&mut self, outputs: u32, input: u32, output: u32, vc: u32) {
        let next = |index: u32, len: u32| if index + 1 == len { 0 } else { index as u8 + 1 };
        self.switch_pointers[(outputs + output) as usize][0] = next(input, self.ports);
        let of_input = &mut self.switch_pointers[(outputs + input) as usize];
        of_input[1] = next(output, self.ports);
        of_input[2] = next(vc, self.vcs);
    }

    /// Moves the first flit of `channel` to the next router or out of the mesh.
    fn forward(&mut self, channel: u32) {
        let now = self.now;
        let router = self.spec.router;
        let usable = now + u64::from(router.credit);
        let input = &mut self.channels[channel as usize];
        let offset = u32::from(input.first);
        let place = (channel * self.capacity + offset) as usize;
        let flit = std::mem::replace(&mut self.places[place], free_from(usable));
        input.first = if offset + 1 == self.capacity {
            0
        } else {
            offset as u16 + 1
        };
        input.len -= 1;
        let is_tail = flit & TAIL != 0;
        if input.len > 0 {
            let next = (channel * self.capacity + u32::from(input.first)) as usize;
            let mut start = (self.places[next] >> TIME_SHIFT).max(now + 1);
            if is_tail {
                input.state = State::Routing;
                input.has_turned = false;
                start += u64::from(router.routing);
            }
            self.wheel.push(start, channel);
        } else {
            input.state = if is_tail { State::Idle } else { State::Starved };
        }
        input.next_at = now + 1;
        let waiter = std::mem::replace(&mut input.waiter, NONE);
        let (down, index, vc) = (input.down, input.output, input.out_vc);
        if waiter != NONE {
            self.wheel.push(usable, waiter);
        }
        let output = &mut self.outputs[index as usize];
        output.next_at = now + u64::from(router.link_interval);
        if is_tail {
            output.free |= 1 << vc;
            if output.requests != 0 {
                self.plan(index, now + 1);
            }
        }
        if is_tail && self.channels[channel as usize].len > 0 {
            let first = u32::from(self.channels[channel as usize].first);
            let arrival = self.places[(channel * self.capacity + first) as usize] >> TIME_SHIFT;
            self.note_behind(channel, index, (flit & FREE) as u32, [arrival, now + 1]);
        }
        self.pass_on(down, (flit & FREE) as u32, is_tail, now);
    }

    /// A flit that leaves a router at `time` arrives at the next one or at its core.
    #[inline]
    fn pass_on(&mut self, down: u32, packet: u32, is_tail: bool, time: u64) {
        if down >= self.ejection {
            self.eject(down, packet, is_tail, time);
        } else {
            self.flit_hops += 1;
            let router = &self.spec.router;
            let arrival = time + u64::from(router.switch + router.link);
            self.put(down, packet, is_tail, arrival);
        }
    }

    /// A flit reaches its core's ejection port.
    fn eject(&mut self, channel: u32, packet: u32, is_tail: bool, time: u64) {
        let arrival = time + u64::from(self.spec.router.ejection);
        let place = self.next_place(channel);
        if self.has_queues {
            self.places[place] = place_of(packet, is_tail, arrival);
            self.arrive_in_queue(channel, 1, arrival);
            return;
        }
        self.places[place] = free_from(arrival + u64::from(self.spec.router.credit));
        let capacity = self.lane_capacity as u16;
        let port = &mut self.channels[channel as usize];
        port.first = if port.first + 1 == capacity {
            0
        } else {
            port.first + 1
        };
        port.flits = port.flits.saturating_add(1);
        self.flits_ejected += 1;
        if is_tail {
            self.deliver(packet, arrival);
        }
    }

    /// Tells a core that watches an empty queue of flits that arrive there.
    fn arrive_in_queue(&mut self, channel: u32, flits: u16, arrival: u64) {
        let queue = &mut self.channels[channel as usize];
        queue.len += flits;
        queue.flits = queue.flits.saturating_add(u32::from(flits));
        if queue.state == State::Starved {
            queue.state = State::Idle;
            let lane = channel - self.ejection;
            self.arrivals.push(Arrival {
                core: lane / self.lanes,
                queue: lane % self.lanes,
                cycle: arrival,
            });
        }
    }
}
