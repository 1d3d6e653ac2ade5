// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the program ends: exit codes, closed pipes, and what it leaves on standard error.

use std::io::Read as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn corecast(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command
        .args(arguments.split_whitespace())
        .env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &str) -> Output {
    corecast(arguments).output().expect("the binary runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("not killed")
}

const FAILING: &str = "verify bcast --algorithm linear,binomial --require round-optimal";

#[test]
fn a_failed_claim_is_named_and_exits_with_1() {
    let output = run(FAILING);
    assert_eq!(code(&output), 1);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: bcast by linear, 64 bytes: not round-optimal: 7 rounds, the bound is 3\n"
    );
    assert!(
        !output.stdout.is_empty(),
        "the certificates are still shown"
    );
}

#[test]
fn a_failed_claim_leaves_the_document_as_it_is() {
    let failing = run(&format!("{FAILING} --json"));
    let passing = run("verify bcast --algorithm linear,binomial --json");
    assert_eq!((code(&failing), code(&passing)), (1, 0));
    assert_eq!(failing.stdout, passing.stdout);
    assert!(serde_json::from_slice::<Value>(&failing.stdout).is_ok());
}

#[test]
fn claims_that_hold_exit_with_0() {
    let claims = "correct,deadlock-free,contention-free";
    let output = run(&format!(
        "verify alltoall --chip park2019-bus --require {claims}"
    ));
    assert_eq!(code(&output), 0);
    let optimal = run("verify bcast --algorithm binomial --require round-optimal");
    assert_eq!((code(&optimal), optimal.stderr.len()), (0, 0));
}

/// Two ranks that send before they receive, over connections that are counted on to hold a message.
#[test]
fn slots_can_be_claimed() {
    let file = tempfile::Builder::new().suffix(".sched").tempfile();
    let file = file.expect("a file");
    let text = "corecast schedule 1\ncollective allgather\nranks 2\nbytes 8\nslots 1\n\
                rank 0\nsend 1 [0]\nrecv 1 [1]\nrank 1\nsend 0 [1]\nrecv 0 [0]\n";
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().display();
    for (claim, expected) in [
        ("correct", 0),
        ("deadlock-free", 1),
        ("deadlock-free:0", 1),
        ("deadlock-free:1", 0),
        ("deadlock-free:", 2),
    ] {
        let output = run(&format!("verify {path} --require {claim}"));
        assert_eq!(code(&output), expected, "{claim}");
    }
}

#[test]
fn sweeps_show_no_progress_in_pipes() {
    for arguments in [
        "compare bcast --ranks 2,4 --bytes 4,8",
        "run bcast --bytes 4,8",
        "verify bcast --bytes 4,8",
        "tune bcast --ranks 2,4 --bytes 4,8",
        "reproduce chung2011",
    ] {
        let output = run(arguments);
        assert_eq!((code(&output), output.stderr.len()), (0, 0), "{arguments}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    const PIPE_BYTES: usize = 1 << 16; // of Linux; other systems have smaller ones
    let long = "show schedule bcast --algorithm pipelined --ranks 32 --bytes 2K --part-bytes 4";
    assert!(run(long).stdout.len() > PIPE_BYTES);
    let mut child = corecast(long)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut reader = child.stdout.take().expect("a pipe");
    let mut first = [0; 8];
    reader.read_exact(&mut first).expect("it writes");
    drop(reader);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(code(&output), 0);
}

/// Packets that do not block each other make another algorithm the fastest here.
#[test]
fn fidelities_that_disagree_about_the_winner_say_so() {
    let run = |fidelity: &str| {
        let arguments = "run alltoall --chip booksim-mesh --ranks 7 --bytes 1024 --fidelity";
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(arguments.split_whitespace())
            .arg(fidelity)
            .output()
            .expect("the binary runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let told = "flit fidelity disagrees: there contention-free is the fastest";
    assert!(run("packet").contains(told), "{}", run("packet"));
    assert!(!run("flit").contains("disagrees"));
}

#[test]
fn who_meets_a_limit_is_left_out_as_long_as_another_one_ends() {
    let scene = "bcast --chip park2019-bus --algorithm linear,binomial --ranks 32 --bytes 256";
    let note = "note: left out: linear did not end within 6000 ns";
    for verb in ["run", "explain", "compare"] {
        let output = run(&format!("{verb} {scene} --limit-ns 6000 --json"));
        assert_eq!(code(&output), 0, "{verb}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.starts_with(note), "{verb}: {told}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let names = document.as_array().expect("records").iter();
        let names: Vec<_> = names.map(|record| &record["algorithm"]).collect();
        assert_eq!(names, ["binomial"], "{verb}");
    }
    let none = run(&format!("run {scene} --limit-ns 60"));
    let told = String::from_utf8_lossy(&none.stderr);
    assert_eq!((code(&none), none.stdout.len()), (3, 0), "{told}");
    assert!(
        told.contains("linear: the run did not end within 60 ns"),
        "{told}"
    );
}

/// Real cores are no chip's: how many ranks there can be is up to the machine.
#[test]
fn real_cores_take_more_ranks_than_the_chip_has() {
    let bcast = "run bcast --machine threads --ranks 60 --bytes 8 --algorithm linear --repeat 1";
    let output = run(bcast);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(code(&output), 0, "{text}");
    assert!(
        text.contains("those of a crossbar with the costs of scc"),
        "{text}"
    );
    let fewer = run(&bcast.replace("60", "4"));
    let text = String::from_utf8_lossy(&fewer.stdout);
    assert!(text.contains("are those of scc\n"), "{text}");
    let more = run(&bcast.replace("60", "257"));
    let text = String::from_utf8_lossy(&more.stderr);
    assert_eq!(code(&more), 2, "{text}");
    assert!(
        text.contains("threads does not take 257 ranks\n  help: use 1 to 256"),
        "{text}"
    );
}
