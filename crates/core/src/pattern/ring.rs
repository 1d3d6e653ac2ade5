// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks that travel once around a ring.
//!
//! ```text
//! p = 4, lead 0     round  0     1     2
//! 0 -> 1                   [0]   [3]   [2]
//! 1 -> 2                   [1]   [0]   [3]
//! 2 -> 3                   [2]   [1]   [0]
//! 3 -> 0                   [3]   [2]   [1]
//! ```

use crate::ids::Rank;
use crate::schedule::{Arrival, ChunkList, ScheduleBuilder};

/// Appends `p - 1` rounds in which every rank `r` sends to `r + 1` and receives from `r - 1`; in
/// the i-th of them it sends block `r + lead - i` (modulo p). `blocks` names one block per rank.
///
/// With lead 0 and [`Arrival::Store`], blocks that start at their own rank reach all ranks. With
/// lead `p - 1` and [`Arrival::Reduce`], block `r` ends complete at rank `r`.
pub fn ring_pass(
    builder: &mut ScheduleBuilder,
    first_round: u32,
    arrival: Arrival,
    lead: u32,
    blocks: ChunkList,
) {
    let ranks = blocks.len() as u32;
    for i in 0..ranks - 1 {
        let messages = (0..ranks).map(|rank| {
            let block = (rank + lead + ranks - i) % ranks;
            (Rank(rank), Rank((rank + 1) % ranks), blocks.slice(block, 1))
        });
        builder.exchange_round(first_round + i, arrival, messages);
    }
}
