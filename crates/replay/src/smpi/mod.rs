// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time-independent traces of SimGrid's SMPI: one action a line, in the order of every rank's program.
//!
//! One file has the actions of all ranks, or it is a manifest that names one file per rank. Computing is
//! in operations, so that a rate is needed ([`Options::flops`]).
//!
//! Source: SimGrid, `src/smpi/internals/smpi_replay.cpp`.

mod actions;
mod collective;
mod read;
mod types;
mod write;

use corecast_exchange::{Exported, FileError, Unsayable, text_of};

use crate::format::{Format, Options, Read};
use crate::graph::CallGraph;

/// Time-independent traces.
#[derive(Debug)]
pub(crate) struct Smpi;

impl Format for Smpi {
    fn name(&self) -> &'static str {
        "smpi"
    }

    fn extension(&self) -> &'static str {
        "ti"
    }

    fn summary(&self) -> &'static str {
        "time-independent traces of SimGrid: MPI calls of every rank, computing in operations"
    }

    fn source(&self) -> &'static str {
        "simgrid/simgrid"
    }

    fn counts_operations(&self) -> bool {
        true
    }

    fn is(&self, contents: &[u8]) -> bool {
        text_of(contents).is_ok_and(|text| read::is_trace(text) || read::listed(text).is_some())
    }

    fn named<'a>(&self, contents: &'a [u8]) -> Vec<&'a str> {
        let listed = text_of(contents).ok().and_then(read::listed);
        listed.unwrap_or_default()
    }

    fn read(&self, file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
        read::read(file, contents, options)
    }

    fn write(&self, graph: &CallGraph) -> Result<Exported, Unsayable> {
        write::written(graph)
    }
}
