// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutants of SimGrid's time-independent traces: one action or number other than it was is refused,
//! with its place, by the reader or by the check before a run.

mod common;

use common::{FLOPS, SAMPLES, load};
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

/// What a word of an action is for, as far as it has an other end that must agree.
fn agrees_elsewhere(words: &[&str], at: usize) -> bool {
    match words[1] {
        // A size need not be agreed: a receive may have room for more.
        "send" | "isend" | "recv" | "irecv" => at == 0 || at == 2 || at == 3,
        "wait" => at >= 2,
        "allreduce" | "reduce" | "gatherv" | "alltoallv" | "waitall" => at == 0,
        _ => false,
    }
}

#[test]
fn no_mutant_of_a_trace_is_right_and_different() {
    let (name, text) = SAMPLES[2];
    let original = load(name, text).graph;
    assert!(runs(text));
    let lines: Vec<&str> = text.lines().collect();
    let (mut tried, mut found) = (0, 0);
    for at in 0..lines.len() {
        let words: Vec<&str> = lines[at].split_whitespace().collect();
        let is_action = words
            .first()
            .is_some_and(|word| word.parse::<u32>().is_ok());
        if !is_action || matches!(words[1], "init" | "comm_size" | "compute") {
            continue;
        }
        let mut mutants = vec![String::new(), format!("{0}\n{0}", lines[at])];
        for place in (0..words.len()).filter(|&place| place != 1) {
            if !agrees_elsewhere(&words, place) {
                continue;
            }
            for other in ["0", "1", "2", "3", "4", "11", "12", "-1"] {
                let mut mutant = words.clone();
                mutant[place] = other;
                mutants.push(mutant.join(" "));
            }
        }
        for other in ["allgather", "barrier", "bcast", "send", "irecv"] {
            let mut mutant = words.clone();
            mutant[1] = other;
            mutants.push(mutant.join(" "));
        }
        for mutant in mutants.into_iter().filter(|mutant| mutant != lines[at]) {
            let mut changed = lines.clone();
            changed[at] = &mutant;
            let changed = changed.join("\n");
            tried += 1;
            match runs(&changed) {
                false => found += 1,
                true => {
                    let same = load(name, &changed).graph.ranks.len() == original.ranks.len();
                    assert!(same && false, "{}: {} became {mutant:?}", at + 1, lines[at]);
                }
            }
        }
    }
    assert!(tried > 300 && found > 300, "{found} of {tried}");
}
