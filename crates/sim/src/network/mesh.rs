//! 2D meshes and tori.

mod flit;
mod spec;
mod wheel;

pub use flit::{CYCLES_MAX, Delivery, Flit, FlitMesh, PACKETS_MAX, Packet};
pub use spec::{DimensionOrder, Ejection, Hop, MeshError, MeshSpec, RouterSpec, Side};
