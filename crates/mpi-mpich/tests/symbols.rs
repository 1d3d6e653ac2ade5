// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library has both names of every function of the standard, and what MPICH has besides.

#[path = "../../mpi/tests/c/symbols.rs"]
mod symbols;

use std::collections::BTreeSet;

use symbols::{exported, names};

#[test]
fn every_function_has_both_names_and_nothing_else_is_exported() {
    let standard = names(include_str!("../../mpi/functions.txt"));
    assert_eq!(standard.len(), 2 * 664);
    let more = names(include_str!("../../mpi/functions-mpich.txt"));
    let data = [
        "MPIR_Dup_fn",
        "MPI_F08_STATUSES_IGNORE",
        "MPI_F08_STATUS_IGNORE",
        "MPI_F_STATUSES_IGNORE",
        "MPI_F_STATUS_IGNORE",
        "MPI_T_PVAR_ALL_HANDLES",
        "MPI_UNWEIGHTED",
        "MPI_WEIGHTS_EMPTY",
    ];
    let data = data.map(str::to_owned);
    let expected: BTreeSet<_> = standard.into_iter().chain(more).chain(data).collect();
    let exported = exported("libmpi.so");
    let differ: Vec<_> = exported.symmetric_difference(&expected).collect();
    assert_eq!(differ, Vec::<&String>::new());
}
