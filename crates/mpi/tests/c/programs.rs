// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of either library by C programs, which the crates of both include.

use std::path::Path;

use crate::LIBRARY;
use crate::run::succeeded;

#[test]
fn calls_do_what_they_say() {
    succeeded(&LIBRARY.run("alone"));
}

#[test]
fn datatypes_are_what_the_standard_says() {
    succeeded(&LIBRARY.run("datatypes"));
}

#[test]
fn operators_are_what_the_standard_says() {
    succeeded(&LIBRARY.run("operators"));
}

#[test]
fn an_error_without_a_handler_ends_the_program_with_one_line() {
    let expected =
        "corecast: rank 0: MPI_Send: there is no rank 7; ranks are 0 to 0 (MPI_ERR_RANK)\n";
    for threads in [&[][..], &["multiple"]] {
        let output = LIBRARY.run_with("fatal", threads);
        assert!(!output.status.success());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors, expected, "{threads:?}");
    }
}

#[test]
fn calls_outside_end_the_program_but_those_that_are_allowed_there() {
    succeeded(&LIBRARY.run("outside"));
    for (when, told) in [
        ("before", "MPI_Comm_rank was called before MPI_Init"),
        (
            "between",
            "MPI_Comm_rank was called after its last session had ended",
        ),
        ("after", "MPI_Comm_rank was called after MPI_Finalize"),
        (
            "again",
            "MPI_Init: the library was initialised before, and has ended",
        ),
    ] {
        let output = LIBRARY.run_with("outside", &[when]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{when}: {errors}");
        assert!(
            errors.starts_with(&format!("corecast: {told}")),
            "{when}: {errors}"
        );
    }
}

#[test]
fn a_call_outside_names_the_other_library_that_is_loaded() {
    let other = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libmpi.so.99");
    std::fs::write(&other, "a library").unwrap();
    let output = LIBRARY.run_with("outside", &["beside", other.to_str().unwrap()]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let [first, second] = errors.lines().collect::<Vec<_>>()[..] else {
        panic!("{errors}");
    };
    assert!(first.contains("was called before MPI_Init"), "{errors}");
    assert!(second.contains(" libmpi.so.99"), "{errors}");
    let advice = "all of its parts have to be built for one ABI";
    assert!(second.ends_with(advice), "{errors}");
}

#[test]
fn random_arguments_are_errors_at_most() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let first = number("CORECAST_SEED").unwrap_or(1);
    let last = first + number("CORECAST_CASES").unwrap_or(2);
    // These have found something once; nights draw others.
    let seeds = [6, 14, 45, 499].into_iter().chain(first..last);
    LIBRARY.fuzz(seeds, 100_000);
}
