// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mpi-debian`: programs that Debian has built for its MPICH, as they are on our library, with
//! their own checks.
//!
//! Nothing is installed: packages are fetched by `apt-get` and unpacked below `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{is_ci, mpi};

/// The programs' packages, and those of what they need besides MPI and C.
const PACKAGES: [&str; 8] = [
    "netpipe-mpich2",
    "scalapack-mpi-test",
    "scalapack-test-common",
    "libscalapack-mpich2.2",
    "libblas3",
    "liblapack3",
    "libgfortran5",
    "libquadmath0",
];

/// Where libraries are, below the folder of all libraries of an architecture.
const LIBRARIES: [&str; 3] = ["", "blas", "lapack"];

/// Seconds for a run.
const LIMIT_S: &str = "60";

struct Check {
    /// From the folder that all is unpacked into; `LIB` is that of the libraries.
    folder: &'static str,
    command: &'static [&'static str],
    ranks: &'static str,
    /// What a run that is right prints, each.
    says: &'static [&'static str],
}

/// Messages, each byte of which is looked at.
const fn netpipe() -> Check {
    Check {
        folder: "usr/bin",
        command: &["./NPmpich2", "-i", "-u", "2048", "-o", "/dev/null"],
        ranks: "2",
        says: &["1537 bytes", "Integrity check passed"],
    }
}

/// A solver of ScaLAPACK, whose residuals are looked at.
const fn solver(command: &'static [&'static str]) -> Check {
    Check {
        folder: "LIB/scalapack/mpich-tests",
        command,
        ranks: "4",
        says: &["completed and passed", " 0 tests completed and failed"],
    }
}

const CHECKS: [Check; 6] = [
    netpipe(),
    solver(&["./xdlu"]),
    solver(&["./xzllt"]),
    solver(&["./xcqr"]),
    solver(&["./xstrd"]),
    solver(&["./xdgsep"]),
];

/// Fetches and runs all of them, on what the tests of the workspace have built.
///
/// # Errors
/// What could not be had, in CI, or is not right.
pub fn run(root: &Path) -> Result<(), String> {
    let folder = root.join("target/mpi-debian");
    match fetch(&folder) {
        Err(error) if is_ci() => return Err(error),
        Err(error) => {
            println!("mpi-debian: skipped, {error}");
            return Ok(());
        }
        Ok(()) => {}
    }
    let installed = mpi::install_dev(root)?;
    let libraries = libraries(&folder)?;
    let paths = LIBRARIES.map(|name| libraries.join(name));
    let paths = std::env::join_paths(paths).map_err(|error| error.to_string())?;
    for check in &CHECKS {
        let start = Instant::now();
        let at = match check.folder.strip_prefix("LIB/") {
            Some(below) => libraries.join(below),
            None => folder.join(check.folder),
        };
        let output = Command::new(installed.join("bin/mpirun"))
            .args(["--timeout", LIMIT_S, "-n", check.ranks])
            .args(check.command)
            .env("LD_LIBRARY_PATH", &paths)
            .current_dir(at)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| format!("mpirun: {error}"))?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let name = check.command.join(" ");
        let missing = check.says.iter().find(|says| !said.contains(**says));
        if !output.status.success() || missing.is_some() {
            eprintln!("{said}");
            return Err(format!(
                "{name}, {} ranks: {}, and {}",
                check.ranks,
                output.status,
                missing.map_or("said what it should".to_owned(), |missing| format!(
                    "`{missing}` is missing"
                ))
            ));
        }
        let ms = start.elapsed().as_millis();
        println!("{name}, {} ranks: right, {ms} ms", check.ranks);
    }
    Ok(())
}

/// Puts all packages there, as they are unpacked.
fn fetch(folder: &Path) -> Result<(), String> {
    let stamp = folder.join("unpacked");
    if fs::read_to_string(&stamp).is_ok_and(|packages| packages == PACKAGES.join(" ")) {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let download = || {
        succeeds(
            "apt-get",
            &[&["--quiet", "download"], &PACKAGES[..]],
            folder,
        )
    };
    // A new computer does not know yet what there is.
    if download().is_err() {
        succeeds("apt-get", &[&["--quiet", "update"]], folder)?;
        download()?;
    }
    for entry in fs::read_dir(folder)
        .map_err(|error| error.to_string())?
        .flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "deb") {
            let name = path.to_string_lossy();
            succeeds("dpkg-deb", &[&["--extract", &name, "."]], folder)?;
        }
    }
    fs::write(&stamp, PACKAGES.join(" ")).map_err(|error| error.to_string())
}

fn succeeds(program: &str, arguments: &[&[&str]], folder: &Path) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments.concat())
        .current_dir(folder)
        .output();
    let said = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("{program}: {said}"))
}

/// The folder of the libraries of this architecture.
fn libraries(folder: &Path) -> Result<PathBuf, String> {
    let all = folder.join("usr/lib");
    let entries = fs::read_dir(&all).map_err(|error| format!("{}: {error}", all.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let found = paths.find(|path| path.to_string_lossy().ends_with("-linux-gnu"));
    found.ok_or_else(|| format!("{} has no libraries", all.display()))
}
