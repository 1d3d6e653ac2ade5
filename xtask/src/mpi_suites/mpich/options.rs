// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the runner of MPICH's tests can be asked for.

use std::path::PathBuf;

use crate::mpi::Abi;

/// How to ask, for error messages.
const USAGE: &str = "mpi-suites --source DIR [--abi standard|mpich|both] [--chip CHIP [--ranks-per-core K]] \
                     [--prefix DIR] [--only PROGRAM] [--limit S] [--memory GB] [--xfail] [FOLDERS...]";

/// The folders that run if none are named: those of C in MPICH's own list. `basic` has no testlist.
const FOLDERS: [&str; 17] = [
    "attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "mpi_t", "pt2pt",
    "part", "rma", "session", "spawn", "topo", "io", "errors",
];

/// Also by default, and after the others: what threads do.
const THREADS: &str = "threads";

#[derive(Debug, PartialEq)]
pub struct Options {
    /// A checkout of MPICH, or its folder `test/mpi`.
    pub source: PathBuf,
    pub abis: Vec<Abi>,
    /// The simulated chip to run on in the place of this computer's cores.
    pub chip: Option<String>,
    /// How many ranks share each core there.
    pub ranks_per_core: u32,
    /// Where `cargo xtask mpi-install` has put what to test; built and installed if it is not named.
    pub prefix: Option<PathBuf>,
    /// The one program of the folders to run.
    pub only: Option<String>,
    /// Seconds for a test whose line names none.
    pub limit_s: u32,
    /// Tests that take more memory than this are skipped.
    pub memory_gb: f64,
    /// Whether tests run that MPICH expects to fail.
    pub runs_xfail: bool,
    pub folders: Vec<String>,
}

impl Options {
    pub fn of(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            source: PathBuf::new(),
            abis: vec![Abi::Standard, Abi::Mpich],
            chip: None,
            ranks_per_core: 1,
            prefix: None,
            only: None,
            // Those of MPICH's own runner.
            limit_s: 180,
            memory_gb: 4.0,
            runs_xfail: false,
            folders: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--xfail" {
                options.runs_xfail = true;
                continue;
            }
            if !word.starts_with('-') {
                options.folders.push(word.trim_end_matches('/').to_owned());
                continue;
            }
            let value = || format!("{word} needs a value; write `{USAGE}`");
            let mut value = || words.next().ok_or_else(value);
            match &**word {
                "--source" => options.source = value()?.into(),
                "--chip" => options.chip = Some(value()?.clone()),
                "--ranks-per-core" => options.ranks_per_core = number(word, value()?)?,
                "--prefix" => options.prefix = Some(value()?.into()),
                "--only" => options.only = Some(value()?.clone()),
                "--limit" => options.limit_s = number(word, value()?)?,
                "--memory" => options.memory_gb = number(word, value()?)?,
                "--abi" => {
                    let text = value()?;
                    options.abis = match (&**text, Abi::of(text)) {
                        (_, Some(abi)) => vec![abi],
                        ("both", None) => vec![Abi::Standard, Abi::Mpich],
                        _ => return Err(format!("--abi is standard, mpich or both, not {text:?}")),
                    };
                }
                _ => return Err(format!("there is no option {word}; write `{USAGE}`")),
            }
        }
        if options.ranks_per_core != 1 && options.chip.is_none() {
            return Err(format!("--ranks-per-core wants --chip; write `{USAGE}`"));
        }
        if options.folders.is_empty() {
            let folders = FOLDERS.iter().chain([&THREADS]);
            options.folders = folders.map(|&folder| folder.to_owned()).collect();
        }
        Ok(options)
    }
}

fn number<N: std::str::FromStr>(option: &str, value: &str) -> Result<N, String> {
    let parsed = value.parse();
    parsed.map_err(|_| format!("{option} needs a number, not {value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Result<Options, String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Options::of(&words)
    }

    #[test]
    fn all_that_can_be_asked_for() {
        let options = of(
            "--source m --abi mpich --chip scc --ranks-per-core 2 --prefix p --only red3 --limit 9 --memory 0.5 \
                          --xfail coll/ errors/comm",
        )
        .unwrap();
        let expected = Options {
            source: "m".into(),
            abis: vec![Abi::Mpich],
            chip: Some("scc".to_owned()),
            ranks_per_core: 2,
            prefix: Some("p".into()),
            only: Some("red3".to_owned()),
            limit_s: 9,
            memory_gb: 0.5,
            runs_xfail: true,
            folders: vec!["coll".to_owned(), "errors/comm".to_owned()],
        };
        assert_eq!(options, expected);
        let plain = of("--source m").unwrap();
        assert_eq!(plain.abis, [Abi::Standard, Abi::Mpich]);
        assert_eq!(plain.folders.len(), FOLDERS.len() + 1);
    }

    #[test]
    fn what_cannot_be_asked_for_is_named() {
        let error = |words: &str| of(words).unwrap_err();
        assert_eq!(
            error("--source m --abi openmpi"),
            "--abi is standard, mpich or both, not \"openmpi\""
        );
        assert_eq!(error("--limit x"), "--limit needs a number, not \"x\"");
        assert!(error("--source").starts_with("--source needs a value; write `mpi-suites"));
        assert!(error("--ranks-per-core 2").starts_with("--ranks-per-core wants --chip"));
        assert!(error("--ranks 4").starts_with("there is no option --ranks; write"));
    }
}
