// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sweeps and tables in parts: parts put together are the whole, and what was kept is not run again.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Standard output; the exit code must be 0.
fn corecast(arguments: &str, files: &[&Path]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .args(files)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {errors}");
    output.stdout
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("written")
}

const SWEEP: &str = "compare reduce --chip park2019-bus --ranks 3,4 --bytes 4,64,1000 --seed 7";

/// The files of both parts, merged.
fn merged(arguments: &str, keep: &str, folder: &Path, ending: &str) -> PathBuf {
    let part = |number: u32| {
        let path = folder.join(format!("{number}.{ending}"));
        corecast(&format!("{arguments} --shard {number}/2 {keep}"), &[&path]);
        path
    };
    let (parts, whole) = ([part(2), part(1)], folder.join(format!("all.{ending}")));
    let text = corecast("merge", &[&parts[0], &parts[1]]);
    std::fs::write(&whole, text).expect("writable");
    whole
}

#[test]
fn a_sweep_in_parts_is_the_sweep_in_every_form() {
    let folder = folder();
    let kept = merged(SWEEP, "--keep", folder.path(), "jsonl");
    let before = read(&kept);
    for form in ["", "--json", "--csv -"] {
        let whole = corecast(&format!("{SWEEP} {form}"), &[]);
        let found = corecast(&format!("{SWEEP} {form} --keep"), &[&kept]);
        assert_eq!(found, whole, "{form}");
    }
    let [one, other] = ["one.svg", "other.svg"].map(|name| folder.path().join(name));
    corecast(&format!("{SWEEP} --plot"), &[&one]);
    let keep = kept.to_str().expect("text");
    corecast(&format!("{SWEEP} --keep {keep} --plot"), &[&other]);
    assert_eq!(read(&one), read(&other));
    assert_eq!(read(&kept), before, "nothing was run");
}

/// Files one after the other are a file, and one that holds some cases is completed.
#[test]
fn an_interrupted_sweep_goes_on() {
    let folder = folder();
    let kept = folder.path().join("kept.jsonl");
    corecast(&format!("{SWEEP} --shard 1/3 --keep"), &[&kept]);
    let some = read(&kept);
    assert_eq!(some.lines().count(), 1 + 2);
    std::fs::write(&kept, some.clone() + &some).expect("writable");
    corecast(&format!("{SWEEP} --keep"), &[&kept]);
    let all = read(&kept);
    assert_eq!(all.lines().count(), 1 + 6);
    assert!(some.lines().all(|line| all.contains(line)));
}

#[test]
fn a_table_in_parts_is_the_table() {
    let folder = folder();
    let search = "tune bcast --chip park2019-bus --ranks 3,4 --bytes 4,64,256";
    let parts = merged(search, "-o", folder.path(), "toml");
    let whole = folder.path().join("whole.toml");
    corecast(&format!("{search} -o"), &[&whole]);
    assert_eq!(read(&parts), read(&whole));
}

/// A list of who is late is what it says, whatever it is called.
#[test]
fn what_was_kept_for_other_delays_is_not_taken() {
    let folder = folder();
    let [late, kept] = ["late.txt", "kept.jsonl"].map(|name| folder.path().join(name));
    let sweep = |delay: &str| {
        std::fs::write(&late, format!("0\n0\n{delay}\n")).expect("writable");
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        command.args("compare bcast --ranks 3 --bytes 8 --algorithm linear --skew".split(' '));
        command.arg(format!("file:{}", late.display()));
        command.arg("--keep").arg(&kept);
        let output = command.output().expect("the binary runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), errors)
    };
    assert_eq!(sweep("5").0, Some(0));
    let before = read(&kept);
    let (code, errors) = sweep("6");
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("it holds for something else: skew is"),
        "{errors}"
    );
    assert_eq!(read(&kept), before);
    assert_eq!(sweep("5").0, Some(0));
}
