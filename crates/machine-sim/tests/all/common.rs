// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chips for tests that count cycles by hand.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use corecast_chip::{Chip, find_changed};

/// Software that costs nothing: the network is all there is.
pub const FREE: [(&str, &str); 7] = [
    ("endpoint.call", "0"),
    ("endpoint.call_per_rank", "0"),
    ("endpoint.send", "0"),
    ("endpoint.recv", "0"),
    ("endpoint.recv_per_rank", "0"),
    ("endpoint.payload", "0"),
    ("endpoint.route", "0"),
];

/// A built-in chip with changed values; of several changes of one value the last counts.
pub fn chip(name: &str, changes: &[(&str, &str)]) -> Chip {
    let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    find_changed(name, &owned.collect::<Vec<_>>()).expect("valid")
}
