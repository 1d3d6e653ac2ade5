// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a decision table: a table that is written as it is read, or an error that can be
//! shown, never a panic.
#![no_main]

use corecast_tune::Table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match Table::parse(&String::from_utf8_lossy(data), "fuzz.toml") {
        Ok(table) => {
            let again = Table::parse(&table.to_string(), "again.toml");
            assert_eq!(again, Ok(table));
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.toml")),
    }
});
