// SPDX-License-Identifier: MIT OR Apache-2.0
//! GOAL in and out: every schedule of the registry keeps its messages, their sizes and its slots.

use std::path::Path;

use corecast_core::{FlowControl, FullCrossbar, Request, Violation, algorithm, verify};
use corecast_exchange::{find_format, read};

use crate::common::{certify, import};

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

/// A file with what was noted, and what is proven of its schedule, which our own format keeps.
fn judged(text: &str) -> (Vec<String>, corecast_core::Certificate) {
    let imported = read("it.goal", text, None).expect("a graph");
    let own = find_format("corecast").expect("in the list");
    let exported = own.write(&imported.schedule).expect("it can be said");
    let back = read("it.sched", exported.text().expect("text"), None).expect("a schedule");
    assert_eq!(back.schedule, imported.schedule);
    let certificate = verify(&imported.schedule, &FullCrossbar);
    (imported.notes, certificate)
}

#[test]
fn messages_have_any_sizes() {
    let text = "num_ranks 2\nrank 0 {\nsend 2000b to 1\nsend 2000b to 1\nsend 0b to 1\n\
                send 50021b to 1 tag 4\nrecv 2001b from 1\n}\nrank 1 {\nrecv 2000b from 0\n\
                recv 2000b from 0\nrecv 0b from 0\nrecv 50021b from 0 tag 4\nsend 2001b to 0\n}\n";
    let (_, certificate) = judged(text);
    assert_eq!(certificate.violations, []);
    let of = (certificate.messages, certificate.payload_bytes);
    assert_eq!(of, (5, 56_022));
    let schedule = read("it.goal", text, None).expect("a graph").schedule;
    let sizes: Vec<u64> = schedule
        .sends()
        .map(|(_, _, half)| schedule.message_bytes(half.chunks))
        .collect();
    assert_eq!(sizes, [2000, 2000, 0, 50_021, 2001]);
    let served = schedule.serving("it", &request_of(&schedule, 99));
    assert_eq!(served.expect("its own sizes").spec().bytes(), 99);
}

fn request_of(schedule: &corecast_core::Schedule, bytes: u64) -> Request {
    let mut request = Request::new(schedule.spec().collective(), schedule.ranks(), bytes);
    request.counts = schedule.spec().counts().cloned();
    request
}

/// Many ranks with some messages each: more pairs of a rank and a chunk than take a word each.
#[test]
fn many_ranks_are_read() {
    let ranks = 400;
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        text += &format!(
            "rank {rank} {{\nsend {}b to {to}\nsend 7b to {to}\nrecv {}b from {from}\n\
             recv 7b from {from}\n}}\n",
            rank + 1,
            from + 1
        );
    }
    let schedule = read("it.goal", &text, None).expect("a graph").schedule;
    let certificate = verify(&schedule, &FullCrossbar);
    assert_eq!(
        (certificate.violations, certificate.messages),
        (vec![], 800)
    );
}

/// Receives match in an order in which they can begin.
#[test]
fn what_is_required_comes_first() {
    let text = "num_ranks 2\nrank 0 {\ns1: send 8b to 1\ns2: send 9b to 1\ns2 requires s1\n}\n\
                rank 1 {\na: recv 9b from 0\nb: recv 8b from 0\na requires b\n}\n";
    assert_eq!(judged(text).1.violations, []);
    let sends = "num_ranks 2\nrank 0 {\ns2: send 9b to 1\ns1: send 8b to 1\ns2 requires s1\n}\n\
                 rank 1 {\nrecv 8b from 0\nrecv 9b from 0\n}\n";
    assert_eq!(judged(sends).1.violations, []);
}

/// Both ranks exchange small messages, then one large, in turn.
const MIXED: &str = "num_ranks 2\nrank 0 {\ns1: send 16384b to 1\nr1: recv 16384b from 1\n\
                     s2: send 131072b to 1 tag 1\nr2: recv 131072b from 1 tag 1\n\
                     r1 requires s1\ns2 requires r1\nr2 requires s2\n}\n\
                     rank 1 {\ns1: send 16384b to 0\nr1: recv 16384b from 0\n\
                     r2: recv 131072b from 0 tag 1\ns2: send 131072b to 0 tag 1\n\
                     r1 requires s1\nr2 requires r1\ns2 requires r2\n}\n";

#[test]
fn only_large_messages_wait_for_their_receivers() {
    let (notes, certificate) = judged(MIXED);
    assert_eq!(certificate.violations, []);
    assert!(
        notes.iter().any(|note| note.ends_with("so it completes")),
        "{notes:?}"
    );
    // Now both send the large ones first.
    let crossed = MIXED.replace(
        "r2 requires r1\ns2 requires r2",
        "s2 requires r1\nr2 requires s2",
    );
    let (notes, certificate) = judged(&crossed);
    assert!(
        matches!(
            certificate.violations[..],
            [Violation::NeedsSlots {
                needed: 1,
                given: 0,
                ..
            }]
        ),
        "{:?}",
        certificate.violations
    );
    assert!(
        notes.iter().any(|note| note.ends_with("never completes")),
        "{notes:?}"
    );
}

#[test]
fn what_a_rank_sends_itself_is_a_copy() {
    let text = "num_ranks 2\nrank 0 {\ns: send 8b to 0\nr: recv 8b from 0\n}\nrank 1 { }\n";
    let (_, certificate) = judged(text);
    assert_eq!((certificate.violations, certificate.messages), (vec![], 0));
    let never = text.replace("r: recv 8b from 0", "r: recv 8b from 0 s requires r");
    let (_, certificate) = judged(&never);
    assert!(matches!(
        certificate.violations[..],
        [Violation::Deadlock { .. }, ..]
    ));
}

#[test]
fn a_deadlock_is_all_that_is_said_of_it() {
    let text = "num_ranks 2\nrank 0 {\nx: send 4b to 1 tag 9\ny: send 4b to 1 tag 9\n\
                a: recv 8b from 1\nb: send 8b to 1 tag 9\nb requires a\n}\nrank 1 {\n\
                recv 4b from 0 tag 9\nrecv 4b from 0 tag 9\nc: recv 8b from 0 tag 9\n\
                d: send 8b to 0\nd requires c\n}\n";
    let (_, certificate) = judged(text);
    let is_known = |violation: &Violation| {
        matches!(
            violation,
            Violation::Deadlock { .. } | Violation::MissingChunk { .. }
        )
    };
    assert!(
        certificate.violations.iter().all(is_known),
        "{:?}",
        certificate.violations
    );
}

#[test]
fn a_file_without_messages_is_noted() {
    let imported = read("it.goal", "num_ranks 3\n", None).expect("a graph");
    assert!(
        imported.notes[1].starts_with("it has no messages"),
        "{:?}",
        imported.notes
    );
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

/// Both kinds of comments, wherever words can be.
#[test]
fn comments_are_passed_over() {
    let text = "// made /* by hand } \n/* } // */ num_ranks 2 // two\nrank 0 { // }\n\
                // a comment\nsend 5b/* five */to 1// one\n}\nrank 1 {\nrecv 5b from 0\n}\n//";
    let schedule = import("it.goal", text);
    assert_eq!(certify(&schedule).messages, 1);
}

/// The tag that binary files keep for any tag is none of a message.
#[test]
fn the_tag_for_any_is_no_tag() {
    let text = |tag: u32| {
        format!(
            "num_ranks 2\nrank 0 {{\nsend 5b to 1 tag {tag}\n}}\nrank 1 {{\nrecv 5b from 0 tag {tag}\n}}\n"
        )
    };
    let schedule = import("it.goal", &text(u32::MAX - 1));
    let binary = find_format("goal-binary").expect("in the list");
    let files = binary.write(&schedule).expect("it can be said").files;
    assert!(read("it.bin", &files[0], None).is_ok());
    assert!(read("it.goal", text(u32::MAX), None).is_err());
}
