// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask speedup`: how many times as fast real programs are on more cores of a simulated chip.
//!
//! The programs are those of `examples/programs`, and Linpack as HPC Challenge has it. All solve the same
//! problem on any number of cores, and say themselves whether the result is right; a run whose result is
//! not is an error. `target/speedup/speedup.csv` has all times, `docs/speedup-CHIP.svg` the curves.
//!
//! Computing has to take time, or there is nothing to share out:
//!
//! * Our own programs count what they compute and state it, so that they take the same time in every run.
//!   What an operation takes on a core of a chip is in [`CORES`].
//! * Linpack cannot state anything. It is run with `--compute measured:FACTOR`, the median of three runs,
//!   where the factor makes one core as fast as if it took what is in [`CORES`] for every operation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench_mpi::{last_line, quietly, venv};
use crate::lines::Lines;
use crate::mpi::installed;
use crate::mpi_apps;
use crate::smpi::LIMITS;

const USAGE: &str =
    "speedup [--chip CHIP] [--prefix DIR] [--sources DIR] [--wheels DIR] [PROGRAMS...]";

/// What a core of a chip takes for an operation, and on how many cores programs run.
struct Core {
    chip: &'static str,
    mhz: f64,
    /// Cycles of an addition or a multiplication of double precision, among others like it.
    flop_cycles: f64,
    /// Cycles of an operation on a word of memory.
    step_cycles: f64,
    ranks: &'static [u32],
}

/// The P54C of the SCC: 3 cycles are the latency of FADD and FMUL, and what ADD to memory takes (Agner
/// Fog, Instruction tables, Pentium); that nothing overlaps, and that all is in the caches, is assumed.
/// The TilePro64 has no floating-point unit: that a routine takes 60 cycles is assumed, as are 3 for a word,
/// of which 2 are a load's latency. Clocks are those of the chip files.
const CORES: [Core; 2] = [
    Core {
        chip: "scc",
        mhz: 533.0,
        flop_cycles: 3.0,
        step_cycles: 3.0,
        ranks: &[1, 2, 4, 8, 16, 32, 48],
    },
    Core {
        chip: "tilepro64",
        mhz: 700.0,
        flop_cycles: 60.0,
        step_cycles: 3.0,
        ranks: &[1, 2, 4, 8, 16, 32, 64],
    },
];

/// Programs: what they are called here, and their first words.
const PROGRAMS: [(&str, &[&str]); 5] = [
    ("ep S", &["ep", "S"]),
    ("is W", &["is", "W"]),
    ("cg S", &["cg", "S"]),
    ("ft S", &["ft", "S"]),
    ("halo 480", &["480", "10"]),
];
const HALO: &str = "halo 480";
const LINPACK: &str = "linpack 1000";
const LINPACK_ORDER: u32 = 1000;
/// Of Linpack, whose computing is measured.
const REPETITIONS: usize = 3;

#[derive(Debug)]
struct Options {
    chip: Option<String>,
    prefix: Option<PathBuf>,
    sources: Option<PathBuf>,
    wheels: Option<String>,
    /// All, if none are named.
    programs: Vec<String>,
}

impl Options {
    fn of(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            chip: None,
            prefix: None,
            sources: None,
            wheels: None,
            programs: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                options.programs.push(word.clone());
                continue;
            }
            let value = words.next();
            let value = value.ok_or_else(|| format!("{word} needs a value; write `{USAGE}`"))?;
            match &**word {
                "--chip" => options.chip = Some(value.clone()),
                "--prefix" => options.prefix = Some(value.into()),
                "--sources" => options.sources = Some(value.into()),
                "--wheels" => options.wheels = Some(value.clone()),
                _ => return Err(format!("there is no option {word}; write `{USAGE}`")),
            }
        }
        if let Some(chip) = &options.chip
            && !CORES.iter().any(|core| core.chip == chip)
        {
            let chips: Vec<&str> = CORES.iter().map(|core| core.chip).collect();
            return Err(format!(
                "there is no core of {chip}, only of {}",
                chips.join(" and ")
            ));
        }
        let names = || programs().filter_map(|name| name.split(' ').next());
        if let Some(other) = options
            .programs
            .iter()
            .find(|name| !names().any(|known| known == *name))
        {
            let names: Vec<&str> = names().collect();
            return Err(format!(
                "there is no program {other}, only {}",
                names.join(", ")
            ));
        }
        Ok(options)
    }

    /// By the first word of a program's name.
    fn wants(&self, program: &str) -> bool {
        let first = program.split(' ').next();
        self.programs.is_empty() || self.programs.iter().any(|name| Some(&**name) == first)
    }
}

/// What they are all called.
fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name).chain([LINPACK])
}

/// Microseconds by program and number of ranks.
type Times = BTreeMap<(String, u32), f64>;

/// Measures and draws.
///
/// # Errors
/// What could not be built, and which run was wrong.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::of(arguments)?;
    let folder = root.join("target/speedup");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let prefix = installed(root, options.prefix.as_deref())?;
    let examples = root.join("examples/programs");
    let nas = folder.join("nas");
    let mut cc = Command::new(prefix.join("bin/mpicc"));
    cc.args(["-O2", "-o"]).arg(&nas);
    quietly(cc.arg(examples.join("nas.c")).arg("-lm"))?;
    let mut csv = "chip,program,ranks,us,speedup\n".to_owned();
    let mut tables = String::new();
    let chosen = CORES.iter().filter(|core| {
        let chip = options.chip.as_deref();
        chip.is_none_or(|chip| chip == core.chip)
    });
    for core in chosen {
        let bench = Bench {
            core,
            folder: &folder,
            corecast: prefix.join("bin/corecast"),
            libraries: prefix.join("lib"),
        };
        let mut times = Times::new();
        for (name, words) in PROGRAMS.iter().filter(|(name, _)| options.wants(name)) {
            let mut program = vec![nas.clone()];
            let mut costs = vec![core.flop_cycles, core.step_cycles];
            if *name == HALO {
                venv(
                    &folder,
                    "python",
                    "mpi4py==4.1.2",
                    options.wheels.as_deref(),
                )?;
                let python = venv(&folder, "python", "numpy==2.2.6", options.wheels.as_deref())?;
                program = vec![python.join("bin/python"), examples.join("halo.py")];
                costs.truncate(1);
            }
            for &ranks in core.ranks {
                let us = bench.own(&program, (words, &costs), ranks)?;
                eprintln!("{}: {name}, {ranks} ranks: {us:.1} us", core.chip);
                times.insert(((*name).to_owned(), ranks), us);
            }
        }
        if options.wants(LINPACK) {
            match mpi_apps::built(root, "hpcc", options.sources.as_deref(), &prefix) {
                Ok(source) => bench.linpack(&source, root, &prefix, &mut times)?,
                Err(error) => println!("missing: {LINPACK}: {error}"),
            }
        }
        let curves = curves(&times);
        for (name, points) in &curves {
            for (ranks, speedup) in points {
                let us = times[&(name.clone(), *ranks)];
                let _ = writeln!(csv, "{},{name},{ranks},{us:.3},{speedup:.4}", core.chip);
            }
        }
        tables += &table(core, &times, &curves);
        // That of the documents has all of them.
        let whole = if curves.len() == programs().count() {
            root.join("docs")
        } else {
            folder.clone()
        };
        let picture = whole.join(format!("speedup-{}.svg", core.chip));
        let drawn = chart(core, &curves).svg(root)?;
        std::fs::write(&picture, drawn).map_err(|error| error.to_string())?;
        println!("{}", picture.display());
    }
    let path = folder.join("speedup.csv");
    std::fs::write(&path, csv).map_err(|error| error.to_string())?;
    println!("{}\n\n{tables}", path.display());
    Ok(())
}

/// What is run on a chip.
struct Bench<'a> {
    core: &'a Core,
    folder: &'a Path,
    corecast: PathBuf,
    libraries: PathBuf,
}

impl Bench<'_> {
    fn picoseconds(&self, cycles: f64) -> String {
        format!("{:.0}", 1e6 * cycles / self.core.mhz)
    }

    /// One of our own programs: its first words, and what its operations take in cycles; microseconds.
    fn own(
        &self,
        program: &[PathBuf],
        (words, costs): (&[&str], &[f64]),
        ranks: u32,
    ) -> Result<f64, String> {
        let mut command = Command::new(&self.corecast);
        command.args(["mpirun", "--quiet", "--chip", self.core.chip, "-n"]);
        command.arg(ranks.to_string()).args(LIMITS);
        command.arg("-x");
        command.arg(format!("LD_LIBRARY_PATH={}", self.libraries.display()));
        command.args(program).args(words);
        command.args(costs.iter().map(|&cycles| self.picoseconds(cycles)));
        command.env("MPI4PY_MPIABI", "mpich");
        // Threads of NumPy's that nobody asks for.
        command.env("OPENBLAS_NUM_THREADS", "1");
        let output = command.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout);
        let us = microseconds(&said).filter(|_| output.status.success());
        us.ok_or_else(|| {
            let what = format!("{} {}, {ranks} ranks", self.core.chip, words.join(" "));
            let said = said.trim();
            format!("{what}: {said} {}", last_line(&output.stderr))
        })
    }

    /// Linpack, with computing that is measured.
    fn linpack(
        &self,
        source: &Path,
        root: &Path,
        prefix: &Path,
        times: &mut Times,
    ) -> Result<(), String> {
        let program = self.folder.join("hpl");
        let build = r#"
            objects=$(find . -path ./hpl/lib/arch/build -prune -o -name '*.o' ! -name hpcc.o -print)
            objects="$objects $(find hpl/lib/arch/build -name '*.o' ! -name hpcc.o)"
            "$MPICC" -O2 -w -Iinclude -Ihpl/include -Ihpl/include/cc -o "$PROGRAM" "$DRIVER" \
                $objects -L hpl/lib/cc -lhpl -lblas -lm
        "#;
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", build]).current_dir(source);
        shell.env("MPICC", prefix.join("bin/mpicc"));
        shell
            .env("CORECAST_MPI_ABI", "mpich")
            .env("PROGRAM", &program);
        shell.env("DRIVER", root.join("xtask/speedup/hpl.c"));
        quietly(&mut shell)?;
        let input = std::fs::read_to_string(source.join("_hpccinf.txt"));
        let input = input.map_err(|error| error.to_string())?;
        // On one core all of the time is computing: with a factor of 1 it is this computer's.
        let order = f64::from(LINPACK_ORDER);
        let operations = 2.0 / 3.0 * order.powi(3) + 1.5 * order.powi(2);
        let here = median(|| self.linpack_us(&program, &input, 1, 1.0))?;
        let factor = operations * self.core.flop_cycles / self.core.mhz / here;
        eprintln!(
            "{}: {LINPACK}: --compute measured:{factor:.2}",
            self.core.chip
        );
        for &ranks in self.core.ranks {
            let us = median(|| self.linpack_us(&program, &input, ranks, factor))?;
            eprintln!("{}: {LINPACK}, {ranks} ranks: {us:.1} us", self.core.chip);
            times.insert((LINPACK.to_owned(), ranks), us);
        }
        Ok(())
    }

    /// One run of it, with a factor for its computing.
    fn linpack_us(
        &self,
        program: &Path,
        input: &str,
        ranks: u32,
        factor: f64,
    ) -> Result<f64, String> {
        let down = (1..=ranks).rfind(|down| ranks.is_multiple_of(*down) && down * down <= ranks);
        let (down, across) = (down.unwrap_or(1), ranks / down.unwrap_or(1));
        let input: String = input
            .lines()
            .map(|line| match line.split_whitespace().last() {
                Some("Ns") => format!("{LINPACK_ORDER} Ns\n"),
                Some("NBs") if !line.contains('#') => "32 NBs\n".to_owned(),
                Some("Ps") => format!("{down} Ps\n"),
                Some("Qs") => format!("{across} Qs\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let unusable = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        std::fs::write(self.folder.join("hpccinf.txt"), input).map_err(unusable)?;
        let output = self.folder.join("hpccoutf.txt");
        let _ = std::fs::remove_file(&output);
        let mut command = Command::new(&self.corecast);
        command.current_dir(self.folder);
        command.args(["mpirun", "--quiet", "--chip", self.core.chip, "-n"]);
        command.arg(ranks.to_string()).args(LIMITS);
        command.args(["--compute", &format!("measured:{factor}")]);
        quietly(command.arg(program))?;
        let said = std::fs::read_to_string(&output).map_err(unusable)?;
        let value = |name: &str| {
            let mut lines = said.lines();
            let text = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            text.and_then(|text| text.trim().parse::<f64>().ok())
        };
        match (said.contains("PASSED"), value("HPL_time")) {
            (true, Some(seconds)) => Ok(1e6 * seconds),
            _ => Err(format!(
                "{LINPACK}, {ranks} ranks: {} has no result that passed",
                output.display()
            )),
        }
    }
}

/// Of three runs.
fn median(mut run: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    let mut all = Vec::new();
    for _ in 0..REPETITIONS {
        all.push(run()?);
    }
    all.sort_by(f64::total_cmp);
    Ok(all[REPETITIONS / 2])
}

/// Of a program whose result is right.
fn microseconds(said: &str) -> Option<f64> {
    let row = said.lines().find_map(|line| line.strip_prefix("row "))?;
    let mut words = row.split_whitespace().rev();
    (words.next() == Some("verified")).then(|| words.next()?.parse().ok())?
}

/// How many times as fast as on one core, by program.
fn curves(times: &Times) -> BTreeMap<String, Vec<(u32, f64)>> {
    let mut curves: BTreeMap<String, Vec<(u32, f64)>> = BTreeMap::new();
    for ((name, ranks), us) in times {
        if let Some(alone) = times.get(&(name.clone(), 1)) {
            let curve = curves.entry(name.clone()).or_default();
            curve.push((*ranks, alone / us));
        }
    }
    curves
}

/// A line for each program, and the ideal.
fn chart(core: &Core, curves: &BTreeMap<String, Vec<(u32, f64)>>) -> Lines {
    let most = core.ranks.last().copied().unwrap_or(1);
    let ideal = core.ranks.iter().map(|&n| (f64::from(n), f64::from(n)));
    let of = |(name, points): (&String, &Vec<(u32, f64)>)| {
        let points = points.iter().map(|&(n, speedup)| (f64::from(n), speedup));
        (name.clone(), points.collect())
    };
    let lasts = curves
        .iter()
        .filter_map(|(name, points)| Some((name, points.last()?.1)));
    let mut lasts: Vec<(&String, f64)> = lasts.collect();
    lasts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let title = match (lasts.first(), lasts.last()) {
        (Some((best, most_times)), Some((worst, least_times))) => format!(
            "{most} cores of {} are {most_times:.1} times as fast as one for {best}, {least_times:.1} times for {worst}",
            core.chip
        ),
        _ => format!("no program has run on {}", core.chip),
    };
    Lines {
        title,
        x_label: "cores, a rank on each".to_owned(),
        y_label: "time on one core / time (times as fast)".to_owned(),
        series: std::iter::once(("ideal".to_owned(), ideal.collect()))
            .chain(curves.iter().map(of))
            .collect(),
    }
}

/// As it is in `docs/virtual.md`.
fn table(core: &Core, times: &Times, curves: &BTreeMap<String, Vec<(u32, f64)>>) -> String {
    let ranks: Vec<String> = core.ranks.iter().skip(1).map(u32::to_string).collect();
    let mut text = format!(
        "| {} | ms on 1 core | {} |\n|---|---|{}\n",
        core.chip,
        ranks.join(" | "),
        "---|".repeat(ranks.len())
    );
    for (name, points) in curves {
        let alone = times[&(name.clone(), 1)];
        let _ = write!(text, "| {name} | {:.1} |", 1e-3 * alone);
        for (_, speedup) in points.iter().skip(1) {
            let _ = write!(text, " {speedup:.1} |");
        }
        text.push('\n');
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_time_with_a_right_result_counts() {
        let row = "row cg S 4 70.5 verified\n";
        assert_eq!(microseconds(&format!("[x] y\n{row}")), Some(70.5));
        assert_eq!(microseconds(&row.replace("verified", "WRONG")), None);
        assert_eq!(microseconds("nothing"), None);
    }

    #[test]
    fn speed_ups_are_over_one_core() {
        let times = [(1, 10.0), (2, 5.0), (4, 4.0)];
        let times = times.map(|(ranks, us)| (("ep S".to_owned(), ranks), us));
        let times = Times::from(times);
        let curves = curves(&times);
        assert_eq!(curves["ep S"], [(1, 1.0), (2, 2.0), (4, 2.5)]);
        assert!(table(&CORES[0], &times, &curves).contains("| ep S | 0.0 | 2.0 | 2.5 |"));
        let title = chart(&CORES[0], &curves).title;
        assert!(
            title.contains("2.5 times as fast as one for ep S"),
            "{title}"
        );
    }

    #[test]
    fn all_that_can_be_asked_for() {
        let of = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            Options::of(&words)
        };
        let options = of("--chip scc ep").expect("right");
        assert!(options.wants("ep S") && !options.wants("is W"));
        assert_eq!(options.chip.as_deref(), Some("scc"));
        for wrong in ["--chip", "--fast 1"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
