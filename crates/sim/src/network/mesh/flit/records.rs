// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept of channels, outputs, packets and cores.

use std::collections::VecDeque;

use super::{Packet, VCS_MAX};
use crate::network::mesh::interval::Interval;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum State {
    /// No flit, no packet.
    Idle,
    /// A head flit is being routed.
    Routing,
    /// A head flit that has been routed turns to the other dimension.
    Turning,
    /// A head flit asks for an output.
    Requesting,
    /// A packet has an output.
    Active,
    /// As `Active`, and it is known that its first flit has a place. Only with several virtual
    /// channels.
    Ready,
    /// As `Active`, and the next flit has not arrived; of a core's queue: it is empty, and the core
    /// is to be told of the next flit.
    Starved,
    /// Of a core's queue: the core is to be told when it is full and holds up a flit.
    Watched,
}

/// An input's virtual channel. Those of the routers come first, those of the cores' ejection ports
/// follow; of the latter only the places and the waiting sender are used.
///
/// Half a line of the processor's cache: large meshes are bound by memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Channel {
    /// Flits may leave from this cycle on. With several virtual channels: of an idle channel, the next
    /// head may be routed from then on; of any other, no flit asks for the switch before. Of a queue: its waiter
    /// has a flit from then on.
    pub(super) next_at: u64,
    /// The output to which the packet goes, and the channel at its other end; until the packet has
    /// that, a bit per virtual channel of the output that it may have.
    pub(super) output: u32,
    pub(super) down: u32,
    /// Who waits for a place here: a channel, or a core, numbered after all channels.
    pub(super) waiter: u32,
    /// Flits that have arrived so far, at most 2^32 - 1.
    pub(super) flits: u32,
    /// Its number at its router.
    pub(super) local: u8,
    /// Place of the oldest flit, and number of flits.
    pub(super) first: u16,
    pub(super) len: u16,
    pub(super) state: State,
    /// The output's virtual channel that the packet has.
    pub(super) out_vc: u8,
    /// Virtual channel of an output that it accepts first.
    pub(super) accepts_first: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    pub(super) packet: Packet,
    pub(super) sent: u64,
    pub(super) injected: u64,
    /// Whether it has an output at every router up to its queue; only where there are convoys.
    pub(super) has_way: bool,
}

/// What every router on its way needs to know of a packet, in a quarter of a line of the processor's
/// cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(super) struct Way {
    pub(super) from: (u16, u16),
    pub(super) to: (u16, u16),
    /// What decides about its virtual channels where the receiver does: see
    /// [`super::VcChoice::Receiver`].
    pub(super) receiver: u32,
    /// Port of the last router.
    pub(super) last_port: u8,
}

/// A core's injection.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) queue: VecDeque<u32>,
    /// Flits of the first packet that have been injected.
    pub(super) flit: u32,
    /// Channel that the first packet uses.
    pub(super) channel: u32,
    /// The next flit may be injected from this cycle on.
    pub(super) next_at: u64,
    /// By which part of a cycle the core has it before that.
    pub(super) early: u32,
    pub(super) last_vc: u8,
    pub(super) is_scheduled: bool,
}

/// An output port of a router: a line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Output {
    /// Input channels of the router that ask for a virtual channel.
    pub(super) requests: u64,
    /// Input channels of the router that hold a packet for it. Only with several virtual channels.
    pub(super) claims: u64,
    /// Virtual channels without a packet; those in `soon` from cycle `next_at` on.
    pub(super) free: u16,
    pub(super) soon: u16,
    /// Channel 0 at the other end, or [`NONE`].
    pub(super) down: u32,
    /// With one virtual channel, it can be allocated from this cycle on; with several, the link
    /// takes the next flit from this cycle on.
    pub(super) next_at: u64,
    /// Cycle in which virtual channels will be allocated next, or [`NEVER`].
    pub(super) planned_at: u64,
    /// Per virtual channel: input channel that is offered it first.
    pub(super) vcs_first: [u8; VCS_MAX],
    /// Input port that is offered the switch first.
    pub(super) input_first: u8,
}

/// How far a core has written a packet.
pub(super) struct Pen {
    /// Flits that it has written.
    pub(super) flit: u32,
    /// The next one may be injected from this cycle on, and by which part of a cycle the core has it before.
    pub(super) at: u64,
    pub(super) early: u32,
}

impl Pen {
    /// Flits have been injected from cycle `start` on, one per cycle.
    pub(super) fn wrote(&mut self, start: u64, flits: u32, interval: Interval) {
        if start > self.at {
            self.early = 0;
        }
        let pause = interval.parts() - self.early;
        let cycles = pause.div_ceil(Interval::CYCLE);
        self.early = cycles * Interval::CYCLE - pause;
        self.at = start + u64::from(flits - 1) + u64::from(cycles);
        self.flit += flits;
    }
}

/// A router on the way, while the convoy goes through it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) channel: u32,
    /// First place of its buffer, and which of them the next flit leaves or comes to.
    pub(super) base: u32,
    pub(super) first: u32,
    /// Flits that were there before.
    pub(super) held: u32,
    pub(super) next_at: u64,
    /// Cycles to the next one.
    pub(super) hop: u64,
}
