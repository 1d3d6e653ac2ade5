// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mesh of one run in either fidelity, as the message layer sees it.
//!
//! What cores read comes in portions: a word on the mesh that is exact to the flit, of which a core takes
//! those in one go that come without a pause; a packet on the one that is exact to the packet.

use std::ops::RangeInclusive;

use corecast_core::LinkUse;
use corecast_sim::network::mesh::{
    CYCLES_MAX, FlitMesh, LinkWait, MeshSpec, Packet, PacketMesh, QueueEvent, Queued,
};

use crate::Fidelity;

/// Words at the front of a core's queue, to be read in one go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portion {
    /// How many, at least 1.
    pub words: u64,
    /// Cycles from which on the first and the last of them can be read.
    pub first: u64,
    pub last: u64,
    /// Core that sent the packet.
    pub src: u32,
    /// Its tag.
    pub tag: u64,
    /// Whether the packet ends with them.
    pub is_end: bool,
}

impl Portion {
    fn of_packet(queued: Queued) -> Self {
        Self {
            src: queued.packet.src,
            tag: queued.packet.tag,
            words: u64::from(queued.packet.flits),
            first: queued.first,
            last: queued.last,
            is_end: true,
        }
    }
}

/// See the module's documentation.
pub(super) enum Network {
    /// Exact to the flit.
    Flit(Box<FlitMesh>),
    /// Exact to the packet.
    Packet(Box<PacketMesh>),
}

impl Network {
    /// # Panics
    /// If the chip's mesh cannot be built: chip files are checked.
    pub(super) fn new(spec: &MeshSpec, fidelity: Fidelity) -> Self {
        const CHECKED: &str = "the chip file was checked";
        match fidelity {
            Fidelity::Flit => {
                let mut mesh = FlitMesh::new(spec).expect(CHECKED);
                mesh.record_waits();
                Self::Flit(Box::new(mesh))
            }
            Fidelity::Packet => Self::Packet(Box::new(PacketMesh::new(spec).expect(CHECKED))),
        }
    }

    pub(super) fn next_event(&self) -> Option<u64> {
        match self {
            Self::Flit(mesh) => mesh.next_event(),
            Self::Packet(mesh) => mesh.next_event(),
        }
    }

    pub(super) fn run_until(&mut self, end: u64) {
        match self {
            Self::Flit(mesh) => mesh.run_until(end),
            Self::Packet(mesh) => mesh.run_until(end),
        }
    }

    pub(super) fn run_to_news(&mut self, end: u64) {
        match self {
            Self::Flit(mesh) => mesh.run_to_news(end.min(CYCLES_MAX)),
            Self::Packet(mesh) => mesh.run_to_news(end),
        }
    }

    /// Puts a packet into the network; returns the cycle after its last word was taken from the
    /// core, if that is known already. If not, [`Network::take_injected`] tells.
    pub(super) fn send(&mut self, packet: Packet) -> Option<u64> {
        match self {
            Self::Flit(mesh) => {
                mesh.send(packet);
                None
            }
            Self::Packet(mesh) => Some(mesh.send(packet)),
        }
    }

    pub(super) fn front(&self, core: u32, queue: u32) -> Option<Portion> {
        match self {
            Self::Flit(mesh) => {
                let flit = mesh.front(core, queue)?;
                Some(Portion {
                    src: flit.packet.src,
                    tag: flit.packet.tag,
                    words: 1,
                    first: flit.arrival,
                    last: flit.arrival,
                    is_end: flit.is_tail,
                })
            }
            Self::Packet(mesh) => mesh.front(core, queue).map(Portion::of_packet),
        }
    }

    /// Takes what is at the front of a queue, where there must be something.
    pub(super) fn take(&mut self, core: u32, queue: u32) {
        match self {
            Self::Flit(mesh) => {
                mesh.take(core, queue);
            }
            Self::Packet(mesh) => {
                mesh.take(core, queue);
            }
        }
    }

    /// The same for a core that reads on, up to `most` words, as long as words of the packet come without a
    /// pause, each within these cycles: it has come in the first of them, and is taken in the last. How many
    /// words it reads in one go, and whether the packet ends with them.
    pub(super) fn take_many(
        &mut self,
        (core, queue): (u32, u32),
        portion: &Portion,
        most: u64,
        cycles_of: impl Fn(u64) -> RangeInclusive<u64>,
    ) -> (u64, bool) {
        match self {
            Self::Flit(mesh) => mesh.take_many((core, queue), most, cycles_of),
            Self::Packet(mesh) => {
                mesh.take(core, queue);
                (portion.words, portion.is_end)
            }
        }
    }

    pub(super) fn watch(&mut self, core: u32, queue: u32) {
        match self {
            Self::Flit(mesh) => mesh.watch(core, queue),
            Self::Packet(mesh) => mesh.watch(core, queue),
        }
    }

    /// Whether a queue is full and holds up words; if not, an arrival tells when it does. Only the
    /// flit mesh has full queues.
    pub(super) fn watch_full(&mut self, core: u32, queue: u32) -> bool {
        match self {
            Self::Flit(mesh) => mesh.watch_full(core, queue),
            Self::Packet(_) => false,
        }
    }

    pub(super) fn take_arrivals(&mut self) -> Vec<QueueEvent> {
        match self {
            Self::Flit(mesh) => mesh.take_arrivals(),
            Self::Packet(mesh) => mesh.take_arrivals(),
        }
    }

    /// Tags and cycles of packets whose injection has ended, where [`Network::send`] did not tell.
    pub(super) fn take_injected(&mut self) -> Vec<(u64, u64)> {
        match self {
            Self::Flit(mesh) => mesh.take_injected(),
            Self::Packet(_) => Vec::new(),
        }
    }

    /// Forgets what has been delivered: the cores have read it.
    pub(super) fn forget_deliveries(&mut self) {
        if let Self::Flit(mesh) = self {
            mesh.take_deliveries();
        }
    }

    /// Takes who has waited for which link; only the flit mesh knows.
    pub(super) fn take_waits(&mut self) -> Vec<LinkWait> {
        match self {
            Self::Flit(mesh) => mesh.take_waits(),
            Self::Packet(_) => Vec::new(),
        }
    }

    pub(super) fn links(&self) -> Vec<LinkUse> {
        match self {
            Self::Flit(mesh) => mesh.links().collect(),
            Self::Packet(mesh) => mesh.links().collect(),
        }
    }

    pub(super) fn conservation(&self) -> Result<u64, String> {
        match self {
            Self::Flit(mesh) => mesh.conservation(),
            Self::Packet(mesh) => mesh.conservation(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Grid;
    use corecast_sim::network::mesh::{Ejection, Interval, RouterSpec};

    /// A packet under way is one too many at the end.
    #[test]
    fn what_has_gone_in_must_come_out() {
        let spec = MeshSpec {
            grid: Grid::mesh(2, 1),
            router: RouterSpec::booksim(1, 4),
            ejection: Ejection::Queues { count: 1, flits: 8 },
        };
        for fidelity in [Fidelity::Flit, Fidelity::Packet] {
            let mut network = Network::new(&spec, fidelity);
            assert_eq!(network.conservation(), Ok(0));
            network.send(Packet {
                src: 0,
                dst: 1,
                flits: 3,
                flit_interval: Interval::cycles(1),
                queue: 0,
                reports_injection: false,
                tag: 0,
            });
            network.run_until(4);
            assert!(network.conservation().is_err());
            network.run_until(100);
            while network.front(1, 0).is_some() {
                network.take(1, 0);
            }
            network.run_until(200);
            assert_eq!(network.conservation(), Ok(3));
        }
    }
}
