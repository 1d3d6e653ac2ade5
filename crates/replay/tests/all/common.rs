// SPDX-License-Identifier: MIT OR Apache-2.0
//! The samples.
#![allow(dead_code, reason = "no test uses all of it")]

use corecast_replay::{Options, Read, read};

/// Operations per second in the samples.
pub const FLOPS: f64 = 1e9;

pub const SAMPLES: [(&str, &str); 3] = [
    ("master.calls", include_str!("../samples/master.calls")),
    ("stencil.goal", include_str!("../samples/stencil.goal")),
    ("solver.ti", include_str!("../samples/solver.ti")),
];

/// A program that must be a good one.
pub fn load(name: &str, contents: impl AsRef<[u8]>) -> Read {
    let options = Options {
        flops: Some(FLOPS),
        read_file: None,
    };
    match read(name, contents.as_ref(), &options) {
        Ok(read) => read,
        Err(error) => panic!("{error}: {}", error.right),
    }
}
