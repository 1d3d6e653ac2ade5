// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading ahead what will be changed: see [`super::LARGE`].

use super::{Channel, FlitMesh, NONE, State, TOGETHER, first_from, for_each_bit};

impl FlitMesh {
    /// Reads what agents are about to change, all at once: see [`super::LARGE`].
    pub(super) fn look_ahead(&self, agents: &[u32]) {
        if !self.is_large || agents.len() < TOGETHER {
            return;
        }
        let mut seen = 0;
        // Nothing that is read in one pass depends on anything else that is read there.
        let mut down = [NONE; TOGETHER];
        for (&agent, down) in agents.iter().zip(&mut down) {
            if agent < self.ejection {
                *down = self.channels[agent as usize].down;
                seen ^= self.places[(agent * self.capacity) as usize];
            }
        }
        if self.vcs > 1 {
            for (&agent, down) in agents.iter().zip(&mut down) {
                if agent < self.ejection {
                    *down = self.next_channel(&self.channels[agent as usize]);
                }
            }
            for (&agent, &down) in agents.iter().zip(&down) {
                if down < self.ejection {
                    let output = self.channels[agent as usize].output;
                    seen ^= self.look_downstream(output, down);
                }
            }
        }
        std::hint::black_box((seen, down));
    }

    /// Where flits of `input` go: to the virtual channel that its packet has, or would accept first.
    #[inline]
    fn next_channel(&self, input: &Channel) -> u32 {
        if input.state == State::Active || input.state == State::Ready {
            return input.down;
        }
        let output = &self.outputs[input.output as usize];
        let vc = first_from(u64::from(output.free), input.accepts_first);
        output.down.saturating_add(vc.min(self.vcs - 1))
    }

    /// Reads what flits that leave by `output` for the channel `down` are about to change at the
    /// next router, if their packet goes straight on there.
    #[inline]
    fn look_downstream(&self, output: u32, down: u32) -> u64 {
        let router = self.by_inputs.of(down);
        let port = output - self.by_ports.of(output) * self.ports;
        let next = &self.outputs[(router * self.ports + port) as usize];
        let into = &self.channels[down as usize];
        let place = self.places[(down * self.capacity) as usize];
        place ^ next.claims ^ u64::from(into.flits) ^ self.switches[router as usize].busy
    }

    /// Reads what flits are about to change, all at once: see [`super::LARGE`].
    pub(super) fn look_ahead_of_switch(&self, routers: &[u32]) {
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
}
