// SPDX-License-Identifier: MIT OR Apache-2.0
//! mpi4py's own tests, on our MPI library.
//!
//! With the ABI of MPICH the wheel is used as others have built it; for the standard ABI one is built from the
//! sources by our `mpicc`. The tests come from the sources of the same version. Every failure and every skipped
//! test is printed by its name, the latter by its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::on_chip;
use crate::bench_mpi::venv;
use crate::mpi::{self, Abi};

const USAGE: &str = "mpi-suites [--wheels DIR] [--abi standard|mpich] [--prefix DIR | --dev] [--chip CHIP] [RANKS...]";

const VERSION: &str = "mpi4py==4.1.2";

/// What tests compute with.
const NUMPY: &str = "numpy==2.4.6";

/// Numbers of ranks, if none are asked for.
const RANKS: [u32; 3] = [1, 2, 4];

/// What a run took too long to end after, in seconds.
const LIMIT_S: &str = "3600";

/// Files of tests that do not run on a simulated chip: it starts and meets no other programs, and where one
/// rank asks with `MPI_Iallreduce` and then `MPI_Barrier` what another asks in the opposite order, which the
/// standard forbids (MPI 5.0, 6.12), messages meet that do not belong together.
const NOT_ON_CHIPS: [&str; 3] = ["dynproc", "spawn", "ulfm"];

/// What is asked for: `--wheels DIR` instead of the package index, `--abi ABI` of our libraries, `--prefix DIR`
/// with what `cargo xtask mpi-install` has put there, or `--dev` with what the workspace's tests have built and
/// its debug checks, `--chip CHIP` instead of this computer's cores, and
/// numbers of ranks.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    wheels: Option<String>,
    abi: Abi,
    prefix: Option<PathBuf>,
    is_dev: bool,
    chip: Option<String>,
    ranks: Vec<u32>,
}

impl Plan {
    fn of(arguments: &[String]) -> Result<Self, String> {
        let mut plan = Self {
            wheels: None,
            abi: Abi::Mpich,
            prefix: None,
            is_dev: false,
            chip: None,
            ranks: Vec::new(),
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = || format!("{argument} needs a value; write `{USAGE}`");
            let mut value = || arguments.next().ok_or_else(value);
            match &**argument {
                "--wheels" => plan.wheels = Some(value()?.clone()),
                "--prefix" => plan.prefix = Some(value()?.into()),
                "--dev" => plan.is_dev = true,
                "--chip" => plan.chip = Some(value()?.clone()),
                "--abi" => {
                    let text = value()?;
                    let abi = Abi::of(text);
                    plan.abi =
                        abi.ok_or_else(|| format!("--abi is standard or mpich, not {text:?}"))?;
                }
                text => {
                    let number = text.parse().ok().filter(|&number: &u32| number > 0);
                    let wrong = || format!("{text:?} is no number of ranks; write `{USAGE}`");
                    plan.ranks.push(number.ok_or_else(wrong)?);
                }
            }
        }
        if plan.ranks.is_empty() {
            plan.ranks = RANKS.to_vec();
        }
        Ok(plan)
    }
}

/// Runs the suite at every number of ranks that is asked for.
///
/// # Errors
/// When the suite could not be had, or a test failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let plan = Plan::of(arguments)?;
    let installed = match plan.is_dev {
        true => mpi::install_dev(root)?,
        false => mpi::installed(root, plan.prefix.as_deref())?,
    };
    let folder = root.join("target/bench-mpi");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let prefix = environment(&folder, &installed, &plan)?;
    let sources = sources(&folder, &prefix, plan.wheels.as_deref())?;
    let mut rows = String::new();
    let mut failed = 0;
    for &ranks in &plan.ranks {
        let mut command = Command::new(installed.join("bin/mpirun"));
        command.args(["--tag-output", "--timeout", LIMIT_S]);
        command.args(["-n", &ranks.to_string()]);
        if let Some(chip) = &plan.chip {
            command.args(on_chip(chip));
        }
        command.arg(prefix.join("bin/python"));
        command.args(["test/main.py", "-v"]);
        if plan.chip.is_some() {
            command.args(NOT_ON_CHIPS.iter().flat_map(|file| ["-e", file]));
        }
        if plan.abi == Abi::Mpich {
            command.env("MPI4PY_MPIABI", plan.abi.name());
        }
        let start = Instant::now();
        let output = command.current_dir(&sources).stdin(Stdio::null()).output();
        let output = output.map_err(|error| error.to_string())?;
        let said = [output.stdout, output.stderr].concat();
        let report = Report::of(&String::from_utf8_lossy(&said));
        report.print(ranks);
        failed += report.failed.len() + usize::from(report.tests == 0);
        rows += &report.row(plan.abi, ranks, start.elapsed().as_secs());
    }
    println!(
        "\n| ABI | ranks | tests | pass | fail | skipped | s |\n|---|---|---|---|---|---|---|\n{rows}"
    );
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} tests of the suite fail")),
    }
}

/// The Python environment with mpi4py for the ABI of the plan, made if it is not there.
fn environment(folder: &Path, installed: &Path, plan: &Plan) -> Result<PathBuf, String> {
    let wheels = plan.wheels.as_deref();
    let name = match plan.abi {
        Abi::Mpich => "mpi4py-suite",
        Abi::Standard => "mpi4py-suite-standard",
    };
    let prefix = venv(folder, name, NUMPY, wheels)?;
    if plan.abi == Abi::Mpich {
        return venv(folder, name, VERSION, wheels);
    }
    let built = folder.join("mpi4py-standard");
    if std::fs::read_dir(&built).map_or(0, Iterator::count) == 0 {
        println!("building {VERSION} for the standard ABI");
        let mut pip = Command::new(prefix.join("bin/pip"));
        // What others have built for another library is not taken from pip's cache, nor ours put there.
        pip.args(["wheel", "--quiet", "--no-deps", "--no-cache-dir"]);
        pip.args(["--no-binary", "mpi4py"]);
        if let Some(wheels) = wheels {
            pip.args(["--no-index", "--find-links", wheels]);
        }
        pip.arg("--wheel-dir").arg(&built).arg(VERSION);
        pip.env("MPI4PY_BUILD_MPIABI", "1");
        pip.env("MPICC", installed.join("bin/mpicc"));
        done(pip.env("CORECAST_MPI_ABI", plan.abi.name()))?;
    }
    venv(folder, name, VERSION, built.to_str())
}

/// The folder of the sources, unpacked.
fn sources(folder: &Path, prefix: &Path, wheels: Option<&str>) -> Result<PathBuf, String> {
    let name = VERSION.replace("==", "-");
    let unpacked = folder.join(&name);
    if unpacked.join("test/main.py").exists() {
        return Ok(unpacked);
    }
    let mut pip = Command::new(prefix.join("bin/pip"));
    pip.args(["download", "--quiet", "--no-deps"]);
    // Of all packages this would be what mpi4py is built with, too, which takes ten minutes.
    pip.args(["--no-binary", "mpi4py"]);
    if let Some(wheels) = wheels {
        pip.args(["--no-index", "--find-links", wheels]);
    }
    done(pip.arg("--dest").arg(folder).arg(VERSION))?;
    let archive = folder.join(format!("{name}.tar.gz"));
    done(
        Command::new("tar")
            .arg("xf")
            .arg(&archive)
            .arg("-C")
            .arg(folder),
    )?;
    Ok(unpacked)
}

fn done(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// What came of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    /// As rank 0 counts them.
    tests: usize,
    /// By name, at any rank: `test_io.TestIO.testX`.
    failed: BTreeSet<String>,
    /// Names by reason, at rank 0.
    skipped: BTreeMap<String, BTreeSet<String>>,
}

impl Report {
    fn of(said: &str) -> Self {
        let mut report = Self::default();
        for line in said.lines() {
            let Some((rank, line)) = line.strip_prefix('[').and_then(|it| it.split_once("] "))
            else {
                continue;
            };
            let failure = ["FAIL: ", "ERROR: "]
                .into_iter()
                .find_map(|start| line.strip_prefix(start));
            if let Some(name) = failure.and_then(name_in) {
                report.failed.insert(name.to_owned());
            }
            if rank.trim() != "0" {
                continue;
            }
            if let Some(rest) = line.strip_prefix("Ran ") {
                let number = rest.split(' ').next().and_then(|it| it.parse().ok());
                report.tests = number.unwrap_or(0);
            }
            if let Some((test, reason)) = line.split_once(" ... skipped ")
                && let Some(name) = name_in(test)
            {
                let reason = reason.trim_matches(['\'', '"']).to_owned();
                let names = report.skipped.entry(reason).or_default();
                names.insert(name.to_owned());
            }
        }
        report
    }

    fn skips(&self) -> usize {
        self.skipped.values().map(BTreeSet::len).sum()
    }

    fn row(&self, abi: Abi, ranks: u32, seconds: u64) -> String {
        let (failed, skipped) = (self.failed.len(), self.skips());
        let passed = self.tests.saturating_sub(failed + skipped);
        format!(
            "| {} | {ranks} | {} | {passed} | {failed} | {skipped} | {seconds} |\n",
            abi.name(),
            self.tests
        )
    }

    fn print(&self, ranks: u32) {
        println!("\n{ranks} ranks");
        for name in &self.failed {
            println!("  fails: {name}");
        }
        for (reason, names) in &self.skipped {
            println!("  skipped, {reason}: {}", names.len());
            for name in names {
                println!("    {name}");
            }
        }
    }
}

/// The whole name in `testX (test_io.TestIO.testX)` and what may follow.
fn name_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('(')?;
    let (name, _) = rest.split_once(')')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_can_be_asked_for() {
        let plan = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Plan::of(&words)
        };
        let plain = Plan {
            wheels: None,
            abi: Abi::Mpich,
            prefix: None,
            is_dev: false,
            chip: None,
            ranks: RANKS.to_vec(),
        };
        assert_eq!(plan(&[]), Ok(plain));
        let words = [
            "8", "--wheels", "w", "3", "--chip", "scc", "--abi", "standard", "--prefix", "p",
            "--dev",
        ];
        let all = Plan {
            wheels: Some("w".to_owned()),
            abi: Abi::Standard,
            prefix: Some("p".into()),
            is_dev: true,
            chip: Some("scc".to_owned()),
            ranks: vec![8, 3],
        };
        assert_eq!(plan(&words), Ok(all));
        let error = |words: &[&str]| plan(words).unwrap_err();
        assert!(error(&["--wheels"]).starts_with("--wheels needs a value; write `mpi-suites ["));
        assert!(error(&["0"]).starts_with("\"0\" is no number of ranks; write `mpi-suites ["));
        assert_eq!(
            error(&["--abi", "both"]),
            "--abi is standard or mpich, not \"both\""
        );
    }

    #[test]
    fn a_report_counts_what_rank_0_says_and_failures_of_all() {
        let said = "[0] testA (test_io.TestIO.testA) ... ok\n\
                    [1] testA (test_io.TestIO.testA) ... ok\n\
                    [0] testB (test_io.TestIO.testB) ... skipped 'numba'\n\
                    [1] testB (test_io.TestIO.testB) ... skipped 'numba'\n\
                    [1] FAIL: testC (test_io.TestIO.testC) (count=3)\n\
                    [1] ERROR: testC (test_io.TestIO.testC) (count=4)\n\
                    [0] Ran 3 tests in 0.1s\n\
                    corecast: a line of somebody else\n";
        let report = Report::of(said);
        assert_eq!((report.tests, report.skips()), (3, 1));
        assert_eq!(report.failed.first().unwrap(), "test_io.TestIO.testC");
        let row = report.row(Abi::Standard, 2, 7);
        assert_eq!(row, "| standard | 2 | 3 | 1 | 1 | 1 | 7 |\n");
    }
}
