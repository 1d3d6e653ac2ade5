// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be typed behind `corecast coll`.

use clap::Args;
use corecast_core::Collective;

use super::shared::collectives;

/// For which MPI.
#[derive(Args)]
pub struct Coll {
    /// The library to write; with --tune the program
    #[arg(value_name = "FILE")]
    pub to_file: String,
    /// The compiler of the MPI library whose programs are to be served, with arguments if it needs some
    #[arg(long, value_name = "COMMAND", default_value = "mpicc")]
    pub mpicc: String,
    /// The library with the plans, by which FILE finds it [default: libcorecast_plans.so beside corecast]
    #[arg(long, value_name = "PATH")]
    pub plans: Option<String>,
    /// Write a program in the place of the library: started as a job of that MPI, with a folder as its
    /// argument, it measures our collectives beside the MPI's own and writes a table of each, for
    /// CORECAST_TABLE
    #[arg(long, help_heading = "Measuring")]
    pub tune: bool,
    /// What it measures: names separated by commas [default: all that are served]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = collectives(),
        requires = "tune",
        help_heading = "Measuring"
    )]
    pub collective: Vec<Collective>,
    /// Bytes per block (bcast, reduce, allreduce: in all), such as 64, 8K or 8..1M:x2 [default: 8..2M:x8]
    #[arg(
        long,
        value_name = "SIZES",
        requires = "tune",
        help_heading = "Measuring"
    )]
    pub bytes: Option<String>,
}
