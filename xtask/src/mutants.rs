// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mutants [AREA [K/N]]`: a small change in the code must fail a test.
//!
//! `cargo-mutants` makes the changes, one at a time in a copy of the tree, and runs the tests; here is
//! only which files belong together, and the fewest tests that should notice. What is left out, and
//! why, is in `.cargo/mutants.toml`; survivors and their reasons are in `docs/mutants.md`, and one that is
//! not there is a failure. Too long for CI: meant for nights.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that are changed together, and what is run for them.
struct Area {
    name: &'static str,
    files: &'static [&'static str],
    /// Packages whose tests are run.
    packages: &'static [&'static str],
    /// Which of their tests, as arguments of `cargo test`: nothing else is built.
    tests: &'static [&'static str],
    /// Tests that are left out because others notice as much in less time.
    skip: &'static [&'static str],
}

const AREAS: [Area; 9] = [
    Area {
        name: "interpreter",
        files: &["crates/machine/src/interpreter.rs"],
        packages: &["corecast-machine"],
        tests: &["--lib", "--test=interpreter"],
        skip: &[],
    },
    Area {
        name: "worst-case",
        files: &["crates/machine-sim/src/worst_case.rs"],
        packages: &["corecast-machine-sim"],
        tests: &["--test=worst_case_by_hand"],
        skip: &[],
    },
    Area {
        name: "verifier",
        files: &["crates/core/src/verify/**"],
        packages: &["corecast-core"],
        tests: &[
            "--lib",
            "--test=verifier",
            "--test=unread",
            "--test=mutations",
        ],
        skip: &["they_agree_on_schedules", "pattern::", "algorithms::"],
    },
    Area {
        name: "bounds",
        files: &[
            "crates/core/src/bounds.rs",
            "crates/core/src/bounds/**",
            "crates/chip/src/platform.rs",
            "crates/chip/src/kinds/**/bound.rs",
        ],
        packages: &["corecast-core", "corecast-chip"],
        tests: &["--lib", "--test=bounds_by_hand"],
        skip: &[],
    },
    Area {
        name: "mesh",
        files: &["crates/sim/src/network/mesh/**"],
        packages: &["corecast-sim"],
        tests: &[
            "--lib",
            "--test=classes",
            "--test=channels",
            "--test=mesh",
            "--test=packet",
        ],
        skip: &[],
    },
    Area {
        name: "engine",
        files: &["crates/machine-sim/src/mpe/**"],
        packages: &["corecast-machine-sim"],
        tests: &["--lib", "--test=mpe", "--test=timing"],
        skip: &[],
    },
    Area {
        name: "words",
        files: &["crates/machine-sim/src/udn/**"],
        packages: &["corecast-machine-sim"],
        tests: &["--lib", "--test=udn", "--test=causes", "--test=fidelity"],
        skip: &[],
    },
    Area {
        name: "rcce",
        files: &["crates/machine-sim/src/rcce/**", "crates/rcce/src/**"],
        packages: &[
            "corecast-machine-sim",
            "corecast-machine-host",
            "corecast-rcce",
        ],
        tests: &["--lib", "--test=rcce_programs", "--test=rcce_errors"],
        skip: &[],
    },
    Area {
        name: "tiles",
        files: &["crates/machine-sim/src/pronto/**"],
        packages: &["corecast-machine-sim"],
        tests: &[
            "--lib",
            "--test=pronto_buffers",
            "--test=pronto_errors",
            "--test=pronto_latency",
            "--test=pronto_traffic",
        ],
        skip: &[],
    },
];

/// Least share of the mutants that build which tests must notice.
const PERCENT_MIN: usize = 95;

/// Seconds after which a test run has noticed the change by not ending, and a build has failed.
const TEST_SECONDS: &str = "60";
const BUILD_SECONDS: &str = "1800";

/// Runs one area or all of them, or one of `N` even parts of it.
///
/// # Errors
/// What is missing, went wrong or survived, in one line.
pub fn run(root: &Path, area: Option<&str>, shard: Option<&str>) -> Result<(), String> {
    let areas: Vec<&Area> = AREAS
        .iter()
        .filter(|known| area.is_none_or(|name| name == known.name))
        .collect();
    if areas.is_empty() {
        let names: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        return Err(format!("no such area; there are {}", names.join(", ")));
    }
    let version = Command::new("cargo")
        .args(["mutants", "--version"])
        .output();
    if !version.is_ok_and(|output| output.status.success()) {
        return Err("cargo-mutants is missing: cargo install cargo-mutants --locked".to_owned());
    }
    let out = root.join("target/mutants");
    let explained = fs::read_to_string(root.join("docs/mutants.md")).unwrap_or_default();
    let mut summary = format!("{HEAD}\n");
    let mut failures = Vec::new();
    for area in areas {
        let folder = out.join(area.name);
        mutate(root, area, shard, &folder)?;
        let found = Found::read(&folder.join("mutants.out"))?;
        summary += &found.row(area.name);
        failures.extend(found.failures(area.name, &explained));
    }
    print!("{summary}");
    let path = out.join("summary.md");
    fs::write(&path, summary).map_err(|error| format!("{}: {error}", path.display()))?;
    failures.iter().for_each(|failure| println!("{failure}"));
    match failures.len() {
        0 => Ok(()),
        many => Err(format!(
            "{many} findings; the logs are in {}",
            out.display()
        )),
    }
}

const HEAD: &str = "| area | mutants | caught | timeout | missed | unviable | killed |\n\
                    |---|---|---|---|---|---|---|";

/// Crates whose profile optimises them for long property tests. A mutant is built once and tested
/// briefly.
const OPTIMISED: [&str; 5] = [
    "corecast-core",
    "corecast-sim",
    "corecast-machine-sim",
    "corecast-kernels",
    "corecast-flow",
];

/// Lets cargo-mutants work on an area.
fn mutate(root: &Path, area: &Area, shard: Option<&str>, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let quick = OPTIMISED.map(|of| format!("--config=profile.dev.package.{of}.opt-level=1"));
    let cargo_args = area
        .tests
        .iter()
        .copied()
        .chain(quick.iter().map(String::as_str));
    let mut command = Command::new("cargo");
    command
        .current_dir(root)
        .args(["mutants", "--no-times", "--timeout", TEST_SECONDS])
        .args(["--build-timeout", BUILD_SECONDS, "--sharding=round-robin"])
        .arg("--output")
        .arg(folder)
        .args(area.files.iter().map(|file| format!("--file={file}")))
        .args(
            area.packages
                .iter()
                .map(|of| format!("--test-package={of}")),
        )
        .args(cargo_args.map(|arg| format!("--cargo-arg={arg}")))
        .args(shard.map(|shard| format!("--shard={shard}")))
        .args(["--", "--"])
        .args(area.skip.iter().flat_map(|test| ["--skip", test]))
        // Dependencies are built once for all areas, and nobody debugs a mutant.
        .env("CARGO_TARGET_DIR", root.join("target/mutants/build"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    let status = command.status().map_err(|error| error.to_string())?;
    // 2: some were missed; 3: some did not end.
    match status.code() {
        Some(0 | 2 | 3) => Ok(()),
        _ => Err(format!("cargo mutants fails on {}", area.name)),
    }
}

/// What became of the mutants of an area, by name.
struct Found {
    caught: Vec<String>,
    timeout: Vec<String>,
    missed: Vec<String>,
    unviable: Vec<String>,
}

impl Found {
    fn read(folder: &Path) -> Result<Self, String> {
        let list = |name: &str| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path);
            let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(text.lines().map(str::to_owned).collect())
        };
        Ok(Self {
            caught: list("caught.txt")?,
            timeout: list("timeout.txt")?,
            missed: list("missed.txt")?,
            unviable: list("unviable.txt")?,
        })
    }

    /// Mutants that were noticed, and all that build.
    fn killed_of(&self) -> (usize, usize) {
        let killed = self.caught.len() + self.timeout.len();
        (killed, killed + self.missed.len())
    }

    fn row(&self, name: &str) -> String {
        let (killed, all) = self.killed_of();
        let mut row = format!("| {name} |");
        let counts = [
            all + self.unviable.len(),
            self.caught.len(),
            self.timeout.len(),
            self.missed.len(),
            self.unviable.len(),
        ];
        for count in counts {
            // Writing to a `String` cannot fail.
            let _ = write!(row, " {count} |");
        }
        let percent = 100.0 * killed as f64 / all.max(1) as f64;
        let _ = writeln!(row, " {percent:.1} % |");
        row
    }

    fn failures(&self, name: &str, explained: &str) -> Vec<String> {
        let (killed, all) = self.killed_of();
        let mut failures = Vec::new();
        if killed * 100 < all * PERCENT_MIN {
            failures.push(format!(
                "{name}: {killed} of {all} are killed, less than {PERCENT_MIN} %"
            ));
        }
        for missed in &self.missed {
            if !explained.contains(&format!("`{}`", without_place(missed))) {
                failures.push(format!(
                    "{name}: not explained in docs/mutants.md: {missed}"
                ));
            }
        }
        failures
    }
}

/// The name of a mutant without line and column, which move: `FILE:LINE:COLUMN: WHAT` as `FILE: WHAT`.
fn without_place(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    let file = parts.next().unwrap_or_default();
    let what = parts.nth(2).unwrap_or_default();
    format!("{file}:{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSED: &str = "crates/a/src/b.rs:12:7: replace a::b -> u32 with 1";

    fn found(caught: usize, missed: &[&str]) -> Found {
        Found {
            caught: vec![String::new(); caught],
            timeout: Vec::new(),
            missed: missed.iter().map(|&name| name.to_owned()).collect(),
            unviable: vec![String::new()],
        }
    }

    #[test]
    fn survivors_must_be_few_and_explained() {
        let explained = "- `crates/a/src/b.rs: replace a::b -> u32 with 1`: equal";
        assert_eq!(found(19, &[MISSED]).failures("x", explained), [""; 0]);
        assert!(found(19, &[MISSED]).failures("x", "")[0].contains("not explained"));
        assert!(found(18, &[MISSED]).failures("x", explained)[0].contains("18 of 19"));
        assert_eq!(found(0, &[]).failures("x", ""), [""; 0]);
    }

    #[test]
    fn a_row_counts_what_builds() {
        let row = found(19, &[MISSED]).row("x");
        assert_eq!(row, "| x | 21 | 19 | 0 | 1 | 1 | 95.0 % |\n");
    }
}
