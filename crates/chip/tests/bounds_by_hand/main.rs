// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds of chips, worked out by hand.
//!
//! The chips are built-in ones with other numbers: each differs from all others, so that no term
//! can stand for another one or vanish unseen, and for each argument there is a request in which it
//! decides. Expected values are sums of the chip's numbers as the argument gives them.

mod buffers;
mod bus;
mod tiles;
mod words;

use corecast_chip::{Chip, find_changed};

/// A built-in chip with changed values; later changes replace earlier ones.
fn chip(name: &str, changes: &[&[(&str, &str)]]) -> Chip {
    let changes = changes.iter().copied().flatten();
    let owned = changes.map(|&(key, value)| (key.to_owned(), value.to_owned()));
    find_changed(name, &owned.collect::<Vec<_>>()).expect("valid")
}

/// A mesh of one row of so many routers.
fn row(routers: &'static str) -> [(&'static str, &'static str); 2] {
    [("network.width", routers), ("network.height", "1")]
}
