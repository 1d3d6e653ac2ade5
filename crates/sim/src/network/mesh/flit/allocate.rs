// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routing of head flits and allocation of the outputs' virtual channels.

use super::{FREE, FlitMesh, NEVER, Output, State, VCS_MAX, first_from};
use crate::network::mesh::spec::{SIDES, VcChoice};

impl Output {
    /// Virtual channels that can be allocated in cycle `now`.
    #[inline]
    fn free_at(&self, now: u64) -> u16 {
        if self.next_at > now {
            self.free & !self.soon
        } else {
            self.free
        }
    }
}

impl FlitMesh {
    /// The head flit's route is known: it asks for an output.
    pub(super) fn route(&mut self, channel: u32) {
        let input = &mut self.channels[channel as usize];
        let (index, local) = (input.output, u32::from(input.local));
        let turn = self.spec.router.turn;
        if turn > 0 && input.state == State::Routing {
            let out_port = index - self.by_ports.of(index) * self.ports;
            let in_port = u32::from(self.port_of[local as usize & 63][0]);
            if in_port < SIDES && out_port < SIDES && in_port / 2 != out_port / 2 {
                input.state = State::Turning;
                self.wheel.push(self.now + u64::from(turn), channel);
                return;
            }
        }
        input.state = State::Requesting;
        self.note_request(channel, index);
        let output = &mut self.outputs[index as usize];
        let bit = 1 << (local & 63);
        output.requests |= bit;
        if self.ahead > 0 && output.claims == bit {
            // Nobody else can ask in this cycle, so nothing is left to decide.
            let free = output.free_at(self.now);
            return self.allocate_to(index, free, local);
        }
        let (free, next_at) = (output.free, output.next_at);
        if free != 0 {
            let at = if self.vcs == 1 || free == output.soon {
                next_at.max(self.now)
            } else {
                self.now
            };
            self.plan(index, at);
        }
    }

    /// Lets an output allocate its virtual channels in cycle `at`, which is this one or later.
    #[inline]
    pub(super) fn plan(&mut self, index: u32, at: u64) {
        let output = &mut self.outputs[index as usize];
        if output.planned_at <= at {
            return;
        }
        output.planned_at = at;
        if at == self.now {
            self.allocating.push(index);
        } else {
            self.wheel.push(at, self.agent_of_output(index));
        }
    }

    /// Virtual channels that a packet may be given at an output; those of an ejection port with
    /// queues are its queues. `is_wrapped` where it must use the upper half of a torus's.
    #[inline]
    pub(super) fn allowed(&self, packet: u32, out_port: u32, is_wrapped: bool) -> u16 {
        if out_port >= SIDES && self.has_queues {
            return 1 << self.packets[packet as usize].packet.queue;
        }
        let (first, len) = match self.spec.grid.is_torus && out_port < SIDES {
            false => (0, self.vcs),
            true if is_wrapped => (self.vcs / 2, self.vcs - self.vcs / 2),
            true => (0, self.vcs / 2),
        };
        match self.spec.router.vc_choice {
            VcChoice::Any => (((1_u32 << len) - 1) << first) as u16,
            VcChoice::Receiver => 1 << (first + self.ways[packet as usize].receiver % len.max(1)),
        }
    }

    /// Allocates the free virtual channels of an output.
    pub(super) fn allocate(&mut self, index: u32) {
        let output = &mut self.outputs[index as usize];
        if output.planned_at != self.now {
            return; // it has been done, or is planned for an earlier or a later cycle
        }
        output.planned_at = NEVER;
        let Output {
            requests, next_at, ..
        } = *output;
        let free = output.free_at(self.now);
        if requests == 0 || free == 0 {
            return self.plan_rest(index, free);
        }
        if self.vcs == 1 {
            debug_assert!(next_at <= self.now, "planned for then");
            let local = first_from(requests, output.vcs_first[0]);
            let base = self.by_ports.of(index) * self.inputs;
            self.grant_channel(index, base + local, local, 0);
            return;
        }
        let base = self.by_ports.of(index) * self.inputs;
        if requests.is_power_of_two() {
            return self.allocate_to(index, free, requests.trailing_zeros());
        }
        // Offers: per request the virtual channels that chose it.
        let mut offers = [0_u16; 64];
        let mut offered = 0_u64;
        let mut rest = free;
        while rest != 0 {
            let vc = rest.trailing_zeros();
            rest &= rest - 1;
            let mut candidates = requests;
            if self.is_restricted {
                let mut bits = requests;
                while bits != 0 {
                    let local = bits.trailing_zeros();
                    bits &= bits - 1;
                    if self.channels[(base + local) as usize].down & (1 << vc) == 0 {
                        candidates &= !(1 << local);
                    }
                }
                if candidates == 0 {
                    continue;
                }
            }
            let pointer = self.outputs[index as usize].vcs_first[vc as usize % VCS_MAX];
            let local = first_from(candidates, pointer);
            offers[local as usize] |= 1 << vc;
            offered |= 1 << local;
        }
        while offered != 0 {
            let local = offered.trailing_zeros();
            offered &= offered - 1;
            self.accept(index, base, local, offers[local as usize]);
        }
        self.plan_rest(index, free);
    }

    /// Allocates one of an output's `free` channels, of several, to `local`, the only one that asks:
    /// every channel offers itself to it.
    fn allocate_to(&mut self, index: u32, free: u16, local: u32) {
        let base = self.by_ports.of(index) * self.inputs;
        let allowed = match self.is_restricted {
            true => self.channels[(base + local) as usize].down as u16,
            false => u16::MAX,
        };
        match free & allowed {
            0 => self.plan_rest(index, free),
            offers => self.accept(index, base, local, offers),
        }
    }

    /// Lets an output allocate again that had `free` channels to allocate, if it has requests and
    /// channels left. Channels that no request may use are no reason to try again.
    fn plan_rest(&mut self, index: u32, free: u16) {
        let output = &self.outputs[index as usize];
        if output.requests == 0 {
            return;
        }
        let (left, next_at) = (output.free_at(self.now), output.next_at);
        if left != 0 && left != free {
            self.plan(index, self.now + 1);
        } else if output.free != left {
            self.plan(index, next_at);
        } else if left != 0 && !self.is_restricted {
            unreachable!("a free channel and a request always meet");
        }
    }

    /// A request accepts one of the channels that offer themselves to it.
    fn accept(&mut self, index: u32, base: u32, local: u32, offers: u16) {
        let pointer = &mut self.channels[(base + local) as usize].accepts_first;
        let vc = first_from(u64::from(offers), *pointer);
        *pointer = vc as u8 + 1;
        self.grant_channel(index, base + local, local, vc);
    }

    fn grant_channel(&mut self, index: u32, channel: u32, local: u32, vc: u32) {
        let output = &mut self.outputs[index as usize];
        output.requests &= !(1 << local);
        output.free &= !(1 << vc);
        self.note_grant(channel, index);
        let output = &mut self.outputs[index as usize];
        // With several channels a queue is one of the port's.
        let is_queue = self.vcs == 1 && self.has_queues && output.down >= self.ejection;
        let mut down = output.down + vc;
        output.vcs_first[vc as usize % VCS_MAX] = local as u8 + 1;
        let input = &mut self.channels[channel as usize];
        if is_queue {
            let place = channel * self.capacity + u32::from(input.first);
            let packet = (self.places[place as usize] & FREE) as usize;
            down = self.outputs[index as usize].down + self.packets[packet].packet.queue;
            self.packets[packet].has_way = !self.void_turns.is_empty();
        }
        input.state = State::Active;
        input.out_vc = vc as u8;
        input.down = down;
        let at = self.now + u64::from(self.spec.router.vc_allocation);
        if self.vcs == 1 {
            input.next_at = at;
            self.stream(channel);
        } else if at == self.now {
            self.ask_for_switch(channel);
        } else {
            let router = self.by_ports.of(index);
            if at != self.now + 1 || !self.pass_next(router, local) {
                self.wheel.push(at, channel);
            }
        }
    }
}
