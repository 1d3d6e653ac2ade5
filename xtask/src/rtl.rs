// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask rtl`: the hardware engine's lint, tests, proofs and areas, `make -C rtl ci`.
//!
//! Python's and make's own tools do the work; here is only what a clean computer needs first. In CI
//! as root, what is missing is installed by `rtl/packages.sh`; elsewhere the message says how.

use std::path::Path;
use std::process::Command;

use crate::is_ci;

/// What `make -C rtl ci` starts with: a command that tells whether it is there, and its name.
const TOOLS: [(&[&str], &str); 7] = [
    (&["make", "--version"], "make"),
    (
        &[
            "python3",
            "-c",
            "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))",
        ],
        "python3 of 3.10 or later with venv",
    ),
    (&["perl", "-MPod::Usage", "-e", "1"], "perl"),
    (&["cc", "--version"], "a C compiler"),
    (&["c++", "--version"], "a C++ compiler"),
    (&["iverilog", "-V"], ICARUS),
    (&["berkeley-abc", "-c", "quit"], ABC),
];

const ICARUS: &str = "iverilog";
const ABC: &str = "berkeley-abc";
/// Those without which most of the steps run; the Makefile says which ones do not.
const OPTIONAL: [&str; 2] = [ICARUS, ABC];

/// Runs all of it.
///
/// # Errors
/// What is missing or went wrong, in one line.
pub fn run(root: &Path) -> Result<(), String> {
    let rtl = root.join("rtl");
    let is_ci = is_ci();
    if is_ci && !missing().is_empty() && is_root() {
        println!("missing: {}; installing", missing().join(", "));
        if !succeeds(Command::new(rtl.join("packages.sh"))) {
            return Err("rtl/packages.sh fails".to_owned());
        }
    }
    let missing = missing();
    if let Some(text) = refusal(&missing, is_ci) {
        return Err(text);
    }
    let mut make = Command::new("make");
    make.arg("-C").arg(rtl).arg("ci").env_remove("MAKEFLAGS");
    if succeeds(make) {
        Ok(())
    } else {
        Err("make -C rtl ci; the logs are in rtl/build/ci".to_owned())
    }
}

/// Why the steps cannot run without these, if they cannot.
fn refusal(missing: &[&str], is_ci: bool) -> Option<String> {
    let is_enough = missing.iter().all(|name| OPTIONAL.contains(name) && !is_ci);
    (!is_enough).then(|| {
        format!(
            "the hardware engine's tests need {}: `rtl/packages.sh` as root installs it",
            missing.join(", ")
        )
    })
}

fn missing() -> Vec<&'static str> {
    let is_missing = |probe: &[&str]| {
        let output = Command::new(probe[0]).args(&probe[1..]).output();
        !output.is_ok_and(|output| output.status.success())
    };
    let absent = TOOLS.iter().filter(|(probe, _)| is_missing(probe));
    absent.map(|(_, name)| *name).collect()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}

fn succeeds(mut command: Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_tools_may_be_missing_and_not_in_ci() {
        assert_eq!(refusal(&[], true), None);
        assert_eq!(refusal(&OPTIONAL, false), None);
        let text =
            "the hardware engine's tests need iverilog: `rtl/packages.sh` as root installs it";
        assert_eq!(refusal(&[ICARUS], true).as_deref(), Some(text));
        let text = refusal(&["make", ICARUS], false);
        assert!(text.is_some_and(|text| text.contains("make, iverilog")));
    }
}
