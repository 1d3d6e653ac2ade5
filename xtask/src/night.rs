// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask night [MINUTES] [PART...]`: what CI has no time for.
//!
//! What draws its cases takes others every night: their numbers begin at one that follows from the day.
//! What a part says is written to `target/night/PART.log`; its line in the end belongs into
//! `docs/night.md`.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Minutes for each part that draws cases, where none are given.
const MINUTES: u64 = 60;

/// Numbers of cases between two nights: more than one night gets through.
const CASES_PER_NIGHT: u64 = 10_000_000;

/// One thing to do in a night.
struct Part {
    name: &'static str,
    about: &'static str,
    work: Work,
}

enum Work {
    /// Tests that `CORECAST_CASES` and `CORECAST_SEED` lead through other cases, so many at a time.
    Random {
        cases: u64,
        tests: &'static [&'static str],
    },
    /// A command, and a variable that it reads.
    Once {
        command: &'static [&'static str],
        variable: Option<(&'static str, &'static str)>,
    },
}

const PARTS: [Part; 10] = [
    Part {
        name: "chips",
        about: "random chips with random requests and surroundings",
        work: Work::Random {
            cases: 50_000,
            tests: &[
                "-p",
                "corecast-machine-sim",
                "--test",
                "all",
                "random_chips",
            ],
        },
    },
    Part {
        name: "bounds",
        about: "bounds of chips with random values",
        work: Work::Random {
            cases: 2000,
            tests: &["-p", "corecast-machine-sim", "--test", "all", "bounds"],
        },
    },
    Part {
        name: "calls",
        about: "functions of MPI with random arguments, 100,000 calls a case",
        work: Work::Random {
            cases: 20,
            tests: &[
                "-p",
                "corecast-mpi-abi",
                "-p",
                "corecast-mpi-mpich",
                "random_arguments",
            ],
        },
    },
    Part {
        name: "exhaustive",
        about: "every mesh up to 16 x 16, every number of ranks by packets and by flits",
        work: Work::Once {
            command: &[
                "cargo",
                "test",
                "-p",
                "corecast-core",
                "-p",
                "corecast-machine-sim",
                "--test",
                "all",
                "--",
                "--ignored",
                "every_mesh",
                "the_difference",
            ],
            variable: None,
        },
    },
    Part {
        name: "starts",
        about: "a thousand starts of jobs",
        work: Work::Once {
            command: &[
                "cargo",
                "test",
                "--release",
                "-p",
                "corecast",
                "--test",
                "all",
                "--",
                "mpirun",
                "mpi_programs",
            ],
            variable: Some(("CORECAST_STARTS", "1000")),
        },
    },
    Part {
        name: "dist",
        about: "what users install, installed and used",
        work: Work::Once {
            command: &["cargo", "xtask", "dist", "try"],
            variable: None,
        },
    },
    Part {
        name: "rules",
        about: "rules for Open MPI and MPICH, followed by both",
        work: Work::Once {
            command: &["cargo", "xtask", "mpi-rules"],
            variable: None,
        },
    },
    Part {
        name: "fuzz",
        about: "every fuzz target, five minutes each",
        work: Work::Once {
            command: &["cargo", "xtask", "fuzz", "300"],
            variable: None,
        },
    },
    Part {
        name: "hardware",
        about: "the hardware engine: all proofs, mutants, programs and areas",
        work: Work::Once {
            command: &["make", "-C", "rtl", "--keep-going", "nightly"],
            variable: None,
        },
    },
    Part {
        name: "mutants",
        about: "mutants of all areas",
        work: Work::Once {
            command: &["cargo", "xtask", "mutants"],
            variable: None,
        },
    },
];

/// Runs the parts that are named, or all.
///
/// # Errors
/// What cannot be understood, or which parts have failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let (minutes, parts) = choose(arguments)?;
    let logs = root.join("target/night");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let (mut lines, mut failed) = (String::new(), Vec::new());
    for part in parts {
        println!("== {}: {}", part.name, part.about);
        let start = Instant::now();
        let path = logs.join(part.name).with_extension("log");
        let outcome = File::create(&path)
            .map_err(|error| format!("{}: {error}", path.display()))
            .and_then(|log| part.work.run(root, &log, Duration::from_secs(60 * minutes)));
        let verdict = match &outcome {
            Ok(what) => format!("{what}all right"),
            Err(error) => format!("**{error}**"),
        };
        let minutes = start.elapsed().as_secs().div_ceil(60);
        let line = format!("| {} | {verdict} | {minutes} |\n", part.about);
        print!("{line}");
        lines += &line;
        if outcome.is_err() {
            failed.push(path.display().to_string());
        }
    }
    println!("\n| part | | minutes |\n|---|---|---|\n{lines}");
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join(", ")),
    }
}

/// How many minutes, and which parts.
fn choose(arguments: &[String]) -> Result<(u64, Vec<&'static Part>), String> {
    let (mut minutes, mut parts) = (MINUTES, Vec::new());
    for argument in arguments {
        if let Some(part) = PARTS.iter().find(|part| part.name == argument) {
            parts.push(part);
        } else if let Ok(number) = argument.parse() {
            minutes = number;
        } else {
            let names = PARTS.map(|part| part.name).join(", ");
            return Err(format!("{argument}: neither minutes nor a part ({names})"));
        }
    }
    if parts.is_empty() {
        parts.extend(&PARTS);
    }
    Ok((minutes, parts))
}

impl Work {
    /// Does it, and says what was drawn.
    fn run(&self, root: &Path, log: &File, time: Duration) -> Result<String, String> {
        match self {
            Self::Random { cases, tests } => {
                let (first, start) = (first_case(), Instant::now());
                let mut next = first;
                loop {
                    let mut cargo = Command::new("cargo");
                    cargo
                        .arg("test")
                        .args(*tests)
                        .env("CORECAST_CASES", cases.to_string())
                        .env("CORECAST_SEED", next.to_string());
                    succeeds(root, log, &mut cargo)
                        .map_err(|error| format!("{error}, of cases {next} and on"))?;
                    next += cases;
                    if start.elapsed() >= time {
                        return Ok(format!("{} cases from {first} on, ", next - first));
                    }
                }
            }
            Self::Once { command, variable } => {
                let mut program = Command::new(command[0]);
                program.args(&command[1..]).envs(*variable);
                succeeds(root, log, &mut program).map(|()| String::new())
            }
        }
    }
}

/// Runs a command that writes into a log.
fn succeeds(root: &Path, log: &File, command: &mut Command) -> Result<(), String> {
    let outputs = log.try_clone().and_then(|out| Ok((out, log.try_clone()?)));
    let (out, err) = outputs.map_err(|error| error.to_string())?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    let status = command.current_dir(root).env_remove("MAKEFLAGS").status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("fails with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The number of tonight's first case.
fn first_case() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = now.map_or(0, |since| since.as_secs() / (24 * 60 * 60));
    days * CASES_PER_NIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_minutes_are_chosen() {
        let choose = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let (minutes, parts) = choose(&words)?;
            Ok((minutes, parts.iter().map(|part| part.name).collect()))
        };
        assert_eq!(choose("5 fuzz chips"), Ok((5, vec!["fuzz", "chips"])));
        let (minutes, parts): (u64, Vec<&str>) = choose("").expect("all of them");
        assert_eq!((minutes, parts.len()), (MINUTES, PARTS.len()));
        let error: Result<(u64, Vec<&str>), String> = choose("chip");
        let error = error.expect_err("no such part");
        assert!(
            error.starts_with("chip: neither minutes nor a part (chips, "),
            "{error}"
        );
    }
}
