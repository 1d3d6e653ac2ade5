// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSCCL++ plans in: own samples, damaged ones, and what their waits are for. Plans are not written.

use corecast_core::{Collective, Violation, in_one_stream};
use corecast_exchange::{find_format, read};

use crate::common::{certify, import};

const SAMPLES: [(&str, &str); 5] = [
    ("put", include_str!("../samples/allreduce_put_2.json")),
    ("ports", include_str!("../samples/allgather_ports_3.json")),
    ("get", include_str!("../samples/alltoall_get_2.json")),
    (
        "packets",
        include_str!("../samples/allreduce_packets_2.json"),
    ),
    (
        "reads",
        include_str!("../samples/reduce_scatter_reads_2.json"),
    ),
];

#[test]
fn samples_are_correct_without_slots() {
    use Collective as C;
    let wanted = [
        (C::Allreduce, 2, 8),
        (C::Allgather, 3, 12),
        (C::Alltoall, 2, 6),
        (C::Allreduce, 2, 8),
        (C::ReduceScatter, 2, 4),
    ];
    for ((name, text), (collective, ranks, messages)) in SAMPLES.into_iter().zip(wanted) {
        let schedule = import(name, text);
        let certificate = certify(&schedule);
        assert_eq!(certificate.violations, [], "{name}");
        assert_eq!(
            (
                certificate.collective,
                certificate.ranks,
                certificate.messages
            ),
            (collective, ranks, messages),
            "{name}"
        );
        assert!(certificate.is_deadlock_free(), "{name}");
        // What machines carry out: one thing after the other.
        let plain = in_one_stream(&schedule).expect(name);
        assert!(
            plain.is_plain() && certify(&plain).is_deadlock_free(),
            "{name}"
        );
    }
}

#[test]
fn what_was_read_is_kept_by_our_own_format() {
    let own = find_format("corecast").expect("our own");
    for (name, text) in SAMPLES {
        let schedule = import(name, text);
        let written = own.write(&schedule).expect("it can say everything");
        let back = import(name, written.text().expect("text"));
        assert!(back == schedule, "{name}");
        let plans = find_format("mscclpp").expect("in the list");
        assert!(plans.write(&schedule).is_err(), "{name}");
    }
}

/// One operation less, another piece, peer or kind: refused or judged wrong, never taken as right.
#[test]
fn damage_is_found() {
    let (mut tried, mut refused) = (0, 0);
    for (name, text) in SAMPLES {
        let lines: Vec<&str> = text.lines().collect();
        // Without a `nop` or the last `flush` the data are the same here: schedules have no threads.
        let is_operation = |line: &str| {
            line.contains("{\"name\"") && !line.contains("\"nop\"") && !line.contains("\"flush\"")
        };
        for at in (0..lines.len()).filter(|&at| is_operation(lines[at])) {
            let line = lines[at];
            let mut others = vec!["        {\"name\": \"nop\"},".to_owned()];
            for (from, to) in [
                ("\"index\": 0", "\"index\": 1"),
                ("\"index\": 1", "\"index\": 0"),
                ("\"index\": 2", "\"index\": 1"),
                ("\"size\": 1", "\"size\": 2"),
                ("\"size\": 2", "\"size\": 1"),
                ("\"type\": \"s\"", "\"type\": \"i\""),
                ("\"type\": \"o\"", "\"type\": \"s\""),
                ("\"tb_id\": 1", "\"tb_id\": 0"),
                ("\"tbg_size\": 2", "\"tbg_size\": 4"),
                ("\"buffer_id\": 1", "\"buffer_id\": 0"),
                ("\"pws\"", "\"put\""),
                ("\"put\"", "\"pws\""),
                ("\"res\"", "\"copy\""),
                ("\"res\"", "\"re\""),
                ("\"respkt\"", "\"recspkt\""),
                ("\"rre\"", "\"get\""),
                ("\"signal\"", "\"wait\""),
                ("\"wait\"", "\"signal\""),
                // Of a proxy, whose requests are in order anyway, both are the same.
                (
                    "\"signal\", \"channel_ids\": [0], \"channel_type\": \"memory\"",
                    "\"rlxsignal\", \"channel_ids\": [0], \"channel_type\": \"memory\"",
                ),
                ("\"sem_acquire\"", "\"sem_release\""),
                ("\"channel_ids\": [0]", "\"channel_ids\": [1]"),
                ("\"num_threadblocks\": 2", "\"num_threadblocks\": 1"),
            ] {
                // Each place in the line on its own.
                for (place, _) in line.match_indices(from) {
                    let mut other = line.to_owned();
                    other.replace_range(place..place + from.len(), to);
                    others.push(other);
                }
            }
            for other in others {
                let mut damaged = lines.clone();
                // The last operation of a list has no comma behind it.
                let other = match line.ends_with(',') {
                    true => other,
                    false => other.trim_end_matches(',').to_owned(),
                };
                damaged[at] = &other;
                tried += 1;
                match read(name, damaged.join("\n"), None) {
                    Err(error) => {
                        assert!(error.line.is_some(), "{name}: {error}");
                        refused += 1;
                    }
                    Ok(back) => {
                        let is_correct = certify(&back.schedule).is_correct();
                        assert!(!is_correct, "{name}:{}: {line} became {other}", at + 1);
                    }
                }
            }
        }
    }
    assert!(tried > 200, "{tried}");
    assert!(refused < tried, "the verifier finds some");
}

/// Without the first signal of each rank, and the wait for it, nothing says when scratch memory is full.
#[test]
fn signals_are_what_orders_memory() {
    let (name, text) = SAMPLES[0];
    let mut seen = [0; 2];
    let lines = text.lines().map(|line| {
        let found = ["\"signal\"", "\"wait\""]
            .iter()
            .position(|word| line.contains(word));
        let is_first = found.is_some_and(|at| {
            seen[at] += 1;
            seen[at] % 2 == 1
        });
        if is_first {
            "{\"name\": \"nop\"},"
        } else {
            line
        }
    });
    let unordered: Vec<&str> = lines.collect();
    let certificate = certify(&import(name, &unordered.join("\n")));
    let is_race = |violation: &Violation| matches!(violation, Violation::Race { .. });
    assert!(
        certificate.violations.iter().any(is_race),
        "{certificate:?}"
    );
}

/// A plan and a schedule of TE-CCL end alike; their contents tell them apart.
#[test]
fn formats_are_told_apart_by_their_contents() {
    for (name, text) in SAMPLES {
        let found = corecast_exchange::format_of(text.as_bytes()).expect("known");
        assert_eq!(found.name(), "mscclpp", "{name}");
    }
}
