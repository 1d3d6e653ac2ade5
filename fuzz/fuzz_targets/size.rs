//! Any text as a list of sizes: at most so many values or an error with help, never a panic.
#![no_main]

use corecast::size::{VALUES_MAX, list};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match list("--bytes", text) {
        Ok(values) => assert!((1..=VALUES_MAX).contains(&values.len())),
        Err(error) => assert!(!error.message.is_empty() && !error.help.is_empty()),
    }
});
