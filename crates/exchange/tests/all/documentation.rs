// SPDX-License-Identifier: MIT OR Apache-2.0
//! The schedules in docs/schedules.md are correct ones, and the file names every entry and step.

use corecast_core::{FullCrossbar, verify};
use corecast_exchange::{FORMATS, read};

const TEXT: &str = include_str!("../../../../docs/schedules.md");

#[test]
fn examples_are_correct_schedules() {
    let parts: Vec<&str> = TEXT.split("```text corecast\n").skip(1).collect();
    assert!(parts.len() >= 3);
    for part in parts {
        let (text, _) = part.split_once("```").expect("the example ends");
        let schedule = match read("docs/schedules.md", text, None) {
            Ok(imported) => imported.schedule,
            Err(error) => panic!("{error}\n{text}"),
        };
        let certificate = verify(&schedule, &FullCrossbar);
        assert_eq!(certificate.violations, [], "{text}");
        assert!(certificate.is_deadlock_free(), "{text}");
    }
}

#[test]
fn every_format_has_a_section() {
    for format in FORMATS.into_iter().skip(1) {
        assert!(
            TEXT.contains(&format!("\n### {}\n", format.name())),
            "{}",
            format.name()
        );
    }
}
