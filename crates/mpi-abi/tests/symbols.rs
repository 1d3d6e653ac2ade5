//! The library has both names of every function of the standard.

use std::collections::BTreeSet;
use std::process::Command;

/// What the library that was built with this test exports.
fn exported() -> BTreeSet<String> {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().unwrap();
    let library = folder.join("libmpi_abi.so");
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
    let names = names(include_str!("../../mpi/functions.txt"));
    assert_eq!(names.len(), 2 * 664);
    let expected: BTreeSet<_> = names.into_iter().collect();
    let exported = exported();
    let differ: Vec<_> = exported.symmetric_difference(&expected).collect();
    assert_eq!(differ, Vec::<&String>::new());
}
