// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a program has not come to its end, in words: what ended it, and which ranks were waiting.

use std::fmt::Display;

use corecast_machine::RunError;

/// Ranks that are told.
const TOLD: usize = 8;

/// What ended a program, in one line.
pub(crate) fn first_line(error: &RunError) -> String {
    match error {
        RunError::Deadlock { at, .. } => format!("deadlock at {at}: no rank can go on"),
        RunError::TimeLimit { limit, .. } => {
            format!("the program did not end within {limit} of virtual time")
        }
        RunError::EventLimit { limit, .. } => {
            format!("the program did not end within {limit} events")
        }
        error => error.to_string(),
    }
}

/// One line for each rank that was waiting, as far as they are told.
pub(crate) fn lines(stuck: &[impl Display]) -> String {
    let mut text = String::new();
    for one in stuck.iter().take(TOLD) {
        text += &format!("\n  {one}");
    }
    if stuck.len() > TOLD {
        text += &format!("\n  and {} more", stuck.len() - TOLD);
    }
    text
}
