// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps and messages on tiles whose buffers the hardware manages, counted by hand: when each ends,
//! and where the time goes.

use corecast_core::{Collective, Rank, Request, ScheduleBuilder, Spec, Split};
use corecast_machine::{Await, Cause, Job, Machine as _, Ongoing, RunError, RunOptions};

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

/// A packet of so many flits to the next tile.
const fn packet(flits: u64) -> u64 {
    6 + 2 * (flits - 1)
}

/// From the post of a block to its first word: envelope and acknowledgement.
const ASK: u64 = packet(2) + packet(1);

/// The time in which a packet of so many words leaves its tile.
const fn leaves(words: u64) -> u64 {
    2 * (words + 1)
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
        let times = [0, posted + ASK, run.finish[1]];
        assert_eq!(run.messages, [(0, 1, bytes as u64, times)]);
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

/// A transfer of a rank from before the run, of a hundred words.
fn busy(rank: u32) -> RunOptions {
    RunOptions {
        ongoing: vec![Ongoing {
            src: Rank(rank),
            dst: None,
            bytes: 398,
        }],
        ..RunOptions::default()
    }
}

/// A transfer from before the run takes two cycles for each of its words.
#[test]
fn a_busy_port_is_waited_for() {
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(Some(0))]];
    let run = bench(&[]).calls(&program, &busy(0));
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
    let expected = RunError::SmallBuffers {
        bytes: 12,
        envelope_bytes: 16,
        keys: "endpoint.input and endpoint.output",
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

/// The same in steps: blocks of halves are copied in while those before leave.
#[test]
fn long_steps_go_in_halves_of_a_buffer() {
    let bench = bench(&[("endpoint.output", "64")]);
    let program = |bytes| [vec![Send(1, bytes)], vec![Recv(0, bytes)]];
    let whole = bench.steps(&program(64), &RunOptions::default());
    assert_eq!(whole.after[0], [SETUP + COPY * 16]);
    let halves = bench.steps(&program(65), &RunOptions::default());
    let half = SETUP + COPY * 8;
    assert_eq!(halves.after[0], [2 * half + SETUP + COPY]);
    let last = half + 2 * (ASK + leaves(8)) + ASK;
    assert_eq!(halves.finish[0], last + leaves(1));
}

/// What is in the input buffer stays there until it is wanted, as long as it is in nobody's way.
#[test]
fn a_message_that_is_wanted_later_stays_in_the_buffer() {
    let program = [
        vec![Recv(2, 16), Recv(1, 40)],
        vec![Send(0, 40)],
        vec![Send(0, 16)],
    ];
    let bench = bench(&[]);
    let run = bench.steps(&program, &bench.late([0, 0, 1000]));
    // The later one is two hops away. Until it asks for room the core does nothing.
    let asked = 1000 + SETUP + COPY * 4 + packet(2) + 3;
    let waits = [(Handshake, SETUP), (WaitPeer(Rank(2)), asked - SETUP)];
    assert_eq!(run.spans[0][..2], waits);
    let first = run.after[0][0];
    assert_eq!(first, asked + packet(1) + packet(5) + 2 * 3 + COPY * 4);
    assert_eq!(run.after[0][1], first + SETUP + COPY * 10);
}

/// Combining and copying take the time of their operations for every word.
#[test]
fn a_program_takes_its_time_for_every_word() {
    let (add, load, store, branch) = (2, 3, 5, 7);
    let bench = bench(&[
        ("core.add", "2"),
        ("core.load", "3"),
        ("core.store", "5"),
        ("core.branch", "7"),
        ("core.parallel", "1"),
    ]);
    for (bytes, words) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
        let program = [vec![Call::Combine(bytes), Call::Copy(bytes), Compute(1)]];
        let run = bench.calls(&program, &RunOptions::default());
        let combined = words * (2 * load + add + store + branch);
        let copied = combined + words * (load + store + branch);
        assert_eq!(run.after[0], [combined, copied, copied + 1]);
        assert_eq!(run.spans[0], [(Cause::Compute, copied + 1)]);
    }
}

/// Blocks that had no room are sent before a rank ends, and have left it then.
#[test]
fn a_rank_ends_when_all_it_has_sent_is_gone() {
    let bench = bench(&[("endpoint.input", "128"), ("endpoint.output", "64")]);
    let program = [vec![Isend(1, 49)], vec![Call::Recv(Some(0))]];
    let run = bench.calls(&program, &RunOptions::default());
    let half = SETUP + COPY * 8;
    assert_eq!(run.after[0], [2 * half]);
    let last = half + 2 * (ASK + leaves(8)) + ASK;
    assert_eq!(run.finish[0], last + leaves(1));
    // Nobody takes them: the receiver's buffer has room for four halves, the sender's for two.
    // A seventh waits for a place, from when the sixth is in the second's.
    let fourth_left = half + 4 * (ASK + leaves(8));
    for (halves, since) in [(5, fourth_left), (7, fourth_left + half)] {
        let stuck = bench.stuck_calls(&[vec![Isend(1, 32 * halves - 16)], vec![]]);
        let expected = [(0, 1, Await::Send, 2, since)];
        assert_eq!(stuck, expected, "{halves} halves");
    }
}

/// Rank 1 sends 16 bytes to rank 0.
fn one_message() -> ScheduleBuilder {
    let spec = Spec::new(&Request::new(Collective::Alltoall, 2, 16), Split::Even(1));
    let mut builder = ScheduleBuilder::new("by hand", spec);
    let chunk = builder.spec().chunk(2, 0);
    builder.message(0, Rank(1), Rank(0), &[chunk]);
    builder
}

#[test]
fn a_busy_port_is_waited_for_by_schedules() {
    let schedule = one_message().finish();
    let mut job = Job::new(&schedule);
    job.options = busy(1);
    let report = bench(&[]).machine.run(&job).expect("runs");
    let first = report.activity[1].span(0);
    let first = first.map(|span| (span.cause, span.end.ps() / 10_000));
    assert_eq!(first, Some((PortBusy(Rank(1)), 200)));
}

/// A deadlock names the step of the schedule, whichever it is.
#[test]
fn a_deadlock_of_a_schedule_says_at_which_step() {
    let mut builder = one_message();
    let chunk = builder.spec().chunk(1, 0);
    builder.message(1, Rank(0), Rank(1), &[chunk]);
    builder.steps_mut(Rank(0)).pop();
    let schedule = builder.finish();
    let error = bench(&[]).machine.run(&Job::new(&schedule));
    let Err(RunError::Deadlock { blocked, .. }) = error else {
        panic!("no deadlock: {error:?}");
    };
    let waits = blocked.iter().map(|one| (one.rank.0, one.peer.0, one.step));
    assert_eq!(waits.collect::<Vec<_>>(), [(1, 0, 1)]);
}

#[test]
fn a_late_core_begins_late() {
    let bench = bench(&[]);
    let late = bench.late([30, 0]);
    let run = bench.steps(&[vec![Send(1, 4)], vec![Recv(0, 4)]], &late);
    assert_eq!(run.after[0], [30 + SETUP + COPY]);
    assert_eq!(run.spans[0][0], (Cause::Compute, 30));
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(None)]];
    let run = bench.calls(&program, &bench.late([30, 0]));
    assert_eq!(run.after[0][0], 30 + SETUP + COPY * 4);
    assert_eq!(run.spans[0][0], (Cause::Compute, 30));
}
