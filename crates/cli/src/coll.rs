// SPDX-License-Identifier: MIT OR Apache-2.0
//! `coll`: builds the library that puts our collectives into programs of another MPI.
//!
//! The part that knows MPI is compiled here, by that MPI's own compiler: libraries of MPI have no binary
//! interface in common.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, Answer, json};
use crate::style;

/// The files in C, by name: those that end in `.c` are compiled, the others included.
const SOURCES: [(&str, &str); 7] = [
    ("plans.h", include_str!("../../coll/shim/plans.h")),
    ("shim.h", include_str!("../../coll/shim/shim.h")),
    ("calls.c", include_str!("../../coll/shim/calls.c")),
    ("comm.c", include_str!("../../coll/shim/comm.c")),
    ("levels.c", include_str!("../../coll/shim/levels.c")),
    ("run.c", include_str!("../../coll/shim/run.c")),
    ("side.c", include_str!("../../coll/shim/side.c")),
];

/// What the library with the plans is called.
const LIBRARY: &str = "libcorecast_plans.so";

/// Lines of a compiler that are shown.
const SAID_LINES_MAX: usize = 8;

/// What was built.
#[derive(Serialize)]
struct CollRecord<'a> {
    to: &'a str,
    mpicc: &'a str,
    /// The library with the plans, which the one that was built needs where it is.
    plans: String,
}

/// The verb.
pub fn answer(options: &args::Coll) -> Result<Answer, Failure> {
    output::check_writable(Path::new(&options.to_file))?;
    let plans = plans(options.plans.as_deref())?;
    let library = build(&options.mpicc, &plans)?;
    output::write_bytes(Path::new(&options.to_file), &library)?;
    let record = CollRecord {
        to: &options.to_file,
        mpicc: &options.mpicc,
        plans: plans.display().to_string(),
    };
    let usage = format!(
        "its ranks need LD_PRELOAD={0}, as by mpirun -x LD_PRELOAD={0} (Open MPI) or mpiexec -genv \
         LD_PRELOAD {0} (MPICH)",
        whole(&options.to_file)
    );
    Ok(Answer {
        text: format!("wrote {}\n{}\n", options.to_file, style::dim(&usage)),
        json: json(record),
        failed: Vec::new(),
    })
}

/// A path that holds in every folder.
fn whole(path: &str) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    whole.display().to_string()
}

/// The library that has the plans: the one that was named, or ours. By its whole path, since what is built
/// finds it so, on every node and in every folder.
fn plans(named: Option<&str>) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        let whole = fs::canonicalize(path);
        return whole.map_err(|error| {
            Failure::input(format!("--plans: {path}: {error}"))
                .help(format!("it is the path of {LIBRARY}"))
        });
    }
    let executable = env::current_exe().ok();
    let folder = executable.and_then(|file| corecast_launch::libraries(&file));
    let library = folder.map(|folder| folder.join(LIBRARY));
    library.filter(|library| library.exists()).ok_or_else(|| {
        Failure::input(format!("{LIBRARY} is not beside this command")).help(
            "cargo xtask mpi-install DIR installs both; in a build: cargo build --release -p corecast \
             -p corecast-coll -p corecast-mpi-mpich; --plans names it anywhere else",
        )
    })
}

/// The bytes of the library for the MPI of this compiler.
fn build(mpicc: &str, plans: &Path) -> Result<Vec<u8>, Failure> {
    let temporary = |error: io::Error| Failure::input(format!("cannot make a folder: {error}"));
    let folder = tempfile::tempdir().map_err(temporary)?;
    let built = folder.path().join("libcorecast_coll.so");
    let mut words = mpicc.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command.args(["-std=c11", "-O2", "-fPIC", "-shared", "-pthread", "-o"]);
    command.arg(&built);
    for (name, text) in SOURCES {
        let path = folder.path().join(name);
        fs::write(&path, text).map_err(temporary)?;
        if name.ends_with(".c") {
            command.arg(path);
        }
    }
    // By its path: a folder to search would give our own libmpi in the place of theirs.
    command.arg(plans);
    let output = command.output().map_err(|error| {
        Failure::input(format!("cannot run `{mpicc}`: {error}"))
            .help("--mpicc names the compiler of the MPI library whose programs are to be served")
    })?;
    let library = fs::read(&built).ok();
    match library.filter(|_| output.status.success()) {
        Some(library) => Ok(library),
        None => Err(refused(mpicc, &String::from_utf8_lossy(&output.stderr))),
    }
}

/// What the compiler has against it.
fn refused(mpicc: &str, said: &str) -> Failure {
    let failure = Failure::input(format!("`{mpicc}` does not compile the library"));
    let lines = said.lines().filter(|line| !line.trim().is_empty());
    let failure = lines
        .take(SAID_LINES_MAX)
        .fold(failure, |failure, line| failure.help(line));
    failure
        .help("it has to be a C compiler that finds the mpi.h of MPI 3.0 or later, and its library")
}
