// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots of a contention-free alltoall beside the bound, for meshes up to 16 x 16.
//!
//! `cargo run --release -p corecast-core --example slots`

use corecast_core::Grid;
use corecast_core::pattern::contention_free_slots;

fn main() {
    println!("width,height,slots,bound,gap_percent");
    for width in 1..=16 {
        for height in 1..=16 {
            let found = contention_free_slots(&Grid::mesh(width, height), width * height);
            let (slots, bound) = (found.slots.len(), found.bound);
            let gap = 100.0 * (slots as f64 / f64::from(bound.max(1)) - 1.0);
            let gap = if bound == 0 { 0.0 } else { gap };
            println!("{width},{height},{slots},{bound},{gap:.1}");
        }
    }
}
