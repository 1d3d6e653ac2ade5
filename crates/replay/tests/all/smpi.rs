// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces as SimGrid writes and replays them, and programs written for it.

use crate::common;

use common::load;
use corecast_exchange::Exported;
use corecast_replay::{CallGraph, check, find_format};

fn written(graph: &CallGraph, format: &str) -> Exported {
    let format = find_format(format).expect("in the list");
    format.write(graph).expect("it can say this")
}

/// A trace as calls of our own, without the lines before those of rank 0.
fn calls(trace: &str) -> String {
    let graph = load("it.ti", trace).graph;
    check(&graph).expect("all match");
    let text = written(&graph, "calls").text().expect("text").to_owned();
    text[text.find("rank 0").expect("rank 0")..].to_owned()
}

#[test]
fn counts_of_receives_may_be_written_like_1e6_and_be_unknown() {
    let text = calls("0 send 1 0 1e6\n1 recv 0 0 1e6\n0 isend 1 0 8\n0 waitall 1\n1 recv 0 0 -1\n");
    let expected = "rank 0\n  send 1 1000000\n  isend 1 8\n  wait c1\n\n\
                    rank 1\n  recv 0 1000000\n  recv 0 1073741824\n";
    assert_eq!(text.replace("c1: ", ""), expected);
}

#[test]
fn a_message_from_or_for_nobody_is_none() {
    let text = calls(
        "0 irecv -666 7 8 6\n0 irecv 1 7 9 6\n0 isend -666 7 8 6\n0 send -666 7 8 6\n\
         0 recv -666 7 8 6\n0 sendRecv 3 -666 3 -666 6 6\n0 wait -666 0 7\n0 wait 0 -666 7\n\
         0 waitall 1\n1 sendRecv 9 -333 3 -666 6 6\n1 send 0 7 9 6\n",
    );
    let kept = text.lines().filter(|line| *line != "  wait");
    let kept: Vec<&str> = kept.collect();
    let expected = [
        "rank 0",
        "  c0: irecv 1 9 tag 7",
        "  wait c0",
        "",
        "rank 1",
        "  send 0 9 tag 7",
    ];
    assert_eq!(kept, expected);
}

#[test]
fn wildcards_are_written_as_simgrid_knows_them() {
    let trace = "0 irecv -1 -1 8 6\n0 wait -1 0 -1\n0 recv -1 3 8 6\n\
                 1 send 0 3 8 6\n1 send 0 3 8 6\n";
    let graph = load("it.ti", trace).graph;
    let exported = written(&graph, "smpi");
    let text = exported.text().expect("text");
    for line in ["irecv -555 -444 8 6", "wait -555 0 -444", "recv -555 3 8 6"] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(calls(text), calls(trace));
}

#[test]
fn behind_the_counts_of_an_allgatherv_are_types_and_displacements() {
    let of = |ranks: u32, rest: &str| {
        let line = |rank: u32| match ranks {
            2 => format!("{rank} allgatherv 8 8 8 {rest}\n"),
            _ => format!(
                "{rank} allgatherv {} 8 8 8 4 {rest}\n",
                if rank < 3 { 8 } else { 4 }
            ),
        };
        let text: String = (0..ranks).map(line).collect();
        let text = calls(&text);
        text.lines().nth(1).expect("its call").trim().to_owned()
    };
    let (bytes, doubles) = ("allgather counts 8 8 8 4", "allgather counts 64 64 64 32");
    assert_eq!(of(4, ""), bytes);
    assert_eq!(of(4, "0"), doubles);
    assert_eq!(of(4, "0 0"), doubles);
    assert_eq!(of(4, "0 8 16 24"), bytes, "displacements alone");
    assert_eq!(of(4, "0 0 8 16 24"), doubles, "a type before them");
    assert_eq!(of(4, "0 0 0 8 16 24"), doubles, "types before them");
    // As SimGrid's example has it.
    assert_eq!(of(4, "0 64 128 192 0 0"), doubles, "types behind them");
    // Two are types even where there are as many ranks.
    assert_eq!(of(2, "0 0"), "allgather counts 64 64");
}

#[test]
fn the_list_of_a_root_says_what_a_gatherv_moves() {
    // As SimGrid writes it: in place at the root, and with zeroes at the others.
    let text = calls(
        "0 gatherv 0 5 6 0 1 1\n1 gatherv 3 0 0 0 0 1\n0 scatterv 5 6 0 0 6 6\n\
                      1 scatterv 0 0 6 0 6 6\n",
    );
    let both = "  gather counts 20 24\n  scatter counts 5 6\n";
    assert_eq!(text, format!("rank 0\n{both}\nrank 1\n{both}"));
}

const SUMS: &str = "corecast calls 1\nranks 2\nrank 0\n  reduce_scatter 40 element 8\n  \
                    allreduce 10008 element 8\n  scan 12 element 4\n  reduce 12 element 12\nrank 1\n  \
                    reduce_scatter 40 element 8\n  allreduce 10008 element 8\n  scan 12 element 4\n  \
                    reduce 12 element 12\n";

#[test]
fn elements_of_reductions_are_types_or_a_note_says_that_they_are_lost() {
    let graph = load("it.calls", SUMS).graph;
    let exported = written(&graph, "smpi");
    let text = exported.text().expect("text");
    for line in [
        "0 reducescatter 5 5 0 0\n",
        "0 allreduce 1251 0 0\n",
        "0 scan 3 0 1\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    // No type has twelve bytes.
    assert!(text.contains("0 reduce 12 0 0 6\n"), "{text}");
    let notes = exported.notes.join("\n");
    assert!(
        notes.contains("2 calls are written without their `element`"),
        "{notes}"
    );
    assert!(notes.contains("2 calls of reduce_scatter"), "{notes}");
    let expected = "rank 0\n  reduce_scatter counts 40 40 element 8\n  allreduce 10008 element 8\n  \
                    scan 12 element 4\n  reduce 12\n";
    assert!(calls(text).starts_with(expected), "{}", calls(text));

    let graph = load("it.calls", SUMS.replace("  scan 12 element 4\n", "")).graph;
    let notes = written(&graph, "chakra").notes.join("\n");
    assert!(
        notes.contains("6 calls are written without their `element`"),
        "{notes}"
    );
}
