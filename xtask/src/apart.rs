// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds with other flags, with a folder of their own below `target`: models of what is lock-free, and
//! sanitizers. With a target named, what the build itself runs is built without the flags, once for all.
//!
//! The compiler that is there has the sanitizers' libraries, but lets only nightly ones ask for them;
//! `RUSTC_BOOTSTRAP` is its makers' way round that. Its standard library is not built with them.

use std::path::Path;
use std::process::Command;

/// Models of what is lock-free, in which atomics are those of `loom`.
///
/// # Errors
/// The command that failed.
pub fn loom(root: &Path) -> Result<(), String> {
    let Some(target) = target("loom") else {
        return Ok(());
    };
    // Nearly all is compiled for a moment's work, and two builds would share nothing if one were optimised.
    let models = [
        "--target",
        target,
        "--config=profile.dev.opt-level=0",
        "--config=profile.dev.debug=0",
        "-p",
        "corecast-shm",
        "-p",
        "corecast-mpi",
        "--lib",
        "models",
    ];
    test(root, "--cfg=loom", &models)
}

/// The tests of the MPI library and of what carries it, with every access to memory checked by
/// AddressSanitizer.
///
/// # Errors
/// The command that failed.
pub fn asan(root: &Path) -> Result<(), String> {
    let packages = ["-p", "corecast-shm", "-p", "corecast-mpi"];
    // Others' crates do little in these tests: less than it takes to optimise them. Not so below
    // ThreadSanitizer, which knows what to overlook by names that stand in optimised code alone.
    let plain = [
        "--config=profile.dev.package.\"*\".opt-level=0",
        "--config=profile.dev.package.\"*\".debug=0",
    ];
    let arguments = [&packages[..], &plain].concat();
    sanitized(root, "asan", "-Zsanitizer=address", &arguments, &[])
}

/// The tests of the shared segment, and of schedules on it, with ThreadSanitizer: ranks are threads that
/// share one mapping, so that it sees which of their accesses nothing orders.
///
/// # Errors
/// The command that failed.
pub fn tsan(root: &Path) -> Result<(), String> {
    let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
    let packages = ["-p", "corecast-shm", "-p", "corecast-machine-shm"];
    // Of tests beside each other the harness itself would be reported.
    sanitized(root, "tsan", flags, &packages, &["--", "--test-threads=1"])
}

fn sanitized(
    root: &Path,
    name: &str,
    flags: &str,
    packages: &[&str],
    more: &[&str],
) -> Result<(), String> {
    let Some(target) = target(name) else {
        return Ok(());
    };
    let tests = ["--quiet", "--no-fail-fast", "--target", target, "--tests"];
    let arguments = [&tests[..], packages, more].concat();
    test(root, flags, &arguments)
}

/// The triple of this computer, if the compiler has sanitizers for it; of `name` it says that it is skipped
/// if not.
fn target(name: &str) -> Option<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Some("x86_64-unknown-linux-gnu"),
        "aarch64" => Some("aarch64-unknown-linux-gnu"),
        other => {
            println!("{name}: skipped, there is none for {other}");
            None
        }
    }
}

/// Runs `cargo test` with flags for the compiler.
fn test(root: &Path, flags: &str, arguments: &[&str]) -> Result<(), String> {
    let line = format!("RUSTFLAGS=\"{flags}\" cargo test {}", arguments.join(" "));
    println!("== {line}");
    let known = root.join("xtask/tsan.supp");
    let status = Command::new("cargo")
        .arg("test")
        .args(arguments)
        .env("RUSTFLAGS", flags)
        .envs(flags.starts_with("-Z").then_some(("RUSTC_BOOTSTRAP", "1")))
        .env("TSAN_OPTIONS", format!("suppressions={}", known.display()))
        .env("CARGO_TARGET_DIR", root.join("target/apart"))
        .status();
    match status.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(line),
    }
}
