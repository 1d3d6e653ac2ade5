// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a chip file: a chip or an error that can be shown, never a panic.
#![no_main]

use corecast_chip::Chip;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match Chip::parse(&String::from_utf8_lossy(data), "fuzz.toml") {
        Ok(chip) => {
            assert!(
                chip.parameters()
                    .all(|p| p.value.is_finite() && !p.source.is_empty())
            );
            assert!(chip.platform(1).link_cost.sync_cycles > 0.0);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.toml")),
    }
});
