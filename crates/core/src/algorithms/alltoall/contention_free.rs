// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contention-free: slots in which no link of the mesh carries two messages.
//!
//! ```text
//! 2 x 2 mesh, ranks    2 3     slot  0          1          2
//!                      0 1           0-1 2-3    0-2 1-3    0-3 1-2 (by x, then by y)
//! ```
//!
//! | slots | messages | every port |
//! |---|---|---|
//! | see [`crate::pattern::contention_free_slots`]; at least the load of the busiest link | p (p - 1) | (p - 1) n bytes |
//!
//! A rank sends at most one message and receives at most one per slot, both together. As no link
//! is shared, a message is never held up by another one of its slot, and its time is known: that
//! makes the exchange predictable.
//!
//! Where the request has no grid, the most square one is assumed; the slots are then free of
//! contention on any network that has none where a mesh has none.
//! Source: Yagna and Mueller 2013, section 3.1 (direct, left and right rounds); pairing is ours.

use super::BySlots;
use crate::collective::Collective;
use crate::pattern::contention_free_slots;

/// For alltoall; see [`BySlots::of`].
pub(crate) const CONTENTION_FREE: BySlots = BySlots {
    collective: Collective::Alltoall,
    name: "contention-free",
    summary: "slots in which no link of the mesh carries two messages",
    source: "Yagna and Mueller 2013, section 3.1; pairing by partial colouring \
             (Bloechliger and Zufferey 2008)",
    find: contention_free_slots,
};
