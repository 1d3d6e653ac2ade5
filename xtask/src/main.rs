// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole of CI as one command, `cargo xtask ci`; what of it a change of the Rust code needs at every
//! turn, `cargo xtask test`; the house rules, `cargo xtask tidy`, and the line with the licence,
//! `cargo xtask spdx`; the fuzz targets, `cargo xtask fuzz`;
//! the Python package, `cargo xtask py`; what users install, `cargo xtask dist`;
//! the page that shows results, `cargo xtask viewer`, and the documentation, `cargo xtask site`;
//! models of what is lock-free, `cargo xtask loom`; the MPI library's tests under AddressSanitizer,
//! `cargo xtask asan`; the hardware engine, `cargo xtask rtl`; mutants of the code, which are not part of
//! CI, `cargo xtask mutants`; the MPI library for C programs, `cargo xtask mpi-install DIR`, beside
//! others, `cargo xtask bench-mpi`, beside SimGrid's SMPI, `cargo xtask smpi`, below programs that others have built, `cargo xtask mpi-clients`, and
//! below their tests, `cargo xtask mpi-suites`; whether MPI libraries follow the rules that are written
//! for them, `cargo xtask mpi-rules`.

mod bench_mpi;
mod ci;
mod circles;
mod dist;
mod fuzz;
mod mpi;
mod mpi_clients;
mod mpi_rules;
mod mpi_suites;
mod mutants;
mod py;
mod rtl;
mod site;
mod smpi;
mod spdx;
mod tidy;
mod viewer;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const FORMAT: &[&str] = &["fmt", "--all", "--check"];
const CLIPPY: &[&str] = &[
    "clippy",
    "--workspace",
    "--all-targets",
    "--",
    "-D",
    "warnings",
];
const TEST: &[&str] = &["test", "--workspace", "--no-fail-fast"];

/// What `ci` consists of; an error says what failed.
type Part = fn(&Path) -> Result<(), String>;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("ci") => verdict(ci::run()),
        // The second lane of `ci`, which starts it.
        Some("beside") => verdict(ci::beside()),
        Some("test") => verdict(steps(&[FORMAT, TEST])),
        Some("tidy") => tidy(),
        Some("fuzz") => {
            let seconds = std::env::args().nth(2);
            let seconds = seconds.and_then(|text| text.parse().ok());
            verdict(fuzz::run(root(), seconds))
        }
        Some("loom") => verdict(loom(root())),
        Some("asan") => verdict(asan(root())),
        Some("rtl") => verdict(rtl::run(root())),
        Some("site") => verdict(site::run(root())),
        Some("viewer") => verdict(viewer::run(root())),
        Some("py") => verdict(py::run(root())),
        Some("spdx") => verdict(spdx::write(root())),
        Some("dist") => verdict(dist::run(root())),
        Some("mpi-install") => match std::env::args().nth(2) {
            Some(prefix) => verdict(mpi::install(root(), Path::new(&prefix))),
            None => usage(),
        },
        Some("mutants") => {
            let (area, shard) = (std::env::args().nth(2), std::env::args().nth(3));
            verdict(mutants::run(root(), area.as_deref(), shard.as_deref()))
        }
        Some("bench-mpi") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            verdict(bench_mpi::run(root(), &arguments))
        }
        Some("mpi-clients") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            verdict(mpi_clients::run(root(), &arguments))
        }
        Some("smpi") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            verdict(smpi::run(root(), &arguments))
        }
        Some("mpi-rules") => {
            // `--wheels DIR`, as for `bench-mpi`.
            let wheels = std::env::args().nth(3);
            verdict(mpi_rules::run(root(), wheels.as_deref()))
        }
        Some("mpi-suites") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            verdict(mpi_suites::run(root(), &arguments))
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: cargo xtask ci | test | tidy | spdx | fuzz [SECONDS] | rtl | py | viewer | site | dist | mutants [AREA [K/N]] | loom | asan | mpi-install DIR | bench-mpi [OPTIONS] | mpi-clients [--wheels DIR] [--chip CHIP] | smpi [--chip CHIP] [--built DIR] | mpi-rules [--wheels DIR] | mpi-suites [--wheels DIR] [RANKS...] | mpi-suites --source DIR [OPTIONS] [FOLDERS...]"
    );
    ExitCode::from(2)
}

fn tidy() -> ExitCode {
    let findings = tidy::check(root());
    findings.iter().for_each(|finding| eprintln!("{finding}"));
    println!("tidy: {} findings", findings.len());
    if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Tidiness, then these.
fn steps(steps: &[&[&str]]) -> Result<(), String> {
    if tidy() != ExitCode::SUCCESS {
        return Err("cargo xtask tidy".to_owned());
    }
    for step in steps {
        let line = format!("cargo {}", step.join(" "));
        println!("== {line}");
        let start = Instant::now();
        let status = Command::new("cargo").args(*step).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(line);
        }
        println!("== {line}: {} s", start.elapsed().as_secs());
    }
    Ok(())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace")
}

/// Models of what is lock-free: a build of its own, in which atomics are those of `loom`.
fn loom(_: &Path) -> Result<(), String> {
    let arguments = ["test", "--release", "-p", "corecast-shm", "--lib"];
    build_apart("loom", "--cfg=loom", &arguments)
}

/// The tests of the MPI library and of what carries it, with every access to memory checked by
/// AddressSanitizer: a build of its own. The compiler that is there has the sanitizer's library, but
/// lets only nightly ones ask for it; `RUSTC_BOOTSTRAP` is its makers' way round that.
fn asan(_: &Path) -> Result<(), String> {
    let target = match std::env::consts::ARCH {
        "x86_64" => "x86_64-unknown-linux-gnu",
        "aarch64" => "aarch64-unknown-linux-gnu",
        other => {
            println!("asan: skipped, there is none for {other}");
            return Ok(());
        }
    };
    let crates = ["-p", "corecast-shm", "-p", "corecast-mpi", "--tests"];
    let arguments = [&["test", "--quiet", "--target", target], &crates[..]].concat();
    build_apart("asan", "-Zsanitizer=address", &arguments)
}

/// Runs cargo with flags for the compiler, and a folder of its own below `target`.
fn build_apart(folder: &str, flags: &str, arguments: &[&str]) -> Result<(), String> {
    let line = format!("RUSTFLAGS={flags} cargo {}", arguments.join(" "));
    println!("== {line}");
    let status = Command::new("cargo")
        .args(arguments)
        .env("RUSTFLAGS", flags)
        .envs(flags.starts_with("-Z").then_some(("RUSTC_BOOTSTRAP", "1")))
        .env("CARGO_TARGET_DIR", root().join("target").join(folder))
        .status();
    match status.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(line),
    }
}

fn verdict(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}
