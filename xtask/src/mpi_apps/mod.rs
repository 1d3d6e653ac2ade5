// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mpi-apps`: applications and libraries of others, as wheels or compiled with our `mpicc`, with
//! their own checks, on this computer's cores or on a simulated chip.
//!
//! What is built and run is in `xtask/mpi-apps`, a file for each.

mod recipe;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::mpi::{Abi, installed, whole};
use crate::mpi_suites::on_chip;
use recipe::{Check, Origin, Recipe};

const USAGE: &str = "mpi-apps [--sources DIR] [--chip CHIP] [--abi standard|mpich] [--prefix DIR] \
                     [--limit S] [NAMES...]";

#[derive(Debug, PartialEq, Eq)]
struct Options {
    /// A folder of checkouts and archives.
    sources: Option<PathBuf>,
    chip: Option<String>,
    abi: Abi,
    /// Where `cargo xtask mpi-install` has put what to test; built and installed if it is not named.
    prefix: Option<PathBuf>,
    /// Seconds after which a run is ended.
    limit_s: u32,
    /// All, if none are named.
    names: Vec<String>,
}

impl Options {
    fn of(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            sources: None,
            chip: None,
            abi: Abi::Standard,
            prefix: None,
            limit_s: 600,
            names: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                options.names.push(word.clone());
                continue;
            }
            let needs = || format!("{word} needs a value; write `{USAGE}`");
            let mut value = || words.next().ok_or_else(needs);
            match &**word {
                "--sources" => options.sources = Some(value()?.into()),
                "--chip" => options.chip = Some(value()?.clone()),
                "--prefix" => options.prefix = Some(value()?.into()),
                "--limit" => {
                    let text = value()?;
                    let number = text.parse().ok().filter(|&number: &u32| number > 0);
                    options.limit_s =
                        number.ok_or_else(|| format!("--limit needs seconds, not {text:?}"))?;
                }
                "--abi" => {
                    let text = value()?;
                    options.abi = Abi::of(text)
                        .ok_or_else(|| format!("--abi is standard or mpich, not {text:?}"))?;
                }
                _ => return Err(format!("there is no option {word}; write `{USAGE}`")),
            }
        }
        Ok(options)
    }
}

/// Builds and runs what the arguments ask for.
///
/// # Errors
/// When something could not be had or built, or a check failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::of(arguments)?;
    let folder_of_recipes = recipes_of(root);
    let mut recipes = Recipe::load(&folder_of_recipes)?;
    let known: Vec<&str> = recipes.iter().map(|recipe| &*recipe.name).collect();
    let unknown = options.names.iter().find(|name| !known.contains(&&***name));
    if let Some(name) = unknown {
        return Err(format!("there is no {name:?}, only {}", known.join(", ")));
    }
    recipes.retain(|recipe| options.names.is_empty() || options.names.contains(&recipe.name));
    let prefix = installed(root, options.prefix.as_deref())?;
    let given = options.sources.as_deref().map(whole).transpose()?;
    let (mut rows, mut failed) = (String::new(), 0);
    for recipe in &recipes {
        println!("{}: {}", recipe.name, recipe.about);
        let abi = recipe.abi.unwrap_or(options.abi);
        let applications = root.join("target/mpi-apps");
        let folder = applications.join(&recipe.name).join(abi.name());
        let here = Application {
            recipe,
            options: &options,
            recipes: &folder_of_recipes,
            prefix: &prefix,
            abi,
            folder: &folder,
        };
        let start = Instant::now();
        let (version, outcome) = match here.all(given.as_deref()) {
            Ok(ran) => ran,
            Err(error) => {
                eprintln!("{}: {error}", recipe.name);
                failed += 1;
                continue;
            }
        };
        failed += outcome.failed;
        rows += &format!(
            "| {} {version} | {} | {} | {} | {} | {} |\n",
            recipe.name,
            abi.name(),
            outcome.passed.join(", "),
            outcome.failed,
            outcome.skipped,
            start.elapsed().as_secs()
        );
    }
    println!(
        "\n| | ABI | pass, with ranks | fail | skipped | s |\n|---|---|---|---|---|---|\n{rows}"
    );
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} checks or builds of applications fail")),
    }
}

fn recipes_of(root: &Path) -> PathBuf {
    root.join("xtask/mpi-apps")
}

/// Builds the application of this name as [`run`] does, and gives the folder of its sources.
///
/// # Errors
/// When it could not be had or built.
pub fn built(
    root: &Path,
    name: &str,
    sources: Option<&Path>,
    prefix: &Path,
) -> Result<PathBuf, String> {
    let folder_of_recipes = recipes_of(root);
    let recipes = Recipe::load(&folder_of_recipes)?;
    let recipe = recipes.iter().find(|recipe| recipe.name == name);
    let recipe = recipe.ok_or_else(|| format!("there is no {name:?}"))?;
    let options = Options::of(&[])?;
    let abi = recipe.abi.unwrap_or(options.abi);
    let folder = root.join("target/mpi-apps").join(name).join(abi.name());
    let here = Application {
        recipe,
        options: &options,
        recipes: &folder_of_recipes,
        prefix,
        abi,
        folder: &folder,
    };
    let given = sources.map(whole).transpose()?;
    let (source, _) = sources::unpack(recipe, given.as_deref(), &folder)?;
    here.build(&source)?;
    Ok(source)
}

/// What came of an application's checks.
#[derive(Default)]
struct Outcome {
    /// Checks with the numbers of ranks with which they passed.
    passed: Vec<String>,
    failed: usize,
    skipped: usize,
}

struct Application<'a> {
    recipe: &'a Recipe,
    options: &'a Options,
    recipes: &'a Path,
    prefix: &'a Path,
    abi: Abi,
    folder: &'a Path,
}

impl Application<'_> {
    /// Builds it, runs its checks, and gives its version.
    fn all(&self, given: Option<&Path>) -> Result<(String, Outcome), String> {
        let (source, version) = sources::unpack(self.recipe, given, self.folder)?;
        self.build(&source)?;
        let mut outcome = Outcome::default();
        for check in &self.recipe.check {
            let ranks = match self.options.chip {
                Some(_) => &check.ranks_on_chips,
                None => &check.ranks,
            };
            if ranks.is_empty() {
                outcome.skipped += 1;
                eprintln!("{}: {} does not run on chips", self.recipe.name, check.name);
            }
            let mut right = Vec::new();
            for &ranks in ranks {
                match self.check(&source, check, ranks)? {
                    None => right.push(ranks.to_string()),
                    Some(fault) => {
                        outcome.failed += 1;
                        let name = &self.recipe.name;
                        eprintln!("{name}: {}, {ranks} ranks: {fault}", check.name);
                    }
                }
            }
            if !right.is_empty() {
                outcome
                    .passed
                    .push(format!("{} ({})", check.name, right.join(" ")));
            }
        }
        Ok((version, outcome))
    }

    fn build(&self, source: &Path) -> Result<(), String> {
        if self.recipe.build.is_empty() {
            return Ok(());
        }
        let stamp = self.folder.join("built");
        let built = fs::read_to_string(&stamp);
        if built.is_ok_and(|commands| commands == self.recipe.build) {
            return Ok(());
        }
        let log = self.folder.join("build.txt");
        let start = Instant::now();
        let code = self.shell(source, &self.recipe.build, &log, 0, 3600)?.0;
        if code != Some(0) {
            return Err(format!(
                "does not build; {} says why, and Debian's packages {} are needed",
                log.display(),
                match &*self.recipe.needs {
                    [] => "of compilers and make".to_owned(),
                    needs => needs.join(", "),
                }
            ));
        }
        println!(
            "{}: built in {} s",
            self.recipe.name,
            start.elapsed().as_secs()
        );
        fs::write(&stamp, &self.recipe.build).map_err(|error| error.to_string())
    }

    fn check(&self, source: &Path, check: &Check, ranks: u32) -> Result<Option<String>, String> {
        let name = check
            .name
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let log = self.folder.join(format!("{name}-{ranks}.txt"));
        let limit_s = self.options.limit_s;
        let (exit, said) = self.shell(source, &check.run, &log, ranks, limit_s)?;
        Ok(match exit {
            Some(TIMED_OUT) => Some(format!("not ended after {limit_s} s")),
            exit => check.fault(exit, &said),
        })
    }

    /// Runs commands; gives their exit code and what they printed, which goes to `log` as well.
    fn shell(
        &self,
        source: &Path,
        commands: &str,
        log: &Path,
        ranks: u32,
        limit_s: u32,
    ) -> Result<(Option<i32>, String), String> {
        let bin = self.prefix.join("bin");
        let launcher = bin.join("mpirun").display().to_string();
        let launcher = match &self.options.chip {
            // Drivers look at what is said on standard error.
            Some(chip) => format!("{launcher} {} --quiet -n", on_chip(chip).join(" ")),
            None => format!("{launcher} -n"),
        };
        let unwritable = |error: std::io::Error| format!("{}: {error}", log.display());
        let output = fs::File::create(log).map_err(unwritable)?;
        let errors = output.try_clone().map_err(unwritable)?;
        let package = match &self.recipe.from {
            Some(Origin::Sdist(python)) => Some(python.package.to_string()),
            _ => None,
        };
        let status = Command::new("timeout")
            .args([
                "--kill-after=10",
                &limit_s.to_string(),
                "sh",
                "-e",
                "-c",
                commands,
            ])
            .current_dir(source)
            .env("MPICC", bin.join("mpicc"))
            .env("MPICXX", bin.join("mpicxx"))
            .env("MPIRUN", launcher)
            .env("RECIPES", self.recipes)
            .envs(package.map(|package| ("PACKAGE", package)))
            .env("RANKS", ranks.to_string())
            .env("CORECAST_MPI_ABI", self.abi.name())
            .stdin(std::process::Stdio::null())
            .stdout(output)
            .stderr(errors)
            .status();
        let status = status.map_err(|error| format!("timeout: {error}"))?;
        let said = fs::read(log).map_err(unwritable)?;
        Ok((status.code(), String::from_utf8_lossy(&said).into_owned()))
    }
}

/// What `timeout` ends with if it ended the command.
const TIMED_OUT: i32 = 124;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_can_be_asked_for() {
        let of = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            Options::of(&words)
        };
        let options = of("--sources s fftw --chip scc --abi mpich --prefix p --limit 9 hdf5");
        let expected = Options {
            sources: Some("s".into()),
            chip: Some("scc".to_owned()),
            abi: Abi::Mpich,
            prefix: Some("p".into()),
            limit_s: 9,
            names: vec!["fftw".to_owned(), "hdf5".to_owned()],
        };
        assert_eq!(options, Ok(expected));
        let error = |words| of(words).unwrap_err();
        assert_eq!(error("--limit 0"), "--limit needs seconds, not \"0\"");
        assert_eq!(
            error("--abi both"),
            "--abi is standard or mpich, not \"both\""
        );
        assert!(error("--chip").starts_with("--chip needs a value; write `mpi-apps"));
        assert!(error("--nothing").starts_with("there is no option --nothing"));
    }
}
