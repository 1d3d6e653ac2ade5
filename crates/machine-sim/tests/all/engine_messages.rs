// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of messages on the engines of a bus chip whose numbers are all different, counted by
//! hand: when each call ends, when words move, and where the time goes.

use corecast_core::Rank;
use corecast_machine::{Await, Cause, Ongoing, RunOptions};

use crate::by_hand::engine::{COMBINE, COMMAND, COMPLETE, NOTIFY, NUMBERS, ORDER, READY, REQUEST};
use crate::by_hand::{Bench, Call, Played};
use crate::common::chip;
use Call::{Combine, Compute, Irecv, Isend, Recv, Test, Wait};
use Cause::{Handshake, Ordering, PortBusy, Transfer, WaitPeer};

/// Words of a header.
const HEADER: u64 = 4;

/// From the command of a transfer to its request at the receiver.
const ASK: u64 = COMMAND + REQUEST;
/// From there, if the receiver's core sees it at once, to the first word.
const GRANT: u64 = COMMAND + READY;
/// From the last word to both cores.
const END: u64 = COMPLETE + NOTIFY;

/// A transfer between two cores that wait: a header, and words behind it.
const fn transfer(words: u64) -> u64 {
    ASK + GRANT + HEADER + words + END
}

fn bench(changes: &[(&str, &str)]) -> Bench {
    let all: Vec<_> = NUMBERS.iter().chain(changes).copied().collect();
    Bench::new(&chip("park2019-bus", &all))
}

fn play(bench: &Bench, calls: &[Vec<Call>]) -> Played {
    bench.calls(calls, &RunOptions::default())
}

/// An envelope, a wish for the payload, and the payload; for an empty one the envelope is all.
#[test]
fn a_message_is_three_transfers_and_an_empty_one_is_one() {
    let bench = bench(&[]);
    for (bytes, words) in [(0, 0), (1, 1), (4, 1), (5, 2), (400, 100)] {
        let program = [vec![Isend(1, bytes), Wait], vec![Recv(Some(0))]];
        let run = play(&bench, &program);
        let before = if bytes > 0 { 2 * transfer(0) } else { 0 };
        let end = before + transfer(words);
        assert_eq!(run.after, [vec![COMMAND, end], vec![end]], "{bytes} bytes");
        let start = before + ASK + GRANT;
        let times = [0, start, start + HEADER + words];
        assert_eq!(run.messages, [(0, 1, bytes as u64, times)]);
    }
}

#[test]
fn a_program_takes_its_time_to_combine_every_word() {
    for (bytes, words) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
        let program = [vec![Combine(bytes), Compute(1)]];
        let run = play(&bench(&[]), &program);
        let end = words * COMBINE;
        assert_eq!(run.after[0], [end, end + 1], "{bytes} bytes");
        assert_eq!(run.spans[0], [(Cause::Compute, end + 1)]);
    }
}

/// A core that waits for its transfer waits for the receiver until the words move, and then until it is
/// told.
#[test]
fn cores_account_for_their_transfers() {
    let run = play(&bench(&[]), &[vec![Isend(1, 0), Wait], vec![Recv(None)]]);
    let sender = [
        (Handshake, COMMAND),
        (WaitPeer(Rank(1)), transfer(0) - COMMAND),
    ];
    assert_eq!(run.spans[0], sender);
    let receiver = [
        (WaitPeer(Rank(0)), ASK),
        (Handshake, GRANT),
        (Transfer, HEADER),
        (Handshake, END),
    ];
    assert_eq!(run.spans[1], receiver);
}

/// What a rank leaves to its engine at its end it waits for all the same.
#[test]
fn a_rank_ends_when_all_it_has_sent_is_gone() {
    let run = play(&bench(&[]), &[vec![Isend(1, 40)], vec![Recv(None)]]);
    assert_eq!(run.after[0], [COMMAND]);
    let end = 2 * transfer(0) + transfer(10);
    assert_eq!(run.finish, [end; 2]);
}

/// A core takes requests in the order in which they come, one transfer after the other; its next
/// command goes while the words of a transfer of its own move.
#[test]
fn a_core_serves_one_request_after_the_other() {
    let bench = bench(&[]);
    let program = [
        vec![Isend(1, 0), Wait],
        vec![Recv(None), Recv(None)],
        vec![Compute(1), Isend(1, 0), Wait],
    ];
    let run = play(&bench, &program);
    let first = transfer(0);
    let second = first + GRANT + HEADER + END;
    // A request that is here is served before the program hears of the one before.
    assert_eq!(run.after[1], [second; 2]);
    assert_eq!(run.finish, [first, second, second]);
    let order: Vec<u32> = run.messages.iter().map(|(from, ..)| *from).collect();
    assert_eq!(order, [0, 2]);
    // It does not see a request while it computes.
    let program = [vec![Isend(1, 0), Wait], vec![Compute(100), Recv(Some(0))]];
    let run = play(&bench, &program);
    assert_eq!(run.finish, [100 + GRANT + HEADER + END; 2]);
    assert_eq!(run.spans[1][0], (Cause::Compute, 100));
}

/// Two cores whose requests cross serve each other.
#[test]
fn cores_that_send_to_each_other_serve_each_other() {
    let program = |me: u32| vec![Isend(1 - me, 0), Irecv(1 - me), Wait, Wait];
    let run = play(&bench(&[]), &[program(0), program(1)]);
    assert_eq!(run.finish, [transfer(0); 2]);
    let times = [0, ASK + GRANT, ASK + GRANT + HEADER];
    assert_eq!(run.messages, [(0, 1, 0, times), (1, 0, 0, times)]);
}

/// While a core waits for two others, the one that lets it go on first is named.
#[test]
fn a_core_waits_for_whoever_lets_it_go_on() {
    let program = [
        vec![Isend(1, 0), Recv(Some(2)), Wait],
        vec![Compute(200), Recv(Some(0))],
        vec![Compute(50), Isend(0, 0), Wait],
    ];
    let run = play(&bench(&[]), &program);
    let heard = 50 + transfer(0);
    let told = 200 + GRANT + HEADER + END;
    assert_eq!(run.finish, [told, told, heard]);
    let waits = [
        (Handshake, COMMAND),
        (WaitPeer(Rank(2)), 50 + ASK - COMMAND),
        (Handshake, GRANT),
        (Transfer, HEADER),
        (Handshake, END),
        (WaitPeer(Rank(1)), told - heard),
    ];
    assert_eq!(run.spans[0], waits);
}

/// Words wait for ports that are busy from before the run, at either end.
#[test]
fn words_wait_for_both_ports() {
    let bench = bench(&[]);
    for busy in [0, 1] {
        let ongoing = vec![Ongoing {
            src: Rank(busy),
            dst: None,
            bytes: 400,
        }];
        let options = RunOptions {
            ongoing,
            ..RunOptions::default()
        };
        let program = [vec![Isend(1, 0), Wait], vec![Recv(None)]];
        let run = bench.calls(&program, &options);
        assert_eq!(run.finish, [100 + HEADER + END; 2], "rank {busy}");
    }
}

#[test]
fn a_late_core_begins_late() {
    let bench = bench(&[]);
    let program = [vec![Isend(1, 0), Wait], vec![Recv(None)]];
    let run = bench.calls(&program, &bench.late([30, 0]));
    assert_eq!(run.finish, [30 + transfer(0); 2]);
    assert_eq!(run.spans[0][0], (Cause::Compute, 30));
}

/// Looking takes as long as a command, and a cycle at least.
#[test]
fn a_look_takes_a_command_or_a_cycle() {
    for (command, look) in [("0", 1), ("1", 1), ("6", 6)] {
        let program = [
            vec![Irecv(1), Test, Test, Wait],
            vec![Compute(100), Isend(0, 0), Wait],
        ];
        let run = play(&bench(&[("endpoint.command", command)]), &program);
        assert_eq!(run.after[0][..3], [0, look, 2 * look]);
        assert_eq!(run.spans[0][0], (Handshake, 2 * look));
    }
}

/// A look serves a request that has come.
#[test]
fn a_look_serves_who_asks() {
    let program = [
        vec![Irecv(2), Compute(20), Test, Test, Wait],
        vec![Isend(0, 0), Wait],
        vec![Compute(200), Isend(0, 0), Wait],
    ];
    let mut program = program;
    program[0].push(Recv(Some(1)));
    let run = play(&bench(&[]), &program);
    let served = 20 + COMMAND + GRANT + HEADER + END;
    assert_eq!(run.after[0][2..4], [served, served + COMMAND]);
    assert_eq!(run.finish[1], served);
}

#[test]
fn a_deadlock_of_messages_says_who_waits_for_whom() {
    let bench = bench(&[]);
    let program = [vec![Isend(1, 0), Wait], vec![Recv(Some(2))], vec![]];
    // The envelope has been taken: the sender is done.
    let since = transfer(0);
    assert_eq!(
        bench.stuck_calls(&program),
        [(1, 2, Await::Tag(5), 2, since)]
    );
    let program = [vec![Isend(1, 4), Wait], vec![Recv(Some(2))], vec![]];
    assert_eq!(
        bench.stuck_calls(&program),
        [
            (0, 1, Await::Send, 2, COMMAND),
            (1, 2, Await::Tag(5), 2, since)
        ]
    );
    // At its end, too.
    let program = [vec![Isend(1, 4)], vec![Recv(Some(2))], vec![]];
    assert_eq!(
        bench.stuck_calls(&program)[0],
        (0, 1, Await::Send, 2, since)
    );
}

/// From a launch to the end: requests at once, readies from the tail to the root, words back.
fn chain(ranks: u64, words: u64) -> u64 {
    let hops = ranks - 1;
    ORDER + REQUEST + hops * READY + (hops - 1) + words + END
}

fn all(ranks: u32, len: usize) -> Call {
    Call::Broadcast(0, (0..ranks).collect(), len)
}

/// A core waits for the member that comes last, and is launched with it.
#[test]
fn a_broadcast_starts_when_the_last_member_shows_it() {
    let bench = bench(&[]);
    for ranks in [2_u32, 3, 5] {
        let mut program = vec![vec![all(ranks, 24)]; ranks as usize];
        program[1].insert(0, Compute(50));
        let run = play(&bench, &program);
        let shown = 50 + COMMAND;
        let end = shown + chain(u64::from(ranks), 6);
        assert_eq!(run.finish.iter().max(), Some(&end), "{ranks} ranks");
        let waits = [
            (Handshake, COMMAND),
            (WaitPeer(Rank(1)), 50),
            (Ordering, ORDER),
        ];
        assert_eq!(run.spans[0][..3], waits, "{ranks} ranks");
        let computes = [
            (Cause::Compute, 50),
            (Handshake, COMMAND),
            (Ordering, ORDER),
        ];
        assert_eq!(run.spans[1][..3], computes, "{ranks} ranks");
    }
    // Alone a root has nobody to send to.
    let run = play(&bench, &[vec![all(1, 24)]]);
    assert_eq!(run.finish, [COMMAND + ORDER]);
}

/// Ranks 4 and 5 receive long messages of ranks 1 and 2; the root shows the broadcast last.
fn busy_members(bench: &Bench, words: [usize; 2]) -> Played {
    let program = [
        vec![Compute(2000), all(4, 24)],
        vec![Isend(4, 4 * words[0]), all(4, 24), Wait],
        vec![Isend(5, 4 * words[1]), all(4, 24), Wait],
        vec![all(4, 24)],
        vec![Recv(Some(1))],
        vec![Recv(Some(2))],
    ];
    play(bench, &program)
}

/// When the engine of a sender of so many words is free.
fn free(words: usize) -> u64 {
    2 * transfer(0) + ASK + GRANT + HEADER + words as u64 + COMPLETE
}

/// The order is 0, 3, 1, 2: who is busy is last, and the words make three hops to rank 2.
#[test]
fn a_broadcast_is_held_until_words_find_each_port_free() {
    let bench = bench(&[]);
    let shown = 2000 + COMMAND;
    for (words, binding) in [
        ([4000, 4000], 1),
        ([4000, 4001], 1),
        ([4000, 4002], 2),
        ([4001, 4000], 1),
    ] {
        let run = busy_members(&bench, words);
        let start = (free(words[0]) - 2).max(free(words[1]) - 3);
        let end = start + chain(4, 6);
        assert_eq!(run.after[0][1], end - 2, "{words:?}");
        assert_eq!(run.after[2][1], end, "{words:?}");
        let spans = [
            (Cause::Compute, 2000),
            (Handshake, COMMAND),
            (PortBusy(Rank(binding)), start - shown),
            (Ordering, ORDER),
        ];
        assert_eq!(run.spans[0][..4], spans, "{words:?}");
        let hops = run.messages.iter().filter(|message| message.2 == 24);
        let hops: Vec<_> = hops.map(|&(from, to, ..)| (from, to)).collect();
        assert_eq!(hops, [(0, 3), (3, 1), (1, 2)], "{words:?}");
    }
}

/// The member at the end of the chain sends its ready so far ahead that the words come when its
/// message has passed.
#[test]
fn a_broadcast_of_engines_that_are_ready_ahead_starts_at_once() {
    let bench = bench(&[("endpoint.launch", "ready-ahead")]);
    let words = [1, 4000];
    let run = busy_members(&bench, words);
    // Words come the time of a ready after the ready, and no earlier than the complete message.
    let through = free(words[1]) - READY;
    let start = through - 2 * (READY + 1) + 3 * READY;
    let end = start + 2 + 6 + END;
    assert_eq!(run.after[2][1], end);
    assert_eq!(run.spans[0][2], (Ordering, ORDER));
}

/// A unit that holds broadcasts back takes a group a clock, one that does not takes all.
#[test]
fn groups_start_a_clock_apart_or_together() {
    let pair = |root: u32| vec![Call::Broadcast(root, vec![root, root + 1], 24)];
    let program = [pair(0), pair(0), pair(2), pair(2), pair(4), pair(4)];
    for (launch, apart) in [("held", 1), ("ready-ahead", 0)] {
        let run = play(&bench(&[("endpoint.launch", launch)]), &program);
        let ends = [0, 0, 1, 1, 2, 2].map(|at| COMMAND + at * apart + chain(2, 6));
        assert_eq!(run.finish, ends, "{launch}");
    }
}

/// A core takes its broadcast off the port to serve a request, and shows it again.
#[test]
fn a_request_is_served_before_the_broadcast_goes_on() {
    let program = [
        vec![all(2, 24)],
        vec![Compute(100), all(2, 24)],
        vec![Isend(0, 0), Wait],
    ];
    let mut program = program;
    program[0].push(Recv(Some(2)));
    let run = play(&bench(&[]), &program);
    assert_eq!(run.finish[2], transfer(0));
    assert_eq!(run.after[1][1], 100 + COMMAND + chain(2, 6));
    // It shows it twice before: the command of the other core makes it look again.
    let waits = [
        (Handshake, 2 * COMMAND),
        (WaitPeer(Rank(2)), ASK - 2 * COMMAND),
        (Handshake, GRANT),
        (Transfer, HEADER),
        (Handshake, END + COMMAND),
    ];
    assert_eq!(run.spans[0][..5], waits);
}

/// So it does one that comes in the very clocks in which the command is given.
#[test]
fn a_request_that_comes_while_the_command_is_given_is_served_first() {
    let program = [
        vec![Compute(6), all(2, 24), Recv(Some(2))],
        vec![all(2, 24)],
        vec![Isend(0, 0), Wait],
    ];
    let run = play(&bench(&[]), &program);
    let served = 6 + COMMAND + GRANT + HEADER + END;
    assert_eq!(run.finish[2], served);
    assert_eq!(run.finish[1], served + COMMAND + chain(2, 6));
}
