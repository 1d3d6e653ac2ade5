// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules from files through every verb.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn corecast(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command.args(arguments).output().expect("the binary runs")
}

fn text(arguments: &[&str]) -> String {
    let output = corecast(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&text(&with_json)).expect("JSON")
}

fn samples() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exchange/tests/samples");
    folder.to_str().expect("UTF-8").to_owned()
}

/// A file with `mst` over 8 ranks, and the folder that it is in.
fn mine() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder
        .path()
        .join("mine.sched")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let show = [
        "show",
        "schedule",
        "bcast",
        "--algorithm",
        "mst",
        "--format",
        "corecast",
    ];
    std::fs::write(&path, text(&show)).expect("written");
    (folder, path)
}

/// What looks like no path is one if it is there, and no collective.
#[test]
fn a_file_or_folder_needs_no_sign_to_be_found() {
    let (folder, path) = mine();
    std::fs::create_dir(folder.path().join("corpus")).expect("made");
    for name in ["mine", "corpus/a.sched", "bcast"] {
        std::fs::copy(&path, folder.path().join(name)).expect("copied");
    }
    let verified = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        command.args(["verify", name]).current_dir(folder.path());
        let output = command.output().expect("the binary runs");
        let [told, errors] = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.success(), told + &errors)
    };
    for name in ["mine", "corpus"] {
        let (is_fine, told) = verified(name);
        assert!(is_fine && told.contains("correct"), "{name}: {told}");
    }
    let (is_fine, told) = verified("bcast");
    assert!(
        is_fine && told.contains("van-de-geijn"),
        "the collective: {told}"
    );
    let (is_fine, told) = verified("mein");
    assert!(!is_fine && told.contains("invalid value 'mein'"), "{told}");
}

#[test]
fn a_file_takes_the_time_of_its_algorithm_at_every_size() {
    let (_folder, path) = mine();
    for bytes in ["64", "1000"] {
        let of = |what: &str| {
            let mut arguments = vec!["run", what, "--bytes", bytes, "--chip", "park2019-bus"];
            if what == "bcast" {
                arguments.extend(["--algorithm", "mst"]);
            }
            json(&arguments)[0]["makespan_ns"].clone()
        };
        assert_eq!(of("bcast"), of(&path));
    }
    let both = json(&["run", &path, "--algorithm", "linear"]);
    assert_eq!(both.as_array().map(Vec::len), Some(2));
    assert_eq!(both[0]["bytes"], 64);
    let run = text(&["run", &path]);
    assert!(run.contains(&path) && run.contains("correct"), "{run}");
    assert!(text(&["explain", &path]).contains("critical path"));
    assert!(text(&["show", "schedule", &path]).starts_with("bcast mst: ranks 8"));
}

/// No machine is given what it cannot count on.
#[test]
fn what_is_not_correct_is_not_run() {
    let (folder, path) = mine();
    let kept = std::fs::read_to_string(&path).expect("written");
    let kept: Vec<&str> = kept
        .lines()
        .filter(|line| !line.contains("send 1 "))
        .collect();
    let broken = folder.path().join("broken.sched");
    std::fs::write(&broken, kept.join("\n")).expect("written");
    let broken = broken.to_str().expect("UTF-8");
    for verb in [
        &["run", broken][..],
        &["run", broken, "--machine", "host"],
        &["run", broken, "--machine", "threads"],
        &["run", broken, "--machine", "mpi"],
        &["explain", broken],
    ] {
        let output = corecast(verb);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {told}");
        let expected = format!("error: {broken}: the schedule is not correct: rank 1, step 0");
        assert!(told.contains(&expected), "{verb:?}: {told}");
        assert!(told.contains("`corecast verify "), "{told}");
        assert!(output.stdout.is_empty(), "{verb:?}");
    }
}

#[test]
fn compare_names_the_cases_that_a_file_is_not_for() {
    let (_folder, path) = mine();
    let names = format!("linear,{path}");
    let compared = [
        "compare",
        "bcast",
        "--ranks",
        "4,8",
        "--bytes",
        "4,64",
        "--algorithm",
        &names,
    ];
    let table = text(&compared);
    let left_out = format!("left out: {path} is for 8 ranks, not for 4 ranks");
    assert!(table.contains(&left_out), "{table}");
    let runs = json(&compared);
    let of_file = runs
        .as_array()
        .expect("a list")
        .iter()
        .filter(|run| run["algorithm"] == path.as_str());
    assert_eq!(of_file.count(), 2);
}

#[test]
fn traces_are_a_file_per_rank() {
    let (folder, path) = mine();
    let trace = folder.path().join("mine.et").display().to_string();
    let said = text(&["convert", &path, &trace]);
    assert!(said.contains("mine.0.et to "), "{said}");
    // Any of the eight names all.
    let last = folder.path().join("mine.7.et").display().to_string();
    let verdicts = json(&["verify", &last, &path]);
    assert_eq!(verdicts[0]["ranks"], 8);
    assert_eq!(verdicts[0]["messages"], verdicts[1]["messages"]);
    // In a folder they are one schedule, and other JSON is none.
    std::fs::write(folder.path().join("other.json"), "{}").expect("written");
    let verdicts = json(&["verify", folder.path().to_str().expect("UTF-8")]);
    assert_eq!(verdicts.as_array().map(Vec::len), Some(2));
    let output = corecast(&["convert", &path, "--to", "chakra"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn links_that_a_chip_lacks_are_named() {
    let ring = format!("{}/allgather_ring_4.json", samples());
    let certificate = &json(&["verify", &ring, "--chip", "booksim-mesh"])[0];
    assert_eq!(certificate["correct"], true);
    // Four ranks are a square of two by two, and a ring in numeric order has two diagonals.
    assert_eq!(certificate["detours"][0], "1->2 (2 links)");
    assert_eq!(certificate["detours"].as_array().map(Vec::len), Some(2));
    let shown = text(&["verify", &ring, "--chip", "booksim-mesh"]);
    assert!(
        shown.contains("2 of its connections have no link"),
        "{shown}"
    );
    let certificate = &json(&["verify", &ring, "--chip", "park2019-bus"])[0];
    assert_eq!(certificate["detours"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_folder_is_verified_file_by_file() {
    let verdicts = json(&["verify", &samples()]);
    let verdicts = verdicts.as_array().expect("a list");
    assert!(verdicts.len() >= 5);
    for verdict in verdicts {
        assert_eq!(verdict["correct"], true, "{verdict}");
        assert_eq!(verdict["error"], Value::Null);
    }
    let (folder, path) = mine();
    let damaged =
        std::fs::read_to_string(&path)
            .expect("readable")
            .replacen("  r2 recv 0 [0]\n", "", 1);
    std::fs::write(folder.path().join("damaged.sched"), damaged).expect("written");
    std::fs::write(folder.path().join("none.xml"), "<algo/>").expect("written");
    std::fs::write(folder.path().join("notes.txt"), "not looked at").expect("written");
    let output = corecast(&["verify", folder.path().to_str().expect("UTF-8")]);
    let answer = String::from_utf8(output.stdout).expect("text");
    assert!(
        answer.contains("1 of 3 files are correct schedules"),
        "{answer}"
    );
    assert!(answer.contains("is never received"), "{answer}");
    assert_ne!(output.status.code(), Some(0));
    let damaged = folder.path().join("damaged.sched");
    let output = corecast(&["verify", damaged.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    let text = std::fs::read_to_string(&damaged).expect("readable");
    let answer = String::from_utf8(output.stdout).expect("text");
    let wrong = answer
        .lines()
        .position(|line| line.contains("is never received"));
    let line = answer.lines().nth(wrong.expect("it is told") + 1);
    let (number, words) = line
        .and_then(|line| line.trim().strip_prefix("line ")?.split_once(": "))
        .expect("the line of the step");
    let number = number.parse::<usize>().expect("a number");
    assert_eq!(text.lines().nth(number - 1).map(str::trim), Some(words));
    let path = damaged.to_str().expect("UTF-8");
    for more in [&[][..], &[path]] {
        let output = corecast(&[&["verify", path, "--json"], more].concat());
        let verdicts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            verdicts[0]["violation_lines"][0],
            serde_json::json!([number])
        );
    }
}

#[test]
fn files_go_from_format_to_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let xml = format!("{}/allreduce_pairs_3.xml", samples());
    let (own, back, graph) = (path("a.sched"), path("a.xml"), path("a.goal"));
    text(&["convert", &xml, &own, "--bytes", "96"]);
    assert!(
        std::fs::read_to_string(&own)
            .expect("there")
            .contains("\nbytes 96\n")
    );
    text(&["convert", &own, &back]);
    text(&["convert", &own, &graph]);
    let verified = json(&["verify", &own, &back, &graph]);
    for (verdict, bytes) in verified.as_array().expect("a list").iter().zip([96, 24, 0]) {
        assert_eq!(verdict["correct"], true, "{verdict}");
        assert_eq!(verdict["bytes"], bytes);
    }
    let run = json(&[
        "run",
        &back,
        "--bytes",
        "960",
        "--dtype",
        "f32",
        "--chip",
        "park2019-bus",
    ]);
    assert_eq!(run[0]["delivered"], true, "{run}");
}

/// Blocks of an exchange have sizes of their own, and most ranks have nothing for themselves.
#[test]
fn exchanges_of_unlike_blocks_deliver_on_every_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        (
            "uneven.sched",
            "corecast schedule 1\ncollective alltoallv\nranks 3\nbytes 64\n\
             counts 0 64 64 0 0 0 0 0 0\nrank 0\n  send 1 [1]\n  send 2 [2]\n\
             rank 1\n  recv 0 [1]\nrank 2\n  recv 0 [2]\n",
        ),
        (
            "uneven.goal",
            "num_ranks 3\nrank 0 {\na: send 64b to 1\nb: send 128b to 2\nb requires a\n}\n\
             rank 1 {\na: recv 64b from 0\n}\nrank 2 {\na: recv 128b from 0\n}\n",
        ),
    ];
    for (name, contents) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, contents).expect("written");
        let path = path.to_str().expect("UTF-8");
        for machine in ["sim", "mpi", "threads", "host"] {
            let told = text(&["run", path, "--machine", machine]);
            assert!(told.contains("delivered"), "{told}");
        }
    }
}
