// SPDX-License-Identifier: MIT OR Apache-2.0
//! How exactly a mesh is simulated.

/// How exactly a mesh is simulated; a crossbar has only one fidelity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Fidelity {
    /// Wormhole routers with virtual channels, credits and arbitration of every flit
    /// ([`corecast_sim::network::mesh::FlitMesh`]): the reference. Costs time per flit and hop, and
    /// memory per place of every buffer.
    #[default]
    Flit,
    /// Cut-through with link occupancy ([`corecast_sim::network::mesh::PacketMesh`]): for very
    /// large meshes. Costs time per packet and hop.
    ///
    /// Equal to the cycle where nothing contends. Over all algorithms on up to 36 ranks of the
    /// TilePro64 and of a mesh of BookSim2's routers 85 % of the makespans are equal, the mean
    /// difference is at most 0.2 %, and the largest are -16 % (allreduce by recursive doubling over
    /// 5 ranks: blocked worms hold links here that packets do not) and +9 % (allgather by Bruck
    /// over 23 ranks). A test (`tests/fidelity.rs`) holds the bounds -17 % and +9 %.
    Packet,
}

impl Fidelity {
    /// Every fidelity.
    pub const ALL: [Self; 2] = [Self::Flit, Self::Packet];

    /// Its name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flit => "flit",
            Self::Packet => "packet",
        }
    }

    /// Keys of a chip file that have no effect: buffers of packets have no limits.
    #[must_use]
    pub const fn unused(self) -> &'static [&'static str] {
        match self {
            Self::Flit => &[],
            Self::Packet => &["network.buffer", "network.credit"],
        }
    }
}
