// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every step of a schedule knows its line of the file, in every format whose files are lines, and what is
//! wrong with a schedule names the lines of its steps.

use std::collections::BTreeSet;

use corecast_core::{Collective, FullCrossbar, Op, Request, Schedule, algorithm, verify};
use corecast_exchange::{FORMATS, find_format, read};

/// The lines of the steps of a schedule written in a format; every step must have one.
fn lines(format: &str, schedule: &Schedule) -> Option<Vec<(Op, String)>> {
    let exported = find_format(format)?.write(schedule).ok()?;
    let text = exported.text()?.to_owned();
    let of_text: Vec<&str> = text.lines().collect();
    let imported = read("a file", &text, None).expect("what is written can be read");
    let schedule = &imported.schedule;
    let of_step = |rank, (index, step): (usize, &corecast_core::Step)| {
        let at = schedule.step_ref(rank, index);
        let line = imported.lines.of(at).expect("a line");
        (step.op, of_text[line as usize - 1].trim().to_owned())
    };
    let of_rank = |rank| {
        let steps = schedule.steps(rank).iter().enumerate();
        steps.map(move |step| of_step(rank, step))
    };
    Some(schedule.all_ranks().flat_map(of_rank).collect())
}

#[test]
fn a_step_is_in_the_line_that_says_it() {
    let mut formats = BTreeSet::new();
    for algorithm in algorithm::all() {
        for ranks in [2, 3, 8] {
            let request = Request::new(algorithm.collective(), ranks, 64 * u64::from(ranks));
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            for format in ["corecast", "msccl", "goal"] {
                let Some(steps) = lines(format, &schedule) else {
                    continue;
                };
                formats.insert(format);
                for (op, line) in steps {
                    // What the line of a step begins with, or has in it.
                    let words: &[&str] = match (format, op) {
                        ("corecast", Op::Send { .. }) => &["send "],
                        ("corecast", Op::Recv { .. } | Op::RecvMulticast { .. }) => &["recv "],
                        ("corecast", Op::Exchange { .. }) => &["xchg "],
                        ("corecast", Op::Forward { .. }) => &["fwd "],
                        ("corecast", Op::Multicast { .. }) => &["mcast "],
                        ("corecast", Op::Local { .. }) => &["copy ", "combine ", "wait"],
                        ("msccl", Op::Send { .. }) => &["type=\"s\""],
                        ("msccl", Op::Recv { .. }) => &["type=\"r\"", "type=\"rrc\""],
                        ("goal", Op::Send { .. }) => &["send "],
                        ("goal", Op::Recv { .. }) => &["recv "],
                        ("msccl", _) => &["<step "],
                        _ => &[": "],
                    };
                    let is_there = words.iter().any(|word| line.contains(word));
                    assert!(is_there, "{format}: {op:?} in `{line}`");
                }
            }
        }
    }
    assert_eq!(formats.len(), 3);
}

/// Formats whose files are bytes have no lines; those of text have some.
#[test]
fn formats_of_text_have_lines() {
    let allgather = algorithm::find(Collective::Allgather, "ring").expect("registered");
    let schedule = allgather.schedule(&Request::new(Collective::Allgather, 4, 64));
    for format in FORMATS {
        let Ok(exported) = format.write(&schedule) else {
            continue;
        };
        let contents = exported.files.concat();
        let imported = read("a file", &contents, Some(format)).expect("it can be read");
        assert_eq!(imported.lines.is_empty(), !format.is_text(), "{format:?}");
    }
}

#[test]
fn what_is_wrong_names_its_lines() {
    const FILE: &str = "corecast schedule 1
collective bcast
ranks 3
bytes 8

rank 0
# the first
send 1 [0]
rank 1
recv 0 [0]
send 2 [0]
rank 2
";
    let imported = read("three.sched", FILE, None).expect("it can be read");
    let certificate = verify(&imported.schedule, &FullCrossbar);
    let violations = certificate.violations.iter();
    let lines: Vec<Vec<u32>> = violations
        .map(|violation| {
            let steps = violation.steps().into_iter();
            steps.filter_map(|step| imported.lines.of(step)).collect()
        })
        .collect();
    assert_eq!(lines, [vec![11], vec![]], "{:?}", certificate.violations);
}

/// Of two streams that race both lines are told, and of a deadlock those of its cycle.
#[test]
fn races_and_deadlocks_name_several_lines() {
    const RACE: &str = "corecast schedule 1
collective bcast
ranks 2
bytes 16
split even 2
rank 0
send 1 [0]
rank 0 stream 1 channel 1
send 1 [1]
rank 1
recv 0 [0]
rank 1 stream 1 channel 1
recv 0 [1]
copy [0]>[1]
";
    const CYCLE: &str = "corecast schedule 1
collective alltoall
ranks 2
bytes 16
rank 0
recv 1 [2]
send 1 [1]
rank 1
recv 0 [1]
send 0 [2]
";
    for (file, expected) in [(RACE, vec![11, 14]), (CYCLE, vec![6, 9])] {
        let imported = read("it.sched", file, None).expect("it can be read");
        let certificate = verify(&imported.schedule, &FullCrossbar);
        let steps = certificate.violations[0].steps();
        let lines: BTreeSet<u32> = steps
            .into_iter()
            .filter_map(|step| imported.lines.of(step))
            .collect();
        let lines: Vec<u32> = lines.into_iter().collect();
        assert_eq!(lines, expected, "{}", certificate.violations[0]);
    }
}
