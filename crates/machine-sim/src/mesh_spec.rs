// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chip's mesh as the simulator takes it.

use corecast_chip::Mesh;
use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec, VcChoice};

/// A chip's mesh as the simulator takes it, with cores that take every flit at once and packets that
/// may overtake each other.
#[must_use]
pub fn mesh_spec(mesh: &Mesh) -> MeshSpec {
    MeshSpec {
        grid: mesh.grid,
        router: RouterSpec {
            vcs: mesh.vcs,
            vc_choice: VcChoice::Any,
            buffer_flits: mesh.buffer_flits,
            routing: mesh.routing_cycles,
            vc_allocation: mesh.vc_allocation_cycles,
            switch: mesh.switch_cycles,
            link: mesh.link_cycles,
            link_interval: mesh.link_interval_cycles,
            turn: mesh.turn_cycles,
            credit: mesh.credit_cycles,
            injection: mesh.injection_cycles,
            ejection: mesh.ejection_cycles,
        },
        ejection: Ejection::Sink,
    }
}
