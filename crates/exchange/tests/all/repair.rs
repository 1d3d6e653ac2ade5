// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is taken out of a good file mechanically is put back: attributes, marks and waits.

use corecast_core::{FullCrossbar, verify};
use corecast_exchange::{Format, Repaired, find_format, read, repair};

const PAIRS: &str = include_str!("../samples/allreduce_pairs_3.xml");
const OWN: &str = include_str!("../samples/allreduce_pairs_3.sched");

fn repaired(format: &'static dyn Format, text: &str) -> Option<Repaired> {
    let schedule = read("it", text, Some(format))
        .expect("still a file")
        .schedule;
    repair(format, text.as_bytes(), &schedule).expect("it can be said")
}

fn is_correct(text: &str) -> bool {
    let schedule = read("it", text, None).expect("a file").schedule;
    verify(&schedule, &FullCrossbar).is_correct()
}

/// Replaces every one of these attributes.
fn with(text: &str, name: &str, value: &str) -> String {
    let attribute = format!(" {name}=\"");
    let mut parts = text.split(&attribute);
    let mut out = parts.next().expect("a first part").to_owned();
    for part in parts {
        let (_, behind) = part.split_once('"').expect("an end");
        out += value;
        out += behind;
    }
    out
}

#[test]
fn a_good_file_needs_nothing() {
    let msccl = find_format("msccl").expect("in the list");
    let good = repaired(msccl, PAIRS).expect("it is correct");
    assert_eq!(good.changes, [""; 0]);
    assert!(is_correct(good.exported.text().expect("text")));
}

#[test]
fn attributes_and_marks_come_back() {
    let msccl = find_format("msccl").expect("in the list");
    let mut text = with(PAIRS, "hasdep", " hasdep=\"0\"");
    for name in ["minBytes", "maxBytes", "outofplace"] {
        text = with(&text, name, "");
    }
    let text = with(&text, "proto", " proto=\"LL128\" redop=\"sum\"");
    let found = repaired(msccl, &text).expect("it is correct");
    let kinds = [
        "added outofplace",
        "added minBytes",
        "added maxBytes",
        "added hasdep of ",
    ];
    assert_eq!(found.changes.len(), kinds.len(), "{:?}", found.changes);
    for (change, kind) in found.changes.iter().zip(kinds) {
        assert!(change.starts_with(kind), "{change}");
    }
    let back = found.exported.text().expect("text");
    assert!(back.contains("proto=\"LL128\""), "{back}");
    assert!(back.contains("redop=\"sum\""), "{back}");
    assert_eq!(repaired(msccl, back).expect("correct").changes, [""; 0]);
    let notes = read("it", back, None).expect("a file").notes;
    assert!(
        !notes.iter().any(|note| note.contains("refuse")),
        "{notes:?}"
    );
    assert!(
        !notes.iter().any(|note| note.contains("never signal")),
        "{notes:?}"
    );
}

/// Any one wait, of each sample.
#[test]
fn a_missing_wait_comes_back() {
    let is_wait = |change: &String| change.starts_with("added a wait: rank ");
    let msccl = find_format("msccl").expect("in the list");
    let own = find_format("corecast").expect("our own");
    let mut cured = 0;
    for (format, text, from) in [(msccl, PAIRS, " depid=\""), (own, OWN, " after ")] {
        let lines: Vec<&str> = text.lines().collect();
        for at in (0..lines.len()).filter(|&at| lines[at].contains(from)) {
            let without = match lines[at].split_once(" after ") {
                Some((before, _)) => before.to_owned(),
                None => with(
                    &with(lines[at], "depid", " depid=\"-1\""),
                    "deps",
                    " deps=\"-1\"",
                ),
            };
            let mut damaged = lines.clone();
            damaged[at] = &without;
            let damaged = damaged.join("\n");
            if is_correct(&damaged) {
                continue;
            }
            let found = repaired(format, &damaged).expect("a wait cures it");
            assert!(found.changes.iter().any(is_wait), "{:?}", found.changes);
            assert!(is_correct(found.exported.text().expect("text")));
            cured += 1;
        }
    }
    assert!(cured >= 6, "{cured} cured");
}

#[test]
fn what_was_meant_is_not_guessed() {
    let msccl = find_format("msccl").expect("in the list");
    let text = PAIRS.replacen("type=\"re\"", "type=\"cpy\"", 1);
    assert_ne!(text, PAIRS);
    assert_eq!(repaired(msccl, &text), None);
}
