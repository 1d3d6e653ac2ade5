// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recursive halving and its reverse over the positions of a hypercube.
//!
//! The data are `size` chunks in a row. In every halving round a position swaps with its neighbour
//! in one dimension: it keeps one half of its run of chunks, adds the neighbour's contributions to
//! it, and gives the other half away; a position whose bit in that dimension is 0 keeps the lower
//! half. Joining runs the same rounds backwards and stores.
//!
//! ```text
//! size = 4, dimensions 1 then 0
//!              start  after 1  after 0
//! position 0   0-3    0-1      0
//! position 1   0-3    0-1      1
//! position 2   0-3    2-3      2
//! position 3   0-3    2-3      3
//! ```

use super::Fold;
use crate::schedule::{Arrival, ChunkList, ScheduleBuilder};

/// Appends one halving round per dimension, in the order given, from `first_round` on. `chunks`
/// are the `fold.size` chunks in a row.
///
/// Dimensions in descending order leave chunk `i` complete at position `i`.
pub fn halve(
    builder: &mut ScheduleBuilder,
    fold: Fold,
    first_round: u32,
    dimensions: &[u32],
    chunks: ChunkList,
) {
    for (stage, &dimension) in dimensions.iter().enumerate() {
        let half = fold.size >> (stage + 1);
        let gives = |position: u32| {
            let kept = run_start(fold, &dimensions[..=stage], position);
            chunks.slice(kept ^ half, half)
        };
        let round = first_round + stage as u32;
        fold.swap_round(builder, round, dimension, Arrival::Reduce, gives);
    }
}

/// Appends the reverse of [`halve`] with the same `dimensions`; every position ends with all.
pub fn join(
    builder: &mut ScheduleBuilder,
    fold: Fold,
    first_round: u32,
    dimensions: &[u32],
    chunks: ChunkList,
) {
    for (round, stage) in (first_round..).zip((0..dimensions.len()).rev()) {
        let len = fold.size >> (stage + 1);
        let gives =
            |position: u32| chunks.slice(run_start(fold, &dimensions[..=stage], position), len);
        fold.swap_round(builder, round, dimensions[stage], Arrival::Store, gives);
    }
}

/// First chunk of the run that a position keeps after halving in `dimensions`.
fn run_start(fold: Fold, dimensions: &[u32], position: u32) -> u32 {
    let halves = (1..).map(|stage| fold.size >> stage);
    dimensions
        .iter()
        .zip(halves)
        .map(|(&dimension, half)| {
            if position >> dimension & 1 == 1 {
                half
            } else {
                0
            }
        })
        .sum()
}
