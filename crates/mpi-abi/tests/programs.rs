// SPDX-License-Identifier: MIT OR Apache-2.0
//! C programs that are compiled against the header and run alone.

#[path = "../../mpi/tests/c/fuzz.rs"]
mod fuzz;
#[path = "../../mpi/tests/c/programs.rs"]
mod programs;
#[path = "../../mpi/tests/c/run.rs"]
mod run;

use run::Library;

const LIBRARY: Library = Library {
    header: "abi",
    name: "mpi_abi",
    soname: "libmpi_abi.so.1",
};
