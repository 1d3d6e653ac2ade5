// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles MPICH's tests with `mpicc`, without its `configure`.
//!
//! Everything goes below one folder per interface: headers that `configure` would write, an archive of what
//! tests share (one for tests with threads), and each program in the folder where it runs. A program is
//! compiled again when its sources, the archive or `mpi.h` are newer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::recipe::Recipes;
use super::testlist::Test;
use crate::mpi::Abi;

const CONFIGURATION: &str = include_str!("../../../mpi-suites/mpitestconf.h");

/// What all programs share; the file with `main` is only taken where a test has none.
const SHARED: [&str; 4] = ["mtest.c", "mtest_common.c", "dtypes.c", "run_mpitests.c"];

/// Warnings of others' code are not ours, but a function that no header declares is an error.
const FLAGS: [&str; 4] = ["-O1", "-g", "-w", "-Werror=implicit-function-declaration"];

/// What MPI 3 has removed, and what took its place: some tests call it on their way to something else. The
/// ABI of MPICH has it still.
const SUCCESSORS: [&str; 1] = ["-DMPI_Errhandler_set=MPI_Comm_set_errhandler"];

/// The tests of one checkout, compiled for one interface.
pub struct Builder<'a> {
    /// `test/mpi` of the checkout.
    pub suite: &'a Path,
    /// Where all is put.
    pub built: PathBuf,
    /// Where the library under test is installed.
    pub prefix: &'a Path,
    pub abi: Abi,
}

/// What became of programs, by their paths.
pub type Built = BTreeMap<String, Result<(), String>>;

impl Builder<'_> {
    /// Compiles what these tests start.
    ///
    /// # Errors
    /// When what all programs need does not compile; a program that does not is in the result.
    pub fn build(&self, tests: &[Test]) -> Result<Built, String> {
        self.share()?;
        let mut recipes = BTreeMap::new();
        let mut programs = BTreeMap::new();
        for test in tests.iter().filter(|test| test.skipped.is_none()) {
            programs.insert(test.path(), test);
            if !recipes.contains_key(&*test.folder) {
                recipes.insert(&*test.folder, self.recipes(&test.folder)?);
            }
        }
        let programs: Vec<(String, &Test)> = programs.into_iter().collect();
        let (next, built) = (AtomicUsize::new(0), Mutex::new(Built::new()));
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some((path, test)) =
                        programs.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let outcome = self.program(test, &recipes[&*test.folder]);
                        let mut built = built.lock().expect("no worker panics with the lock");
                        built.insert(path.clone(), outcome);
                    }
                });
            }
        });
        Ok(built.into_inner().expect("no worker panics with the lock"))
    }

    fn recipes(&self, folder: &str) -> Result<Recipes, String> {
        let makefile = self.suite.join(folder).join("Makefile.am");
        let text = fs::read_to_string(&makefile)
            .map_err(|error| format!("{}: {error}", makefile.display()))?;
        let built = self.built.join(folder);
        fs::create_dir_all(&built).map_err(|error| format!("{}: {error}", built.display()))?;
        Ok(Recipes::of(&text))
    }

    fn program(&self, test: &Test, recipes: &Recipes) -> Result<(), String> {
        let program = self.built.join(test.path());
        let recipe = recipes.program(&test.program);
        let folder = self.suite.join(&test.folder);
        let sources: Vec<PathBuf> = recipe
            .sources
            .iter()
            .map(|name| folder.join(name))
            .collect();
        let archive = self.archive(recipes.has_threads);
        let mut needed = sources.clone();
        needed.extend([archive.clone(), self.header()]);
        if is_newer(&program, &needed) {
            return Ok(());
        }
        let mut mpicc = self.mpicc();
        mpicc
            .args(&recipe.flags)
            .arg("-I")
            .arg(&folder)
            .arg("-o")
            .arg(&program);
        mpicc
            .args(&sources)
            .arg(&archive)
            .args(["-lm", "-lpthread"]);
        done(&mut mpicc)
    }

    /// Writes the headers and compiles the two archives.
    fn share(&self) -> Result<(), String> {
        let wrong = |error| format!("{}: {error}", self.built.display());
        let include = self.built.join("include");
        fs::create_dir_all(&include).map_err(wrong)?;
        write_new(&include.join("mpitestconf.h"), CONFIGURATION).map_err(wrong)?;
        write_new(&include.join("mtest_mpix.h"), "").map_err(wrong)?;
        // Found as `../dtpoolsconf.h` from there.
        write_new(&self.built.join("dtpoolsconf.h"), CONFIGURATION).map_err(wrong)?;
        let util = self.suite.join("util");
        let mut sources: Vec<PathBuf> = SHARED.iter().map(|name| util.join(name)).collect();
        let pools = self.suite.join("dtpools/src");
        let files =
            fs::read_dir(&pools).map_err(|error| format!("{}: {error}", pools.display()))?;
        for file in files {
            let path = file.map_err(wrong)?.path();
            if path.extension().is_some_and(|kind| kind == "c") {
                sources.push(path);
            }
        }
        sources.sort();
        for has_threads in [false, true] {
            let name = if has_threads {
                "mtest_thread.c"
            } else {
                "mtest_single.c"
            };
            let sources: Vec<PathBuf> = sources.iter().cloned().chain([util.join(name)]).collect();
            self.compile_archive(&sources, &self.archive(has_threads))?;
        }
        Ok(())
    }

    fn compile_archive(&self, sources: &[PathBuf], archive: &Path) -> Result<(), String> {
        let mut needed = sources.to_vec();
        needed.extend([self.header(), self.built.join("include/mpitestconf.h")]);
        if is_newer(archive, &needed) {
            return Ok(());
        }
        let _ = fs::remove_file(archive);
        let mut ar = Command::new("ar");
        ar.arg("rcs").arg(archive);
        for source in sources {
            let name = source.file_stem().unwrap_or_default();
            let object = self.built.join(name).with_extension("o");
            done(self.mpicc().arg("-c").arg(source).arg("-o").arg(&object))?;
            ar.arg(object);
        }
        done(&mut ar)
    }

    fn archive(&self, has_threads: bool) -> PathBuf {
        let name = if has_threads {
            "libthreads.a"
        } else {
            "libsingle.a"
        };
        self.built.join(name)
    }

    fn mpicc(&self) -> Command {
        let mut mpicc = Command::new(self.prefix.join("bin/mpicc"));
        mpicc.env("CORECAST_MPI_ABI", self.abi.name()).args(FLAGS);
        if self.abi == Abi::Standard {
            mpicc.args(SUCCESSORS);
        }
        mpicc.arg("-I").arg(self.built.join("include"));
        mpicc.arg("-I").arg(self.suite.join("include"));
        mpicc.arg("-I").arg(self.suite.join("dtpools/include"));
        mpicc
    }

    fn header(&self) -> PathBuf {
        let folder = match self.abi {
            Abi::Standard => "include/abi",
            Abi::Mpich => "include/mpich",
        };
        self.prefix.join(folder).join("mpi.h")
    }
}

/// Writes a file unless it says that already, so that what depends on it stays.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    match fs::read_to_string(path) {
        Ok(old) if old == text => Ok(()),
        _ => fs::write(path, text),
    }
}

/// Whether a file is there and newer than all of these.
fn is_newer(file: &Path, than: &[PathBuf]) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let Some(made) = changed(file) else {
        return false;
    };
    than.iter()
        .all(|path| changed(path).is_some_and(|changed| changed < made))
}

/// Runs a compiler; its first error if it has any.
fn done(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let is_error = |line: &&str| line.contains("error") || line.contains("undefined");
    let line = said.lines().find(is_error).or_else(|| said.lines().last());
    Err(line.unwrap_or("it says nothing").trim().to_owned())
}
