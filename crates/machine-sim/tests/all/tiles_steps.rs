// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps and messages on tiles whose buffers the hardware manages, counted by hand: when each ends,
//! and where the time goes.

use corecast_core::Rank;
use corecast_machine::{Await, Cause, Ongoing, RunError, RunOptions};

use crate::by_hand::{Bench, Call, Step};
use crate::common::chip;
use Call::{Compute, Irecv, Isend, Test, Wait};
use Cause::{Handshake, PortBusy, Software, Transfer, WaitPeer};
use Step::{Combine, Recv, Send};

const SETUP: u64 = 7;
const COPY: u64 = 3;

fn bench(changes: &[(&str, &str)]) -> Bench {
    let mut all = vec![("endpoint.setup", "7"), ("endpoint.copy", "3")];
    all.extend(changes);
    Bench::new(&chip("nagam", &all))
}

/// From the post of a block of so many words to its last word in the next tile: envelope and
/// acknowledgement of two flits and one, then packets of a header and at most 16 words; a flit takes
/// two cycles.
fn way(words: u64) -> u64 {
    let packet = |words| {
        let program = [
            vec![Send(1, 4 * words as usize)],
            vec![Recv(0, 4 * words as usize)],
        ];
        let run = bench(&[]).steps(&program, &RunOptions::default());
        run.finish[1] - SETUP - 2 * COPY * words
    };
    packet(words)
}

#[test]
fn a_block_is_copied_sent_and_copied_again() {
    let bench = bench(&[]);
    for words in [1_u64, 4, 16] {
        let bytes = 4 * words as usize;
        let run = bench.steps(
            &[vec![Send(1, bytes)], vec![Recv(0, bytes)]],
            &RunOptions::default(),
        );
        let posted = SETUP + COPY * words;
        assert_eq!(run.after[0], [posted], "{words} words");
        assert_eq!(
            run.spans[0][..2],
            [(Handshake, SETUP), (Transfer, run.finish[0] - SETUP)]
        );
        let spans = &run.spans[1];
        assert_eq!(spans[0], (Handshake, SETUP));
        assert!(matches!(spans[1], (WaitPeer(Rank(0)), _)));
        assert_eq!(spans[2].0, Transfer);
        // Flits of the words and a header, two cycles each, on their way.
        assert_eq!(way(words) - way(1), 2 * (words - 1), "{words} words");
    }
}

/// A message of the library is a block with its header; it is taken when it has come and copied once
/// more when it is wanted.
#[test]
fn a_message_of_a_program_is_a_block_with_a_header() {
    let bench = bench(&[]);
    for words in [0_u64, 1, 12] {
        let program = [
            vec![Isend(1, 4 * words as usize), Wait],
            vec![Call::Recv(Some(0))],
        ];
        let run = bench.calls(&program, &RunOptions::default());
        let block = words + 4;
        let posted = SETUP + COPY * block;
        assert_eq!(run.after[0], [posted; 2], "{words} words");
        let come = posted + way(block);
        // No bytes are copied as a word is.
        let end = come + SETUP + COPY * block + COPY * words.max(1);
        assert_eq!(run.finish[1], end, "{words} words");
        let taken = come + SETUP + COPY * block;
        assert_eq!(
            run.messages,
            [(0, 1, 4 * words, [0, run.messages[0].3[1], taken])]
        );
    }
}

/// Looking takes a cycle of the core.
#[test]
fn a_look_takes_a_cycle() {
    let program = [
        vec![Irecv(1), Test, Test, Wait],
        vec![Compute(100), Isend(0, 0), Wait],
    ];
    let run = bench(&[]).calls(&program, &RunOptions::default());
    assert_eq!(run.after[0][..3], [0, 1, 2]);
    assert_eq!(run.spans[0][0], (Software, 2));
}

/// A transfer from before the run takes two cycles for each of its words.
#[test]
fn a_busy_port_is_waited_for() {
    let options = RunOptions {
        ongoing: vec![Ongoing {
            src: Rank(0),
            dst: None,
            bytes: 398,
        }],
        ..RunOptions::default()
    };
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(Some(0))]];
    let run = bench(&[]).calls(&program, &options);
    assert_eq!(run.after[0][0], 200 + SETUP + COPY * 4);
    assert_eq!(run.spans[0][0], (PortBusy(Rank(0)), 200));
}

#[test]
fn combining_takes_its_time_for_every_word() {
    let bench = bench(&[]);
    let one = bench
        .steps(&[vec![Combine(4)]], &RunOptions::default())
        .finish[0];
    assert!(one > 0);
    for (bytes, words) in [(0, 0), (5, 2), (12, 3)] {
        let run = bench.steps(&[vec![Combine(bytes)]], &RunOptions::default());
        assert_eq!(run.finish, [words * one], "{bytes} bytes");
    }
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let bench = bench(&[]);
    assert_eq!(
        bench.stuck_steps(&[vec![], vec![Recv(0, 4)]]),
        [(1, 0, Await::Recv, 0, SETUP)]
    );
    assert_eq!(
        bench.stuck_calls(&[vec![], vec![Call::Recv(Some(0))]]),
        [(1, 0, Await::Tag(5), 2, 0)]
    );
}

/// The words of an envelope must fit into the output buffer, which is never the larger one.
#[test]
fn a_buffer_holds_an_envelope_at_least() {
    let program = [vec![Isend(1, 40), Wait], vec![Call::Recv(Some(0))]];
    let run = bench(&[("endpoint.output", "16")]).calls(&program, &RunOptions::default());
    assert_eq!(run.messages[0].2, 40);
    let error = bench(&[("endpoint.output", "12")]).failed_calls(&program);
    let expected = RunError::Unsupported {
        machine: "a chip with so small buffers",
        what: "room for the words of an envelope in each of them",
    };
    assert_eq!(error, expected);
}

/// A message that is longer than a buffer goes in blocks of half of it, one as long as it in one.
#[test]
fn long_messages_go_in_halves_of_a_buffer() {
    let bench = bench(&[("endpoint.input", "128"), ("endpoint.output", "64")]);
    let program = |bytes| [vec![Isend(1, bytes), Wait], vec![Call::Recv(Some(0))]];
    // Sixteen words, of which four are the header's.
    let whole = bench.calls(&program(48), &RunOptions::default());
    assert_eq!(whole.after[0], [SETUP + COPY * 16; 2]);
    let halves = bench.calls(&program(49), &RunOptions::default());
    // Two blocks of eight words fit, and the last word waits until the first has left.
    assert_eq!(halves.after[0][0], 2 * (SETUP + COPY * 8));
    assert!(halves.after[0][1] > 3 * SETUP + COPY * 17);
    assert_eq!(halves.messages[0].2, 49);
}

#[test]
fn a_late_core_begins_late() {
    let bench = bench(&[]);
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(None)]];
    let run = bench.calls(&program, &bench.late([30, 0]));
    assert_eq!(run.after[0][0], 30 + SETUP + COPY * 4);
    assert_eq!(run.spans[0][0], (Cause::Compute, 30));
}
