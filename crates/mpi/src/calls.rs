// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program's calls by numbers: what a transport in virtual time is told, and whoever reads it.
//!
//! ```
//! use corecast_mpi::calls;
//! assert_eq!(calls::name(0), "MPI_Abi_get_fortran_booleans");
//! assert_eq!(calls::name(u16::MAX), "no call");
//! ```

use std::sync::LazyLock;

const LISTS: [&str; 2] = [
    include_str!("../functions.txt"),
    include_str!("../functions-mpich.txt"),
];

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let lines = LISTS.iter().flat_map(|list| list.lines());
    let names = lines.filter_map(|line| line.split_once('(')?.0.rsplit_once(' '));
    names.map(|(_, name)| name).collect()
});

/// The name of a call. Its number is that of its prototype in both lists of functions, in their order.
#[must_use]
pub fn name(call: u16) -> &'static str {
    NAMES.get(usize::from(call)).copied().unwrap_or("no call")
}

/// How many there are.
#[must_use]
pub fn count() -> usize {
    NAMES.len()
}
