// SPDX-License-Identifier: MIT OR Apache-2.0
//! 2D meshes and tori, in two fidelities: exact to the flit, and exact to the packet for very large
//! ones.

mod flit;
mod interval;
mod links;
mod packet;
mod spec;
mod wheel;

pub use flit::{CYCLES_MAX, Delivery, Flit, FlitMesh, LinkWait, PACKETS_MAX, Packet, QueueEvent};
pub use interval::Interval;
pub use packet::{PacketMesh, Queued};
pub use spec::{Ejection, MeshError, MeshSpec, RouterSpec, VcChoice};
