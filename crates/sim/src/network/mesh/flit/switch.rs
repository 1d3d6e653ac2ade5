// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flits on their way: through the switch, over the link, into the next buffer.

use super::{
    AHEAD, Channel, FREE, FlitMesh, NONE, State, TAIL, TIME_SHIFT, TOGETHER, first_from,
    for_each_bit, free_from, is_before, retimed, wrapped,
};

/// What the allocation of a router's switch needs, in one line of the processor's cache where the
/// router has 18 ports or fewer.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Switch {
    /// Input channels that ask for it, in this cycle or, once that is allocated, in the next.
    pub(super) requests: u64,
    /// Per port: as an output, the input port that is offered it first; as an input, the output port
    /// accepted first and the virtual channel preferred. Four sides and at most 16 cores; there are
    /// more, so that a port masked by [`PORT_MASK`] is always one of them.
    pointers: [[u8; 3]; PORT_MASK as usize + 1],
}

/// See [`Switch::pointers`].
const PORT_MASK: u32 = 31;

impl Switch {
    /// That of a router at rest.
    pub(super) const NEW: Self = Self {
        requests: 0,
        pointers: [[0; 3]; PORT_MASK as usize + 1],
    };
}

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
        let Channel { down, local, .. } = self.channels[channel as usize];
        if self.has_place(down, channel) {
            self.request_switch(self.by_inputs.of(channel), u32::from(local));
        }
    }

    /// The input channel `local` of `router` asks for the switch: in this cycle, or in the next one
    /// once this cycle allocates.
    #[inline]
    fn request_switch(&mut self, router: u32, local: u32) {
        let requests = &mut self.switches[router as usize].requests;
        if *requests == 0 {
            self.switching.push(router);
        }
        *requests |= 1 << (local & 63);
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
            for_each_bit(self.switches[router as usize].requests, |local| {
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
        let requests = std::mem::take(&mut self.switches[router as usize].requests);
        // One or two requests are the usual case below saturation.
        let others = requests & (requests - 1);
        if self.has_slow_links || others & others.wrapping_sub(1) != 0 {
            self.switch_among(router, requests);
        } else if others == 0 {
            self.serve(router, requests.trailing_zeros());
        } else {
            self.switch_between(router, requests.trailing_zeros(), others.trailing_zeros());
        }
    }

    /// Allocates a router's switch to input channels `a` and `b`, or to one of them if they get in
    /// each other's way.
    fn switch_between(&mut self, router: u32, a: u32, b: u32) {
        let (base, outputs) = (router * self.inputs, router * self.ports);
        let output = |local: u32| self.channels[(base + local) as usize].output - outputs;
        let (output_a, output_b) = (output(a), output(b));
        let [input_a, vc_a] = self.port_of[a as usize & 63].map(u32::from);
        let [input_b, vc_b] = self.port_of[b as usize & 63].map(u32::from);
        let pointers = &self.switches[router as usize].pointers;
        let of_input = pointers[(input_a & PORT_MASK) as usize];
        let is_a = match (input_a == input_b, output_a == output_b) {
            (false, false) => {
                self.serve(router, a);
                return self.serve(router, b);
            }
            // The output offers itself to one input; or both outputs offer themselves to the input,
            // which accepts one; or it accepts the output, and chooses.
            (false, true) => {
                let pointer = pointers[(output_a & PORT_MASK) as usize][0];
                is_before(input_a, input_b, pointer)
            }
            (true, false) => is_before(output_a, output_b, of_input[1]),
            (true, true) => is_before(vc_a, vc_b, of_input[2]),
        };
        let (served, later) = if is_a { (a, b) } else { (b, a) };
        self.request_again(router, 1 << later);
        self.serve(router, served);
    }

    /// Who is not served goes on asking: it has its place still.
    #[inline]
    fn request_again(&mut self, router: u32, later: u64) {
        self.switches[router as usize].requests = later;
        self.switching.push(router);
    }

    /// Allocates a router's switch to any number of requests.
    fn switch_among(&mut self, router: u32, requests: u64) {
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
            let input = 1 << self.port_of[local as usize & 63][0];
            let output = 1 << (index - outputs);
            is_contended |= inputs_seen & input != 0 || outputs_seen & output != 0;
            inputs_seen |= input;
            outputs_seen |= output;
        });
        let requests = requests & !later;
        let granted = match is_contended {
            true => self.match_ports(router, requests),
            false => requests,
        };
        later |= requests & !granted;
        if later != 0 {
            self.request_again(router, later);
        }
        for_each_bit(granted, |local| self.serve(router, local));
    }

    /// Moves the pointers behind an accepted offer, and the first flit of `local` to the next router
    /// or out of the mesh.
    fn serve(&mut self, router: u32, local: u32) {
        let now = self.now;
        let channel = router * self.inputs + local;
        let base = channel * self.capacity;
        let input = &mut self.channels[channel as usize];
        let Channel {
            output,
            down,
            waiter,
            first,
            len,
            ..
        } = *input;
        let behind = wrapped(u32::from(first) + 1, self.capacity);
        input.first = behind as u16;
        input.len = len - 1;
        input.waiter = NONE;
        if len == 1 {
            input.state = State::Starved;
        }
        self.move_pointers(router, local, output - router * self.ports);
        let usable = now + u64::from(self.spec.router.credit);
        let place = &mut self.places[(base + u32::from(first)) as usize];
        let flit = std::mem::replace(place, free_from(usable));
        if waiter != NONE {
            self.wheel.push(usable, waiter);
        }
        if flit & TAIL != 0 {
            self.end_packet(channel, (flit & FREE) as u32);
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
        let target = self.places[target];
        let is_free = target & FREE == FREE;
        let at = match is_free {
            true => arrival.max(target >> TIME_SHIFT),
            false => arrival,
        };
        if at > now + 1 {
            self.wheel.push(at, channel);
        } else if is_free {
            self.request_switch(router, local);
        } else {
            self.wait_for_place(down, channel, at);
        }
    }

    /// Moves the pointers of a router's switch behind an accepted offer.
    #[inline]
    fn move_pointers(&mut self, router: u32, local: u32, output: u32) {
        let [input, vc] = self.port_of[local as usize & 63];
        let pointers = &mut self.switches[router as usize].pointers;
        pointers[(output & PORT_MASK) as usize][0] = input + 1;
        let of_input = &mut pointers[(u32::from(input) & PORT_MASK) as usize];
        (of_input[1], of_input[2]) = (output as u8 + 1, vc + 1);
    }

    /// Which of the requests for a router's switch are granted, where they get in each other's way.
    fn match_ports(&mut self, router: u32, requests: u64) -> u64 {
        let (base, outputs, vcs) = (router * self.inputs, router * self.ports, self.vcs);
        // Per output the inputs with a flit for it; then per input the outputs that chose it.
        let pointers = self.switches[router as usize].pointers;
        let mut inputs_of = [0_u32; 32];
        for_each_bit(requests, |local| {
            let index = self.channels[(base + local) as usize].output;
            inputs_of[((index - outputs) & PORT_MASK) as usize] |=
                1 << self.port_of[local as usize & 63][0];
        });
        let mut offers = [0_u32; 32];
        let mut offered = 0_u64;
        for output in 0..self.ports {
            let inputs = inputs_of[output as usize];
            if inputs != 0 {
                let pointer = pointers[output as usize][0];
                let input = first_from(u64::from(inputs), pointer);
                offers[(input & PORT_MASK) as usize] |= 1 << output;
                offered |= 1 << input;
            }
        }
        let mut granted = 0_u64;
        for_each_bit(offered, |input| {
            let [_, output_first, vc_first] = pointers[(input & PORT_MASK) as usize];
            let output = first_from(
                u64::from(offers[(input & PORT_MASK) as usize]),
                output_first,
            );
            let asking = (requests >> (input * vcs)) & ((1 << vcs) - 1);
            let mut for_output = 0_u64;
            for_each_bit(asking, |vc| {
                if self.channels[(base + input * vcs + vc) as usize].output == outputs + output {
                    for_output |= 1 << vc;
                }
            });
            let vc = first_from(for_output, vc_first);
            granted |= 1 << (input * vcs + vc);
        });
        granted
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

    /// A flit that leaves a router in this cycle arrives at the next one or at its core. Returns the
    /// place that the flit behind it will take.
    #[inline(always)]
    fn pass_on(&mut self, down: u32, flit: u64) -> usize {
        if down >= self.ejection {
            self.eject(down, flit);
            return self.next_place(down);
        }
        self.flit_hops += 1;
        let (router, capacity) = (&self.spec.router, self.capacity);
        let arrival = self.now + u64::from(router.switch + router.link);
        let into = &mut self.channels[down as usize];
        let place = wrapped(u32::from(into.first) + u32::from(into.len), capacity);
        let base = down * capacity;
        self.places[(base + place) as usize] = retimed(flit, arrival);
        into.len += 1;
        into.flits = into.flits.saturating_add(1);
        match into.state {
            State::Idle => {
                into.state = State::Routing;
                self.wheel.push(arrival + u64::from(router.routing), down);
            }
            State::Starved => {
                into.state = State::Active;
                self.wheel.push(arrival, down);
            }
            _ => {}
        }
        (base + wrapped(place + 1, capacity)) as usize
    }

    /// A flit reaches its core's ejection port.
    fn eject(&mut self, channel: u32, flit: u64) {
        let arrival = self.now + u64::from(self.spec.router.ejection);
        let place = self.next_place(channel);
        if self.has_queues {
            self.places[place] = retimed(flit, arrival);
            self.arrive_in_queue(channel, 1, arrival);
            return;
        }
        self.places[place] = free_from(arrival + u64::from(self.spec.router.credit));
        let port = &mut self.channels[channel as usize];
        port.first = wrapped(u32::from(port.first) + 1, self.lane_capacity) as u16;
        port.flits = port.flits.saturating_add(1);
        self.flits_ejected += 1;
        if flit & TAIL != 0 {
            self.deliver((flit & FREE) as u32, arrival);
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
