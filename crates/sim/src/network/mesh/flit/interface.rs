// SPDX-License-Identifier: MIT OR Apache-2.0
//! What passes between the mesh and its cores.

use crate::network::mesh::interval::Interval;

/// A packet to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Core that injects it.
    pub src: u32,
    /// Core that ejects it.
    pub dst: u32,
    /// Length including the head flit, at least 1.
    pub flits: u32,
    /// How fast the core writes.
    pub flit_interval: Interval,
    /// Queue of the receiving core, where it has several.
    pub queue: u32,
    /// Whether [`super::FlitMesh::take_injected`] reports when the tail was injected. If nobody asks for that,
    /// its flits are not moved far ahead of the clock.
    pub reports_injection: bool,
    /// Of the caller's choice; comes back with the delivery.
    pub tag: u64,
}

impl Packet {
    /// A packet whose core writes a flit per cycle, for queue 0 of its receiver.
    #[must_use]
    pub fn new(src: u32, dst: u32, flits: u32) -> Self {
        Self {
            src,
            dst,
            flits,
            flit_interval: Interval::cycles(1),
            queue: 0,
            reports_injection: false,
            tag: 0,
        }
    }
}

/// A flit in a core's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flit {
    /// The packet.
    pub packet: Packet,
    /// Whether it is the last one of its packet.
    pub is_tail: bool,
    /// Cycle from which on the core can take it; may lie ahead.
    pub arrival: u64,
}

/// The first flit in a queue that was watched while it was empty, or a flit for which a queue has no
/// place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueEvent {
    /// The core.
    pub core: u32,
    /// The queue.
    pub queue: u32,
    /// Cycle from which on the core can take the flit, or in which it finds no place; later than the
    /// current one.
    pub cycle: u64,
}

/// A packet whose tail has reached its core, and has been taken if it was in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The packet.
    pub packet: Packet,
    /// Cycle in which it was handed to [`super::FlitMesh::send`].
    pub sent: u64,
    /// Cycle in which its head flit was injected.
    pub injected: u64,
    /// Cycle in which the core has the tail.
    pub ejected: u64,
    /// Links crossed.
    pub hops: u32,
}
