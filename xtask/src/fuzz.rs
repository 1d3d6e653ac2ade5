// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask fuzz [SECONDS]`: every fuzz target on the stable compiler, and a canary.
//!
//! Coverage comes from LLVM's sanitizer coverage, which the stable compiler can be asked for; what
//! `cargo fuzz` adds to that (address sanitizer) finds nothing in code without `unsafe`. The MPI library has
//! some: what its targets do is done by its property tests, too, which run under that in `cargo xtask asan`.

use std::path::Path;
use std::process::Command;

/// Targets with their seeds, relative to the repository, and inputs tried in CI.
const TARGETS: [(&str, &[&str], u64); 13] = [
    ("chip_toml", &["chips", "crates/chip/tests/errors"], 30_000),
    ("datatypes", &["fuzz/seeds/datatypes"], 20_000),
    ("documents", &["viewer/tests/documents"], 10_000),
    ("files", &["fuzz/seeds/files"], 1_500),
    (
        "flow_toml",
        &["examples", "crates/flow/tests/errors"],
        30_000,
    ),
    ("jpeg", &["fuzz/seeds/jpeg"], 100_000),
    ("matching", &["fuzz/seeds/matching"], 2_000),
    (
        "program",
        &["crates/replay/tests/samples", "crates/replay/tests/errors"],
        30_000,
    ),
    ("rma", &["fuzz/seeds/rma"], 3_000),
    (
        "schedule",
        &[
            "crates/exchange/tests/samples",
            "crates/exchange/tests/errors",
        ],
        30_000,
    ),
    ("size", &["fuzz/seeds/size"], 300_000),
    (
        "table_toml",
        &["crates/cli/tests/tables", "crates/tune/tests/errors"],
        30_000,
    ),
    ("trace", &["fuzz/seeds/trace"], 300_000),
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
    let target = host()?;
    let is_built = Command::new("cargo")
        // With a target, build scripts are built without the flags.
        .args(["build", "--release", "--quiet", "--target", &target])
        .arg("--manifest-path")
        .arg(fuzz.join("Cargo.toml"))
        .env("RUSTFLAGS", COVERAGE.join(" "))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status();
    if !is_built.is_ok_and(|status| status.success()) {
        return Err("the fuzz targets do not build; they need a C++ compiler (g++)".to_owned());
    }
    let binaries = fuzz.join("target").join(target).join("release");
    let artifacts = fuzz.join("artifacts");
    std::fs::create_dir_all(&artifacts).map_err(|error| error.to_string())?;
    let prefix = format!("-artifact_prefix={}/", artifacts.display());
    for (name, seeds, runs) in TARGETS {
        let corpus = fuzz.join("corpus").join(name);
        std::fs::create_dir_all(&corpus).map_err(|error| error.to_string())?;
        let bound = match seconds {
            Some(seconds) => format!("-max_total_time={seconds}"),
            None => format!("-runs={runs}"),
        };
        let outcome = Command::new(binaries.join(name))
            .args([
                &prefix,
                &bound,
                "-seed=1",
                "-verbosity=0",
                "-print_final_stats=0",
            ])
            .arg(corpus)
            .args(seeds.iter().map(|seed| root.join(seed)))
            .output();
        let output = outcome.map_err(|error| format!("{name}: {error}"))?;
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

/// The triple of this computer.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc does not name its host".to_owned())
}
