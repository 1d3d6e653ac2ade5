// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `mpirun --chip` says about a program beside how long it took: why, who sent how much to whom, and
//! how long it takes on changed chips.

use crate::mpi;

use std::fs;
use std::path::Path;
use std::process::Command;

use mpi::{MPICH, Program, STANDARD, text};
use serde_json::Value;

/// What a run says: exit code, standard output, standard error.
fn said(
    program: &Program,
    options: &[&str],
    ranks: u32,
    arguments: &[&str],
) -> (i32, String, String) {
    let mut command = program.mpirun_with(options, ranks, arguments);
    let output = command.output().expect("the binary runs");
    let code = output.status.code().expect("no signal");
    (code, text(&output.stdout), text(&output.stderr))
}

/// Compares with a file of `tests/mpi`; `CORECAST_BLESS=1` writes it.
fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/mpi")
        .join(name);
    if std::env::var_os("CORECAST_BLESS").is_some() {
        std::fs::write(&path, found).expect("writable");
    }
    let expected = std::fs::read_to_string(&path).expect("readable");
    assert_eq!(found, expected, "{}", path.display());
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect("written")
}

#[test]
fn explanations_are_as_written() {
    let program = Program::new("virtual.c", &STANDARD);
    for (name, chip, ranks, arguments) in [
        ("explained_uneven.txt", "park2019-bus", 4, ["uneven", ""]),
        ("explained_ring.txt", "scc", 3, ["ring", "20000"]),
        ("explained_mesh.txt", "tilepro64", 4, ["uneven", ""]),
    ] {
        let options = ["--chip", chip, "--explain"];
        let (code, out, errors) = said(&program, &options, ranks, &arguments);
        assert_eq!((code, out.as_str()), (0, ""), "{errors}");
        assert_golden(name, &errors);
    }
}

#[test]
fn short_tables_say_how_many_rows_are_left_out() {
    let program = Program::new("virtual.c", &MPICH);
    let options = ["--chip", "scc", "--explain"];
    let (_, _, short) = said(&program, &options, 24, &["storm", "2"]);
    assert!(
        short.contains("shorter stretches: --full shows all"),
        "{short}"
    );
    let (_, _, full) = said(
        &program,
        &[&options[..], &["--full"]].concat(),
        24,
        &["storm", "2"],
    );
    assert!(!full.contains("--full shows all"), "{full}");
    assert!(full.lines().count() > short.lines().count());
}

#[test]
fn reports_explain_the_whole_makespan() {
    let program = Program::new("virtual.c", &STANDARD);
    for chip in ["scc", "tilepro64", "nagam", "park2019-bus"] {
        let report = program.folder.path().join("r.json").display().to_string();
        let options = ["--chip", chip, "--report", &report];
        let (code, _, errors) = said(&program, &options, 5, &["storm", "3"]);
        assert_eq!(code, 0, "{errors}");
        let report: Value = serde_json::from_str(&read(&report)).expect("JSON");
        let number = |value: &Value| value.as_f64().expect("a number");
        let makespan = number(&report["makespan_ns"]);
        let list = |name: &str| report[name].as_array().expect("a list").clone();
        let path = list("critical_path");
        assert_eq!(number(&path[0]["from_ns"]), 0.0);
        assert_eq!(
            path.last().map(|last| number(&last["to_ns"])),
            Some(makespan)
        );
        assert!(
            path.windows(2)
                .all(|two| two[0]["to_ns"] == two[1]["from_ns"]),
            "{chip}"
        );
        let calls = list("critical_path_calls");
        let whole: f64 = calls.iter().map(|of| number(&of["ns"])).sum();
        assert!(
            (whole - makespan).abs() < 1e-3,
            "{chip}: {whole} of {makespan}"
        );
        let saved = calls.iter().map(|of| number(&of["saved_percent_max"]));
        assert!((saved.sum::<f64>() - 100.0).abs() < 1e-6, "{chip}");
        // Nobody waits for itself: whom it waited for is known when something comes.
        let waits: f64 = list("late_ranks")
            .iter()
            .map(|late| number(&late["waited_ns"]))
            .sum();
        let way = number(&report["on_its_way_ns"]);
        let waited = number(&report["causes_ns"]["wait_peer"]);
        assert!(
            waits + way >= waited - 1e-3,
            "{chip}: {waits} and {way} of {waited}"
        );
    }
}

#[test]
fn the_matrix_is_a_picture_by_its_name() {
    let program = Program::new("virtual.c", &STANDARD);
    let svg = program.folder.path().join("m.svg").display().to_string();
    let options = ["--chip", "scc", "--seed", "3", "--matrix", &svg];
    let (code, _, errors) = said(&program, &options, 8, &["ring", "5000"]);
    assert_eq!(code, 0, "{errors}");
    let svg = read(&svg);
    for text in [
        "neighbours in the order of ranks (8 ranks on scc)",
        "chip scc",
        "seed 3",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn a_sweep_runs_the_program_once_per_combination() {
    let program = Program::new("virtual.c", &MPICH);
    let file = |name: &str| program.folder.path().join(name).display().to_string();
    let [csv, plot] = ["v.csv", "v.svg"].map(file);
    let options = [
        "--chip",
        "scc",
        "--vary",
        "endpoint.library=ircce,rcce",
        "--vary",
        "network.link=1,4",
        "--csv",
        &csv,
        "--plot",
        &plot,
    ];
    let (code, out, errors) = said(&program, &options, 4, &["hello"]);
    assert_eq!(code, 0, "{errors}");
    let runs = ["ircce", "rcce"].map(|library| ["1", "4"].map(|link| (library, link)));
    let tags = runs.as_flattened().iter().map(|(library, link)| {
        let tag = format!("[endpoint.library={library} network.link={link}]");
        format!("{tag} 4 ranks\n{tag} and no more\n")
    });
    assert_eq!(out, tags.collect::<String>());
    assert_golden("varied.txt", &errors);
    let csv = read(&csv);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 5, "{csv}");
    assert!(
        lines[0].starts_with("endpoint.library,network.link,outcome,makespan_cycles"),
        "{csv}"
    );
    assert!(lines[4].starts_with("rcce,4,done,"), "{csv}");
    let plot = read(&plot);
    assert!(
        plot.contains(">network.link=4<") && plot.contains(">ircce<"),
        "{plot}"
    );
}

/// The parts of a sweep, put together, are the sweep: nothing runs again, and what was printed is printed.
#[test]
fn parts_of_a_sweep_are_the_whole() {
    let program = Program::new("virtual.c", &MPICH);
    let file = |name: &str| program.folder.path().join(name).display().to_string();
    let sweep = |values: &str, more: &[&str], arguments: &[&str]| {
        let vary = format!("network.link={values}");
        let options = [&["--chip", "scc", "--vary", &vary], more].concat();
        said(&program, &options, 4, arguments)
    };
    let whole = sweep("1,2,4", &[], &["hello"]);
    let [one, two, all] = ["1.jsonl", "2.jsonl", "all.jsonl"].map(file);
    for (shard, part) in [("1/2", &one), ("2/2", &two)] {
        let (code, out, errors) = sweep("1,2,4", &["--keep", part, "--shard", shard], &["hello"]);
        assert_eq!(code, 0, "{errors}");
        let is_in = |link| out.contains(&format!("[network.link={link}] 4 ranks"));
        assert_eq!(
            ["1", "2", "4"].map(is_in),
            [shard == "1/2", shard == "2/2", shard == "1/2"]
        );
    }
    let merge = |parts: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .arg("merge")
            .args(parts)
            .args(["-o", &all])
            .output();
        let output = output.expect("the binary runs");
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(merge(&[&one, &two]), (Some(0), String::new()));
    // It would need no program any more.
    fs::remove_file(program.path()).expect("it was there");
    assert_eq!(sweep("1,2,4", &["--keep", &all], &["hello"]), whole);
    // What another program has shown is another sweep.
    let (code, _, errors) = sweep("1,2,4", &["--keep", &all], &["ring", "16"]);
    assert_eq!(code, 2);
    let expected = format!("error: {all}: it holds for something else: program is [");
    assert!(errors.contains(&expected), "{errors}");
    let collective = file("collective.jsonl");
    let line = "{\"sweep\":{\"collective\":\"bcast\"}}\n";
    fs::write(&collective, line).expect("written");
    let (code, errors) = merge(&[&one, &collective]);
    let expected = format!("error: {collective}: line 1: this is no sweep of a program\n");
    assert_eq!(
        (code, errors.starts_with(&expected)),
        (Some(2), true),
        "{errors}"
    );
}

#[test]
fn a_run_that_fails_is_named_and_loses_no_other() {
    let program = Program::new("virtual.c", &STANDARD);
    let csv = program.folder.path().join("v.csv").display().to_string();
    let options = [
        "--chip",
        "park2019-bus",
        "--vary",
        "endpoint.request=1,1000,2",
        "--limit-ns",
        "60000",
        "--csv",
        &csv,
    ];
    let (code, _, errors) = said(&program, &options, 4, &["ring", "16"]);
    assert_golden("varied_failed.txt", &errors);
    assert_eq!(code, 3);
    let csv = read(&csv);
    let outcomes: Vec<&str> = csv
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(1))
        .collect();
    assert_eq!(outcomes, ["done", "failed", "done"], "{csv}");
}

#[test]
fn misuse_is_refused_before_anything_starts() {
    let program = Program::new("virtual.c", &STANDARD);
    let cases: [&[&str]; 14] = [
        &["--vary", "network.link"],
        &["--vary", "network.link=1,"],
        &["--vary", "=1"],
        &["--vary", "network.link=1,1"],
        &["--vary", "network.lnk=1,2"],
        &["--vary", "network.link=1,few"],
        &["--vary", "network.link=1", "--vary", "network.link=2"],
        &["--set", "network.link=1", "--vary", "network.link=2"],
        &["--vary", "network.link=1,2", "--svg", "t.svg"],
        &["--vary", "network.link=1,2", "--explain"],
        &["--vary", "network.link=1,2", "--plot", "x", "--csv", "x"],
        &["--plot", "x"],
        &["--full"],
        &["--matrix", "m.jpg"],
    ];
    let mut all = String::new();
    for options in cases {
        let with_chip = [&["--chip", "scc"], options].concat();
        let mut command = program.mpirun_with(&with_chip, 2, &["hello"]);
        command.current_dir(program.folder.path());
        let output = command.output().expect("the binary runs");
        let errors = text(&output.stderr);
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(2), String::new()),
            "{errors}"
        );
        let folder = program.folder.path().display().to_string();
        all += &format!(
            "$ {}\n{}\n",
            options.join(" "),
            errors.replace(&folder, "FOLDER")
        );
    }
    assert_golden("whatif_refusals.txt", &all);
    let lost = "/nonexistent/v.csv";
    let options = ["--chip", "scc", "--vary", "network.link=1,2", "--csv", lost];
    let (code, out, errors) = said(&program, &options, 2, &["hello"]);
    assert_eq!((code, out.as_str()), (2, ""), "{errors}");
    assert!(
        errors.starts_with("error: cannot write `/nonexistent/v.csv`"),
        "{errors}"
    );
    let many = (1..=1001)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(",");
    let many = format!("network.link={many}");
    let (code, _, errors) = said(&program, &["--chip", "scc", "--vary", &many], 2, &["hello"]);
    let expected = "error: --vary: 1001 runs, one per combination\n  help: use values with at most 1000 combinations\n";
    assert_eq!((code, errors.as_str()), (2, expected));
}
