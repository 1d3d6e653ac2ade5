// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who waited for which link, and for whom. Recorded only on request.
//!
//! A head flit waits for an output that another packet has, or behind a packet in its input buffer
//! that has not gone through its own output yet; that output is the one named then.

use corecast_core::Side;

use super::{FREE, FlitMesh, Packet, for_each_bit};
use crate::network::mesh::spec::SIDES;

/// A head flit that waited while another packet used a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkWait {
    /// The packet that waited.
    pub packet: Packet,
    /// Where: the router, and the side of the link; none = the port of the packet's core.
    pub router: u32,
    /// See `router`.
    pub side: Option<Side>,
    /// The cycles, `[from, until)`.
    pub from: u64,
    /// See `from`.
    pub until: u64,
    /// The packet that held the output; with several virtual channels, the one that was given one
    /// last.
    pub holder: Packet,
}

/// What is kept to tell who waits for whom.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    /// Per input channel: since when its head asks, and the holder of the output from then on.
    asking: Vec<(u64, Packet)>,
    /// Per output: the packet that was granted it last.
    holders: Vec<Packet>,
    log: Vec<LinkWait>,
}

impl FlitMesh {
    /// Records waits from now on, for [`FlitMesh::take_waits`].
    pub fn record_waits(&mut self) {
        // Waits are told when they end, and in order.
        self.ahead = 0;
        self.waits = Some(Box::new(Waits {
            asking: vec![(0, Packet::new(0, 0, 1)); self.ejection as usize],
            holders: vec![Packet::new(0, 0, 1); self.outputs.len()],
            log: Vec::new(),
        }));
    }

    /// Takes the waits that have ended, in the order in which they did.
    pub fn take_waits(&mut self) -> Vec<LinkWait> {
        let waits = self.waits.as_mut();
        waits.map_or_else(Vec::new, |waits| std::mem::take(&mut waits.log))
    }

    /// `channel` asks for `output` from now on.
    #[inline]
    pub(super) fn note_request(&mut self, channel: u32, output: u32) {
        if let Some(waits) = &mut self.waits {
            waits.asking[channel as usize] = (self.now, waits.holders[output as usize]);
        }
    }

    /// `channel` is given `output`; those that go on asking wait for its packet from now on.
    #[inline]
    pub(super) fn note_grant(&mut self, channel: u32, output: u32) {
        if let Some(waits) = self.waits.take() {
            self.note_grant_in(waits, channel, output);
        }
    }

    fn note_grant_in(&mut self, mut waits: Box<Waits>, channel: u32, output: u32) {
        let holder = self.first_packet(channel);
        let base = output / self.ports * self.inputs;
        self.end_wait(&mut waits, channel, output);
        for_each_bit(self.outputs[output as usize].requests, |local| {
            self.end_wait(&mut waits, base + local, output);
            waits.asking[(base + local) as usize] = (self.now, holder);
        });
        waits.holders[output as usize] = holder;
        self.waits = Some(waits);
    }

    /// The tail of packet `ahead` has left `channel` for `output`; the head behind it, which came
    /// at `arrival`, could not be routed before `until`.
    #[inline]
    pub(super) fn note_behind(&mut self, channel: u32, output: u32, ahead: u32, times: [u64; 2]) {
        if self.waits.is_some() && times[0] < times[1] {
            let holder = self.packets[ahead as usize].packet;
            self.note_behind_in(channel, output, holder, times);
        }
    }

    /// The same of a head that comes when the tail ahead of it has left before its time: nobody else has been
    /// given the output since.
    #[inline]
    pub(super) fn note_behind_last(&mut self, channel: u32, times: [u64; 2]) {
        if let Some(waits) = self.waits.as_ref().filter(|_| times[0] < times[1]) {
            let output = self.channels[channel as usize].output;
            let holder = waits.holders[output as usize];
            self.note_behind_in(channel, output, holder, times);
        }
    }

    fn note_behind_in(&mut self, channel: u32, output: u32, holder: Packet, times: [u64; 2]) {
        let [from, until] = times;
        let packet = self.first_packet(channel);
        let port = output % self.ports;
        let wait = LinkWait {
            packet,
            router: output / self.ports,
            side: (port < SIDES).then(|| Side::ALL[port as usize]),
            from,
            until,
            holder,
        };
        if let Some(waits) = &mut self.waits {
            waits.log.push(wait);
        }
    }

    fn end_wait(&self, waits: &mut Waits, channel: u32, output: u32) {
        let (from, holder) = waits.asking[channel as usize];
        if from < self.now {
            let port = output % self.ports;
            waits.log.push(LinkWait {
                packet: self.first_packet(channel),
                router: output / self.ports,
                side: (port < SIDES).then(|| Side::ALL[port as usize]),
                from,
                until: self.now,
                holder,
            });
        }
    }

    /// The packet whose head is first in a channel.
    fn first_packet(&self, channel: u32) -> Packet {
        let first = u32::from(self.channels[channel as usize].first);
        let place = self.places[(channel * self.capacity + first) as usize];
        self.packets[(place & FREE) as usize].packet
    }
}
