// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocation of the switch, where a router has several virtual channels.

use super::{Channel, FlitMesh, TOGETHER, first_from, for_each_bit, is_before};

/// What the allocation of a router's switch needs, in one line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Switch {
    /// Input channels that ask for it, in this cycle or, once that is allocated, in the next.
    pub(super) requests: u64,
    /// Input channels that hold a packet.
    pub(super) busy: u64,
    /// Those that may hold a further packet behind it.
    pub(super) behind: u64,
    /// Per input port: the output port accepted first, and the virtual channel preferred.
    first: [[u8; 2]; PORTS_MAX],
}

/// Four sides and at most 16 cores.
const PORTS_MAX: usize = 20;
/// A number of more bits than there are ports, so that a port masked by it is a bit of a word.
const PORT_MASK: u32 = 31;

impl Switch {
    /// That of a router at rest.
    pub(super) const NEW: Self = Self {
        requests: 0,
        busy: 0,
        behind: 0,
        first: [[0; 2]; PORTS_MAX],
    };
}

impl FlitMesh {
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
    pub(super) fn request_switch(&mut self, router: u32, local: u32) {
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
        let output = |local: u32| self.channels[(base + local) as usize].output;
        let (output_a, output_b) = (output(a), output(b));
        let [input_a, vc_a] = self.port_of[a as usize & 63].map(u32::from);
        let [input_b, vc_b] = self.port_of[b as usize & 63].map(u32::from);
        let first = self.switches[router as usize].first[input_a as usize];
        let is_a = match (input_a == input_b, output_a == output_b) {
            (false, false) => {
                self.serve(router, a);
                return self.serve(router, b);
            }
            // The output offers itself to one input; or both outputs offer themselves to the input,
            // which accepts one; or it accepts the output, and chooses.
            (false, true) => {
                let pointer = self.outputs[output_a as usize].input_first;
                is_before(input_a, input_b, pointer)
            }
            (true, false) => is_before(output_a - outputs, output_b - outputs, first[0]),
            (true, true) => is_before(vc_a, vc_b, first[1]),
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

    /// Moves the pointers of a router's switch behind an accepted offer.
    #[inline]
    pub(super) fn move_pointers(&mut self, router: u32, local: u32, output: u32) {
        let [input, vc] = self.port_of[local as usize & 63];
        self.outputs[output as usize].input_first = input + 1;
        let port = output - router * self.ports;
        self.switches[router as usize].first[input as usize] = [port as u8 + 1, vc + 1];
    }

    /// Which of the requests for a router's switch are granted, where they get in each other's way.
    fn match_ports(&mut self, router: u32, requests: u64) -> u64 {
        let (base, outputs, vcs) = (router * self.inputs, router * self.ports, self.vcs);
        // Per output the inputs with a flit for it; then per input the outputs that chose it.
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
                let pointer = self.outputs[(outputs + output) as usize].input_first;
                let input = first_from(u64::from(inputs), pointer);
                offers[(input & PORT_MASK) as usize] |= 1 << output;
                offered |= 1 << input;
            }
        }
        let mut granted = 0_u64;
        for_each_bit(offered, |input| {
            let [output_first, vc_first] = self.switches[router as usize].first[input as usize];
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
}
