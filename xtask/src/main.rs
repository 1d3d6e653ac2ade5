//! The whole of CI as one command: `cargo xtask ci`.

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
