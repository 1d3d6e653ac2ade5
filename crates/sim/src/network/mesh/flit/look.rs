// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading ahead what will be changed: see [`super::LARGE`].

use std::hint::select_unpredictable;

use super::{Channel, FlitMesh, State, TOGETHER, for_each_bit};

impl FlitMesh {
    /// Reads what agents are about to change, all at once: see [`super::LARGE`]. Every loop needs what
    /// the one before it has read, and has no branch that depends on what it reads itself.
    pub(super) fn look_ahead(&self, agents: &[u32]) {
        if !self.is_large || agents.len() < TOGETHER {
            return;
        }
        let channels = || agents.iter().filter(|&&agent| agent < self.ejection);
        let mut seen = 0;
        for &channel in channels() {
            seen ^= self.places[(channel * self.capacity) as usize];
            seen ^= u64::from(self.channels[channel as usize].down);
        }
        if self.vcs > 1 {
            for &channel in channels() {
                let output = self.channels[channel as usize].output;
                seen ^= u64::from(self.outputs[output as usize].free);
                seen ^= self.switches[self.by_inputs.of(channel) as usize].busy;
            }
            for &channel in channels() {
                seen ^= self.look_downstream(&self.channels[channel as usize]);
            }
        }
        std::hint::black_box(seen);
    }

    /// Reads what flits of `input` are about to change at the next router, if its packet is given
    /// the virtual channel that it would accept first, and goes straight on there.
    #[inline]
    fn look_downstream(&self, input: &Channel) -> u64 {
        let output = &self.outputs[input.output as usize];
        let above = u32::from(output.free) & (u32::MAX << (input.accepts_first & 31));
        let first = select_unpredictable(above == 0, u32::from(output.free), above);
        let vc = first.trailing_zeros().min(self.vcs - 1);
        let has_down = matches!(input.state, State::Active | State::Ready);
        let down = select_unpredictable(has_down, input.down, output.down + vc);
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
                seen ^= self.outputs[input.output as usize].claims;
            });
        }
        std::hint::black_box(seen);
    }
}
