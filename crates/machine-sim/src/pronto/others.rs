// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random traffic between all tiles, beside the messages of a schedule.

use std::rc::Rc;

use corecast_chip::Mesh;
use corecast_core::Grid;
use corecast_machine::Background;
use corecast_sim::network::mesh::{CYCLES_MAX, MeshSpec};
use corecast_sim::traffic::UniformTraffic;

use super::array::{Array, edge_port};
use super::unit::{Content, Parcel};
use crate::mesh_spec;

/// Packets between random routers. They have a port of their own at each, so that they take no turn
/// from the tile's interface, and share the links of the mesh with it.
pub(crate) struct Others {
    traffic: UniformTraffic,
    packet_flits: u32,
}

impl Others {
    pub(crate) fn new(mesh: &Mesh, background: Background) -> Self {
        let Background {
            rate,
            packet_flits,
            seed,
        } = background;
        let spec = MeshSpec {
            grid: Grid {
                per_node: 1,
                ..mesh.grid
            },
            ..mesh_spec(mesh)
        };
        Self {
            traffic: UniformTraffic::new(&spec, rate, packet_flits, seed),
            packet_flits,
        }
    }

    /// Sends every packet in the cycle in which it is created, unless its node has as many under way as it
    /// may, until the run ends or the next one would come later than a mesh can count cycles.
    pub(crate) async fn disturb(mut self, array: Rc<Array>) {
        loop {
            let cycle = self.traffic.next_cycle();
            if cycle >= CYCLES_MAX {
                return;
            }
            array.kernel.sleep_until(array.time(cycle)).await;
            if array.is_stuck() {
                return; // or a deadlock would last for ever
            }
            while let Some(packet) = self.traffic.pop(cycle) {
                if !array.others.admits(packet.src, self.packet_flits) {
                    continue;
                }
                let parcel = Parcel {
                    to: packet.dst,
                    flits: self.packet_flits,
                    content: Content::Foreign(Some(packet.src)),
                };
                array.inject(edge_port(packet.src), edge_port(packet.dst), parcel);
            }
        }
    }
}
