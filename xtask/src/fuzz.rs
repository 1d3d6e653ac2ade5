// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask fuzz [SECONDS]`: every fuzz target on the stable compiler, and a canary.
//!
//! With seconds, inputs are searched by what they reach: coverage comes from LLVM's sanitizer coverage, which
//! the stable compiler can be asked for. That wants all crates compiled once more. Without, as in CI, targets
//! are linked with the crates that the tests use, and every seed is tried; the canary alone is searched for,
//! which takes no crate of ours.
//!
//! What `cargo fuzz` adds to that (address sanitizer) finds nothing in code without `unsafe`. The MPI library
//! has some: what its targets do is done by its property tests, too, which run under that in
//! `cargo xtask asan`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::COMMAND;

/// Targets with their seeds, relative to the repository.
const TARGETS: [(&str, &[&str]); 13] = [
    ("chip_toml", &["chips", "crates/chip/tests/errors"]),
    ("datatypes", &["fuzz/seeds/datatypes"]),
    ("documents", &["viewer/tests/documents"]),
    ("files", &["fuzz/seeds/files"]),
    ("flow_toml", &["examples", "crates/flow/tests/errors"]),
    ("jpeg", &["fuzz/seeds/jpeg"]),
    ("matching", &["fuzz/seeds/matching"]),
    (
        "program",
        &["crates/replay/tests/samples", "crates/replay/tests/errors"],
    ),
    ("rma", &["fuzz/seeds/rma"]),
    (
        "schedule",
        &[
            "crates/exchange/tests/samples",
            "crates/exchange/tests/errors",
        ],
    ),
    ("size", &["fuzz/seeds/size"]),
    (
        "table_toml",
        &["crates/cli/tests/tables", "crates/tune/tests/errors"],
    ),
    ("trace", &["fuzz/seeds/trace"]),
];

/// Inputs in which the canary must be found; it takes a few thousand.
const CANARY_RUNS: u64 = 5_000_000;

const COVERAGE: [&str; 7] = [
    "--cfg=fuzzing",
    "-Ccodegen-units=1",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Runs all targets, each for `seconds` if given.
///
/// # Errors
/// What went wrong, in one line.
pub fn run(root: &Path, seconds: Option<u64>) -> Result<(), String> {
    let fuzz = root.join("fuzz");
    let binaries = match seconds {
        Some(_) => guided(root),
        None => plain(root),
    }
    .ok_or("the fuzz targets do not build; they need a C++ compiler (g++)")?;
    let artifacts = fuzz.join("artifacts");
    std::fs::create_dir_all(&artifacts).map_err(|error| error.to_string())?;
    let prefix = format!("-artifact_prefix={}/", artifacts.display());
    for (name, seeds) in TARGETS {
        let seeds = seeds.iter().map(|seed| root.join(seed));
        let mut target = Command::new(binaries.join(name));
        target.args([&prefix, "-seed=1", "-verbosity=0", "-print_final_stats=0"]);
        match seconds {
            Some(seconds) => {
                let corpus = fuzz.join("corpus").join(name);
                std::fs::create_dir_all(&corpus).map_err(|error| error.to_string())?;
                target.arg(format!("-max_total_time={seconds}"));
                target.arg(corpus).args(seeds);
            }
            // Files, and no folder: each is an input, and nothing else is.
            None => {
                let inputs: Vec<PathBuf> = seeds.flat_map(files).collect();
                if inputs.is_empty() {
                    return Err(format!("{name} has no seeds"));
                }
                target.args(inputs);
            }
        }
        let output = target
            .output()
            .map_err(|error| format!("{name}: {error}"))?;
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            return Err(format!("{name} fails; the input is in fuzz/artifacts"));
        }
        println!("{name}: no failure");
    }
    let outcome = Command::new(binaries.join("canary"))
        .args([
            &format!("-runs={CANARY_RUNS}"),
            "-seed=1",
            "-max_len=16",
            "-verbosity=0",
        ])
        .current_dir(&artifacts)
        .output();
    let output = outcome.map_err(|error| format!("canary: {error}"))?;
    if output.status.success() {
        return Err("the canary was not found: the fuzzer sees no failures".to_owned());
    }
    println!("canary: found, as it should be");
    Ok(())
}

/// Builds everything for guidance; where the targets are then.
fn guided(root: &Path) -> Option<PathBuf> {
    let (folder, target) = (root.join("target/fuzz"), host()?);
    let is_built = Command::new("cargo")
        // With a target, build scripts are built without the flags.
        .args(["build", "--profile", "fuzz", "--quiet", "--target", &target])
        .args(["-p", "corecast-fuzz", "-p", "corecast-canary"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", COVERAGE.join(" "))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status();
    is_built
        .is_ok_and(|status| status.success())
        .then(|| folder.join(target).join("fuzz"))
}

/// Builds the targets of what the tests are built of, and the canary for guidance; where they are then.
fn plain(root: &Path) -> Option<PathBuf> {
    let mut targets = Command::new("cargo");
    targets.args(["build", "--quiet", "-p", "corecast-fuzz"]);
    targets.args(COMMAND.iter().flat_map(|name| ["-p", name]));
    let mut canary = Command::new("cargo");
    canary.args(["rustc", "--quiet", "-p", "corecast-canary", "--"]);
    canary.args(COVERAGE);
    let mut commands = [targets, canary].into_iter();
    let is_built = commands.all(|mut cargo| {
        let status = cargo.current_dir(root).status();
        status.is_ok_and(|status| status.success())
    });
    is_built.then(|| root.join("target/debug"))
}

/// All files of a folder and of those in it, in order.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let below = |path: PathBuf| match path.is_dir() {
        true => files(path),
        false => vec![path],
    };
    paths.into_iter().flat_map(below).collect()
}

/// The triple of this computer.
fn host() -> Option<String> {
    let output = Command::new("rustc").arg("-vV").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
}
