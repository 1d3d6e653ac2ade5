// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any text as a list of sizes: at most so many values or an error with help, never a panic. The same
//! text as a file that lists the cores of ranks: a line for each, or the line of an error.
#![no_main]

use corecast_core::request::RANKS_MAX;
use corecast_text::cores;
use corecast_text::size::{VALUES_MAX, list};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match list("--bytes", text) {
        Ok(values) => assert!((1..=VALUES_MAX).contains(&values.len())),
        Err(error) => assert!(!error.message.is_empty() && !error.help.is_empty()),
    }
    let lines = text.lines().count();
    match cores::list(text, RANKS_MAX) {
        Ok(cores) => assert!(cores.len() <= lines),
        Err(error) => assert!((1..=lines).contains(&error.line)),
    }
});
