// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask ci`: everything, in two lanes.
//!
//! The steps that share one folder of Cargo follow one another, and often keep one core busy: while they
//! run, a second lane does the rest. What that one says is printed when it has ended.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::meter::Meter;
use crate::{
    CLIPPY, FORMAT, Part, TEST, apart, fuzz, mpi_debian, mpi_suites, py, root, rtl, site, steps,
    viewer,
};

/// The first lane after formatting, lints and tests. What `cargo doc` says is part of the site. Packages of
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
    let beside = start_beside().map_err(|error| format!("{}: {error}", log().display()))?;
    let first = steps(&[FORMAT, CLIPPY, TEST]).and_then(|()| parts(&AFTER_TESTS));
    if let Err(error) = &first {
        eprintln!("failed: {error}; waiting for the other lane");
    }
    let other = beside.wait_with_output();
    print!("{}", fs::read_to_string(log()).unwrap_or_default());
    println!("== ci: {meter}");
    first?;
    match other.is_ok_and(|output| output.status.success()) {
        true => Ok(()),
        false => Err("the second lane, above".to_owned()),
    }
}

/// The second lane.
///
/// # Errors
/// What failed.
pub fn beside() -> Result<(), String> {
    parts(&BESIDE)
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

/// Starts the second lane, which writes what it says into a file. It is started before Cargo builds
/// anything: then the file of this program is still there.
fn start_beside() -> io::Result<Child> {
    let log = log();
    fs::create_dir_all(log.parent().expect("below target"))?;
    let out = File::create(log)?;
    let err = out.try_clone()?;
    Command::new(std::env::current_exe()?)
        .arg("beside")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()
}

fn log() -> PathBuf {
    root().join("target/ci/beside.log")
}
