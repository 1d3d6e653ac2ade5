// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading ahead what will be changed: see [`super::LARGE`].

use super::{Channel, FlitMesh, State, TOGETHER, first_from, for_each_bit};

impl FlitMesh {
    /// Reads what agents are about to change, all at once: see [`super::LARGE`].
    pub(super) fn look_ahead(&self, agents: &[u32]) {
        if !self.is_large || agents.len() < TOGETHER {
            return;
        }
        let mut seen = 0;
        for &agent in agents {
            if agent < self.ejection {
                let input = &self.channels[agent as usize];
                seen ^= self.places[(agent * self.capacity) as usize];
                seen ^= match self.vcs {
                    1 => u64::from(input.down),
                    _ => self.look_downstream(input),
                };
            }
        }
        std::hint::black_box(seen);
    }

    /// Reads what flits of `input` are about to change at the next router, if its packet is given
    /// the virtual channel that it would accept first, and goes straight on there.
    #[inline]
    fn look_downstream(&self, input: &Channel) -> u64 {
        let output = &self.outputs[input.output as usize];
        let vc = first_from(u64::from(output.free), input.accepts_first).min(self.vcs - 1);
        let down = match input.state {
            State::Active | State::Ready => input.down,
            _ => output.down + vc,
        };
        if down >= self.ejection {
            return 0;
        }
        let router = self.by_inputs.of(down);
        let port = input.output - self.by_ports.of(input.output) * self.ports;
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
