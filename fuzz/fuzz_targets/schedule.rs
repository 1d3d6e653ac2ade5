// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a schedule file, in each format: a schedule that can be verified and that comes back
//! exactly from our own format, or an error with its place; never a panic.
#![no_main]

use corecast_core::{FullCrossbar, verify};
use corecast_exchange::{FORMATS, find_format, read};
use libfuzzer_sys::fuzz_target;

/// Schedules with more would only be slow.
const STEPS_MAX: usize = 2000;
const PLACES_MAX: u64 = 1 << 16;

fuzz_target!(|contents: &[u8]| {
    for format in FORMATS {
        let schedule = match read("fuzz", contents, Some(format)) {
            Ok(imported) => imported.schedule,
            Err(error) => {
                assert!(error.to_string().starts_with("fuzz"));
                continue;
            }
        };
        let own = find_format("corecast").expect("our own");
        let places = schedule.places_total() * u64::from(schedule.ranks());
        if schedule.steps_total() > STEPS_MAX || places > PLACES_MAX {
            continue;
        }
        let written = own.write(&schedule).expect("it can say everything");
        let written = written.text().expect("text");
        let back = read("back", written, Some(own)).expect("what we write we read");
        assert!(back.schedule == schedule, "{written}");
        let _ = verify(&schedule, &FullCrossbar);
        for format in FORMATS {
            let _ = format.write(&schedule);
        }
    }
});
