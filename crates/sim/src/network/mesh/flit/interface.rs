// SPDX-License-Identifier: MIT OR Apache-2.0
//! What passes between the mesh and its cores.

/// Cycles from one flit to the next at injection, 1 to 64: how fast a core writes. Cores whose clock is
/// another one than the mesh's have fractions, of which 24 binary places are kept.
///
/// ```
/// use corecast_sim::network::mesh::Interval;
/// let slow = Interval::of(1500, 1000);
/// assert_eq!([1, 2, 3].map(|flits| slow.after(flits)), [2, 3, 5]);
/// assert_eq!(Interval::cycles(2).after(3), 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval(u32);

impl Interval {
    /// Parts of a cycle.
    pub(in crate::network::mesh) const CYCLE: u32 = 1 << 24;

    /// Whole cycles.
    ///
    /// # Panics
    /// Beyond 64.
    #[must_use]
    pub const fn cycles(cycles: u32) -> Self {
        assert!(cycles <= super::INTERVAL_MAX, "a core is not that slow");
        Self(cycles * Self::CYCLE)
    }

    /// That of a core which writes a flit every `ps` picoseconds, into a mesh with this period.
    ///
    /// # Panics
    /// Beyond 64 cycles.
    #[must_use]
    pub fn of(ps: u64, period_ps: u64) -> Self {
        let parts = u128::from(ps) * u128::from(Self::CYCLE) / u128::from(period_ps);
        let most = u128::from(super::INTERVAL_MAX * Self::CYCLE);
        assert!(parts <= most, "a core is not that slow");
        Self(parts as u32)
    }

    /// Cycles from the first flit until another one could follow so many.
    #[must_use]
    pub fn after(self, flits: u32) -> u64 {
        (u64::from(flits) * u64::from(self.0)).div_ceil(u64::from(Self::CYCLE))
    }

    /// Parts of cycles.
    pub(in crate::network::mesh) fn parts(self) -> u32 {
        self.0
    }

    /// Whether a flit can follow in the next cycle.
    pub(in crate::network::mesh) fn is_cycle(self) -> bool {
        self.0 == Self::CYCLE
    }
}

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
    /// Whether [`super::FlitMesh::take_injected`] reports when the tail was injected.
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
