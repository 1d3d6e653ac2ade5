// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library has both names of every function of the standard.

#[path = "../../mpi/tests/c/symbols.rs"]
mod symbols;

use std::collections::BTreeSet;

use symbols::{exported, names};

#[test]
fn every_function_has_both_names_and_nothing_else_is_exported() {
    let listed = names(include_str!("../../mpi/functions.txt"));
    assert_eq!(listed.len(), 2 * 664);
    let expected: BTreeSet<_> = listed.into_iter().collect();
    let exported = exported("libmpi_abi.so");
    let differ: Vec<_> = exported.symmetric_difference(&expected).collect();
    assert_eq!(differ, Vec::<&String>::new());
}
