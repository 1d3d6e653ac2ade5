// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSCCL XML in and out: own samples, every algorithm of the registry, damaged files, and, where
//! `CORECAST_REFERENCE` names a folder with files of others, all of these.

use std::path::{Path, PathBuf};

use corecast_core::{
    Certificate, Collective, FullCrossbar, Op, Rank, Request, Schedule, Violation, algorithm,
    in_one_stream, verify,
};
use corecast_exchange::{find_format, read};

fn import(name: &str, text: &str) -> Schedule {
    match read(name, text, find_format("msccl")) {
        Ok(imported) => imported.schedule,
        Err(error) => panic!("{error}"),
    }
}

fn export(schedule: &Schedule) -> String {
    let msccl = find_format("msccl").expect("in the list");
    let exported = msccl.write(schedule).expect("it can be said");
    exported.text().expect("text").to_owned()
}

fn certify(schedule: &Schedule) -> Certificate {
    verify(schedule, &FullCrossbar)
}

fn samples() -> Vec<(String, String)> {
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples"))
}

/// Every XML file below a folder.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("readable").path())
            .collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "xml") {
                let text = std::fs::read_to_string(&path).expect("readable");
                found.push((path.display().to_string(), text));
            }
        }
    }
    assert!(!found.is_empty(), "no files in {}", folder.display());
    found
}

/// Own samples, and those of others if there are any.
fn all() -> Vec<(String, String)> {
    let mut all = samples();
    if let Some(reference) = std::env::var_os("CORECAST_REFERENCE") {
        all.extend(texts(&Path::new(&reference).join("msccl")));
    }
    all
}

#[test]
fn files_are_correct_with_the_slots_that_runtimes_give() {
    for (name, text) in all() {
        let certificate = certify(&import(&name, &text));
        assert_eq!(certificate.violations, [], "{name}");
        assert!(certificate.slots_needed <= Some(1), "{name}");
    }
}

fn steps(schedule: &Schedule) -> usize {
    let ranks = schedule.all_ranks();
    ranks.map(|rank| schedule.steps(rank).len()).sum()
}

#[test]
fn what_was_read_is_written_and_read_again() {
    for (name, text) in all() {
        let schedule = import(&name, &text);
        let written = export(&schedule);
        let back = import(&name, &written);
        // Of two waits for one thread block that come together the later is enough.
        let is_less = !name.contains("samples") && steps(&back) < steps(&schedule);
        assert!(back == schedule || is_less, "{name} became\n{written}");
        let [ours, theirs] = [&back, &schedule].map(certify);
        assert_eq!(ours.violations, theirs.violations, "{name}");
        assert_eq!(ours.slots_needed, theirs.slots_needed, "{name}");
        assert_eq!(export(&back), written, "{name}");
    }
}

#[test]
fn every_algorithm_is_still_correct_as_a_file() {
    let (mut checked, mut refused) = (0, Vec::new());
    for algorithm in algorithm::all() {
        for ranks in [2, 3, 4, 5, 7, 8, 12, 16] {
            let request = Request::new(algorithm.collective(), ranks, 96);
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let msccl = find_format("msccl").expect("in the list");
            match msccl.write(&schedule) {
                Err(error) => refused.push(format!("{algorithm:?}: {}", error.what)),
                Ok(exported) => {
                    let back = import(algorithm.name(), exported.text().expect("text"));
                    let certificate = certify(&back);
                    assert_eq!(
                        certificate.violations,
                        [],
                        "{algorithm:?} {ranks}\n{}",
                        exported.text().expect("text")
                    );
                    assert!(certificate.slots_needed <= Some(1), "{algorithm:?} {ranks}");
                    assert!(export(&back).lines().count() > 2);
                    checked += 1;
                }
            }
        }
    }
    refused.sort();
    refused.dedup();
    let is_expected = |line: &String| {
        line.contains("barrier") || line.contains("alltoallv") || line.ends_with("a multicast")
    };
    let surprising: Vec<&String> = refused.iter().filter(|line| !is_expected(line)).collect();
    assert_eq!(surprising, [""; 0]);
    assert!(checked > 250, "only {checked} schedules");
}

#[test]
fn machines_take_what_was_read() {
    for (name, text) in all() {
        let schedule = import(&name, &text);
        let plain = in_one_stream(&schedule).expect(&name);
        assert!(plain.is_plain(), "{name}");
        assert_eq!(certify(&plain).slots_needed, Some(0), "{name}");
    }
}

/// Without its waits a file whose thread blocks share places has races.
#[test]
fn waits_are_what_keeps_races_away() {
    let mut with_waits = 0;
    for (name, text) in all() {
        let mut damaged = import(&name, &text).edit();
        if damaged.waits_mut().is_empty() {
            continue;
        }
        damaged.waits_mut().clear();
        let certificate = certify(&damaged.finish());
        assert!(!certificate.is_correct(), "{name}");
        let is_race = |violation: &Violation| matches!(violation, Violation::Race { .. });
        assert!(certificate.violations.iter().any(is_race), "{name}");
        with_waits += 1;
    }
    assert!(with_waits > 0, "no file with waits");
}

/// One step less, one peer or place other, one type other: the verifier finds it.
#[test]
fn damage_is_found() {
    let (mut tried, mut found) = (0, 0);
    for (name, text) in samples() {
        let lines: Vec<&str> = text.lines().collect();
        let is_step = |line: &str| line.contains("<step") && !line.contains("nop");
        for at in (0..lines.len()).filter(|&at| is_step(lines[at])) {
            let line = lines[at];
            let mut others = vec![String::new()];
            for (from, to) in [
                ("type=\"rrc\"", "type=\"r\""),
                ("type=\"re\"", "type=\"cpy\""),
                ("type=\"rcs\"", "type=\"r\""),
                ("type=\"rrs\"", "type=\"rcs\""),
                ("type=\"s\"", "type=\"nop\""),
            ] {
                others.extend(line.contains(from).then(|| line.replace(from, to)));
            }
            for other in others {
                let mut damaged = lines.clone();
                damaged[at] = &other;
                tried += 1;
                found += match read(&name, damaged.join("\n"), find_format("msccl")) {
                    Err(_) => 1,
                    Ok(back) if !certify(&back.schedule).is_correct() => 1,
                    Ok(_) => panic!("{name}:{}: {line} became {other}", at + 1),
                };
            }
        }
    }
    assert!(tried > 40 && found == tried, "{found} of {tried}");
}

/// In place what a rank gets lies where what it gave lay: what comes before that has left takes its place.
#[test]
fn what_is_overwritten_too_early_in_place_is_found() {
    let text = include_str!("../samples/alltoall_in_place_3.xml");
    let schedule = import("in place", text);
    assert_eq!(schedule.moved().len(), 6);
    // Rank 1 receives from rank 0 where what rank 0 is to get still lies.
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.contains("gpu id=\"1\""))
        .expect("it is there")
        + 2;
    let (send, receive) = (
        lines[at].replace("s=\"0\"", "s=\"1\""),
        lines[at + 1].replace("s=\"1\"", "s=\"0\""),
    );
    (lines[at], lines[at + 1]) = (&receive, &send);
    let certificate = certify(&import("early", &lines.join("\n")));
    let wrong =
        |violation: &Violation| matches!(violation, Violation::WrongChunk { rank: Rank(0), .. });
    assert!(
        certificate.violations.iter().any(wrong),
        "{:?}",
        certificate.violations
    );
}

#[test]
fn a_wait_that_nothing_signals_is_noted() {
    let (name, text) = samples()
        .into_iter()
        .find(|(_, text)| text.contains("hasdep=\"1\""))
        .expect("one");
    let text = text.replace("hasdep=\"1\"", "hasdep=\"0\"");
    let notes = read(&name, &text, None).expect("it is still a file").notes;
    assert!(
        notes.iter().any(|note| note.contains("never signal")),
        "{notes:?}"
    );
}

/// Four megabytes of nothing in a few lines.
#[test]
fn entities_are_refused() {
    let bomb = "<!DOCTYPE algo [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]>\n\
                <algo name=\"&b;\" ngpus=\"1\" nchunksperloop=\"1\" coll=\"allreduce\"></algo>";
    let error = read("bomb.xml", bomb, find_format("msccl")).expect_err("refused");
    assert!(
        error.to_string().starts_with("bomb.xml:1: this is no XML"),
        "{error}"
    );
}

/// Many levels take no stack, however they are dressed.
#[test]
fn deep_files_are_refused() {
    for level in [
        "<a>",
        "<a b='/>'>",
        "<a b=\"/>\" >",
        "<a><!-- </a> -->",
        "<a><?b </a>?>",
        "<a\n>",
    ] {
        let deep = format!("<algo>{}", level.repeat(100_000));
        let error = read("deep.xml", &deep, find_format("msccl")).expect_err("refused");
        assert!(
            error.wrong.contains("inside one another"),
            "{level}: {error}"
        );
    }
}

#[test]
fn a_stream_with_many_peers_becomes_thread_blocks_with_one_each() {
    let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
    let schedule = linear.schedule(&Request::new(Collective::Bcast, 4, 64));
    let back = import("linear.xml", &export(&schedule));
    assert_eq!(back.streams(Rank(0)).count(), 3);
    let steps = back.all_ranks().flat_map(|rank| back.steps(rank).to_vec());
    assert_eq!(
        steps
            .filter(|step| matches!(step.op, Op::Send { .. }))
            .count(),
        3
    );
}
