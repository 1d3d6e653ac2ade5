// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done with the code beside building it: `cargo xtask` alone prints [`COMMANDS`].

mod apart;
mod bench_mpi;
mod ci;
mod circles;
mod coll;
mod dist;
mod fuzz;
mod lines;
mod meter;
mod mpi;
mod mpi_apps;
mod mpi_clients;
mod mpi_debian;
mod mpi_rules;
mod mpi_suites;
mod mutants;
mod night;
mod notices;
mod py;
mod rtl;
mod site;
mod smpi;
mod spdx;
mod speedup;
mod tidy;
mod trial;
mod viewer;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use meter::Meter;

const FORMAT: &[&str] = &["fmt", "--all", "--check"];
const TEST: &[&str] = &["test", "--workspace", "--no-fail-fast"];

/// What [`command`] builds.
const COMMAND: [&str; 3] = ["corecast", "corecast-mpi-mpich", "corecast-py"];

/// What `ci` consists of; an error says what failed.
type Part = fn(&Path) -> Result<(), String>;

/// A command: how it is written, what it does, and what does it.
struct Task {
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const fn task(
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), String>,
) -> Task {
    Task { usage, about, run }
}

/// All commands, by the word that each begins with.
const COMMANDS: &[Task] = &[
    task("ci", "everything that has to pass", |_| ci::run()),
    task(
        "lane 1|2",
        "one half of `ci`, which runs beside the other",
        ci::run_lane,
    ),
    task("test", "what every change of Rust code has to pass", |_| {
        steps(&[FORMAT, TEST])
    }),
    task("tidy", "the house rules", |_| tidy()),
    task("spdx", "writes the line with the licence", |_| {
        spdx::write(root())
    }),
    task("fuzz [SECONDS]", "every fuzz target", |arguments| {
        let seconds = arguments.first().map(|text| text.parse());
        let seconds = seconds.transpose();
        let seconds = seconds.map_err(|error| format!("fuzz: seconds: {error}"))?;
        fuzz::run(root(), seconds)
    }),
    task("loom", "models of what is lock-free", |_| {
        apart::loom(root())
    }),
    task("asan", "the MPI library below AddressSanitizer", |_| {
        apart::asan(root())
    }),
    task("tsan", "the shared segment below ThreadSanitizer", |_| {
        apart::tsan(root())
    }),
    task(
        "rtl",
        "the hardware engine: simulation, proofs, synthesis",
        |_| rtl::run(root()),
    ),
    task("viewer", "the page that shows results", |_| {
        viewer::run(root())
    }),
    task(
        "site",
        "the documentation, its commands run and compared",
        |_| site::run(root()),
    ),
    task("py", "the Python package", |_| py::run(root())),
    task(
        "dist [try]",
        "what users install, in target/dist; installs and uses it",
        |arguments| match arguments {
            [] => dist::run(root()),
            [word] if word == "try" => trial::run(root()),
            _ => Err("dist: nothing, or `try`".to_owned()),
        },
    ),
    task(
        "notices FILE",
        "the licences of others' works that users get along with it",
        |arguments| match arguments {
            [file] => notices::write(root(), Path::new(file)),
            _ => Err("notices: name a file to be written".to_owned()),
        },
    ),
    task(
        "mutants [AREA] [K/N] [missed] [tests=TEXT]",
        "mutants of the code, not in `ci`",
        |arguments| mutants::run(root(), &mutants::Choice::read(arguments)?),
    ),
    task(
        "night [MINUTES] [PARTS...]",
        "what takes longer than `ci` may; so many minutes for what draws its cases",
        |arguments| night::run(root(), arguments),
    ),
    task(
        "mpi-install DIR",
        "the MPI library, for C programs",
        |arguments| match arguments {
            [prefix] => mpi::install(root(), Path::new(prefix), &mpi::Build::RELEASE),
            _ => Err("a folder is wanted: cargo xtask mpi-install DIR".to_owned()),
        },
    ),
    task(
        "bench-mpi [OPTIONS]",
        "beside other MPI libraries, measured",
        |arguments| bench_mpi::run(root(), arguments),
    ),
    task(
        "smpi [nas] [--chip CHIP] [--built DIR]",
        "beside SimGrid's SMPI, the same programs",
        |arguments| smpi::run(root(), arguments),
    ),
    task(
        "speedup [--chip CHIP] [--prefix DIR] [--sources DIR] [--wheels DIR] [PROGRAMS...]",
        "real programs on more and more cores of simulated chips",
        |arguments| speedup::run(root(), arguments),
    ),
    task(
        "mpi-clients [--wheels DIR] [--chip CHIP]",
        "below programs that others have built",
        |arguments| mpi_clients::run(root(), arguments),
    ),
    task(
        "mpi-suites [--wheels DIR] [--abi ABI] [--prefix DIR | --dev] [--chip CHIP] [RANKS...] | --source DIR [OPTIONS] [FOLDERS...]",
        "below the tests of others",
        |arguments| mpi_suites::run(root(), arguments),
    ),
    task(
        "mpi-apps [OPTIONS] [NAMES...]",
        "applications of others, as wheels or compiled with our mpicc, with their own checks",
        |arguments| mpi_apps::run(root(), arguments),
    ),
    task(
        "mpi-debian",
        "below programs of Debian, as they are, with their own checks",
        |_| mpi_debian::run(root()),
    ),
    task(
        "coll [--times] [--wheels DIR]",
        "our collectives below programs of other MPI libraries",
        |arguments| coll::run(root(), arguments),
    ),
    task(
        "mpi-rules [--wheels DIR]",
        "whether MPI libraries follow the rules written for them",
        |arguments| match arguments {
            [] => mpi_rules::run(root(), None),
            [option, wheels] if option == "--wheels" => mpi_rules::run(root(), Some(wheels)),
            _ => Err("usage: cargo xtask mpi-rules [--wheels DIR]".to_owned()),
        },
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let found = arguments.first().and_then(|name| {
        COMMANDS
            .iter()
            .find(|task| task.usage.split(' ').next() == Some(name))
    });
    let is_asked = |argument: &String| argument == "--help" || argument == "-h";
    match found {
        Some(task) if arguments.iter().any(is_asked) => {
            println!("cargo xtask {}\n    {}", task.usage, task.about);
            ExitCode::SUCCESS
        }
        Some(task) => verdict((task.run)(&arguments[1..])),
        None => {
            for task in COMMANDS {
                eprintln!("cargo xtask {}\n    {}", task.usage, task.about);
            }
            ExitCode::from(2)
        }
    }
}

/// Whether what is missing is an error.
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

fn tidy() -> Result<(), String> {
    let findings = tidy::check(root());
    findings.iter().for_each(|finding| eprintln!("{finding}"));
    println!("tidy: {} findings", findings.len());
    match findings.is_empty() {
        true => Ok(()),
        false => Err("cargo xtask tidy".to_owned()),
    }
}

/// Tidiness, then these.
fn steps(steps: &[&[&str]]) -> Result<(), String> {
    tidy()?;
    for step in steps {
        let line = format!("cargo {}", step.join(" "));
        println!("== {line}");
        let meter = Meter::start();
        let status = Command::new("cargo").args(*step).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(line);
        }
        println!("== {line}: {meter}");
    }
    Ok(())
}

/// The command, with the MPI library that it starts programs on beside it.
///
/// The Python package is built, too, though only one part of `ci` needs it: these packages together ask
/// of the crates below what the tests of the workspace ask of them, so that nothing is built again.
fn command(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["build", "--quiet"]);
    for package in COMMAND {
        cargo.args(["-p", package]);
    }
    match cargo.status().is_ok_and(|status| status.success()) {
        true => Ok(root.join("target/debug/corecast")),
        false => Err(format!("cargo build of {}", COMMAND.join(", "))),
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Which features each package is built with, for these arguments of cargo.
    fn features(edges: &str, packages: &[&str]) -> Vec<String> {
        let output = Command::new("cargo")
            .current_dir(root())
            .args(["tree", "--offline", "--prefix", "none", "-f", "{p} {f}"])
            .args(["-e", edges, "--no-dedupe"])
            .args(packages)
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    #[test]
    fn the_command_is_built_of_what_the_tests_are_built_of() {
        let tests = features("normal,build,dev", &["--workspace"]);
        let packages: Vec<&str> = COMMAND.iter().flat_map(|name| ["-p", name]).collect();
        let other: Vec<String> = features("normal,build", &packages)
            .into_iter()
            .filter(|line| !tests.contains(line))
            .collect();
        assert!(other.is_empty(), "built twice in `ci`: {other:#?}");
    }
}
