//! The whole of CI as one command, `cargo xtask ci`, and the house rules, `cargo xtask tidy`.

mod tidy;

use std::path::Path;
use std::process::{Command, ExitCode};

const STEPS: [&[&str]; 4] = [
    &["fmt", "--all", "--check"],
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ],
    &["test", "--workspace", "--no-fail-fast"],
    &["doc", "--workspace", "--no-deps"],
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("ci") => ci(),
        Some("tidy") => tidy(),
        _ => {
            eprintln!("usage: cargo xtask ci | tidy");
            ExitCode::from(2)
        }
    }
}

fn tidy() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");
    let findings = tidy::check(root);
    findings.iter().for_each(|finding| eprintln!("{finding}"));
    println!("tidy: {} findings", findings.len());
    if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn ci() -> ExitCode {
    if tidy() != ExitCode::SUCCESS {
        return ExitCode::FAILURE;
    }
    for step in STEPS {
        let line = format!("cargo {}", step.join(" "));
        println!("== {line}");
        let status = Command::new("cargo")
            .args(step)
            .env("RUSTDOCFLAGS", "-D warnings")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("failed: {line}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
