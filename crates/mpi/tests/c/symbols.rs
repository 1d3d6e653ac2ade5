// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a library exports, and what a list of prototypes asks for.

use std::collections::BTreeSet;
use std::process::Command;

/// What the library of this name, which was built with this test, exports.
pub fn exported(library: &str) -> BTreeSet<String> {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().unwrap();
    let library = folder.join(library);
    let nm = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library)
        .output();
    let text = String::from_utf8(nm.unwrap().stdout).unwrap();
    let names = text.lines().filter_map(|line| line.rsplit(' ').next());
    names.map(str::to_owned).collect()
}

/// Both names of every function of a list.
pub fn names(list: &str) -> Vec<String> {
    let heads = list.lines().filter_map(|line| line.split('(').next());
    let names = heads.filter_map(|head| head.rsplit(' ').next());
    names
        .flat_map(|name| [name.to_owned(), format!("P{name}")])
        .collect()
}
