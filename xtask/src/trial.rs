// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask dist try`: builds what users install and uses it as they would, in folders of its own below
//! `target/trial`: the checksums, the command and the compiler out of the archive, the package out of the
//! wheel, and which C library they need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{dist, notices, py};

/// The newest version of glibc that may be needed: that of the oldest systems on which it is to run.
const GLIBC_MAX: [u32; 2] = [2, 34];

/// A program for `mpicc`: ranks have the sum of their numbers.
const PROGRAM: &str = r#"#include <mpi.h>
#include <stdio.h>
int main(void) {
  int rank, sum;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return sum != 6;
}
"#;

/// The ten lines of a Python program; its arguments are the C program, and a file that the package has.
const SCRIPT: &str = r#"import pathlib, sys
import corecast
runs = corecast.run("bcast", chip="tilepro64", ranks=16, bytes=1024)
assert runs.fastest.delivered and len(runs) > 3, runs
runs.fastest.timeline().save("timeline.pdf")
assert corecast.verify("allreduce", ranks=8)[0].correct
ran = corecast.mpirun([sys.argv[1]], ranks=4, chip="scc")
assert ran.makespan_ns > 0, ran
assert (pathlib.Path(corecast.__file__).parent / "lib" / sys.argv[2]).exists()
print("corecast", corecast.__version__, "from", corecast.__file__)
"#;

/// Builds and tries.
///
/// # Errors
/// What is missing or went wrong, in one line.
pub fn run(root: &Path) -> Result<(), String> {
    dist::run(root)?;
    let built = root.join("target/dist");
    let here = root.join("target/trial");
    if here.exists() {
        fs::remove_dir_all(&here).map_err(|error| error.to_string())?;
    }
    let prefix = here.join("prefix");
    fs::create_dir_all(&prefix).map_err(|error| error.to_string())?;
    let mut sums = Command::new("sha256sum");
    sums.current_dir(&built)
        .args(["--check", "--quiet", "SHA256SUMS"]);
    py::says(&mut sums, "sha256sum --check in target/dist")?;
    let archive = one(&built, ".tar.gz")?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(&archive).arg("--strip-components=1");
    py::says(tar.arg("-C").arg(&prefix), "tar of the archive")?;
    is_there(&prefix.join("share/doc/corecast").join(notices::FILE))?;
    let program = command(&here, &prefix)?;
    let package = package(root, &here, &one(&built, ".whl")?, &program)?;
    for folder in [prefix.join("bin"), prefix.join("lib"), package] {
        needs_no_newer(&folder)?;
    }
    println!("what is in target/dist works");
    Ok(())
}

/// Uses the command and compiles a program.
fn command(here: &Path, prefix: &Path) -> Result<PathBuf, String> {
    let of = |name: &str| {
        let mut command = Command::new(prefix.join("bin").join(name));
        command.current_dir(here);
        command
    };
    py::says(of("corecast").arg("doctor"), "corecast doctor")?;
    let run = ["run", "bcast", "--chip", "scc", "--ranks", "8", "--svg"];
    let mut picture = of("corecast");
    picture.args(run).args(["run.png", "--algorithm", "auto"]);
    py::says(&mut picture, "corecast run, with a picture")?;
    is_there(&here.join("run.png"))?;
    let (source, program) = (here.join("sum.c"), here.join("sum"));
    fs::write(&source, PROGRAM).map_err(|error| error.to_string())?;
    let mut mpicc = of("mpicc");
    mpicc.arg(&source).arg("-o").arg(&program);
    py::says(&mut mpicc, "mpicc")?;
    py::says(
        of("mpirun").args(["-n", "4"]).arg(&program),
        "mpirun -n 4 of a program by mpicc",
    )?;
    Ok(program)
}

/// Installs the wheel into an environment and runs a script there; where the package is.
fn package(root: &Path, here: &Path, wheel: &Path, program: &Path) -> Result<PathBuf, String> {
    let venv = here.join("venv");
    let bin = py::environment(root, &venv, &[])?;
    let mut pip = Command::new(bin.join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .args(["--no-index", "--no-deps"])
        .arg(wheel);
    py::says(&mut pip, "pip install of the wheel")?;
    let script = here.join("lines.py");
    fs::write(&script, SCRIPT).map_err(|error| error.to_string())?;
    let mut python = Command::new(bin.join("python"));
    python.current_dir(here).arg(&script).arg(program);
    py::says(python.arg(notices::FILE), "ten lines of Python")?;
    let lib = fs::read_dir(venv.join("lib")).map_err(|error| error.to_string())?;
    let mut packages = lib
        .flatten()
        .map(|entry| entry.path().join("site-packages/corecast"));
    let package = packages.find(|package| package.exists());
    package.ok_or_else(|| "the package is not where pip puts it".to_owned())
}

/// Looks whether what is linked in a folder, or in those below, needs a C library that may be missing.
fn needs_no_newer(folder: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            needs_no_newer(&path)?;
            continue;
        }
        let is_linked = fs::read(&path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"));
        if path.is_symlink() || !is_linked {
            continue;
        }
        let mut objdump = Command::new("objdump");
        let output = objdump.arg("-T").arg(&path).output();
        let output = output.map_err(|error| format!("objdump: {error}"))?;
        let table = String::from_utf8_lossy(&output.stdout);
        let (newest, symbol) = newest(&table);
        let [major, minor] = newest;
        let needs = format!("{}: glibc {major}.{minor} ({symbol})", path.display());
        println!("{needs}");
        if newest > GLIBC_MAX {
            return Err(needs);
        }
    }
    Ok(())
}

/// The newest version of glibc that a table of symbols names, and one of its symbols.
fn newest(table: &str) -> ([u32; 2], &str) {
    let needed = table.lines().filter(|line| line.contains("*UND*"));
    let versions = needed.filter_map(|line| {
        let (_, version) = line.split_once("GLIBC_")?;
        let (version, symbol) = version.split_once([')', ' '])?;
        let mut numbers = version.split('.').map(str::parse);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(([major, minor], symbol.trim()))
    });
    versions.max().unwrap_or(([0, 0], "none"))
}

/// The one file of a folder whose name ends so.
fn one(folder: &Path, end: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let paths = entries.flatten().map(|entry| entry.path());
    let found: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    match &found[..] {
        [one] => Ok(one.clone()),
        _ => Err(format!("{}: {} of *{end}", folder.display(), found.len())),
    }
}

fn is_there(path: &Path) -> Result<(), String> {
    match path.exists() {
        true => Ok(()),
        false => Err(format!("{} is missing", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn the_newest_version_is_found() {
        let table = "\
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.4)   fopen
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.35) hypot
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) free
0000000000000000  w   D  *UND*\t0000000000000000  Base        __gmon_start__
0000000000011760 g    DF .text\t000000000000000e  GLIBC_9.99  f
";
        assert_eq!(newest(table), ([2, 35], "hypot"));
        assert_eq!(newest("no table"), ([0, 0], "none"));
    }
}
