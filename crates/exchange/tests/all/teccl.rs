// SPDX-License-Identifier: MIT OR Apache-2.0
//! TE-CCL JSON in and out: own samples, the algorithms of the registry, damaged files, and, where
//! `CORECAST_REFERENCE` names a folder with files of others, all of these.

use std::path::Path;

use corecast_core::{Collective, FlowControl, Request, Schedule, algorithm};
use corecast_exchange::{find_format, read};

use crate::common::{certify, import};

const RING: &str = include_str!("../samples/allgather_ring_4.json");
const HALVES: &str = include_str!("../samples/alltoall_halves_3.json");

#[test]
fn samples_are_the_collectives_that_their_demands_are() {
    let ring = certify(&import("ring.json", RING));
    assert_eq!(ring.violations, []);
    assert_eq!((ring.collective, ring.ranks), (Collective::Allgather, 4));
    assert_eq!(
        (ring.rounds, ring.messages, ring.slots_needed),
        (3, 12, Some(0))
    );
    // Half of what node 1 has for node 5 goes by way of node 3.
    let halves = import("halves.json", HALVES);
    let certificate = certify(&halves);
    assert_eq!(certificate.violations, []);
    assert_eq!(
        (certificate.collective, halves.spec().parts()),
        (Collective::Alltoall, 2)
    );
    assert_eq!((certificate.messages, certificate.rounds), (8, 2));
    // Which rank a node is, for files that say which core each rank gets.
    let notes = read("halves.json", HALVES, None).expect("a sample").notes;
    let told = |note: &String| note.starts_with("nodes 1, 3, 5 are ranks 0 to 2, in order");
    assert!(notes.iter().any(told), "{notes:?}");
}

#[test]
fn algorithms_come_back() {
    let teccl = find_format("teccl").expect("in the list");
    let (mut checked, mut refused) = (0, Vec::new());
    for algorithm in algorithm::all() {
        for ranks in [3, 4, 5, 8] {
            let mut request = Request::new(algorithm.collective(), ranks, 96);
            request.tuning.flow_control = FlowControl::On;
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let exported = match teccl.write(&schedule) {
                Ok(exported) => exported,
                Err(error) => {
                    refused.push(error.what);
                    continue;
                }
            };
            let back = import(algorithm.name(), exported.text().expect("text"));
            let [ours, theirs] = [&schedule, &back].map(certify);
            assert_eq!(
                theirs.violations,
                [],
                "{algorithm:?} {ranks}\n{}",
                exported.text().expect("text")
            );
            assert_eq!(ours.collective, theirs.collective, "{algorithm:?} {ranks}");
            // Written and read again it is the same: epochs in which nothing is sent are gone.
            let again = teccl.write(&back).expect("it was read");

            assert!(
                import(algorithm.name(), again.text().expect("text")) == back,
                "{algorithm:?} {ranks}"
            );
            checked += 1;
        }
    }
    assert!(checked > 60, "only {checked} schedules");
    refused.sort();
    refused.dedup();
    let is_expected = |what: &String| {
        ["a collective", "a multicast", "a local step"]
            .iter()
            .any(|word| what.starts_with(word))
    };
    let surprising: Vec<_> = refused
        .into_iter()
        .filter(|what| !is_expected(what))
        .collect();
    assert_eq!(surprising, [""; 0]);
}

/// A flow less, another epoch, another link: the verifier or the reader finds it.
#[test]
fn damage_is_found() {
    let mut tried = 0;
    for (name, text) in [("ring.json", RING), ("halves.json", HALVES)] {
        let lines: Vec<&str> = text.lines().collect();
        // Where there are volumes the paths are what is carried out.
        let is_hop = |line: &str| match name {
            "ring.json" => line.contains("traveled over"),
            _ => line.contains("volume") && !line.contains("traveled"),
        };
        for at in (0..lines.len()).filter(|&at| is_hop(lines[at])) {
            let line = lines[at];
            let mut others = vec![
                line.replace("epoch 1", "epoch 0"),
                line.replace("->2", "->0"),
                line.replace("->5", "->1"),
                line.replace("volume 0.5", "volume 0.25"),
            ];
            if name == "ring.json" {
                others.push(String::new());
            }
            for other in others.into_iter().filter(|other| other != line) {
                let mut damaged = lines.clone();
                damaged[at] = &other;
                tried += 1;
                if let Ok(back) = read(name, damaged.join("\n"), None) {
                    let certificate = certify(&back.schedule);
                    assert!(
                        !certificate.is_correct(),
                        "{name}:{}: {line} became {other}",
                        at + 1
                    );
                }
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

/// The places of the numbers in a sentence, each with the words before it.
fn numbers(line: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = line[from..].find(|c: char| c.is_ascii_digit()) {
        let start = from + start;
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let length = line[start..]
            .find(|c| !is_part(c))
            .unwrap_or(line.len() - start);
        found.push((start..start + length, line[..start].trim_end()));
        from = start + length;
    }
    found
}

/// What is sent, whenever it is.
fn sends(schedule: &Schedule) -> Vec<(u32, u32, Vec<u32>)> {
    let sends = schedule.sends().map(|(rank, _, half)| {
        let chunks = schedule.chunks(half.chunks).iter().map(|chunk| chunk.0);
        (rank.0, half.to.0, chunks.collect())
    });
    let mut sends: Vec<_> = sends.collect();
    sends.sort();
    sends
}

/// Every number of every sentence changed to every other small one, every line away, every line there
/// twice: refused, judged wrong, or the schedule that it was. An epoch may say when else it happens, and a
/// message that is there twice is noted.
#[test]
fn no_mutant_is_right_and_different() {
    let (mut tried, mut refused, mut wrong) = (0, 0, 0);
    for (name, text) in [("ring.json", RING), ("halves.json", HALVES)] {
        let lines: Vec<&str> = text.lines().collect();
        let original = import(name, text);
        for at in 0..lines.len() {
            let line = lines[at];
            let is_sentence =
                line.contains("epoch") && line.contains("->") || line.contains("Demand");
            if !is_sentence {
                continue;
            }
            let mut mutants = vec![(Vec::new(), false), (vec![line.to_owned(); 2], false)];
            for (place, before) in numbers(line) {
                let is_epoch = before.ends_with("epoch");
                for other in ["0", "1", "2", "3", "4", "5", "6", "0.25", "0.75", "1.5"] {
                    let mut mutant = line.to_owned();
                    mutant.replace_range(place.clone(), other);
                    mutants.push((vec![mutant], is_epoch));
                }
            }
            for (mutant, is_epoch) in mutants {
                let mutant_lines: Vec<&str> = lines[..at]
                    .iter()
                    .copied()
                    .chain(mutant.iter().map(|line| &**line))
                    .chain(lines[at + 1..].iter().copied())
                    .collect();
                tried += 1;
                let Ok(back) = read(name, mutant_lines.join("\n"), None) else {
                    refused += 1;
                    continue;
                };
                if !certify(&back.schedule).is_correct() {
                    wrong += 1;
                    continue;
                }
                let is_said = mutant.len() == 2
                    && back
                        .notes
                        .iter()
                        .any(|note| note.ends_with("what is there already"));
                let is_same = back.schedule == original
                    || is_said
                    || (is_epoch && sends(&back.schedule) == sends(&original));
                assert!(is_same, "{name}:{}: {line} became {mutant:?}", at + 1);
            }
        }
    }
    assert!(
        tried > 2500 && refused > 2000 && wrong > 0,
        "{tried} mutants, {refused} refused, {wrong} wrong"
    );
}

#[test]
fn files_of_others_are_read() {
    let Some(reference) = std::env::var_os("CORECAST_REFERENCE") else {
        return;
    };
    let folder = Path::new(&reference).join("teccl");
    for (name, ranks, rounds) in [
        ("mesh_4", 16, 8),
        ("mesh_6", 36, 18),
        ("ndv2_schedule", 15, 35),
        ("NDv2-2_chassis-AllGather-Slow-64KB", 15, 21),
        ("NDv2-2_chassis-AlltoAll-Fast_Early_Stop-1KB", 15, 226),
        ("DGX2-2_chassis-AllGather-Fast-4KB", 32, 16),
        ("DGX2-2_chassis-AllGather-Fast-4MB", 32, 31),
    ] {
        let path = folder.join(format!("{name}.json"));
        let text = std::fs::read_to_string(path).expect("readable");
        let schedule = import(name, &text);
        let certificate = certify(&schedule);
        assert_eq!(certificate.violations, [], "{name}");
        assert_eq!(
            (certificate.ranks, certificate.rounds),
            (ranks, rounds),
            "{name}"
        );
        assert_eq!(certificate.slots_needed, Some(0), "{name}");
    }
}
