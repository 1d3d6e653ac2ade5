// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic of others on the links and the ports that lines use.
//!
//! Packets go between random cores of the whole chip, each into the buffer of its destination. A
//! line that meets them waits at every link of its way, and at the port it ends at, until what came
//! before it is through.
//!
//! A packet is taken to reach all links of its way when it is created. Routers serve their inputs in
//! turns, so a line waits for at most one packet of each of the other inputs; what others have
//! beyond that waits where it comes from, and their own delays are not looked at. A packet for which as
//! much waits somewhere as a core may have under way is held back: it would change nothing for lines.

use std::cell::{Cell, RefCell};

use corecast_chip::Mesh;
use corecast_core::{Grid, Side};
use corecast_machine::{Background, BackgroundUse, Time};
use corecast_sim::memory::Server;
use corecast_sim::traffic::UniformTraffic;

use crate::mesh_spec;
use crate::window::packets_max;

/// Inputs of a router that a line shares an output with: three other sides and a core.
const OTHER_INPUTS: u64 = 4;

/// See the module's documentation.
pub(super) struct Others {
    traffic: RefCell<UniformTraffic>,
    /// The whole chip.
    grid: Grid,
    /// Flits of a packet.
    packet_flits: u32,
    /// A cycle of the mesh, a packet on a link, and the longest wait at one.
    period: Time,
    packet: Time,
    wait_max: Time,
    /// What waits somewhere where a packet is held back.
    backlog_max: Time,
    used: Cell<BackgroundUse>,
    /// Per node and side.
    links: Vec<Server>,
    /// Flits that each of these has carried.
    carried: Vec<Cell<u64>>,
    /// Per core.
    ports: Vec<Server>,
}

impl Others {
    /// None if they send nothing.
    pub(super) fn new(mesh: &Mesh, background: Background) -> Option<Self> {
        let Background {
            rate,
            packet_flits,
            seed,
        } = background;
        let grid = mesh.grid;
        let period = Time::from_ps(mesh.clock.to_ps(1));
        let packet = period * (u64::from(packet_flits) * u64::from(mesh.link_interval_cycles));
        (rate > 0.0).then(|| Self {
            traffic: RefCell::new(UniformTraffic::new(
                &mesh_spec(mesh),
                rate,
                packet_flits,
                seed,
            )),
            grid,
            packet_flits,
            period,
            packet,
            wait_max: packet * OTHER_INPUTS,
            backlog_max: packet * u64::from(packets_max(packet_flits)),
            used: Cell::default(),
            links: vec![Server::default(); grid.nodes() as usize * Side::ALL.len()],
            carried: vec![Cell::default(); grid.nodes() as usize * Side::ALL.len()],
            ports: vec![Server::default(); grid.ranks_max() as usize],
        })
    }

    /// Lets them send what they have by `now`.
    pub(super) fn advance(&self, now: Time) {
        let mut traffic = self.traffic.borrow_mut();
        loop {
            let cycle = traffic.next_cycle();
            if cycle > now.ps() / self.period.ps() {
                return;
            }
            let Some(packet) = traffic.pop(cycle) else {
                return;
            };
            let [from, to] = [packet.src, packet.dst].map(|core| core / self.grid.per_node);
            let time = self.period * cycle;
            let is_sent = self.backlog_on_way(from, to, time) < self.backlog_max;
            self.used.set(self.used.get().with(is_sent));
            if !is_sent {
                continue;
            }
            self.grid.visit_route(from, to, &mut |node, hop| {
                let link = self.link(node, hop.side);
                self.links[link].serve(time, Time::ZERO, self.packet);
                let carried = &self.carried[link];
                carried.set(carried.get() + u64::from(self.packet_flits));
            });
            self.ports[packet.dst as usize].serve(time, Time::ZERO, self.packet);
        }
    }

    /// The longest of what waits at the links from one router to another.
    fn backlog_on_way(&self, from: u32, to: u32, now: Time) -> Time {
        let mut longest = Time::ZERO;
        self.grid.visit_route(from, to, &mut |node, hop| {
            longest = longest.max(self.links[self.link(node, hop.side)].backlog(now));
        });
        longest
    }

    /// Flits that the link has carried for them by then which leaves the router at `at`.
    pub(super) fn carried(&self, at: (u32, u32), side: Side) -> u64 {
        let link = self.link(self.grid.node_at(at.0, at.1), side);
        self.carried[link].get()
    }

    /// What they have sent by the time up to which they were let.
    pub(super) fn used(&self) -> BackgroundUse {
        self.used.get()
    }

    const fn link(&self, node: u32, side: Side) -> usize {
        node as usize * Side::ALL.len() + side as usize
    }

    /// How long a line waits that comes `now` to the link that leaves the router at `at`.
    pub(super) fn wait_at_link(&self, at: (u32, u32), side: Side, now: Time) -> Time {
        let link = self.link(self.grid.node_at(at.0, at.1), side);
        self.links[link].backlog(now).min(self.wait_max)
    }

    /// How long a line waits that comes `now` to the port of core number `index` at a router.
    pub(super) fn wait_at_port(&self, at: (u32, u32), index: u32, now: Time) -> Time {
        let core = self.grid.node_at(at.0, at.1) * self.grid.per_node + index;
        self.ports[core as usize].backlog(now).min(self.wait_max)
    }
}

#[cfg(test)]
mod tests {
    use corecast_chip::System;

    use super::*;

    /// Others that seldom send, on a chip of 24 routers with two cores each.
    fn others() -> Others {
        let chip = corecast_chip::find("scc").expect("built in");
        let System::Mpb { mesh, .. } = chip.system() else {
            panic!("a chip with buffers");
        };
        let background = Background {
            rate: 0.001,
            packet_flits: 4,
            seed: 1,
        };
        Others::new(mesh, background).expect("they send something")
    }

    #[test]
    fn every_link_and_every_port_has_a_queue_of_its_own() {
        let others = others();
        let links = (0..24).flat_map(|node| Side::ALL.map(|side| others.link(node, side)));
        assert!(links.eq(0..others.links.len()));
        let work = |core: u32| Time::from_ps(u64::from(core) + 1);
        for (core, port) in (0..).zip(&others.ports) {
            port.serve(Time::ZERO, Time::ZERO, work(core));
        }
        for core in 0..48 {
            let at = others.grid.position(core / 2);
            let wait = others.wait_at_port(at, core % 2, Time::ZERO);
            assert_eq!(wait, work(core), "core {core}");
        }
    }

    /// A packet is there in the cycle in which it is created, and not before.
    #[test]
    fn packets_come_when_they_are_created() {
        let others = others();
        let created = others.period * others.traffic.borrow().next_cycle();
        let waiting = |now: Time| {
            others.advance(now);
            let waits = others.ports.iter().map(|port| port.backlog(now));
            waits.filter(|&wait| wait == others.packet).count()
        };
        assert_eq!(waiting(created.saturating_sub(Time::from_ps(1))), 0);
        assert_eq!(waiting(created), 1);
    }

    /// A packet is held back where as much waits as a core may have under way, and not for less.
    #[test]
    fn as_much_waits_as_may_be_under_way() {
        let is_sent = |less: Time| {
            let others = others();
            let created = others.period * others.traffic.borrow().next_cycle();
            for link in &others.links {
                link.serve(created, Time::ZERO, others.backlog_max.saturating_sub(less));
            }
            others.advance(created);
            let mut waits = others.ports.iter().map(|port| port.backlog(created));
            waits.any(|wait| wait > Time::ZERO)
        };
        assert!(!is_sent(Time::ZERO));
        assert!(is_sent(Time::from_ps(1)));
    }
}
