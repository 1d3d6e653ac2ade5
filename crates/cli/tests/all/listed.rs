// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables as folders of schedules for the runtimes of MSCCL: which files with which ranges,
//! that each of them is the schedule that won there, and that a folder is made whole or not at all.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use corecast_core::{
    Collective, FullCrossbar, Platform, Request, Schedule, algorithm, in_one_stream, verify,
};
use corecast_exchange::{find_format, read};
use serde_json::Value;

fn corecast(arguments: &str, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .arg(folder)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary runs")
}

/// A path of this test's own where nothing is.
fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("listed");
    std::fs::create_dir_all(&folder).expect("writable");
    let path = folder.join(name);
    let _ = std::fs::remove_dir_all(&path); // of an earlier run
    let _ = std::fs::remove_file(&path);
    path
}

fn written(arguments: &str, folder: &Path) -> Value {
    let output = corecast(arguments, folder);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("text"))
        .collect();
    names.sort();
    names
}

/// What comes back of a schedule that is written as MSCCL XML for any size.
fn through_xml(schedule: &Schedule) -> Schedule {
    let msccl = find_format("msccl").expect("in the list");
    let exported = msccl.write(schedule).expect("it can be said");
    read("it", exported.text().expect("text"), Some(msccl))
        .expect("it is read")
        .schedule
}

#[test]
fn winners_become_files_with_ranges() {
    let folder = fresh("allreduce");
    let record = written(
        "rules tests/tables/allreduce.toml --to msccl --json",
        &folder,
    );
    let found = names(&folder);
    assert_eq!(
        found,
        [
            "allreduce-4n-0-1024-recursive-doubling.xml",
            "allreduce-4n-1025-up-ring.xml",
            "allreduce-8n-0-up-rabenseifner.xml",
        ]
    );
    let files = record["files"].as_array().expect("a list");
    assert_eq!(files.len(), found.len());
    for (file, (ranks, bytes)) in files.iter().zip([(4, 64), (4, 16384), (8, 64)]) {
        let name = file["name"].as_str().expect("text");
        let text = std::fs::read_to_string(folder.join(name)).expect("readable");
        let [min, max] = ["min_bytes", "max_bytes"].map(|key| file[key].as_u64());
        let (min, max) = (min.expect("a number"), max.unwrap_or(i64::MAX as u64));
        assert!(
            text.contains(&format!("minBytes=\"{min}\" maxBytes=\"{max}\"")),
            "{name}: {text}"
        );
        let back = read(name, &text, None).expect("it is read").schedule;
        assert!(verify(&back, &FullCrossbar).is_correct(), "{name}");
        assert!(in_one_stream(&back).is_ok(), "{name}");
        let algorithm = file["algorithm"].as_str().expect("text");
        let algorithm = algorithm::find(Collective::Allreduce, algorithm).expect("registered");
        let mut request = Request::new(Collective::Allreduce, ranks, bytes);
        request.element_bytes = 4;
        request.platform = Platform::default();
        let schedule = algorithm::build(algorithm, &request).expect("it won");
        assert!(back == through_xml(&schedule), "{name}");
    }
    let notes = record["notes"].to_string();
    assert!(
        notes.contains("a way without messages: boards in 1 cell"),
        "{notes}"
    );
}

/// Every size is in exactly one file of its number of ranks, and that is where the table decides.
#[test]
fn ranges_are_those_of_the_table() {
    let table = fresh("allgather.toml");
    std::fs::write(
        &table,
        "format = 1\ncorecast = \"0.1.0\"\nmachine = \"host\"\ncollective = \"allgather\"\nchip = \"a computer\"\n\
         fingerprint = \"0123456789abcdef\"\nflow_control = \"auto\"\nstatus_bits = 2\narity = 3\n\
         algorithms = [\"bruck\", \"ring\"]\n\
         cell = [{ranks = 4, bytes = 16, algorithm = \"bruck\", ns = 1},\n\
         {ranks = 4, bytes = 64, algorithm = \"ring\", ns = 1},\n\
         {ranks = 4, bytes = 1024, algorithm = \"bruck\", ns = 1}]\n",
    )
    .expect("writable");
    let folder = fresh("allgather");
    let arguments = format!("rules {} --to msccl --json", table.display());
    let record = written(&arguments, &folder);
    let files = record["files"].as_array().expect("a list").iter();
    let ranges: Vec<(u64, Option<u64>, &str)> = files
        .map(|file| {
            let algorithm = file["algorithm"].as_str().expect("text");
            let min = file["min_bytes"].as_u64().expect("a number");
            (min, file["max_bytes"].as_u64(), algorithm)
        })
        .collect();
    // Of 4 ranks in all: from 33 and from 257 bytes of a rank on the next cell is nearer.
    let wanted = [
        (0, Some(131), "bruck"),
        (132, Some(1027), "ring"),
        (1028, None, "bruck"),
    ];
    assert_eq!(ranges, wanted);
}

#[test]
fn a_folder_is_whole_or_absent() {
    let folder = fresh("kept");
    std::fs::create_dir_all(&folder).expect("writable");
    std::fs::write(folder.join("mine"), "mine").expect("writable");
    let output = corecast("rules tests/tables/allreduce.toml --to msccl", &folder);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("the folder is there and not empty"),
        "{errors}"
    );
    assert_eq!(names(&folder), ["mine"]);
    std::fs::remove_file(folder.join("mine")).expect("ours");
    written(
        "rules tests/tables/allreduce.toml --to msccl --json",
        &folder,
    );
    assert_eq!(names(&folder).len(), 3, "an empty folder is filled");
    let nothing = fresh("nothing");
    let output = corecast("rules tests/tables/bcast.toml --to msccl", &nothing);
    assert_eq!(output.status.code(), Some(2));
    assert!(!nothing.exists());
}

/// A chip's winners are made again for that chip and no other.
#[test]
fn the_chip_must_be_the_tables() {
    let (table, folder) = (fresh("chip.toml"), fresh("chip"));
    let tuned = corecast(
        "tune allreduce --chip park2019-bus --set endpoint.ready=5 --ranks 4 --bytes 64 -o",
        &table,
    );
    assert_eq!(
        tuned.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&tuned.stderr)
    );
    let rules = format!("rules {} --to msccl", table.display());
    let output = corecast(&rules, &folder);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("is for another chip: park2019-bus"),
        "{errors}"
    );
    let named = format!("{rules} --json --chip park2019-bus --set endpoint.ready=5");
    let record = written(&named, &folder);
    assert_eq!(record["files"].as_array().map(Vec::len), Some(1));
}
