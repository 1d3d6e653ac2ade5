// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask mpi-suites`: the tests of others, on our MPI libraries.
//!
//! Without `--source` those of mpi4py, with it those of MPICH, from a checkout of its repository. Both print
//! every failure and every skipped test by its name, the latter by its reason, and a table of counts.

mod mpi4py;
mod mpich;

use std::path::Path;

/// Options of `mpirun` for a run on a simulated chip; what ends it is its time limit alone.
pub fn on_chip(chip: &str) -> [&str; 6] {
    let most = "1000000000000000";
    ["--chip", chip, "--limit-ns", most, "--limit-events", most]
}

/// Runs the suite that the arguments ask for.
///
/// # Errors
/// When the suite could not be had, or a test failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|argument| argument == "--source") {
        mpich::run(root, arguments)
    } else {
        mpi4py::run(root, arguments)
    }
}
