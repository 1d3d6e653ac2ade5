// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutants of SimGrid's time-independent traces: one action or number other than it was is refused,
//! with its place, by the reader or by the check before a run.

use crate::common::{FLOPS, SAMPLES};
use corecast_replay::{Options, check, find_format};

/// Whether a mutant gets as far as a run.
fn runs(text: &str) -> bool {
    let options = Options {
        flops: Some(FLOPS),
        read_file: None,
    };
    let smpi = find_format("smpi").expect("in the list");
    match smpi.read("it.ti", text.as_bytes(), &options) {
        Ok(read) => check(&read.graph).is_ok(),
        Err(error) => {
            assert!(error.line.is_some(), "{error}");
            false
        }
    }
}

/// The words of an action that another rank's action, or an earlier one, must agree with.
fn agreed(action: &str) -> &'static [usize] {
    match action {
        // Not the size: a receive may have room for more.
        "send" | "isend" | "recv" | "irecv" => &[0, 2, 3],
        "wait" => &[2, 3, 4],
        "allreduce" | "reduce" | "gatherv" | "alltoallv" => &[0],
        _ => &[],
    }
}

#[test]
fn no_mutant_of_a_trace_gets_as_far_as_a_run() {
    let (_, text) = SAMPLES[2];
    assert!(runs(text));
    let lines: Vec<&str> = text.lines().collect();
    let mut tried = 0;
    for at in 0..lines.len() {
        let words: Vec<&str> = lines[at].split_whitespace().collect();
        let places = agreed(words.get(1).copied().unwrap_or_default());
        let mut mutants = Vec::new();
        for &place in places {
            for other in ["0", "1", "2", "3", "4", "11", "12"] {
                let mut mutant = words.clone();
                mutant[place] = other;
                mutants.push(mutant.join(" "));
            }
        }
        // A program may leave out a wait.
        if !places.is_empty() && words[1] != "wait" {
            mutants.push(String::new());
            mutants.push(format!("{0}\n{0}", lines[at]));
            mutants.push(format!("{} barrier", words[0]));
            mutants.push(format!("{} bcast 4", words[0]));
        }
        for mutant in mutants.into_iter().filter(|mutant| mutant != lines[at]) {
            let mut changed = lines.clone();
            changed[at] = &mutant;
            tried += 1;
            let is_found = !runs(&changed.join("\n"));
            assert!(is_found, "{}: {} became {mutant:?}", at + 1, lines[at]);
        }
    }
    assert!(tried > 400, "{tried}");
}
