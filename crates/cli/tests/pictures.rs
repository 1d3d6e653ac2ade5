//! The files that `run`, `explain`, `compare` and `reproduce` draw.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Runs with `FILE` replaced by a path; returns the text printed and the file written.
fn draw(arguments: &str, name: &str) -> (String, String) {
    let path = path(name);
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .arg(&path)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments}");
    let text = String::from_utf8(output.stdout).expect("text");
    (text, std::fs::read_to_string(path).expect("written"))
}

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).expect("writable");
    folder.join(name)
}

#[test]
fn run_draws_what_explain_draws() {
    let scene = "bcast --ranks 4 --bytes 4 --algorithm ap";
    for option in ["--svg", "--trace"] {
        let ours = draw(&format!("run {scene} {option}"), "run.out").1;
        let theirs = draw(&format!("explain {scene} {option}"), "explain.out").1;
        assert_eq!(ours, theirs, "{option}");
    }
}

#[test]
fn auto_draws_the_winner() {
    let (text, svg) = draw("run bcast --algorithm auto --svg", "auto.svg");
    assert!(text.contains("auto: ap is the fastest"), "{text}");
    assert!(svg.contains("bcast by ap: 64 bytes, 8 ranks"), "{svg}");
    assert!(text.ends_with("auto.svg\n"), "{text}");
}

#[test]
fn a_run_of_this_computer_has_no_cycles() {
    let host = "run bcast --machine host --ranks 2 --algorithm linear";
    let svg = draw(&format!("{host} --svg"), "host.svg").1;
    assert!(svg.contains("microseconds") && !svg.contains("cycles"));
    let trace = draw(&format!("{host} --trace"), "host.json").1;
    assert!(serde_json::from_str::<Value>(&trace).is_ok());
}

#[test]
fn compare_draws_lines_for_one_rank_count_and_a_map_for_several() {
    let lines = draw("compare bcast --ranks 4 --bytes 4,8 --plot", "lines.svg").1;
    assert!(lines.contains("makespan / lower bound"));
    let map = draw("compare bcast --ranks 4,32 --bytes 4,8 --plot", "map.svg").1;
    assert!(map.contains("no algorithm wins most often"), "{map}");
    assert!(map.contains(">32<") && map.contains("size (bytes)"));
    let map = draw("compare bcast --ranks 4,8 --bytes 8,64 --plot", "most.svg").1;
    assert!(map.contains("ap wins 4 of 4 cases"), "{map}");
}
