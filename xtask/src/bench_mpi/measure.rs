// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the benchmark and keeps its figures.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::libraries::{Library, last_line};
use super::options::Options;
use super::plan::{Group, START};

/// A run that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(90);

/// What a figure is about: ranks, test, bytes.
pub type Key = (u32, String, u64);

/// Ranks of figures that no library has a part in.
pub const FLOOR_RANKS: u32 = 0;

/// A file of a page, which the benchmark's ranks map to see how far their cores are.
pub struct Gauge(PathBuf);

impl Gauge {
    /// In memory, if there is such a place, or else in this folder.
    ///
    /// # Errors
    /// Why there can be none.
    pub fn make(folder: &Path) -> Result<Self, String> {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory } else { folder };
        let path = folder.join(format!("corecast-gauge-{}", std::process::id()));
        let write = fs::write(&path, [0; 4096]);
        write.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// All figures: of each key and library one per repetition.
#[derive(Default, Debug)]
pub struct Results {
    /// P50 in microseconds, for tests whose names end with `bw` in MB/s.
    pub figures: BTreeMap<Key, BTreeMap<&'static str, Vec<f64>>>,
    /// P99 in the same unit.
    pub tails: BTreeMap<Key, BTreeMap<&'static str, Vec<f64>>>,
    /// Runs that failed.
    pub failures: Vec<String>,
    /// Share of the machine that was busy before each run.
    pub busy: Vec<f64>,
}

impl Results {
    /// What the machine allows, by ways of moving bytes: `program` measures it, as if it were a library
    /// of this name.
    pub fn measure_floor(&mut self, program: &Path, name: &'static str) {
        match run(&mut Command::new(program)) {
            Ok(text) => self.take(&text, FLOOR_RANKS, name),
            Err((_, error)) => self.failures.push(format!("{name}: {error}")),
        }
    }

    /// The same of one test of a group, as if the program were a library of this name.
    pub fn measure_floor_of(
        &mut self,
        program: &Path,
        name: &'static str,
        group: &Group,
        test: &str,
    ) {
        let mut command = Command::new(program);
        command.args(lengths(group)).arg(test);
        match run(&mut command) {
            Ok(text) => self.take(&text, group.ranks, name),
            Err((_, error)) => self.failures.push(format!("{name}, {test}: {error}")),
        }
    }

    /// One test of a group on one library.
    pub fn measure(
        &mut self,
        library: &Library,
        group: &Group,
        test: &str,
        (options, gauge): (&Options, &Gauge),
    ) {
        self.busy.push(wait_quiet(options.wait_quiet_s));
        let mut command = library.command(group);
        if group.is_pinned {
            command.arg("--gauge").arg(gauge.path());
        } else {
            command.arg("--blocks");
        }
        command.args(lengths(group));
        if test != START {
            command.arg(test);
        }
        let begin = Instant::now();
        match run(&mut command) {
            Ok(text) => {
                if test == START {
                    let took_us = begin.elapsed().as_secs_f64() * 1e6;
                    self.add(
                        (group.ranks, START.to_owned(), 0),
                        library.name,
                        took_us,
                        took_us,
                    );
                }
                self.take(&text, group.ranks, library.name);
            }
            Err((text, error)) => {
                self.take(&text, group.ranks, library.name);
                let failure = format!("{}, {} ranks, {test}: {error}", library.name, group.ranks);
                eprintln!("failed: {failure}");
                self.failures.push(failure);
            }
        }
    }

    /// Reads the rows that the benchmark printed.
    fn take(&mut self, text: &str, ranks: u32, library: &'static str) {
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let ["row", test, bytes, p50, p99, ..] = words[..] else {
                continue;
            };
            if let (Ok(bytes), Ok(p50), Ok(p99)) = (bytes.parse(), p50.parse(), p99.parse()) {
                self.add((ranks, test.to_owned(), bytes), library, p50, p99);
            }
        }
    }

    fn add(&mut self, key: Key, library: &'static str, p50: f64, p99: f64) {
        let tails = self.tails.entry(key.clone()).or_default();
        tails.entry(library).or_default().push(p99);
        let figures = self.figures.entry(key).or_default();
        figures.entry(library).or_default().push(p50);
    }

    /// The median over repetitions.
    pub fn median(&self, key: &Key, library: &str) -> Option<f64> {
        self.figures
            .get(key)?
            .get(library)
            .and_then(|values| median(values))
    }
}

/// What the programs are told of how long, and of how long messages.
fn lengths(group: &Group) -> [String; 4] {
    let sizes: Vec<String> = group.sizes.iter().map(u64::to_string).collect();
    [
        "--seconds".to_owned(),
        group.seconds.to_string(),
        "--sizes".to_owned(),
        sizes.join(","),
    ]
}

/// The value in the middle, of two in the middle their mean.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let above = *sorted.get(sorted.len() / 2)?;
    let below = sorted[(sorted.len() - 1) / 2];
    Some((above + below) / 2.0)
}

/// What a program prints, or what it printed and why it failed.
fn run(command: &mut Command) -> Result<String, (String, String)> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| (String::new(), error.to_string()))?;
    let id = child.id();
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let begin = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if begin.elapsed() > LIMIT => {
                // Every launcher ends its ranks when it is asked to end.
                let _ = Command::new("kill").arg(id.to_string()).status();
                thread::sleep(Duration::from_secs(3));
                let _ = child.kill();
                let _ = child.wait();
                break Err(format!("not done after {} s", LIMIT.as_secs()));
            }
            Ok(None) => thread::sleep(Duration::from_micros(500)),
            Err(error) => break Err(error.to_string()),
        }
    };
    let text = out.join().unwrap_or_default();
    let said = err.join().unwrap_or_default();
    match status {
        Ok(status) if status.success() => Ok(text),
        Ok(status) => {
            let last = last_line(said.as_bytes());
            Err((text, format!("{status} {last}")))
        }
        Err(error) => Err((text, error)),
    }
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error counts.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The machine that the figures are of.
pub struct Machine {
    pub model: String,
    pub cores: u32,
    pub kernel: String,
    pub date: String,
}

impl Machine {
    pub fn find() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let model = model.map_or("unknown", |line| line.trim_start_matches([' ', '\t', ':']));
        let first = |name: &str| {
            fs::read_to_string(name)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
        let date = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        Self {
            model: model.to_owned(),
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            kernel: first("/proc/sys/kernel/osrelease"),
            date: date.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            model,
            cores,
            kernel,
            date,
        } = self;
        write!(f, "Machine: {model}, {cores} cores, Linux {kernel}, {date}")
    }
}

/// Busy processes beside the benchmark, each in a session of its own as other people's are.
pub struct Load(Vec<Child>);

impl Load {
    pub fn start(count: usize) -> Self {
        let start = |_| {
            let mut busy = Command::new("setsid");
            busy.args(["sh", "-c", "while :; do :; done"]).spawn().ok()
        };
        Self((0..count).filter_map(start).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until less than 15 % of the machine is busy, at most so long; how busy it is.
fn wait_quiet(seconds: f64) -> f64 {
    let end = Instant::now() + Duration::from_secs_f64(seconds.max(0.0));
    loop {
        let before = jiffies();
        thread::sleep(Duration::from_millis(if seconds > 0.0 { 200 } else { 30 }));
        let after = jiffies();
        let all = after.1.saturating_sub(before.1).max(1);
        let busy = after.0.saturating_sub(before.0) as f64 / all as f64;
        if busy < 0.15 || Instant::now() >= end {
            return busy;
        }
    }
}

/// Busy time and all time of the machine, in ticks (proc_stat(5)).
fn jiffies() -> (u64, u64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks = line
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse::<u64>().ok());
    let ticks: Vec<u64> = ticks.take(8).collect();
    let all = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    (all - idle.min(all), all)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Figures of one repetition of tests between two ranks, of 8 bytes.
    pub fn results(figures: &[(&str, &'static str, f64)]) -> Results {
        let mut results = Results::default();
        for &(test, library, value) in figures {
            results.add((2, test.to_owned(), 8), library, value, value);
        }
        results
    }

    #[test]
    fn rows_are_read_and_the_median_is_that_of_repetitions() {
        let mut results = Results::default();
        for p50 in ["0.5", "0.7", "0.6"] {
            results.take(&format!("noise\nrow latency 8 {p50} 2.0 0.4 100\n"), 2, "x");
        }
        results.take("row late_bcast_one_others 8 - - - 0\n", 2, "x");
        let key = (2, "latency".to_owned(), 8);
        assert_eq!(results.median(&key, "x"), Some(0.6));
        assert_eq!(results.figures.len(), 1);
        assert_eq!(median(&[1.0, 4.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_program_that_fails_says_why_and_keeps_what_it_printed() {
        let mut sh = Command::new("sh");
        let (text, error) =
            run(sh.args(["-c", "echo row; echo why >&2; exit 3"])).expect_err("it fails");
        assert_eq!(
            (text.as_str(), error.as_str()),
            ("row\n", "exit status: 3 why")
        );
    }
}
