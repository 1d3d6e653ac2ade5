// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the documentation lists as refused is what the code refuses.

use std::fs;
use std::path::Path;

use corecast_mpi::Class;

/// Errors that are no mistake of the caller's arguments: the library does not do it, or not here.
const REFUSING: [Class; 6] = [
    Class::Port,
    Class::RmaShared,
    Class::Service,
    Class::Spawn,
    Class::UnsupportedDatarep,
    Class::UnsupportedOperation,
];

/// All Rust below a folder, but tests of modules.
fn code(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            code(&path, all);
        } else {
            let text = fs::read_to_string(&path).expect("a file of the crate");
            *all += text.split("#[cfg(test)]").next().unwrap_or_default();
        }
    }
}

/// `MPI_ERR_RMA_SHARED` of `RmaShared`.
fn name(class: Class) -> String {
    let mut name = "MPI_ERR".to_owned();
    for letter in format!("{class:?}").chars() {
        if letter.is_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[test]
fn the_list_of_what_is_refused_is_that_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = fs::read_to_string(root.join("../../docs/mpi.md")).expect("the documentation");
    let (_, section) = pages.split_once("### What is refused\n").expect("the list");
    let (section, _) = section.split_once("\n### ").expect("more follows");
    let mut written = String::new();
    code(&root.join("src"), &mut written);
    for class in REFUSING {
        let is_used = written.contains(&format!("Class::{class:?}"));
        let name = name(class);
        assert_eq!(section.contains(&format!("`{name}`")), is_used, "{name}");
    }
    // Whatever it names there is: calls, and errors of either interface.
    let functions = fs::read_to_string(root.join("functions.txt")).expect("the list of functions");
    let header = fs::read_to_string(root.join("include/abi/mpi.h")).expect("the header");
    assert!(section.contains(&format!("All {} functions", functions.lines().count())));
    let words = section.split('`').skip(1).step_by(2);
    for word in words.filter(|word| word.starts_with("MPI_")) {
        let is_known = match word.strip_suffix("...") {
            Some(start) => functions.contains(&format!(" {start}")),
            None if word.chars().any(char::is_lowercase) => {
                functions.contains(&format!(" {word}("))
            }
            None => header.contains(&format!(" {word}")),
        };
        assert!(is_known, "{word}");
    }
}
