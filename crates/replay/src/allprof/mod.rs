// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces of liballprof, LogGOPSim's recorder of MPI calls: one file per rank, one call a line.
//!
//! `MPI_Send:BEGIN:ARGUMENT:...:END`: the arguments are those of the C call in its order, times are in
//! microseconds. A datatype is `number,bytes,extent`, a communicator `handle,rank,ranks`, and a list of
//! counts its address and, as an argument more, its numbers. What lies between two calls is computing,
//! and so is the time of calls that move nothing; how long other calls took is the machine's. A request
//! is known by its address; in an array each has the size of a handle: 8 bytes in Open MPI's C, else 4.
//! Any rank and nobody are -1 and -2 in Open MPI, and -2 and -1 in MPICH, whose communicator of all
//! ranks is known by its number.
//!
//! Source: spcl/LogGOPSim, `src/liballprof/gencode.py` and `src/Schedgen/process_trace.cpp`.

mod collective;
mod comms;
mod line;
mod names;
mod read;
mod requests;

use corecast_exchange::{Exported, FileError, Unsayable, begins_with};

use crate::format::{Format, Options, Read};
use crate::graph::CallGraph;

/// Traces of liballprof.
#[derive(Debug)]
pub(crate) struct Allprof;

impl Format for Allprof {
    fn name(&self) -> &'static str {
        "liballprof"
    }

    fn extension(&self) -> &'static str {
        "allprof"
    }

    fn summary(&self) -> &'static str {
        "MPI calls with their times as LogGOPSim's liballprof records them, a file per rank (only read)"
    }

    fn source(&self) -> &'static str {
        "spcl/LogGOPSim"
    }

    fn is(&self, contents: &[u8]) -> bool {
        begins_with(contents, "MPI_")
    }

    fn read(&self, file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
        read::read(file, contents, options)
    }

    fn write(&self, _: &CallGraph) -> Result<Exported, Unsayable> {
        Err(Unsayable {
            format: self.name(),
            what: "what a program does: it is a record of calls with addresses and times"
                .to_owned(),
            instead: "write calls, goal or smpi".to_owned(),
        })
    }
}
