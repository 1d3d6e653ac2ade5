// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routing of head flits and allocation of the outputs' virtual channels.

use super::{FREE, FlitMesh, Output, State, UnderWay, first_from};
use crate::network::mesh::spec::{SIDES, VcChoice};

impl FlitMesh {
    /// The head flit's route is known: it asks for an output.
    pub(super) fn route(&mut self, channel: u32) {
        let input = self.channels[channel as usize];
        let place = self.places[(channel * self.capacity + u32::from(input.first)) as usize];
        let packet = &self.packets[(place & FREE) as usize];
        let (router, local) = (self.by_inputs.of(channel), u32::from(input.local));
        let wide = |(x, y): (u16, u16)| (u32::from(x), u32::from(y));
        let at = self.positions[router as usize];
        let hop = self
            .spec
            .grid
            .next_hop(wide(packet.from), wide(packet.to), wide(at));
        let out_port = match hop {
            Some(hop) => hop.side as u32,
            None => u32::from(packet.last_port),
        };
        let in_port = u32::from(self.port_of[local as usize & 63][0]);
        let turns = in_port < SIDES && out_port < SIDES && in_port / 2 != out_port / 2;
        let allowed = self.allowed(packet, out_port, hop.is_some_and(|hop| hop.is_wrapped));
        let state = &mut self.channels[channel as usize];
        if turns && self.spec.router.turn > 0 && !state.has_turned {
            state.has_turned = true;
            self.wheel
                .push(self.now + u64::from(self.spec.router.turn), channel);
            return;
        }
        state.state = State::Requesting;
        state.down = u32::from(allowed);
        let index = router * self.ports + out_port;
        state.output = index;
        self.note_request(channel, index);
        let output = &mut self.outputs[index as usize];
        output.requests |= 1 << local;
        if output.free != 0 {
            let at = if self.vcs == 1 {
                output.next_at.max(self.now)
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
        if output.is_planned {
            return;
        }
        output.is_planned = true;
        if at == self.now {
            self.allocating.push(index);
        } else {
            let agent = (self.channels.len() + self.sources.len()) as u32 + index;
            self.wheel.push(at, agent);
        }
    }

    /// Virtual channels that a packet may be given at an output; those of an ejection port with
    /// queues are its queues. `is_wrapped` where it must use the upper half of a torus's.
    #[inline]
    fn allowed(&self, packet: &UnderWay, out_port: u32, is_wrapped: bool) -> u16 {
        let queue = packet.packet.queue;
        if out_port >= SIDES && self.has_queues {
            return 1 << queue;
        }
        let (first, len) = match self.spec.grid.is_torus && out_port < SIDES {
            false => (0, self.vcs),
            true if is_wrapped => (self.vcs / 2, self.vcs - self.vcs / 2),
            true => (0, self.vcs / 2),
        };
        match self.spec.router.vc_choice {
            VcChoice::Any => (((1_u32 << len) - 1) << first) as u16,
            VcChoice::Receiver => 1 << (first + packet.receiver() % len.max(1)),
        }
    }

    /// Allocates the free virtual channels of an output.
    pub(super) fn allocate(&mut self, index: u32) {
        let output = &mut self.outputs[index as usize];
        output.is_planned = false;
        let Output {
            requests,
            free,
            next_at,
            ..
        } = *output;
        if requests == 0 || free == 0 {
            return;
        }
        if self.vcs == 1 {
            debug_assert!(next_at <= self.now, "planned for then");
            let local = first_from(requests, self.vc_pointers[(index * self.out_vcs) as usize]);
            let base = self.by_ports.of(index) * self.inputs;
            self.grant_channel(index, base + local, local, 0);
            return;
        }
        let base = self.by_ports.of(index) * self.inputs;
        if requests.is_power_of_two() {
            // Every channel offers itself to the only request.
            let local = requests.trailing_zeros();
            let allowed = match self.is_restricted {
                true => self.channels[(base + local) as usize].down as u16,
                false => u16::MAX,
            };
            if free & allowed != 0 {
                self.accept(index, base, local, free & allowed);
            }
            return;
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
            let pointer = self.vc_pointers[(index * self.out_vcs + vc) as usize];
            let local = first_from(candidates, pointer);
            offers[local as usize] |= 1 << vc;
            offered |= 1 << local;
        }
        while offered != 0 {
            let local = offered.trailing_zeros();
            offered &= offered - 1;
            self.accept(index, base, local, offers[local as usize]);
        }
        let output = &mut self.outputs[index as usize];
        // Channels that no request may use are no reason to try again.
        if output.requests != 0 && output.free != 0 && output.free != free {
            self.plan(index, self.now + 1);
        } else if output.requests != 0 && output.free == free && !self.is_restricted {
            unreachable!("a free channel and a request always meet");
        }
    }

    /// A request accepts one of the channels that offer themselves to it.
    fn accept(&mut self, index: u32, base: u32, local: u32, offers: u16) {
        let pointer = &mut self.accept_pointers[(base + local) as usize];
        let vc = first_from(u64::from(offers), *pointer);
        *pointer = vc as u8 + 1;
        self.grant_channel(index, base + local, local, vc);
    }

    fn grant_channel(&mut self, index: u32, channel: u32, local: u32, vc: u32) {
        let output = &mut self.outputs[index as usize];
        output.requests &= !(1 << local);
        output.free &= !(1 << vc);
        self.note_grant(channel, index);
        let output = &self.outputs[index as usize];
        // With several channels a queue is one of the port's.
        let is_queue = self.vcs == 1 && self.has_queues && output.down >= self.ejection;
        let mut down = output.down + vc;
        let pointer = &mut self.vc_pointers[(index * self.out_vcs + vc) as usize];
        *pointer = local as u8 + 1;
        let input = &mut self.channels[channel as usize];
        if is_queue {
            let place = channel * self.capacity + u32::from(input.first);
            let packet = (self.places[place as usize] & FREE) as usize;
            down = self.outputs[index as usize].down + self.packets[packet].packet.queue;
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
            self.wheel.push(at, channel);
        }
    }
}
