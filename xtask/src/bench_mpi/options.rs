// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `cargo xtask bench-mpi` can be asked for.

const USAGE: &str = "usage: cargo xtask bench-mpi [--quick] [--only pair,many,late,steps,start,\
one-sided,types,files,neighbours,threads] \
[--libraries corecast,mpich,openmpi,impi] [--repetitions N] [--load N] [--wait-quiet S] \
[--wheels DIR] [-o FILE.csv|FILE.json|FILE.svg]...";

/// The parts of the benchmark.
const PARTS: [&str; 10] = [
    DRAWN,
    "many",
    "late",
    "steps",
    "start",
    "one-sided",
    "types",
    "files",
    "neighbours",
    "threads",
];

/// The part that pictures show.
pub const DRAWN: &str = "pair";

/// What to measure, and how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// Few sizes and repetitions: some ten minutes.
    pub is_quick: bool,
    /// Groups of tests.
    pub only: Vec<String>,
    /// Names of libraries.
    pub libraries: Vec<String>,
    pub repetitions: usize,
    /// Busy processes beside the benchmark.
    pub load: usize,
    /// Seconds to wait at most for an idle machine before each run.
    pub wait_quiet_s: f64,
    /// A folder with wheels, instead of the package index.
    pub wheels: Option<String>,
    /// Files for the figures.
    pub outputs: Vec<String>,
}

impl Options {
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let is_quick = arguments.iter().any(|word| word == "--quick");
        let mut options = Self {
            is_quick,
            only: PARTS.map(str::to_owned).to_vec(),
            libraries: ["corecast", "mpich", "openmpi", "impi"]
                .map(str::to_owned)
                .to_vec(),
            repetitions: if is_quick { 4 } else { 6 },
            load: 0,
            wait_quiet_s: if is_quick { 0.0 } else { 2.0 },
            wheels: None,
            outputs: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--quick" {
                continue;
            }
            let value = words.next().ok_or(USAGE)?;
            let number = || value.parse::<usize>().map_err(|_| USAGE.to_owned());
            match word.as_str() {
                "--only" => options.only = among(&options.only, value)?,
                "--libraries" => options.libraries = among(&options.libraries, value)?,
                "--repetitions" => options.repetitions = number()?.max(1),
                "--load" => options.load = number()?,
                "--wait-quiet" => options.wait_quiet_s = value.parse().map_err(|_| USAGE)?,
                "--wheels" => options.wheels = Some(value.clone()),
                "-o" => options.outputs.push(value.clone()),
                _ => return Err(USAGE.to_owned()),
            }
        }
        let is_picture = |path: &&String| path.ends_with(".svg");
        match options.outputs.iter().find(is_picture) {
            Some(path) if !options.has(DRAWN) => Err(format!(
                "-o {path}: pictures show messages and collectives of two ranks, the part {DRAWN}, which \
                 --only leaves out"
            )),
            _ => Ok(options),
        }
    }

    pub fn has(&self, group: &str) -> bool {
        self.only.iter().any(|name| name == group)
    }
}

/// A list whose members are all known.
fn among(known: &[String], list: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(format!("there is no {name:?} among {}", known.join(", "))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&words)
    }

    #[test]
    fn options_are_read_and_others_refused() {
        let options = read("--quick --only pair,start --load 4 -o x.json").expect("good");
        assert!(options.is_quick && options.has("pair") && !options.has("late"));
        assert_eq!((options.repetitions, options.load), (4, 4));
        assert!(read("--fast").is_err_and(|error| error == USAGE));
        assert!(read("-o").is_err_and(|error| error == USAGE));
        let error = read("--only types -o x.csv -o x.svg").expect_err("nothing to draw");
        assert!(
            error.starts_with("-o x.svg: pictures show messages"),
            "{error}"
        );
        assert!(read("--only types,pair -o x.svg").is_ok());
        let error = read("--only pears").expect_err("no group");
        assert_eq!(
            error,
            "there is no \"pears\" among pair, many, late, steps, start, one-sided, types, files, \
             neighbours, threads"
        );
    }
}
