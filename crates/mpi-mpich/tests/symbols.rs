//! The library has both names of every function of the standard, and what MPICH has besides.

use std::collections::BTreeSet;
use std::process::Command;

/// What the library that was built with this test exports.
fn exported() -> BTreeSet<String> {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().unwrap();
    let library = folder.join("libmpi.so");
    let nm = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library)
        .output();
    let text = String::from_utf8(nm.unwrap().stdout).unwrap();
    let names = text.lines().filter_map(|line| line.rsplit(' ').next());
    names.map(str::to_owned).collect()
}

/// Both names of every function of a list.
fn names(list: &str) -> Vec<String> {
    let heads = list.lines().filter_map(|line| line.split('(').next());
    let names = heads.filter_map(|head| head.rsplit(' ').next());
    names
        .flat_map(|name| [name.to_owned(), format!("P{name}")])
        .collect()
}

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
    let exported = exported();
    let differ: Vec<_> = exported.symmetric_difference(&expected).collect();
    assert_eq!(differ, Vec::<&String>::new());
}
