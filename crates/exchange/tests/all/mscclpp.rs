// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSCCL++ plans in: own samples, damaged ones, and what their waits are for; and out:
//! what is written is read again, and does the same.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{Collective, Request, Schedule, Violation, algorithm, in_one_stream};
use corecast_exchange::{find_format, read};

use crate::common::{certify, import};

const SAMPLES: [(&str, &str); 8] = [
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
    ("switch", include_str!("../samples/allreduce_switch_2.json")),
    ("stores", include_str!("../samples/allgather_switch_2.json")),
    (
        "packets of a switch",
        include_str!("../samples/allgather_switch_packets_2.json"),
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
        (C::Allreduce, 2, 16),
        (C::Allgather, 2, 4),
        (C::Allgather, 2, 2),
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
        // As a plan it has slots and signals besides, and delivers the same.
        let again = import(name, &plan(&schedule).expect("slots are enough"));
        let certificate = certify(&again);
        assert_eq!(certificate.violations, [], "{name}");
        assert!(certificate.is_deadlock_free(), "{name}");
        assert_eq!(certificate.collective, schedule.spec().collective());
    }
}

/// The text of a plan, or what it cannot say.
fn plan(schedule: &Schedule) -> Result<String, String> {
    let plans = find_format("mscclpp").expect("in the list");
    let exported = plans.write(schedule).map_err(|error| error.what)?;
    Ok(exported.text().expect("text").to_owned())
}

/// Numbers of chunks of the messages that have some, between every two ranks.
fn moved(schedule: &Schedule) -> BTreeMap<(u32, u32), Vec<usize>> {
    let mut moved: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (rank, _, step) in schedule.sends() {
        let (chunks, to) = (step.chunks.len(), step.to.0);
        if chunks > 0 {
            moved.entry((rank.0, to)).or_default().push(chunks);
        }
    }
    moved.values_mut().for_each(|chunks| chunks.sort_unstable());
    moved
}

/// Every algorithm that a plan has a collective for is written, is read again as correct and free of
/// deadlocks without slots, and moves what it moved.
#[test]
fn algorithms_are_written_and_read_again() {
    let mut written = 0;
    let mut refused = BTreeSet::new();
    for algorithm in algorithm::all() {
        for ranks in [2, 3, 4, 5, 8] {
            let mut request = Request::new(algorithm.collective(), ranks, 64);
            request.tuning.part_bytes = Some(32);
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let name = format!("{} of {ranks}", algorithm.name());
            let text = match plan(&schedule) {
                Ok(text) => text,
                Err(what) => {
                    refused.insert(what);
                    continue;
                }
            };
            let back = import(&name, &text);
            let certificate = certify(&back);
            assert_eq!(certificate.violations, [], "{name}");
            assert!(certificate.is_deadlock_free(), "{name}");
            let (spec, read) = (schedule.spec(), back.spec());
            assert_eq!(
                (spec.collective(), spec.ranks()),
                (read.collective(), read.ranks())
            );
            assert_eq!(spec.parts(), read.parts(), "{name}");
            let (before, after) = (moved(&schedule), moved(&back));
            let total = |moved: &BTreeMap<(u32, u32), Vec<usize>>| -> BTreeMap<(u32, u32), usize> {
                moved
                    .iter()
                    .map(|(&ends, chunks)| (ends, chunks.iter().sum()))
                    .collect()
            };
            assert_eq!(total(&before), total(&after), "{name}");
            written += 1;
        }
    }
    assert!(written > 60, "only {written} plans");
    let expected = ["a collective like alltoallv", "a collective like barrier"];
    for what in expected {
        assert!(refused.contains(what), "{refused:?}");
    }
    let known = ["a collective like", "multicast"];
    assert!(
        refused
            .iter()
            .all(|what| known.iter().any(|known| what.contains(known))),
        "{refused:?}"
    );
}

/// Without the wait for a free slot, or the signal of one, a plan is refused or found wrong.
#[test]
fn slots_are_what_keeps_messages_apart() {
    let request = Request::new(Collective::Allreduce, 4, 64);
    let ring = algorithm::find(Collective::Allreduce, "ring").expect("in the list");
    let schedule = algorithm::build(ring, &request).expect("it serves that");
    let text = plan(&schedule).expect("it can be said");
    assert_eq!(certify(&import("ring", &text)).violations, []);
    let whole: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let block = &whole["gpus"][0]["threadblocks"][0]["ops"];
    let operations = block.as_array().expect("operations").len();
    let mut found = 0;
    for at in 0..operations {
        let mut less = whole.clone();
        let list = less["gpus"][0]["threadblocks"][0]["ops"].as_array_mut();
        let taken = list.expect("operations").remove(at);
        let is_right = read("it", less.to_string(), None).is_ok_and(|read| {
            let certificate = certify(&read.schedule);
            certificate.is_correct() && certificate.is_deadlock_free()
        });
        assert_eq!(is_right, taken["name"] == "nop", "without {taken}");
        found += usize::from(!is_right);
    }
    assert!(found > 20, "{found}");
}

/// A schedule that needs two slots would deadlock as a plan.
#[test]
fn what_needs_more_slots_is_refused() {
    let text = "corecast schedule 1\ncollective alltoall\nranks 2\nbytes 16\nsplit even 2\n\
                rank 0\n send 1 [2]\n send 1 [3]\n recv 1 [4]\n recv 1 [5]\n\
                rank 1\n send 0 [4]\n send 0 [5]\n recv 0 [2]\n recv 0 [3]\n";
    let schedule = import("two", text);
    assert_eq!(certify(&schedule).slots_needed, Some(2));
    let what = plan(&schedule).expect_err("it has one slot");
    assert_eq!(
        what,
        "a connection that holds 2 messages: one that is written holds 1"
    );
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

/// Where the bytes that a turn takes are half as long, there are twice as many of them.
#[test]
fn a_pipeline_takes_two_turns_at_the_size_that_is_noted() {
    let (_, text) = SAMPLES[5];
    let imported = read("switch", text, None).expect("a plan");
    let spec = imported.schedule.spec();
    assert_eq!((spec.bytes(), spec.parts()), (2 * 2 * 4096, 2 * 2));
    let said = imported.notes.join("\n");
    assert!(said.contains("chunks of 8192 bytes"), "{said}");
    assert!(said.contains("switch"), "{said}");
    // One of the two gpus works in smaller units, and so takes more turns: each asks, gets and puts.
    let finer = text.replacen("4096", "2048", 1);
    let certificate = certify(&import("finer", &finer));
    assert_eq!(certificate.violations, []);
    assert_eq!(certificate.messages, 16 + 2 * 3);
}

/// Operations that are not repeated as often as they should be are found.
#[test]
fn what_a_pipeline_leaves_out_is_missing() {
    let (_, text) = SAMPLES[5];
    let plain = text.replacen("\"glres\"", "\"gstore\"", 1);
    let wrong = plain.replacen(
        "\"src_buff\": [{\"switch_channel_id\": 0,",
        "\"src_buff\": [{\"type\": \"i\",",
        1,
    );
    let certificate = certify(&import("a store", &wrong));
    assert!(!certificate.is_correct(), "nothing is combined");
}
