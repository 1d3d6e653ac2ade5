// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hop rounds: straight messages, then left turns, then right turns, each by growing hop count, in
//! slots in which no link of the mesh carries two messages.
//!
//! ```text
//! 2 x 2 mesh, ranks    2 3     slot  0          1          2     3
//!                      0 1           0-1 2-3    0-2 1-3    0-3   1-2
//!                                    direct x   direct y   left  right
//! ```
//!
//! | slots | messages | every port |
//! |---|---|---|
//! | see [`crate::pattern::hop_round_slots`]; at least the load of the busiest link | p (p - 1) | (p - 1) n bytes |
//!
//! The paper's own order; `contention-free` mixes shapes and needs fewer slots (on 8 x 8 ranks 129
//! instead of 323).
//! Source: Yagna and Mueller 2013, section 3.1, Figures 2 and 3.

use std::sync::Arc;

use super::BySlots;
use crate::collective::Collective;
use crate::pattern::hop_round_slots;

/// For alltoall; see [`BySlots::of`].
pub(crate) const HOP_ROUNDS: BySlots = BySlots {
    collective: Collective::Alltoall,
    name: "hop-rounds",
    summary: "direct, left and right rounds of growing hop count, without a shared link",
    source: "Yagna and Mueller 2013, section 3.1",
    find: |grid, ranks| Arc::new(hop_round_slots(grid, ranks)),
};
