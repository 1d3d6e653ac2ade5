// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask py`: the Python package, built as a wheel, installed into an environment of its own
//! below `target/py`, and tested there.
//!
//! Everything that is fetched is named with its version, in `crates/py/requirements-build.txt` what
//! builds the wheel, in `crates/py/requirements-test.txt` what tests it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{command, mpi, notices};

/// What builds the wheel, and alone is fetched where nothing is tested.
const BUILD: &str = "crates/py/requirements-build.txt";
const TEST: &str = "crates/py/requirements-test.txt";

/// The Python that makes the environment; `PYTHON` names another one.
const PYTHON: &str = "python3";

/// Builds, installs and tests.
///
/// # Errors
/// What is missing or went wrong, in one line.
pub fn run(root: &Path) -> Result<(), String> {
    let here = root.join("crates/py");
    let bin = environment(root, &root.join("target/py/venv"), &[BUILD, TEST])?;
    let wheel = wheel(root, &bin, &root.join("target/py/wheels"), ("dev", None))?;
    let mut pip = Command::new(bin.join("pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]);
    says(
        pip.arg("--force-reinstall").arg(&wheel),
        "pip install of the wheel",
    )?;
    let python = || {
        let mut python = Command::new(bin.join("python"));
        python.current_dir(&here);
        python
    };
    for check in [&["check", "--quiet"][..], &["format", "--check", "--quiet"]] {
        let mut ruff = Command::new(bin.join("ruff"));
        ruff.current_dir(&here)
            .args(check)
            .args(["python", "tests"]);
        says(&mut ruff, "ruff in crates/py")?;
    }
    let tests = ["-m", "pytest", "--quiet", "--pyargs", "corecast", "tests"];
    // One test hands a sweep to ranks of an MPI program.
    let command = command(root)?;
    says(
        python().args(tests).env("CORECAST", command),
        "pytest in crates/py",
    )?;
    // What is checked is the package as it is installed, and a program that uses it.
    let types = [
        "-m",
        "mypy",
        "--strict",
        "python/corecast",
        "tests/typed.py",
    ];
    says(python().args(types), "mypy in crates/py")?;
    let stubs = ["-m", "mypy.stubtest", "corecast._core"];
    says(python().args(stubs), "stubtest of corecast._core")
}

/// What the wheel has that users install, and how it is built.
#[derive(Clone, Copy)]
pub struct Distributed<'a> {
    /// Where the MPI libraries are.
    pub libraries: &'a Path,
    /// The licences of others' works.
    pub notices: &'a Path,
    /// Variables of the build's environment.
    pub variables: &'a [(&'a str, String)],
}

/// Builds the wheel that users install into a folder.
///
/// # Errors
/// As [`run`].
pub fn dist(root: &Path, folder: &Path, with: Distributed<'_>) -> Result<(), String> {
    let bin = environment(root, &root.join("target/py/build"), &[BUILD])?;
    wheel(root, &bin, folder, ("release", Some(with))).map(drop)
}

/// The programs of an environment that has what some files name; it is made anew when they have
/// changed.
///
/// # Errors
/// What is missing or went wrong, in one line.
pub fn environment(root: &Path, folder: &Path, requirements: &[&str]) -> Result<PathBuf, String> {
    let needed = requirements.iter().map(|name| root.join(name));
    let text: Result<String, _> = needed.clone().map(fs::read_to_string).collect();
    let text = text.map_err(|error| format!("{}: {error}", requirements.join(", ")))?;
    let (bin, stamp) = (folder.join("bin"), folder.join("installed.txt"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == text) {
        return Ok(bin);
    }
    let names = requirements.join(", ");
    println!("installing into {}: {names}", folder.display());
    let python = std::env::var("PYTHON").unwrap_or_else(|_| PYTHON.to_owned());
    let mut made = Command::new(python);
    says(
        made.args(["-m", "venv", "--clear"]).arg(folder),
        "python3 -m venv (Python 3.10 or later with venv is needed)",
    )?;
    let mut pip = Command::new(bin.join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    for file in needed {
        pip.arg("-r").arg(file);
    }
    if !requirements.is_empty() {
        says(&mut pip, &format!("pip install of {names}"))?;
    }
    fs::write(&stamp, text).map_err(|error| error.to_string())?;
    Ok(bin)
}

/// Builds the wheel into a folder that holds nothing else then, with or without MPI libraries and licences.
fn wheel(
    root: &Path,
    bin: &Path,
    folder: &Path,
    (profile, with): (&str, Option<Distributed<'_>>),
) -> Result<PathBuf, String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
    }
    // Where the package looks for them; what an earlier build has left is not taken.
    let inside = root.join("crates/py/python/corecast/lib");
    if inside.exists() {
        fs::remove_dir_all(&inside).map_err(|error| error.to_string())?;
    }
    if let Some(with) = with {
        fs::create_dir_all(&inside).map_err(|error| error.to_string())?;
        let copied = fs::copy(with.notices, inside.join(notices::FILE));
        copied.map_err(|error| format!("{}: {error}", with.notices.display()))?;
        for name in mpi::sonames() {
            let copied = fs::copy(with.libraries.join(name), inside.join(name));
            copied.map_err(|error| format!("{name}: {error}"))?;
        }
    }
    let mut maturin = Command::new(bin.join("maturin"));
    maturin
        .current_dir(root.join("crates/py"))
        .args(["build", "--quiet", "--profile", profile, "--out"])
        .arg(folder);
    if let Some(with) = with {
        maturin.arg("--strip");
        maturin.envs(with.variables.iter().map(|(name, value)| (name, value)));
    }
    let built = says(&mut maturin, "maturin build in crates/py");
    if inside.exists() {
        fs::remove_dir_all(&inside).map_err(|error| error.to_string())?;
    }
    built?;
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut wheels = entries.flatten().map(|entry| entry.path());
    wheels
        .next()
        .ok_or_else(|| "maturin has built no wheel".to_owned())
}

/// Runs a command; what it is called if it fails.
///
/// # Errors
/// That name, and what the system says.
pub fn says(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(what.to_owned()),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
