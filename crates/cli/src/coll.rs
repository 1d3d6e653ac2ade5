// SPDX-License-Identifier: MIT OR Apache-2.0
//! `coll`: builds the library that puts our collectives into programs of another MPI, or the program that
//! measures which of them are faster there than that MPI's own.
//!
//! The part that knows MPI is compiled here, by that MPI's own compiler: libraries of MPI have no binary
//! interface in common.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use corecast_core::Collective;
use corecast_text::size;
use corecast_tune::{PMPI_BYTES_MAX, PMPI_DTYPE};
use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, Answer, json};
use crate::style;

/// The files in C of the library, by name: those that end in `.c` are compiled, the others included.
const SOURCES: [(&str, &str); 10] = [
    ("plans.h", include_str!("../../coll/shim/plans.h")),
    ("shim.h", include_str!("../../coll/shim/shim.h")),
    ("take.h", include_str!("../../coll/shim/take.h")),
    ("forms.h", include_str!("../../coll/shim/forms.h")),
    ("calls.c", include_str!("../../coll/shim/calls.c")),
    ("comm.c", include_str!("../../coll/shim/comm.c")),
    ("levels.c", include_str!("../../coll/shim/levels.c")),
    ("run.c", include_str!("../../coll/shim/run.c")),
    ("side.c", include_str!("../../coll/shim/side.c")),
    ("take.c", include_str!("../../coll/shim/take.c")),
];

/// What makes a program of them that measures, together with what it is to measure.
const PROGRAM: (&str, &str) = ("tune.c", include_str!("../../coll/shim/tune.c"));

/// The sizes that are measured unless others are named.
const SIZES: &str = "8..2M:x8";

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
    let to = Path::new(&options.to_file);
    output::check_writable(to)?;
    let product = match options.tune {
        true => Product::Program(cells(options)?),
        false => Product::Library,
    };
    let plans = plans(options.plans.as_deref())?;
    product.build(&options.mpicc, &plans, to)?;
    let record = CollRecord {
        to: &options.to_file,
        mpicc: &options.mpicc,
        plans: plans.display().to_string(),
    };
    let whole = whole(&options.to_file);
    let usage = match product {
        Product::Library => format!(
            "its ranks need LD_PRELOAD={whole}, as by mpirun -x LD_PRELOAD={whole} (Open MPI) or mpiexec \
             -genv LD_PRELOAD {whole} (MPICH)"
        ),
        Product::Program(_) => format!(
            "it measures what it is started as, as by mpirun -n 4 {whole} tables; CORECAST_TABLE names \
             the folder to the library that this command builds without --tune"
        ),
    };
    Ok(Answer::new(
        format!("wrote {}\n{}\n", options.to_file, style::dim(&usage)),
        json(record),
    ))
}

/// What is to be measured, collective by collective.
fn cells(options: &args::Coll) -> Result<Vec<(Collective, u64)>, Failure> {
    let sizes = size::list("--bytes", options.bytes.as_deref().unwrap_or(SIZES))?;
    let is_served = |one: &Collective| *one != Collective::Alltoallv;
    let is_asked =
        |one: &Collective| options.collective.is_empty() || options.collective.contains(one);
    if let Some(one) = options.collective.iter().find(|one| !is_served(one)) {
        return Err(
            Failure::input(format!("--collective: {one} is not measured"))
                .help("tables choose by the bytes of a block, and its blocks have several lengths"),
        );
    }
    let asked = Collective::ALL.into_iter().filter(is_served);
    let asked: Vec<Collective> = asked.filter(is_asked).collect();
    let mut cells = Vec::new();
    for one in asked {
        if one == Collective::Barrier {
            cells.push((one, 0));
            continue;
        }
        for &bytes in &sizes {
            check_size(one, bytes)?;
            if !cells.contains(&(one, bytes)) {
                cells.push((one, bytes));
            }
        }
    }
    Ok(cells)
}

fn check_size(collective: Collective, bytes: u64) -> Result<(), Failure> {
    let element = u64::from(PMPI_DTYPE.bytes());
    if !(1..=PMPI_BYTES_MAX).contains(&bytes) {
        return Err(
            Failure::input(format!("--bytes: {bytes} bytes are not measured"))
                .help(format!("name sizes from 1 to {PMPI_BYTES_MAX} bytes")),
        );
    }
    if collective.is_reduction() && !bytes.is_multiple_of(element) {
        return Err(Failure::input(format!(
            "--bytes: {bytes} bytes are no whole number of the elements of {element} bytes that \
             {collective} is measured with"
        ))
        .help("name multiples, or leave out reductions by --collective"));
    }
    Ok(())
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

/// What is built.
enum Product {
    /// What is preloaded.
    Library,
    /// What measures, and what it does.
    Program(Vec<(Collective, u64)>),
}

impl Product {
    /// Its name in a sentence.
    fn name(&self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Program(_) => "program",
        }
    }

    /// Options of the compiler.
    fn options(&self) -> &'static [&'static str] {
        match self {
            // What is not MPI's must not meet functions of the program.
            Self::Library => &["-fPIC", "-shared", "-fvisibility=hidden"],
            Self::Program(_) => &[],
        }
    }

    /// The files in C.
    fn sources(&self) -> Vec<(&'static str, String)> {
        let shared = SOURCES.iter();
        let mut sources: Vec<_> = shared
            .map(|&(name, text)| (name, text.to_owned()))
            .collect();
        if let Self::Program(cells) = self {
            sources.push((PROGRAM.0, PROGRAM.1.to_owned()));
            sources.push(("cells.c", cells_in_c(cells)));
        }
        sources
    }

    /// Builds it for the MPI of this compiler.
    fn build(&self, mpicc: &str, plans: &Path, to: &Path) -> Result<(), Failure> {
        let temporary = |error: io::Error| Failure::input(format!("cannot make a folder: {error}"));
        let folder = tempfile::tempdir().map_err(temporary)?;
        let built = folder.path().join("built");
        let mut words = mpicc.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
            .args(["-std=c11", "-O2", "-pthread"])
            .args(self.options());
        command.arg("-o").arg(&built);
        for (name, text) in self.sources() {
            let path = folder.path().join(name);
            fs::write(&path, text).map_err(temporary)?;
            if name.ends_with(".c") {
                command.arg(path);
            }
        }
        // By its path: a folder to search would give our own libmpi in the place of theirs.
        command.arg(plans);
        let output = command.output().map_err(|error| {
            Failure::input(format!("cannot run `{mpicc}`: {error}")).help(
                "--mpicc names the compiler of the MPI library whose programs are to be served",
            )
        })?;
        let bytes = fs::read(&built).ok().filter(|_| output.status.success());
        let Some(bytes) = bytes else {
            return Err(self.refused(mpicc, &String::from_utf8_lossy(&output.stderr)));
        };
        output::write_bytes(to, &bytes)?;
        if let Self::Program(_) = self {
            let unable = |error| Failure::input(format!("cannot make it a program: {error}"));
            let mode = fs::metadata(&built).map_err(unable)?.permissions();
            fs::set_permissions(to, mode).map_err(unable)?;
        }
        Ok(())
    }

    /// What the compiler has against it.
    fn refused(&self, mpicc: &str, said: &str) -> Failure {
        let name = self.name();
        let failure = Failure::input(format!("`{mpicc}` does not compile the {name}"));
        let lines = said.lines().filter(|line| !line.trim().is_empty());
        let failure = lines
            .take(SAID_LINES_MAX)
            .fold(failure, |failure, line| failure.help(line));
        failure.help(
            "it has to be a C compiler that finds the mpi.h of MPI 3.0 or later, and its library",
        )
    }
}

/// What is to be measured, for `tune.c`.
fn cells_in_c(cells: &[(Collective, u64)]) -> String {
    let entry = |&(one, bytes): &(Collective, u64)| {
        let name = one.name().to_uppercase();
        format!("    {{CORECAST_{name}, {bytes}}},\n")
    };
    let entries: String = cells.iter().map(entry).collect();
    let total = cells.len();
    format!(
        "#include \"plans.h\"\n\nconst struct corecast_cell corecast_cells[] = {{\n{entries}}};\n\
         const size_t corecast_cells_total = {total};\n"
    )
}
