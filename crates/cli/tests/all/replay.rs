// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corecast replay`: the same answer twice, the fields of its report, its files, and other formats.

use crate::fields;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use corecast_machine::Cause;
use serde_json::Value;

const MASTER: &str = "../replay/tests/samples/master.calls";
const SOLVER: &str = "../replay/tests/samples/solver.ti";

fn corecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn said(arguments: &[&str]) -> String {
    let output = corecast(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_same_program_takes_the_same_time_and_a_late_rank_delays_it() {
    let run = |more: &[&str]| said(&[&["replay", MASTER, "--chip", "tilepro64"], more].concat());
    let once = run(&[]);
    assert!(once.contains("5 ranks on tilepro64"), "{once}");
    let bcast = "bcast of 256 bytes over 5 ranks: ";
    assert!(once.contains(bcast), "{once}");
    let own = run(&["--table", "none"]);
    assert!(own.contains(&format!("{bcast}binomial")), "{own}");
    assert_eq!(once, run(&["--table", "tilepro64"]));
    assert_eq!(once, run(&[]));
    assert_ne!(once, run(&["--skew", "0=5000"]));
    assert_ne!(once, run(&["--background", "0.1", "--seed", "3"]));
    assert_ne!(once, run(&["--set", "network.link=9"]));
    let packet = run(&["--fidelity", "packet"]);
    assert!(packet.contains("5 ranks on tilepro64"), "{packet}");
}

/// More other traffic than the network can carry is said, whatever runs beside it.
#[test]
fn a_full_network_is_said() {
    let runs = [
        ["replay", MASTER].as_slice(),
        &["run", "bcast", "--algorithm", "mst"],
        // The explanation runs every algorithm, so that it is of what has few and short ones.
        &[
            "explain",
            "barrier",
            "--algorithm",
            "linear",
            "--ranks",
            "2",
        ],
    ];
    for run in runs {
        let beside = |rate| said(&[run, &["--chip", "tilepro64", "--background", rate]].concat());
        let full = "\nnote: the network is full: background traffic could send ";
        assert!(beside("0.9").contains(full), "{run:?}");
        assert!(!beside("0.05").contains(full), "{run:?}");
    }
}

#[test]
fn a_program_goes_where_its_ranks_are_put() {
    let run = |more: &[&str]| {
        let arguments = ["replay", MASTER, "--chip", "tilepro64", "--json"];
        let record: Value =
            serde_json::from_str(&said(&[&arguments, more].concat())).expect("JSON");
        (
            record["makespan_ns"].as_f64().expect("a number"),
            record["set"].clone(),
        )
    };
    let (usual, set) = run(&[]);
    assert_eq!(set, serde_json::json!([]));
    // Five ranks sit in a square of three by two.
    let (listed, set) = run(&["--ranks-to-cores", "0,1,2,8,9"]);
    assert_eq!(listed, usual);
    assert_eq!(set, serde_json::json!(["network.placement=0 1 2 8 9"]));
    let (far, _) = run(&["--ranks-to-cores", "0,7,56,63,28"]);
    assert!(far > usual);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&file, "1 7\n0 0\n3 63 # a corner\n2 56\n4 28\n").expect("written");
    let path = file.path().to_str().expect("UTF-8");
    assert_eq!(run(&["--ranks-to-cores", path]).0, far);
}

#[test]
fn every_field_of_the_report_is_documented_and_times_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (report, svg, trace, matrix) =
        (path("r.json"), path("t.svg"), path("t.json"), path("m.csv"));
    let files = [
        "--report", &report, "--svg", &svg, "--trace", &trace, "--matrix", &matrix,
    ];
    let arguments = ["replay", SOLVER, "--flops", "1G", "--skew", "1=50"];
    said(&[&arguments[..], &files].concat());
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).expect("written");
    let record: Value = serde_json::from_str(&read(&report)).expect("JSON");
    let mut described = fields::documented("replay --json");
    described.extend(fields::documented("Settings of results"));
    described.extend(fields::documented("Settings of programs"));
    let printed: BTreeSet<String> = fields::of(&record);
    assert!(printed.is_subset(&described), "{printed:?}");
    described.retain(|name| !Cause::KINDS.contains(&name.as_str()) && !printed.contains(name));
    assert!(described.is_empty(), "{described:?} are not written");
    let shown = said(&[&arguments[..], &["--json"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&shown).expect("JSON"), record);
    let sum = |causes: &Value| -> f64 {
        let causes = causes.as_object().expect("causes").values();
        causes.map(|ns| ns.as_f64().expect("a number")).sum()
    };
    let makespan = record["makespan_ns"].as_f64().expect("a number");
    for rank in record["per_rank"].as_array().expect("ranks") {
        assert!((sum(&rank["causes_ns"]) - makespan).abs() < 1e-6, "{rank}");
        for call in rank["calls"].as_array().expect("calls") {
            let ns = call["ns"].as_f64().expect("a number");
            assert!((sum(&call["causes_ns"]) - ns).abs() < 1e-6, "{call}");
        }
    }
    assert!(read(&svg).starts_with("<svg"));
    assert!(read(&trace).contains("\"allreduce\""));
    let lines = read(&matrix)
        .lines()
        .filter(|line| !line.starts_with('#'))
        .count();
    assert_eq!(lines, 1 + record["pairs"].as_array().expect("pairs").len());
}

/// Programs of others with more ranks than the chip has cores, whose ranks share them.
#[test]
fn ranks_share_cores_where_there_are_too_few() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (goal, smpi) = (path("ring.goal"), path("ring.ti"));
    // A ring of 100 ranks.
    let (mut text, mut trace) = ("num_ranks 100\n".to_owned(), String::new());
    for rank in 0..100 {
        let (next, before) = ((rank + 1) % 100, (rank + 99) % 100);
        text += &format!(
            "rank {rank} {{\nl1: calc 1000\nl2: send 64b to {next} tag 1\nl3: recv 64b from {before} \
             tag 1\nl2 requires l1\n}}\n"
        );
        trace += &format!(
            "{rank} init\n{rank} compute 1000\n{rank} isend {next} 1 64 6\n{rank} recv {before} 1 64 6\n\
             {rank} waitall\n{rank} finalize\n"
        );
    }
    std::fs::write(&goal, text).expect("written");
    std::fs::write(&smpi, trace).expect("written");
    for file in [&goal, &smpi] {
        let shared = ["replay", file, "--flops", "1G", "--ranks-per-core", "3"];
        let matrix = path("m.csv");
        let files = ["--json", "--matrix", &matrix];
        let shown = said(&[&shared[..], &files].concat());
        assert_eq!(shown, said(&[&shared[..], &files].concat()), "{file}");
        let record: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(record["ranks"], 100, "{file}");
        assert_eq!(record["ranks_per_core"], 3, "{file}");
        let pairs = record["pairs"].as_array().expect("pairs");
        assert_eq!(pairs.len(), 100, "{file}");
        assert!(pairs.iter().all(|pair| pair["bytes"] == 68), "{file}");
        // Three ranks of a core compute for a microsecond each.
        assert!(record["makespan_ns"].as_f64().expect("a number") > 3000.0);
        let text = said(&[&shared[..], &["--explain"]].concat());
        assert!(text.contains("100 ranks on scc"), "{text}");
        assert!(text.contains("--ranks-per-core 3"), "{text}");
        // One core more is late with its ranks, and no rank is one.
        said(&[&shared[..], &["--skew", "33=5"]].concat());
        let late = corecast(&[&shared[..], &["--skew", "34=5"]].concat());
        assert_eq!(late.status.code(), Some(2));
    }
}

#[test]
fn a_program_keeps_its_time_through_convert() {
    let folder = tempfile::tempdir().expect("a folder");
    let time = |path: &str| {
        // Messages in the place of collectives are those of the library's own choice.
        let scene = "--chip nagam --table none --flops 1G --json".split(' ');
        let arguments: Vec<&str> = ["replay", path].into_iter().chain(scene).collect();
        let shown = said(&arguments);
        let record: Value = serde_json::from_str(&shown).expect("JSON");
        record["makespan_ns"].clone()
    };
    let expected = time(SOLVER);
    for name in ["it.calls", "it.goal", "it.ti"] {
        let path = folder.path().join(name);
        let path = path.to_str().expect("UTF-8");
        said(&["convert", SOLVER, path, "--flops", "1G"]);
        assert_eq!(time(path), expected, "{name}");
    }
}

/// An algorithm of a table is taken, and one that the MPI library would take otherwise.
#[test]
fn a_table_decides_about_collectives() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("bcast.toml");
    let table = table.to_str().expect("UTF-8");
    said(&[
        "tune",
        "bcast",
        "--chip",
        "tilepro64",
        "--machine",
        "mpi",
        "--ranks",
        "5",
        "--bytes",
        "256",
        "-o",
        table,
    ]);
    let shown = said(&[
        "replay",
        MASTER,
        "--chip",
        "tilepro64",
        "--table",
        table,
        "--json",
    ]);
    let record: Value = serde_json::from_str(&shown).expect("JSON");
    let taken = record["algorithms"].as_array().expect("algorithms");
    let bcast = taken.iter().find(|taken| taken["collective"] == "bcast");
    let algorithm = bcast.expect("a broadcast")["algorithm"]
        .as_str()
        .expect("a name");
    let text = std::fs::read_to_string(table).expect("written");
    assert!(text.contains(algorithm), "{algorithm} is not in\n{text}");
}
