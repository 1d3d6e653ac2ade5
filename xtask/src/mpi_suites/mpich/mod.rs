// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPICH's own tests, on our MPI libraries.
//!
//! The programs of `test/mpi` are compiled with our `mpicc` and started by our `mpirun`, each line of each
//! `testlist` as it says. No autotools are needed: what `configure` would find out is one header
//! (`xtask/mpi-suites/mpitestconf.h`). Only what the standard has is tested, as with MPICH's
//! `--enable-strictmpi`.

mod build;
mod foreign;
mod options;
mod recipe;
mod report;
mod testlist;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::mpi::{installed, whole};
use build::{Builder, Built};
use options::Options;
use report::Report;
use testlist::Test;
use verdict::{Launcher, Verdict};

/// Runs what the arguments ask for.
///
/// # Errors
/// When something could not be had, or a test failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::of(arguments)?;
    let suite = suite(&options.source)?;
    let folder = root.join("target/mpi-suites");
    let mut lists = Vec::new();
    for folder in &options.folders {
        let mut tests = testlist::load(&suite, folder)?;
        tests.retain(|test| {
            options
                .only
                .as_ref()
                .is_none_or(|only| *only == test.program)
        });
        for test in &mut tests {
            test.skipped = test.skipped.take().or_else(|| skip(test, &options));
        }
        lists.push((folder.clone(), tests));
    }
    let prefix = installed(root, options.prefix.as_deref())?;
    let mut failed = 0;
    for &abi in &options.abis {
        let built = folder.join("mpich").join(abi.name());
        let builder = Builder {
            suite: &suite,
            built,
            prefix: &prefix,
            abi,
        };
        let mut reports = Vec::new();
        for (name, tests) in &lists {
            let report = one(&builder, &options, name, tests)?;
            failed += report.failed.len();
            reports.push(report);
        }
        println!("\n{}", report::table(abi, &reports));
    }
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} tests of the suite fail")),
    }
}

/// Compiles and runs one list of tests.
fn one(builder: &Builder, options: &Options, name: &str, tests: &[Test]) -> Result<Report, String> {
    let start = Instant::now();
    let built: Built = builder.build(tests)?;
    let mut report = Report::new(name);
    let logs = builder.built.join("logs");
    std::fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let launcher = Launcher {
        mpirun: &builder.prefix.join("bin/mpirun"),
        chip: options.chip.as_deref(),
        ranks_per_core: options.ranks_per_core,
        limit_s: options.limit_s,
    };
    for (index, test) in tests.iter().enumerate() {
        let log = format!("{}-{index}.txt", test.path().replace('/', "-"));
        let verdict = match (&test.skipped, built.get(&test.path())) {
            (Some(reason), _) => Verdict::Skipped(reason.clone()),
            (None, Some(Err(error))) => Verdict::Failed(format!("does not compile: {error}")),
            (None, _) => verdict::run(test, &launcher, &builder.built, &logs.join(log))?,
        };
        if let Verdict::Failed(why) = &verdict {
            eprintln!("{}: {}: {why}", builder.abi.name(), test.name());
        }
        report.add(test, verdict);
    }
    report.seconds = start.elapsed().as_secs();
    Ok(report)
}

/// Why a test does not run, if it does not.
fn skip(test: &Test, options: &Options) -> Option<String> {
    if let Some(reason) = foreign::reason(&test.path()) {
        return Some(reason.to_owned());
    }
    if let Some(reason) = foreign::not_on_chips(&test.path())
        && options.chip.is_some()
    {
        return Some(reason);
    }
    if let Some(xfail) = &test.xfail
        && !options.runs_xfail
    {
        return Some(format!(
            "MPICH expects it to fail ({xfail}); --xfail runs it"
        ));
    }
    let limit_gb = options.memory_gb;
    let takes_more = test.memory_gb.is_some_and(|memory| memory > limit_gb);
    takes_more.then(|| format!("takes more than {limit_gb} GB of memory; --memory allows more"))
}

/// `test/mpi` of a checkout, which may be named itself.
fn suite(source: &Path) -> Result<PathBuf, String> {
    let candidates = [source.join("test/mpi"), source.to_owned()];
    let found = candidates
        .iter()
        .find(|folder| folder.join("include/mpitest.h").exists());
    let found = found.ok_or_else(|| {
        format!(
            "{} is no checkout of MPICH: it has no test/mpi/include/mpitest.h",
            source.display()
        )
    })?;
    whole(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_suite_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = suite(folder.path()).unwrap_err();
        assert!(error.ends_with("is no checkout of MPICH: it has no test/mpi/include/mpitest.h"));
        let include = folder.path().join("test/mpi/include");
        std::fs::create_dir_all(&include).unwrap();
        std::fs::write(include.join("mpitest.h"), "").unwrap();
        let found = suite(folder.path()).unwrap();
        assert!(found.ends_with("test/mpi"));
        assert_eq!(suite(&found).unwrap(), found);
    }
}
