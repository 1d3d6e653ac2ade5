// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask ci`: everything, in two lanes.
//!
//! The steps that share one folder of Cargo follow one another, and often keep one core busy: while they
//! run, a second lane does the rest. What that one says is printed when it has ended.
//!
//! Lints are found by what compiles for the tests: Clippy's driver is the compiler with more to say, so a
//! second look at all code, as `cargo clippy` takes it, would find nothing else.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::meter::Meter;
use crate::{
    FORMAT, Part, TEST, apart, fuzz, mpi_debian, mpi_suites, py, root, rtl, site, steps, viewer,
};

/// What tests do not compile, for its lints: libraries without any, most of which later steps use, and
/// benchmarks.
const REST: &[&str] = &["build", "--workspace", "--lib", "--bench", "*"];

/// What `cargo clippy -- -D warnings` tells Clippy's driver: after each word it expects this mark.
const DENIED: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// The first lane after formatting, tests and lints. What `cargo doc` says is part of the site. Packages of
/// Debian are fetched long after the other lane has installed some, if it does.
const AFTER_TESTS: [(&str, Part); 5] = [
    ("site", site::run),
    ("py", py::run),
    ("mpi-suites --dev 2", |root| {
        mpi_suites::run(root, &["--dev".to_owned(), "2".to_owned()])
    }),
    ("fuzz", |root| fuzz::run(root, None)),
    ("mpi-debian", mpi_debian::run),
];

/// The second lane: what shares no folder of Cargo with the first, so that neither waits for the other, and
/// about as long. Two parts may install Debian's packages, so that they follow one another.
const BESIDE: [(&str, Part); 5] = [
    ("viewer", viewer::run),
    ("rtl", rtl::run),
    ("loom", apart::loom),
    ("tsan", apart::tsan),
    ("asan", apart::asan),
];

/// Runs all of it.
///
/// # Errors
/// What failed.
pub fn run() -> Result<(), String> {
    let meter = Meter::start();
    // Both are started before Cargo builds anything: then the file of this program is still there.
    let mut first = lane("1").map_err(|error| error.to_string())?;
    first
        .env("RUSTC_WORKSPACE_WRAPPER", clippy_driver()?)
        .env("CLIPPY_ARGS", DENIED);
    let second = start_second().map_err(|error| format!("{}: {error}", log().display()))?;
    let first = first.status();
    let has_passed = first.is_ok_and(|status| status.success());
    if !has_passed {
        eprintln!("failed: the first lane, above; waiting for the other one");
    }
    let second = second.wait_with_output();
    print!("{}", fs::read_to_string(log()).unwrap_or_default());
    println!("== ci: {meter}");
    match (
        has_passed,
        second.is_ok_and(|output| output.status.success()),
    ) {
        (true, true) => Ok(()),
        (false, true) => Err("the first lane, above".to_owned()),
        (true, false) => Err("the second lane, above".to_owned()),
        (false, false) => Err("both lanes, above".to_owned()),
    }
}

/// One of the two lanes alone; in the first one lints are found if `ci` has started it.
///
/// # Errors
/// What failed.
pub fn run_lane(arguments: &[String]) -> Result<(), String> {
    match arguments {
        [number] if number == "1" => {
            steps(&[FORMAT, TEST, REST])?;
            parts(&AFTER_TESTS)
        }
        [number] if number == "2" => parts(&BESIDE),
        _ => Err("usage: cargo xtask lane 1|2".to_owned()),
    }
}

/// Parts one after the other, up to the first that fails.
fn parts(parts: &[(&str, Part)]) -> Result<(), String> {
    for (name, run) in parts {
        println!("== cargo xtask {name}");
        let meter = Meter::start();
        run(root())?;
        println!("== {name}: {meter}");
    }
    Ok(())
}

/// A lane, as a program of its own.
fn lane(number: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["lane", number]).stdin(Stdio::null());
    Ok(command)
}

/// Starts the second lane, which writes what it says into a file.
fn start_second() -> io::Result<Child> {
    let log = log();
    fs::create_dir_all(log.parent().expect("below target"))?;
    let out = File::create(log)?;
    let err = out.try_clone()?;
    lane("2")?.stdout(out).stderr(err).spawn()
}

/// The driver that lies beside the compiler in use.
fn clippy_driver() -> Result<PathBuf, String> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let driver = PathBuf::from(sysroot).join("bin/clippy-driver");
    match driver.exists() {
        true => Ok(driver),
        false => Err(format!(
            "{} is missing: rustup component add clippy",
            driver.display()
        )),
    }
}

fn log() -> PathBuf {
    root().join("target/ci/second.log")
}
