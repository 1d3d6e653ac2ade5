// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of `examples/programs`: their results are the published ones, on this computer and on chips,
//! where computing that they state takes the same time in every run.

use crate::mpi::{MPICH, Program, STANDARD, text};

/// From the folder of this crate's own programs.
const NAS: &str = "../../../../examples/programs/nas.c";

/// What a run says that ends well and is right.
fn row(output: &std::process::Output) -> String {
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let said = text(&output.stdout);
    assert!(said.trim_end().ends_with(" verified"), "{said}{errors}");
    said
}

#[test]
fn kernels_have_the_published_results_and_the_same_times_twice() {
    let program = Program::new(NAS, &STANDARD);
    // Three and six are no powers of two, six by two columns and three rows.
    for (kernel, chip, ranks) in [
        ("is", "scc", 6),
        ("cg", "tilepro64", 6),
        ("ft", "scc", 3),
        ("ep", "park2019-bus", 4),
    ] {
        let run = || {
            let arguments = [kernel, "S", "5629", "5629"];
            let options = ["--chip", chip, "--limit-ns", "100000000000"];
            let output = program.mpirun_with(&options, ranks, &arguments).output();
            row(&output.expect("the binary runs"))
        };
        assert_eq!(run(), run(), "{kernel}");
    }
}

/// No rank computes while another one waits for what it has sent in the barrier before.
#[test]
fn computing_that_is_stated_is_shared_out() {
    let program = Program::new(NAS, &MPICH);
    let us = |ranks| {
        let options = ["--chip", "scc", "--limit-ns", "100000000000"];
        let command = &mut program.mpirun_with(&options, ranks, &["ep", "S", "1000"]);
        let said = row(&command.output().expect("the binary runs"));
        let words: Vec<&str> = said.split_whitespace().collect();
        words[4].parse::<f64>().expect("a time")
    };
    let (alone, many) = (us(1), us(16));
    assert!((15.8..=16.0).contains(&(alone / many)), "{alone} {many}");
}

#[test]
fn kernels_are_right_on_this_computer_and_refuse_what_they_do_not_know() {
    let program = Program::new(NAS, &STANDARD);
    for (kernel, ranks) in [("ep", 1), ("is", 4), ("cg", 3), ("ft", 2)] {
        row(&program.run(ranks, &[kernel, "S"]));
    }
    let wrong = program.run(2, &["lu", "S"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("ep|is|cg|ft S|W"));
}
