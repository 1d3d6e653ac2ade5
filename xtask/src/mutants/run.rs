// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the tests of an area: once without a mutant, to learn which of them meet which mutants and
//! how long they take, and then for every mutant those that meet it, the quickest first.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::build::Program;

/// A test, and what is known of it.
pub struct Test {
    program: PathBuf,
    folder: PathBuf,
    pub name: String,
    pub time: Duration,
    /// Numbers of the mutants that it meets.
    met: HashSet<usize>,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// This test fails.
    Noticed(String),
    /// This test does not end.
    Overrun(String),
    /// So many tests meet it, and none fails.
    Missed(usize),
}

/// A test that takes longer without a mutant is left out: it would have to run for all that it meets,
/// and what is met by sweeps over everything is met by shorter tests as well.
const TEST_SECONDS_MAX: u64 = 60;

/// With a mutant it may take so many times as long as without, but at least so long.
const PATIENCE: u32 = 5;
const PATIENCE_SECONDS_MIN: u64 = 20;

/// Memory that a test may ask for: a mutant may ask for all.
const MEMORY_KIB_MAX: u64 = 8 << 20;

/// All tests of the programs that `wanted` wants, run once; without those that take too long.
///
/// # Errors
/// A test that fails, or a program that does not say which it has.
pub fn learn(
    programs: &[Program],
    scratch: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for program in programs {
        let output = Command::new(&program.path)
            .current_dir(&program.folder)
            .args(["--list", "--format=terse"])
            .output()
            .map_err(|error| format!("{}: {error}", program.path.display()))?;
        let lines = String::from_utf8_lossy(&output.stdout);
        let names = lines.lines().filter_map(|line| line.strip_suffix(": test"));
        tests.extend(names.filter(|name| wanted(name)).map(|name| Test {
            program: program.path.clone(),
            folder: program.folder.clone(),
            name: name.to_owned(),
            time: Duration::ZERO,
            met: HashSet::new(),
        }));
    }
    if tests.is_empty() {
        return Err("no tests".to_owned());
    }
    let learned = in_parallel(tests.len(), |index| {
        let test = &tests[index];
        let notes = scratch.join(format!("met-{index}"));
        // What is not there need not go.
        let _ = fs::remove_file(&notes);
        let start = Instant::now();
        let variable = ("MUTANTS_MET", notes.to_string_lossy().into_owned());
        let limit = Duration::from_secs(TEST_SECONDS_MAX);
        let end = test.run(variable, limit);
        let time = start.elapsed();
        let met = fs::read_to_string(&notes).unwrap_or_default();
        let _ = fs::remove_file(&notes);
        let met: HashSet<usize> = met.lines().filter_map(|line| line.parse().ok()).collect();
        (end, time, met)
    });
    let mut ends = Vec::new();
    for (test, (end, time, met)) in tests.iter_mut().zip(learned) {
        (test.time, test.met) = (time, met);
        ends.push(end?);
    }
    let mut ends = ends.into_iter();
    let mut failed = Vec::new();
    tests.retain(|test| match ends.next() {
        Some(End::Passed) => true,
        Some(End::Overrun) => {
            println!(
                "left out: {} takes more than {TEST_SECONDS_MAX} s",
                test.name
            );
            false
        }
        Some(End::Failed) | None => {
            failed.push(test.name.clone());
            false
        }
    });
    if !failed.is_empty() {
        return Err(format!(
            "without a mutant there fails: {}",
            failed.join(", ")
        ));
    }
    tests.sort_by_key(|test| test.time);
    Ok(tests)
}

/// What becomes of each of these mutants.
///
/// # Errors
/// A program that cannot be started.
pub fn judge(
    tests: &[Test],
    mutants: &[usize],
    note: impl Fn(usize, &Fate) -> Result<(), String> + Sync,
) -> Result<Vec<(usize, Fate)>, String> {
    let fates = in_parallel(mutants.len(), |index| {
        let number = mutants[index];
        let mut meets = 0;
        for test in tests.iter().filter(|test| test.met.contains(&number)) {
            meets += 1;
            let limit = (test.time * PATIENCE).max(Duration::from_secs(PATIENCE_SECONDS_MIN));
            let fate = match test.run(("MUTANT", number.to_string()), limit)? {
                End::Passed => continue,
                End::Failed => Fate::Noticed(test.name.clone()),
                End::Overrun => Fate::Overrun(test.name.clone()),
            };
            note(number, &fate)?;
            return Ok((number, fate));
        }
        note(number, &Fate::Missed(meets))?;
        Ok((number, Fate::Missed(meets)))
    });
    fates.into_iter().collect()
}

enum End {
    Passed,
    Failed,
    Overrun,
}

impl Test {
    /// Runs it alone, in a process of its own.
    fn run(&self, variable: (&str, String), limit: Duration) -> Result<End, String> {
        let error = |error: std::io::Error| format!("{}: {error}", self.program.display());
        let mut child = Command::new("sh")
            .args(["-c", r#"ulimit -c 0 && ulimit -v "$0" && exec "$@""#])
            .arg(MEMORY_KIB_MAX.to_string())
            .arg(&self.program)
            .args(["--exact", &self.name])
            .current_dir(&self.folder)
            .env(variable.0, variable.1)
            // A failure is not worth a look for a smaller one, nor to be kept for later runs.
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
            .env("PROPTEST_RNG_SEED", "1")
            .env("INSTA_UPDATE", "no")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(error)?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().map_err(error)? {
                return Ok(match status.success() {
                    true => End::Passed,
                    false => End::Failed,
                });
            }
            if start.elapsed() > limit {
                child.kill().and_then(|()| child.wait()).map_err(error)?;
                return Ok(End::Overrun);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

/// Does `work` for all numbers below `len`, on all cores.
fn in_parallel<T: Send>(len: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= len {
                        return;
                    }
                    let result = work(index);
                    done.lock().expect("no worker panics").push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
