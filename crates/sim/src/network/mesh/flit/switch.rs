//! Flits on their way: through the switch, over the link, into the next buffer.

use super::{
    AHEAD, Channel, FREE, FlitMesh, NONE, PORTS_MAX, State, TAIL, TIME_SHIFT, TOGETHER, first_from,
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
                self.wait_for_place(down, channel, at.max(flit >> TIME_SHIFT));
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

    /// The next flit of a packet that has its output is here: it asks for the switch as soon as it
    /// has a place.
    #[inline]
    pub(super) fn ask_for_switch(&mut self, channel: u32) {
        let down = self.channels[channel as usize].down;
        if self.has_place(down, channel) {
            self.request_switch(channel / self.inputs, channel);
        }
    }

    /// `channel` of `router` asks for the switch: in this cycle, or in the next one once this cycle
    /// allocates.
    #[inline]
    fn request_switch(&mut self, router: u32, channel: u32) {
        let requests = &mut self.switch_requests[router as usize];
        if *requests == 0 {
            self.switching.push(router);
        }
        *requests |= 1 << (channel - router * self.inputs);
    }

    /// Allocates the switches of all routers that are asked for theirs.
    pub(super) fn switch_all(&mut self) {
        let spare = std::mem::take(&mut self.spare);
        let mut switching = std::mem::replace(&mut self.switching, spare);
        for together in switching.chunks(TOGETHER) {
            self.look_ahead_of_switch(together);
            for &router in together {
                self.switch(router);
            }
        }
        switching.clear();
        self.spare = switching;
    }

    /// Reads what flits are about to change, all at once: see [`super::LARGE`].
    fn look_ahead_of_switch(&self, routers: &[u32]) {
        if !self.is_large || routers.len() < TOGETHER {
            return;
        }
        let mut seen = 0;
        for &router in routers {
            for_each_bit(self.switch_requests[router as usize], |local| {
                let channel = router * self.inputs + local;
                let input = &self.channels[channel as usize];
                let down = &self.channels[input.down as usize];
                seen ^= self.places[(channel * self.capacity) as usize];
                seen ^= self.places[self.places_of(input.down).0 as usize];
                seen ^= u64::from(down.flits);
            });
        }
        std::hint::black_box(seen);
    }

    /// Allocates the switch of a router.
    fn switch(&mut self, router: u32) {
        let requests = std::mem::take(&mut self.switch_requests[router as usize]);
        let base = router * self.inputs;
        let outputs = router * self.ports;
        // Inputs and outputs that are asked for, and whether one of them is twice.
        let (mut inputs_seen, mut outputs_seen, mut is_contended) = (0_u32, 0_u32, false);
        let mut later = 0_u64;
        for_each_bit(requests, |local| {
            let index = self.channels[(base + local) as usize].output;
            if self.has_slow_links && self.outputs[index as usize].next_at > self.now {
                later |= 1 << local;
                return;
            }
            let (input, output) = (1 << self.port_of[local as usize], 1 << (index - outputs));
            is_contended |= inputs_seen & input != 0 || outputs_seen & output != 0;
            inputs_seen |= input;
            outputs_seen |= output;
        });
        let requests = requests & !later;
        let granted = if is_contended {
            self.match_ports(router, requests)
        } else {
            // Nobody to choose from, which is the usual case below saturation.
            for_each_bit(requests, |local| {
                let input = u32::from(self.port_of[local as usize]);
                let output = self.channels[(base + local) as usize].output - outputs;
                self.take_switch(outputs, input, output, local - input * self.vcs);
            });
            requests
        };
        // Who was not served has its place still.
        later |= requests & !granted;
        if later != 0 {
            self.switch_requests[router as usize] = later;
            self.switching.push(router);
        }
        for_each_bit(granted, |local| self.forward(router, base + local));
    }

    /// Which of the requests for a router's switch are granted, where they get in each other's way.
    fn match_ports(&mut self, router: u32, requests: u64) -> u64 {
        let (base, outputs, vcs) = (router * self.inputs, router * self.ports, self.vcs);
        // Per output the inputs with a flit for it; then per input the outputs that chose it.
        let mut inputs_of = [0_u32; PORTS_MAX];
        for_each_bit(requests, |local| {
            let index = self.channels[(base + local) as usize].output;
            inputs_of[(index - outputs) as usize] |= 1 << self.port_of[local as usize];
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
        for_each_bit(offered, |input| {
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
        });
        granted
    }

    /// Moves the pointers behind an accepted offer.
    #[inline]
    fn take_switch(&mut self, outputs: u32, input: u32, output: u32, vc: u32) {
        let next = |index: u32, len: u32| if index + 1 == len { 0 } else { index as u8 + 1 };
        self.switch_pointers[(outputs + output) as usize][0] = next(input, self.ports);
        let of_input = &mut self.switch_pointers[(outputs + input) as usize];
        of_input[1] = next(output, self.ports);
        of_input[2] = next(vc, self.vcs);
    }

    /// Moves the first flit of `channel` to the next router or out of the mesh.
    #[inline]
    fn forward(&mut self, router: u32, channel: u32) {
        let now = self.now;
        let usable = now + u64::from(self.spec.router.credit);
        let base = channel * self.capacity;
        let input = &mut self.channels[channel as usize];
        let place = (base + u32::from(input.first)) as usize;
        let flit = std::mem::replace(&mut self.places[place], free_from(usable));
        let offset = u32::from(input.first) + 1;
        input.first = if offset == self.capacity {
            0
        } else {
            offset as u16
        };
        input.len -= 1;
        input.next_at = now + 1;
        let (down, output, first) = (input.down, input.output, u32::from(input.first));
        let is_last = input.len == 0;
        if input.waiter != NONE {
            let waiter = std::mem::replace(&mut input.waiter, NONE);
            self.wheel.push(usable, waiter);
        }
        let packet = (flit & FREE) as u32;
        if flit & TAIL != 0 {
            self.end_packet(channel, packet);
            self.pass_on(down, packet, true, now);
            return;
        }
        if is_last {
            input.state = State::Starved;
        }
        if self.has_slow_links {
            self.outputs[output as usize].next_at = now + u64::from(self.spec.router.link_interval);
        }
        self.pass_on(down, packet, false, now);
        if is_last {
            return;
        }
        // When the flit behind it is here and has a place, it asks for the switch.
        let arrival = self.places[(base + first) as usize] >> TIME_SHIFT;
        let target = self.places[self.next_place(down)];
        let is_free = target & FREE == FREE;
        let at = if is_free {
            arrival.max(target >> TIME_SHIFT)
        } else {
            arrival
        };
        if at > now + 1 {
            self.wheel.push(at, channel);
        } else if is_free {
            self.request_switch(router, channel);
        } else {
            self.wait_for_place(down, channel, at);
        }
    }

    /// The tail of `packet` leaves `channel` in this cycle: its output is free, and what is behind
    /// it is routed.
    fn end_packet(&mut self, channel: u32, packet: u32) {
        let (now, router) = (self.now, self.spec.router);
        let input = &mut self.channels[channel as usize];
        let (index, vc, is_empty) = (input.output, input.out_vc, input.len == 0);
        input.has_turned = false;
        input.state = if is_empty {
            State::Idle
        } else {
            State::Routing
        };
        let first = (channel * self.capacity + u32::from(input.first)) as usize;
        let output = &mut self.outputs[index as usize];
        output.next_at = now + u64::from(router.link_interval);
        output.free |= 1 << vc;
        if output.requests != 0 {
            self.plan(index, now + 1);
        }
        if !is_empty {
            let arrival = self.places[first] >> TIME_SHIFT;
            let start = arrival.max(now + 1) + u64::from(router.routing);
            self.wheel.push(start, channel);
            self.note_behind(channel, index, packet, [arrival, now + 1]);
        }
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
            self.arrivals.push(self.arrival_of(channel, arrival));
        }
    }
}
