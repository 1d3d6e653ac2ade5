// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decision tables end to end: searched, continued, kept when a search ends early, and asked.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn corecast(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command
        .args(arguments.split_whitespace())
        .env_remove("CLICOLOR_FORCE");
    command
}

/// Runs with a file as the last argument; the exit code must be as expected.
fn with(arguments: &str, file: &PathBuf, code: i32) -> Output {
    let output = corecast(arguments)
        .arg(file)
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
    output
}

/// A path of this test's own, without a file.
fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tune");
    std::fs::create_dir_all(&folder).expect("writable");
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path); // of an earlier run
    path
}

fn read(path: &PathBuf) -> String {
    std::fs::read_to_string(path).expect("written")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[test]
fn a_continued_search_equals_one_over_all() {
    let (whole, pieces) = (fresh("whole.toml"), fresh("pieces.toml"));
    with(
        "tune bcast --chip park2019-bus --ranks 3,8 --bytes 4,64,1K -o",
        &whole,
        0,
    );
    with(
        "tune bcast --chip park2019-bus --ranks 8 --bytes 64 -o",
        &pieces,
        0,
    );
    let output = with(
        "tune bcast --chip park2019-bus --ranks 8,3 --bytes 1K,4,64 -o",
        &pieces,
        0,
    );
    let told = text(&output);
    assert!(told.contains("cells: 5 searched in "), "{told}");
    assert!(told.contains(" runs, 1 kept"), "{told}");
    assert_eq!(read(&pieces), read(&whole));
}

#[test]
fn the_table_does_not_depend_on_the_number_of_threads() {
    let (one, many) = (fresh("one.toml"), fresh("many.toml"));
    let arguments = "tune allreduce --chip park2019-bus --ranks 4,6 --bytes 4..256:x4 -o";
    let output = corecast(arguments)
        .arg(&one)
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0));
    with(arguments, &many, 0);
    assert_eq!(read(&one), read(&many));
}

/// Large messages meet the limit, which stands for any early end: what was found is kept.
#[test]
fn a_search_that_ends_early_loses_nothing() {
    let (whole, pieces) = (fresh("unlimited.toml"), fresh("limited.toml"));
    let scene =
        "tune bcast --chip park2019-bus --algorithm linear,binomial --ranks 8 --bytes 4,16K";
    with(&format!("{scene} -o"), &whole, 0);
    let output = with(&format!("{scene} --limit-ns 5000 -o"), &pieces, 3);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let what = "bcast of 16384 bytes over 8 ranks has no winner";
    assert!(errors.contains(what), "{errors}");
    assert_eq!(read(&pieces).matches("[[cell]]").count(), 1);
    with(&format!("{scene} -o"), &pieces, 0);
    assert_eq!(read(&pieces), read(&whole));
}

#[test]
fn who_meets_a_limit_is_left_out_and_named() {
    let table = fresh("left-out.toml");
    let scene = "tune bcast --chip park2019-bus --algorithm linear,binomial --ranks 32 --bytes 256 --limit-ns 6000 -o";
    let told = text(&with(scene, &table, 0));
    let line = "left out of bcast of 256 bytes over 32 ranks: linear meets a limit";
    assert!(told.contains(line), "{told}");
    assert!(read(&table).contains("algorithm = \"binomial\"\ncycles"));
}

#[test]
fn sizes_make_the_winner_faster_than_it_is_by_itself() {
    let table = fresh("sizes.toml");
    let chip = "--chip tilepro64 --ranks 16 --bytes 16K";
    with(&format!("tune bcast --algorithm cube {chip} -o"), &table, 0);
    let cycles = |output: &Output| json(output)[0]["makespan_cycles"].as_f64().expect("cycles");
    let tuned = format!("run bcast {chip} --json --algorithm auto --table");
    let tuned = with(&tuned, &table, 0);
    let own = corecast(&format!("run bcast {chip} --json --algorithm cube")).output();
    assert!(2.0 * cycles(&tuned) < cycles(&own.expect("the binary runs")));
    let run = &json(&tuned)[0];
    assert!(run["part_bytes"].is_u64() && run["piece_bytes"].is_null());
    assert_eq!(
        (&run["table_ranks"], &run["table_bytes"]),
        (&16.into(), &16384.into())
    );
    let found = format!("cycles = {}\n", cycles(&tuned));
    assert!(
        read(&table).contains(&found),
        "the table keeps what a run takes"
    );
}

#[test]
fn every_verb_says_which_cell_decided() {
    let table = fresh("asked.toml");
    with(
        "tune bcast --chip park2019-bus --ranks 4,16 --bytes 4,256 -o",
        &table,
        0,
    );
    let scene = "bcast --chip park2019-bus --ranks 15 --bytes 100 --algorithm auto --table";
    let line = "for the nearest, 16 ranks and 256 bytes";
    for verb in ["run", "verify", "explain"] {
        let told = text(&with(&format!("{verb} {scene}"), &table, 0));
        assert!(told.contains("auto: ap, by the cell of "), "{told}");
        assert!(told.contains(line), "{told}");
    }
    let told = text(&with(&format!("compare {scene}"), &table, 0));
    assert!(told.contains("16 ranks and 256 bytes"), "{told}");
    let told = text(&with(&format!("show schedule {scene}"), &table, 0));
    assert!(told.starts_with("bcast ap: ranks 15"), "{told}");
    let other = "run bcast --chip park2019-bus --ranks 16 --bytes 256 --root 3 --skew 1=5 --algorithm auto --table";
    let told = text(&with(other, &table, 0));
    assert!(
        told.contains("for 16 ranks and 256 bytes (there root is 0, not 3; "),
        "{told}"
    );
    assert!(told.contains("late ranks"), "{told}");
}

#[test]
fn the_document_goes_to_standard_output_and_the_table_to_its_file() {
    let table = fresh("json.toml");
    let output = with("tune barrier --ranks 2,4 --json -o", &table, 0);
    let cells = json(&output)["cells"].as_array().map(Vec::len);
    assert_eq!(cells, Some(2));
    assert!(read(&table).starts_with("# The fastest"));
    let before = fresh("before.toml");
    let output = corecast("-o")
        .arg(&before)
        .args(["tune", "barrier", "--ranks", "2,4"])
        .output()
        .expect("the binary runs");
    assert!(text(&output).contains("dissemination"));
    assert_eq!(read(&before), read(&table));
}

#[test]
fn the_text_is_a_map_of_the_winners() {
    let table = fresh("map.toml");
    let scene = "tune bcast --chip park2019-bus --algorithm ap,linear --ranks 2,8 --bytes 4,64 -o";
    let told = text(&with(scene, &table, 0));
    let map = "\
fastest bcast on park2019-bus (sim)

ranks  4 B     64 B
    2  linear  linear
    8  linear  ap

cells: 4 searched in ";
    assert!(told.starts_with(map), "{told}");
}

#[test]
fn the_plot_is_a_map_with_axes_and_a_message() {
    let plot = fresh("map.svg");
    with(
        "tune bcast --chip park2019-bus --ranks 4,8 --bytes 64,1K --plot",
        &plot,
        0,
    );
    let svg = read(&plot);
    for label in [
        "ap wins 4 of 4 cases: bcast on park2019-bus",
        "size (bytes)",
        "ranks",
    ] {
        assert!(svg.contains(label), "{label}");
    }
}

/// On real cores candidates race; what wins is up to them, that there is a winner is not.
#[test]
fn a_table_of_this_computer_is_taken_by_the_launcher() {
    let path = fresh("host.toml");
    for machine in ["host", "threads"] {
        let _ = std::fs::remove_file(&path);
        let search = format!("tune allreduce --machine {machine} --ranks 2,3 --bytes 64 --json -o");
        let table = json(&with(&search, &path, 0));
        assert_eq!(table["machine"], machine);
        let competed = table["algorithms"].as_array().expect("names");
        let has_boards = competed.iter().any(|name| name == "boards");
        assert_eq!(has_boards, machine == "host");
        let cells = table["cells"].as_array().expect("cells");
        assert_eq!(cells.len(), 2);
        for cell in cells {
            assert!(cell["makespan_cycles"].is_null());
            assert!(cell["makespan_ns"].as_f64().expect("a time") > 0.0);
            assert!(competed.contains(&cell["algorithm"]));
        }
        let mut launched = corecast("mpirun -n 2 --table");
        let output = launched.arg(&path).arg("true").output().expect("it runs");
        assert!(output.status.success());
    }
    // Searching on continues it; a chip has another fingerprint.
    let kept = "tune allreduce --machine threads --ranks 2,3 --bytes 64 -o";
    assert!(text(&with(kept, &path, 0)).contains("0 searched in 0 runs, 2 kept"));
    with("tune allreduce --ranks 2 --bytes 64 -o", &path, 2);
}
