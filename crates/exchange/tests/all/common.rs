// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tests do with a file of others.

use corecast_core::{Certificate, FullCrossbar, Schedule, verify};
use corecast_exchange::read;

/// The schedule in a file of this name, which is one of the formats.
pub fn import(name: &str, text: &str) -> Schedule {
    match read(name, text, None) {
        Ok(imported) => imported.schedule,
        Err(error) => panic!("{error}"),
    }
}

/// What is proved of it where every rank has a link to every other one.
pub fn certify(schedule: &Schedule) -> Certificate {
    verify(schedule, &FullCrossbar)
}
