// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs one test and says what came of it, by the rules of MPICH's own runner.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::on_chip;
use super::testlist::{Expected, Test};

/// The code with which `mpirun` ends a job that took too long.
const TOO_LONG: i32 = 124;

/// How long after its limit a job may take to end before `mpirun` itself is killed.
const GRACE: Duration = Duration::from_secs(20);

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// Why: the last line that it says, or what it lacks.
    Failed(String),
    /// Why.
    Skipped(String),
}

/// What starts tests.
#[derive(Debug)]
pub struct Launcher<'a> {
    pub mpirun: &'a Path,
    /// On which simulated chip, if on one.
    pub chip: Option<&'a str>,
    /// How many ranks share each core there.
    pub ranks_per_core: u32,
    /// Seconds for a test whose line names none.
    pub limit_s: u32,
}

/// Runs a test in the folder of its program; what it says is kept in `log`.
///
/// # Errors
/// When it cannot be started, in words.
pub fn run(test: &Test, launcher: &Launcher, built: &Path, log: &Path) -> Result<Verdict, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", log.display());
    let output = File::create(log).map_err(wrong)?;
    let errors = output.try_clone().map_err(wrong)?;
    let limit_s = test.limit_s.unwrap_or(launcher.limit_s);
    let mpirun = launcher.mpirun;
    let mut command = Command::new(mpirun);
    if let Some(chip) = launcher.chip {
        command.args(on_chip(chip));
        command.args(["--ranks-per-core", &launcher.ranks_per_core.to_string()]);
    }
    command.args([
        "--timeout",
        &limit_s.to_string(),
        "-n",
        &test.ranks.to_string(),
    ]);
    command
        .arg(format!("./{}", test.program))
        .args(&test.arguments);
    command.envs(test.environment.iter().cloned());
    // Tests start processes only if there are to be more than there are.
    command.env("CORECAST_UNIVERSE", "64");
    command.current_dir(built.join(&test.folder));
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    let start = Instant::now();
    let spawned = command.spawn();
    let mut child = spawned.map_err(|error| format!("{}: {error}", mpirun.display()))?;
    let latest = Duration::from_secs(limit_s.into()) + GRACE;
    let code = loop {
        if let Some(status) = child.try_wait().map_err(wrong)? {
            break status.code();
        }
        if start.elapsed() > latest {
            child.kill().map_err(wrong)?;
            child.wait().map_err(wrong)?;
            return Ok(Verdict::Failed("mpirun does not end".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let said = fs::read(log).map_err(wrong)?;
    let said = String::from_utf8_lossy(&said);
    Ok(match launcher.chip {
        None => judge(test, code, &said),
        Some(_) => judge_on_chip(test, code, &said),
    })
}

/// As [`judge`], of a run on a simulated chip.
fn judge_on_chip(test: &Test, code: Option<i32>, said: &str) -> Verdict {
    if said.contains("ranks do not fit on") {
        return Verdict::Skipped("more ranks than the chip has cores".to_owned());
    }
    // How long the program took there is said by `mpirun`, not by the test.
    let lines = said.lines().filter(|line| !line.starts_with("note: "));
    judge(test, code, &lines.collect::<Vec<_>>().join("\n"))
}

/// What a run that ended with this code (`None` for a signal) and said this is.
fn judge(test: &Test, code: Option<i32>, said: &str) -> Verdict {
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let is_good = |line: &str| matches!(line, "No Errors" | "No errors");
    let good = lines.iter().filter(|line| is_good(line)).count();
    let mut others = lines
        .iter()
        .filter(|line| !is_good(line) && **line != "Test Skipped");
    let last = others.clone().next_back().map(|line| (*line).to_owned());
    let fail = |what: &str| match &last {
        Some(last) => Verdict::Failed(format!("{what}: {last}")),
        None => Verdict::Failed(what.to_owned()),
    };
    // One test waits to be ended, and its line says when.
    let may_be_late = test.expected == Expected::Status && test.limit_s.is_some();
    if code == Some(TOO_LONG) && !may_be_late {
        return fail("takes too long");
    }
    if test.expected == Expected::Status {
        return match code {
            Some(0) => fail("ends with 0"),
            _ => Verdict::Passed,
        };
    }
    if lines.contains(&"Test Skipped") && code == Some(0) {
        return Verdict::Skipped("the program says that something is missing".to_owned());
    }
    let is_warning = |line: &str| {
        let starts = [
            "MPICH: ",
            "WARNING: ",
            "application called MPI_Abort",
            "Abort",
        ];
        starts.iter().any(|start| line.starts_with(start))
    };
    let may_warn = matches!(
        test.expected,
        Expected::NoErrorsButWarnings | Expected::NoErrorsButStatus
    );
    let says_more = others.any(|line| !(may_warn && is_warning(line))) || good > 1;
    let ends_well = match test.expected {
        Expected::NoErrorsButStatus => code != Some(0),
        _ => code == Some(0),
    };
    match (good > 0, says_more, ends_well) {
        (true, false, true) => Verdict::Passed,
        (true, false, false) => Verdict::Failed(match code {
            Some(code) => format!("ends with {code}"),
            None => "mpirun is killed".to_owned(),
        }),
        (true, true, _) => fail("says more than No Errors"),
        (false, ..) => fail("does not say No Errors"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(expected: Expected, limit_s: Option<u32>) -> Test {
        Test {
            folder: "coll".to_owned(),
            program: "red3".to_owned(),
            ranks: 2,
            arguments: Vec::new(),
            environment: Vec::new(),
            limit_s,
            memory_gb: None,
            expected,
            xfail: None,
            skipped: None,
        }
    }

    fn verdict(expected: Expected, limit_s: Option<u32>, code: i32, said: &str) -> Verdict {
        judge(&test(expected, limit_s), Some(code), said)
    }

    fn failed(why: &str) -> Verdict {
        Verdict::Failed(why.to_owned())
    }

    #[test]
    fn a_test_passes_that_says_no_errors_and_ends_with_0() {
        let of = |code, said| verdict(Expected::NoErrors, None, code, said);
        assert_eq!(of(0, " No Errors\n"), Verdict::Passed);
        assert_eq!(of(1, " No Errors\n"), failed("ends with 1"));
        let more = failed("says more than No Errors: boo");
        assert_eq!(of(0, "boo\n No Errors\n"), more);
        assert_eq!(
            of(0, "No Errors\nNo Errors\n"),
            failed("says more than No Errors")
        );
        assert_eq!(of(0, ""), failed("does not say No Errors"));
        assert_eq!(of(139, "a\nb\n"), failed("does not say No Errors: b"));
        assert_eq!(of(TOO_LONG, "a\n"), failed("takes too long: a"));
        assert!(matches!(of(0, "Test Skipped\n"), Verdict::Skipped(_)));
    }

    #[test]
    fn other_tests_expect_other_ends() {
        let warning = "WARNING: left\n No Errors\n";
        assert_eq!(
            verdict(Expected::NoErrorsButWarnings, None, 0, warning),
            Verdict::Passed
        );
        assert_eq!(
            verdict(Expected::NoErrorsButStatus, None, 1, "No Errors"),
            Verdict::Passed
        );
        assert_eq!(
            verdict(Expected::NoErrorsButStatus, None, 0, "No Errors"),
            failed("ends with 0")
        );
        assert_eq!(
            verdict(Expected::Status, None, 7, "anything"),
            Verdict::Passed
        );
        assert_eq!(
            verdict(Expected::Status, None, 0, "anything"),
            failed("ends with 0: anything")
        );
        assert_eq!(
            verdict(Expected::Status, None, TOO_LONG, ""),
            failed("takes too long")
        );
        assert_eq!(
            verdict(Expected::Status, Some(10), TOO_LONG, ""),
            Verdict::Passed
        );
    }

    #[test]
    fn on_a_chip_notes_are_not_the_tests_and_too_many_ranks_are_skipped() {
        let test = test(Expected::NoErrors, None);
        let said = "No Errors\nnote: 64 ranks on scc: 12 cycles\n";
        assert_eq!(judge_on_chip(&test, Some(0), said), Verdict::Passed);
        let said = "error: -n: 64 ranks do not fit on scc\n  help: use 1 to 48 ranks\n";
        assert_eq!(
            judge_on_chip(&test, Some(2), said),
            Verdict::Skipped("more ranks than the chip has cores".to_owned())
        );
    }
}
