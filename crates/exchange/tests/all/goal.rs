// SPDX-License-Identifier: MIT OR Apache-2.0
//! GOAL in and out: every schedule of the registry keeps its messages, their sizes and its slots.

use std::path::Path;

use corecast_core::{FlowControl, FullCrossbar, Request, Violation, algorithm, verify};
use corecast_exchange::{find_format, read};

const BINOMIAL: &str = include_str!("../samples/bcast_5.goal");

#[test]
fn every_algorithm_keeps_its_messages() {
    let goal = find_format("goal").expect("in the list");
    let mut checked = 0;
    for algorithm in algorithm::all() {
        for ranks in [1, 2, 3, 4, 7, 8] {
            for bytes in [0, 64, 30, 100] {
                let mut request = Request::new(algorithm.collective(), ranks, bytes);
                request.tuning.flow_control = FlowControl::On;
                let Ok(schedule) = algorithm::build(algorithm, &request) else {
                    continue;
                };
                let exported = goal.write(&schedule).expect("every graph can be said");
                let text = exported.text().expect("text");
                let back = match read("it.goal", text, None) {
                    Ok(back) => back.schedule,
                    Err(error) => panic!("{algorithm:?} {ranks} {bytes}: {error}\n{text}"),
                };
                let (ours, theirs) = (
                    verify(&schedule, &FullCrossbar),
                    verify(&back, &FullCrossbar),
                );
                let of = |certificate: &corecast_core::Certificate| {
                    (certificate.messages, certificate.payload_bytes)
                };
                assert_eq!(
                    theirs.violations,
                    [],
                    "{algorithm:?} {ranks} {bytes}\n{text}"
                );
                assert_eq!(of(&ours), of(&theirs), "{algorithm:?} {ranks} {bytes}");
                assert_eq!(
                    ours.slots_needed, theirs.slots_needed,
                    "{algorithm:?} {ranks} {bytes}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "only {checked} schedules");
}

#[test]
fn damage_is_found() {
    let lines: Vec<&str> = BINOMIAL.lines().collect();
    let mut tried = 0;
    for at in 0..lines.len() {
        if !lines[at].contains(" to ") && !lines[at].contains(" from ") {
            continue;
        }
        let mut others = vec![
            lines[at].replace("8b", "7b"),
            lines[at].replace("tag 1", "tag 2"),
        ];
        others.push(
            lines[at]
                .split_once(": ")
                .map_or(String::new(), |(label, _)| format!("{label}: calc 1")),
        );
        for other in others.into_iter().filter(|other| *other != lines[at]) {
            let mut damaged = lines.clone();
            damaged[at] = &other;
            tried += 1;
            if let Ok(back) = read("it.goal", damaged.join("\n"), None) {
                let certificate = verify(&back.schedule, &FullCrossbar);
                assert!(!certificate.is_correct(), "{} became {other}", lines[at]);
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn receives_that_come_first_deadlock() {
    let text = "num_ranks 2\nrank 0 { a: recv 8b from 1 b: send 8b to 1 b requires a }\n\
                rank 1 { a: recv 8b from 0 c: calc 5 c requires a b: send 8b to 0 b requires c }\n";
    let schedule = read("two.goal", text, None).expect("a graph").schedule;
    let certificate = verify(&schedule, &FullCrossbar);
    assert!(matches!(
        certificate.violations[..],
        [Violation::Deadlock { .. }, ..]
    ));
    // To begin when the receive begins is not to wait for its end.
    let text = text.replace("b requires c", "b irequires a");
    let schedule = read("two.goal", &text, None).expect("a graph").schedule;
    assert_eq!(verify(&schedule, &FullCrossbar).violations, []);
}

#[test]
fn files_of_others_are_read() {
    let Some(reference) = std::env::var_os("CORECAST_REFERENCE") else {
        return;
    };
    let path = Path::new(&reference).join("goal/binary_tree_32.goal");
    let text = std::fs::read_to_string(path).expect("readable");
    let schedule = read("binary_tree_32.goal", &text, None)
        .expect("a graph")
        .schedule;
    let certificate = verify(&schedule, &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!((certificate.messages, certificate.payload_bytes), (31, 31));
    assert_eq!(certificate.slots_needed, Some(0));
}
