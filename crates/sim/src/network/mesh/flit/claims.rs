// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who can get in whose way at a router with several virtual channels, and until when nobody can.
//!
//! A packet claims its output at a router as soon as its head is known to come there, because its
//! route is known. So a packet that has been given a virtual channel can see who else will want its
//! output, or leaves its input port, and none of them asks for the switch before its `next_at`. As
//! long as nobody does, every request is granted and moves the same pointers, and flits may be moved
//! without asking.
//!
//! Who has no claim yet cannot ask sooner than
//!
//! - a hop, a route and the allocation of a channel after its head leaves the router before, which
//!   may be in this cycle still;
//! - as long after its core injects its head, in the next cycle at the soonest;
//! - a route and an allocation after the packet in front of it has left the buffer, if it is there
//!   already.

use super::switch::Switch;
use super::{Channel, FREE, FlitMesh, Output, State, wrapped};
use crate::network::mesh::spec::{Ejection, MeshSpec};

/// See [`FlitMesh::ahead`], [`FlitMesh::ahead_of_next`] and [`FlitMesh::next_arrival`].
///
/// Cores with queues are told of flits in the cycle in which they leave the mesh, and may look at
/// it in every cycle: there nothing is moved ahead.
pub(super) fn cycles_ahead(spec: &MeshSpec) -> [u64; 3] {
    let router = &spec.router;
    let is_exact = router.vcs == 1 || router.link_interval > 1 || spec.ejection != Ejection::Sink;
    if is_exact {
        return [0; 3];
    }
    let hop = router.switch + router.link;
    let to_ask = router.routing + router.vc_allocation;
    [
        to_ask + router.injection.min(hop - 1),
        to_ask,
        hop.min(1 + router.injection),
    ]
    .map(u64::from)
}

impl FlitMesh {
    /// The head of `packet` has become the first flit of `channel`, and can be routed from cycle
    /// `start` on: it is known already where it will go.
    #[inline]
    pub(super) fn claim(&mut self, channel: u32, packet: u32, start: u64) {
        let router = self.by_inputs.of(channel);
        let way = &self.ways[packet as usize];
        let wide = |(x, y): (u16, u16)| (u32::from(x), u32::from(y));
        let at = self.positions[router as usize];
        let grid = &self.spec.grid;
        let last_port = u32::from(way.last_port);
        let (out_port, is_wrapped) = if grid.is_torus {
            let hop = grid.next_hop(wide(way.from), wide(way.to), wide(at));
            hop.map_or((last_port, false), |hop| (hop.side as u32, hop.is_wrapped))
        } else {
            (grid.next_side(wide(way.to), wide(at), last_port), false)
        };
        let allowed = match self.is_restricted {
            true => self.allowed(packet, out_port, is_wrapped),
            false => u16::MAX,
        };
        let output = router * self.ports + out_port;
        let at = start + u64::from(self.spec.router.routing);
        let input = &mut self.channels[channel as usize];
        input.state = State::Routing;
        input.output = output;
        input.down = u32::from(allowed);
        input.next_at = at + u64::from(self.spec.router.vc_allocation);
        let bit = 1 << (u32::from(input.local) & 63);
        self.wheel.push(at, channel);
        if self.vcs > 1 {
            self.outputs[output as usize].claims |= bit;
            self.switches[router as usize].busy |= bit;
        }
    }

    /// The last cycle until which no other flit can ask for the output of `local`, nor one of the
    /// same input port for any output, as far as that is known.
    pub(super) fn alone_until(&self, router: u32, local: u32, output: u32) -> u64 {
        let port = u32::from(self.port_of[local as usize & 63][0]);
        let of_port = ((1 << self.vcs) - 1) << ((port * self.vcs) & 63);
        let others = !(1 << (local & 63));
        let Switch { busy, behind, .. } = self.switches[router as usize];
        let in_the_way = (self.outputs[output as usize].claims | (busy & of_port)) & others;
        let mut until = self.now
            + match behind & others {
                0 => self.ahead,
                _ => self.ahead_of_next,
            };
        let base = router * self.inputs;
        let mut bits = in_the_way;
        while bits != 0 {
            let other = &self.channels[(base + bits.trailing_zeros()) as usize];
            bits &= bits - 1;
            let soonest = match other.state {
                State::Starved => self.now + self.next_arrival,
                _ => self.now + 1,
            };
            until = until.min(other.next_at.max(soonest) - 1);
        }
        until
    }

    /// Notes that the flits of `packet` just put into `channel` are behind another packet.
    #[inline]
    pub(super) fn note_if_behind(&mut self, channel: u32, packet: u32, len_before: u16) {
        let Channel { first, local, .. } = self.channels[channel as usize];
        let last = wrapped(u32::from(first) + u32::from(len_before) - 1, self.capacity);
        let last = self.places[(channel * self.capacity + last) as usize];
        if last & FREE != u64::from(packet) {
            self.switches[self.by_inputs.of(channel) as usize].behind |= 1 << (local & 63);
        }
    }

    /// Flits that have been moved through `output`, but in cycles that are still to come. There is one
    /// in each, because flits move ahead without a pause.
    pub(super) fn crossing_later(&self, output: &Output) -> u64 {
        if self.vcs == 1 || self.has_slow_links {
            return 0;
        }
        output.next_at.saturating_sub(self.now)
    }

    /// The same over all links, and over all ejection ports.
    pub(super) fn all_later(&self) -> (u64, u64) {
        let mut later = (0, 0);
        for output in &self.outputs {
            if output.down < self.ejection {
                later.0 += self.crossing_later(output);
            } else {
                later.1 += self.crossing_later(output);
            }
        }
        later
    }
}
