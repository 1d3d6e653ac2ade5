//! 2D meshes and tori.

mod flit;
mod spec;
mod wheel;

pub use flit::{Arrival, CYCLES_MAX, Delivery, Flit, FlitMesh, LinkWait, PACKETS_MAX, Packet};
pub use spec::{Ejection, MeshError, MeshSpec, RouterSpec};
