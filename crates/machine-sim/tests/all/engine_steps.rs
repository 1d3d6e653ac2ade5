// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps on the engines of a bus chip whose numbers are all different, counted by hand: when each
//! ends, when words move, and where the time goes.

use corecast_chip::System;
use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{Await, Cause, Job, Machine, Ongoing, Report, RunError, RunOptions, Time};
use corecast_machine_sim::mpe::{PortCommand, PortOp, Wire, record};

use crate::by_hand::engine::{COMBINE, COMMAND, COMPLETE, NOTIFY, NUMBERS, ORDER, READY, REQUEST};
use crate::by_hand::{Bench, Step};
use crate::common::chip;
use Cause::{Compute, Handshake, Ordering, PortBusy, Transfer, WaitPeer};
use Step::{Combine, Exchange, Forward, Recv, Send};

/// From both commands to the first word.
const START: u64 = COMMAND + REQUEST + READY;
/// From the last word to who waits for the message.
const END: u64 = COMPLETE + NOTIFY;

fn bench(changes: &[(&str, &str)]) -> Bench {
    let all: Vec<_> = NUMBERS.iter().chain(changes).copied().collect();
    Bench::new(&chip("park2019-bus", &all))
}

/// The port of `rank` is busy with so many words.
fn busy(rank: u32, words: u64) -> Ongoing {
    Ongoing {
        src: Rank(rank),
        dst: None,
        bytes: 4 * words,
    }
}

fn with(ongoing: &[Ongoing]) -> RunOptions {
    RunOptions {
        ongoing: ongoing.to_vec(),
        ..RunOptions::default()
    }
}

/// A message of so many bytes from rank 0 to rank 1.
fn message(bytes: usize) -> Vec<Vec<Step>> {
    vec![vec![Send(1, bytes)], vec![Recv(0, bytes)]]
}

#[test]
fn a_message_is_its_stages_and_its_words() {
    let bench = bench(&[]);
    for (bytes, words) in [(1, 1), (4, 1), (5, 2), (40, 10)] {
        let run = bench.steps(&message(bytes), &RunOptions::default());
        let end = START + words;
        assert_eq!(run.finish, [end + END; 2], "{bytes} bytes");
        // A send is left to the engine.
        assert_eq!(run.after, [[COMMAND], [end + END]], "{bytes} bytes");
        assert_eq!(
            run.messages,
            [(0, 1, bytes as u64, [COMMAND, START, end])],
            "{bytes} bytes"
        );
        let spans = [(Handshake, START), (Transfer, words), (Handshake, END)];
        assert_eq!(run.spans, [spans; 2], "{bytes} bytes");
    }
}

/// Without words the sender's end takes no time, and the receiver's that of a word.
#[test]
fn an_empty_message_travels_as_a_word_does() {
    let run = bench(&[]).steps(&message(0), &RunOptions::default());
    assert_eq!(run.finish, [START + END, START + 1 + END]);
    assert_eq!(run.messages, [(0, 1, 0, [COMMAND, START, START])]);
    let spans = run.finish.iter().map(|&end| vec![(Handshake, end)]);
    assert_eq!(run.spans, spans.collect::<Vec<_>>());
}

#[test]
fn who_is_late_is_waited_for() {
    let bench = bench(&[]);
    let words = 10;
    let after = [(Transfer, words), (Handshake, END)];
    // The request waits for the command of the receiver.
    let run = bench.steps(&message(40), &bench.late([0, 50]));
    let ready = [(Handshake, READY)];
    assert_eq!(run.finish, [50 + COMMAND + READY + words + END; 2]);
    let wait = 50 - REQUEST;
    let sender = [(Handshake, COMMAND + REQUEST), (WaitPeer(Rank(1)), wait)];
    assert_eq!(run.spans[0], [&sender, &ready[..], &after].concat());
    let receiver = [(Compute, 50), (Handshake, COMMAND + READY)];
    assert_eq!(run.spans[1], [&receiver, &after[..]].concat());
    // The command of the receiver waits for the request.
    let run = bench.steps(&message(40), &bench.late([50, 0]));
    assert_eq!(run.finish, [50 + START + words + END; 2]);
    let sender = [(Compute, 50), (Handshake, START)];
    assert_eq!(run.spans[0], [&sender, &after[..]].concat());
    let receiver = [
        (Handshake, COMMAND),
        (WaitPeer(Rank(0)), 50),
        (Handshake, REQUEST + READY),
    ];
    assert_eq!(run.spans[1], [&receiver, &after[..]].concat());
}

/// A receiver answers when the complete message of its earlier transfer has passed; a sender asks
/// meanwhile.
#[test]
fn a_busy_port_holds_up_what_needs_it() {
    let bench = bench(&[]);
    let (words, busy_words) = (10, 40);
    let free = busy_words + COMPLETE;
    let after = [(Transfer, words), (Handshake, END)];
    let run = bench.steps(&message(40), &with(&[busy(1, busy_words)]));
    assert_eq!(run.finish, [free + READY + words + END; 2]);
    let sender = [
        (Handshake, COMMAND + REQUEST),
        (PortBusy(Rank(1)), free - COMMAND - REQUEST),
        (Handshake, READY),
    ];
    assert_eq!(run.spans[0], [&sender, &after[..]].concat());
    let receiver = [
        (Handshake, COMMAND),
        (PortBusy(Rank(1)), free - COMMAND),
        (Handshake, READY),
    ];
    assert_eq!(run.spans[1], [&receiver, &after[..]].concat());

    let run = bench.steps(&message(40), &with(&[busy(0, busy_words)]));
    assert_eq!(run.finish, [free + words + END; 2]);
    let sender = [(Handshake, COMMAND), (PortBusy(Rank(0)), free - COMMAND)];
    assert_eq!(run.spans[0], [&sender, &after[..]].concat());
    let receiver = [(Handshake, START), (PortBusy(Rank(0)), free - START)];
    assert_eq!(run.spans[1], [&receiver, &after[..]].concat());

    // One that ends before it is asked for costs nothing.
    let run = bench.steps(&message(40), &with(&[busy(0, 1)]));
    assert_eq!(run.finish, [START + words + END; 2]);
}

/// While one message streams the next one is handshaked.
#[test]
fn the_next_message_is_handshaked_meanwhile() {
    let bench = bench(&[]);
    for words in [1, 4, 40] {
        let bytes = 4 * words as usize;
        let leaf = || vec![Recv(0, bytes)];
        let program = [vec![Send(1, bytes), Send(2, bytes)], leaf(), leaf()];
        let run = bench.steps(&program, &RunOptions::default());
        let first = START + words;
        // The second request goes when the first message enters the stream stage.
        let second = (START + REQUEST + READY).max(first + COMPLETE) + words;
        let ends = [second, first, second].map(|end| end + END);
        assert_eq!(run.finish, ends, "{words} words");
        assert_eq!(run.after[0], [COMMAND, 2 * COMMAND]);
        let posted = run.messages.iter().map(|(.., [posted, ..])| *posted);
        assert_eq!(posted.collect::<Vec<_>>(), [COMMAND, START]);
    }
}

/// A queue of three commands: one streams, two wait. The core gives the next one when the first of
/// them has moved on.
#[test]
fn a_full_queue_holds_the_core_up() {
    for (depth, waiting) in [("2", 1), ("3", 2), ("4", 3)] {
        let bench = bench(&[("endpoint.queue_depth", depth)]);
        let leaf = || vec![Recv(0, 4)];
        let program = [
            (1..6).map(|to| Send(to, 4)).collect(),
            leaf(),
            leaf(),
            leaf(),
            leaf(),
            leaf(),
        ];
        let run = bench.steps(&program, &RunOptions::default());
        // A message enters the stream stage a handshake after its command, and after the one before it.
        let (mut gives, mut enters): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        for index in 0..5_usize {
            let room = index
                .checked_sub(waiting)
                .map_or(0, |before| enters[before]);
            let give = room.max(gives.last().copied().unwrap_or(0)) + COMMAND;
            let (shaken, free) = match enters.last() {
                None => (give, 0),
                Some(&before) => (give.max(before), before + 1 + COMPLETE),
            };
            gives.push(give);
            enters.push((shaken + REQUEST + READY).max(free));
        }
        assert_eq!(run.after[0], gives, "depth {depth}");
        assert_eq!(run.finish[0], enters[4] + 1 + END, "depth {depth}");
    }
}

/// A request goes down, grants come up, and pieces follow each other.
#[test]
fn a_chain_asks_down_grants_up_and_passes_pieces_on() {
    let bench = bench(&[]);
    let words = 10;
    let start = START + READY;
    for (piece, piece_words) in [
        (None, 1),
        (Some(1), 1),
        (Some(8), 2),
        (Some(9), 3),
        (Some(40), words),
        (Some(400), words),
    ] {
        let program = [
            vec![Send(1, 40)],
            vec![Forward(0, 2, 40, piece)],
            vec![Recv(1, 40)],
        ];
        let run = bench.steps(&program, &RunOptions::default());
        let last = start + piece_words + words;
        let ends = [start + words, last, last].map(|end| end + END);
        assert_eq!(run.finish, ends, "{piece:?}");
        let second = [COMMAND, start + piece_words, last];
        let mut messages = run.messages;
        messages.sort_unstable();
        assert_eq!(
            messages,
            [
                (0, 1, 40, [COMMAND, start, start + words]),
                (1, 2, 40, second)
            ],
            "{piece:?}"
        );
        let end = (Handshake, END);
        let root = [
            (Handshake, COMMAND + REQUEST),
            (WaitPeer(Rank(1)), READY),
            (Handshake, READY),
            (Transfer, words),
            end,
        ];
        assert_eq!(run.spans[0], root, "{piece:?}");
        let middle = [(Handshake, start), (Transfer, piece_words + words), end];
        assert_eq!(run.spans[1], middle, "{piece:?}");
        // Until its words come is a matter of the protocol, not of the rank before it.
        let tail = [
            (Handshake, start + piece_words),
            (Transfer, words),
            (Handshake, END),
        ];
        assert_eq!(run.spans[2], tail, "{piece:?}");
    }
}

/// Each hop takes as long as a word's, the last end too.
#[test]
fn an_empty_message_goes_down_a_chain() {
    for piece in [None, Some(8)] {
        let program = [
            vec![Send(1, 0)],
            vec![Forward(0, 2, 0, piece)],
            vec![Recv(1, 0)],
        ];
        let run = bench(&[]).steps(&program, &RunOptions::default());
        let start = START + READY;
        assert_eq!(run.finish, [start, start + 1, start + 2].map(|at| at + END));
        let spans = run.finish.iter().map(|&end| (Handshake, end));
        let tail: Vec<_> = spans.collect();
        assert_eq!(run.spans[1..], [[tail[1]], [tail[2]]]);
    }
}

/// Both directions go at once; both ends are over when the longer one is.
#[test]
fn an_exchange_ends_with_the_longer_direction() {
    let bench = bench(&[]);
    for [there, back] in [[1, 1], [10, 2], [2, 10], [0, 3]] {
        let program = [
            vec![Exchange((1, 4 * there), (1, 4 * back))],
            vec![Exchange((0, 4 * back), (0, 4 * there))],
        ];
        let long = there.max(back) as u64;
        let run = bench.steps(&program, &RunOptions::default());
        assert_eq!(run.finish, [START + long + END; 2]);
        let spans = [(Handshake, START), (Transfer, long), (Handshake, END)];
        assert_eq!(run.spans, [spans; 2]);

        let late = 60;
        let run = bench.steps(&program, &bench.late([0, late]));
        let there_start = late + COMMAND + READY;
        let back_start = late + START;
        let end = (there_start + there as u64).max(back_start + back as u64);
        assert_eq!(run.finish, [end + END; 2]);
        // Its own ready comes first, and then it waits for the other's words.
        let waits = [
            (Handshake, COMMAND),
            (WaitPeer(Rank(1)), late),
            (Handshake, READY),
            (WaitPeer(Rank(1)), REQUEST),
        ];
        let rest = [(Transfer, end - back_start), (Handshake, END)];
        assert_eq!(run.spans[0], [&waits, &rest[..]].concat());
    }
}

/// It needs a free port, and a command behind it waits until it is through.
#[test]
fn an_exchange_begins_when_the_port_is_free() {
    let bench = bench(&[]);
    let pair = |other| Exchange((other, 40), (other, 40));
    let program = [vec![pair(1)], vec![pair(0)]];
    let free = 30 + COMPLETE;
    let run = bench.steps(&program, &with(&[busy(0, 30)]));
    let end = free + REQUEST + READY + 10 + END;
    assert_eq!(run.finish, [end; 2]);
    let program = [vec![pair(1), Send(2, 4)], vec![pair(0)], vec![Recv(0, 4)]];
    let run = bench.steps(&program, &RunOptions::default());
    let exchanged = START + 10 + END;
    assert_eq!(run.after[0], [exchanged, exchanged + COMMAND]);
    assert_eq!(run.finish[2], exchanged + START + 1 + END);
}

#[test]
fn combining_takes_its_time_for_every_word() {
    let bench = bench(&[]);
    for (bytes, words) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
        let run = bench.steps(&[vec![Combine(bytes)]], &RunOptions::default());
        assert_eq!(run.finish, [words * COMBINE], "{bytes} bytes");
    }
    let run = bench.steps(&[vec![Combine(8)]], &RunOptions::default());
    assert_eq!(run.spans, [[(Compute, 2 * COMBINE)]]);
    // While the engine streams, the time is the message's.
    let program = [vec![Send(1, 400), Combine(4)], vec![Recv(0, 400)]];
    let run = bench.steps(&program, &RunOptions::default());
    assert_eq!(run.after[0], [COMMAND, COMMAND + COMBINE]);
    let spans = [(Handshake, START), (Transfer, 100), (Handshake, END)];
    assert_eq!(run.spans[0], spans);
    // And while it asks.
    let short = self::bench(&[("endpoint.combine", "3")]);
    let run = short.steps(&program, &RunOptions::default());
    assert_eq!(run.after[0], [COMMAND, COMMAND + 3]);
    assert_eq!(run.spans[0], spans);
}

/// Who waits for whom, for what, in which step, and since when.
#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let bench = bench(&[]);
    let both = (1, 4);
    let of = |program: &[Vec<Step>]| bench.stuck_steps(program);
    assert_eq!(
        of(&[vec![Send(1, 4)], vec![Recv(2, 4)], vec![]]),
        [
            (0, 1, Await::Send, 0, COMMAND),
            (1, 2, Await::Recv, 0, COMMAND)
        ]
    );
    // One half of an exchange is over, the other one not.
    assert_eq!(
        of(&[vec![Exchange(both, both)], vec![Recv(0, 4)]]),
        [(0, 1, Await::Recv, 0, START)]
    );
    assert_eq!(
        of(&[vec![Exchange(both, both)], vec![Send(0, 4)]]),
        [(0, 1, Await::Send, 0, START)]
    );
    assert_eq!(
        of(&[vec![Exchange(both, (2, 4))], vec![], vec![]]),
        [(0, 2, Await::Recv, 0, COMMAND)]
    );
    // Granted downstream, a rank still has nothing to pass on.
    assert_eq!(
        of(&[vec![], vec![Forward(0, 2, 4, None)], vec![Recv(1, 4)]]),
        [
            (1, 0, Await::Recv, 0, COMMAND),
            (2, 1, Await::Recv, 0, COMMAND + REQUEST + READY)
        ]
    );
    assert_eq!(
        of(&[vec![Send(1, 4)], vec![Forward(0, 2, 4, None)], vec![]]),
        [
            (0, 1, Await::Send, 0, COMMAND),
            (1, 2, Await::Send, 0, COMMAND + REQUEST)
        ]
    );
}

/// An atomic broadcast along a chain in the order of the ranks, or in one by status.
fn broadcast(bench: &Bench, name: &str, ranks: u32, words: u64, options: RunOptions) -> Report {
    let request = Request::new(Collective::Bcast, ranks, 4 * words);
    let request = bench.machine.request(request, &options);
    let algorithm = algorithm::find(Collective::Bcast, name).expect("registered");
    let schedule = algorithm.schedule(&request);
    let job = Job {
        options,
        ..Job::new(&schedule)
    };
    let report = bench.machine.run(&job).expect("runs");
    report.assert_accounted();
    report
}

fn spans(bench: &Bench, report: &Report, rank: usize) -> Vec<(Cause, u64)> {
    let spans = report.activity[rank].spans();
    let cycles = |time: Time| time.ps() / bench.cycle_ps;
    spans
        .map(|span| (span.cause, cycles(span.end - span.start)))
        .collect()
}

fn makespan(bench: &Bench, report: &Report) -> u64 {
    report.makespan.ps() / bench.cycle_ps
}

/// From a launch to the end: requests at once, readies from the tail to the root, words back.
fn chain(ranks: u64, words: u64) -> u64 {
    let hops = ranks - 1;
    REQUEST + hops * READY + (hops - 1) + words + END
}

/// AP starts when the last rank is there and all ports are free.
#[test]
fn a_launch_waits_for_the_last_rank_and_for_the_busiest_port() {
    let bench = bench(&[]);
    for ranks in [2, 3, 5] {
        let run = broadcast(&bench, "ap", ranks, 6, RunOptions::default());
        let expected = COMMAND + chain(u64::from(ranks), 6);
        assert_eq!(makespan(&bench, &run), expected, "{ranks} ranks");
    }
    let run = broadcast(&bench, "ap", 3, 6, bench.late([0, 50, 20]));
    assert_eq!(makespan(&bench, &run), 50 + COMMAND + chain(3, 6));
    let waits = [(Compute, 20), (Handshake, COMMAND), (WaitPeer(Rank(1)), 30)];
    assert_eq!(spans(&bench, &run, 2)[..3], waits);
    // Of two ports that are busy as long as each other the first one decides.
    let ongoing = with(&[busy(1, 20), busy(2, 40), busy(3, 40)]);
    let run = broadcast(&bench, "ap", 4, 6, ongoing);
    let free = 40 + COMPLETE;
    assert_eq!(makespan(&bench, &run), free + chain(4, 6));
    let waits = [(Handshake, COMMAND), (PortBusy(Rank(2)), free - COMMAND)];
    for rank in 0..4 {
        assert_eq!(spans(&bench, &run, rank)[..2], waits, "rank {rank}");
    }
}

/// Without an order nobody knows how far the words have to go: a ready goes no further ahead, whatever
/// the engines can.
#[test]
fn a_launch_without_an_order_waits_all_the_same() {
    let bench = bench(&[("endpoint.launch", "ready-ahead")]);
    let run = broadcast(&bench, "ap", 4, 6, with(&[busy(2, 40)]));
    assert_eq!(makespan(&bench, &run), 40 + COMPLETE + chain(4, 6));
}

/// What goes over the wires: a request, a ready and words, of which an empty message has none.
#[test]
fn an_empty_message_has_no_words_on_the_wires() {
    let bench = bench(&[]);
    let System::Bus { bus, mpe } = bench.machine.chip().system() else {
        panic!("a bus chip");
    };
    for (words, moved) in [
        (0, None),
        (1, Some(Wire::Words(1))),
        (3, Some(Wire::Words(3))),
    ] {
        let request = Request::new(Collective::Bcast, 2, 4 * words);
        let request = bench.machine.request(request, &RunOptions::default());
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let schedule = linear.schedule(&request);
        let recording = record(bus, mpe, &Job::new(&schedule)).expect("runs");
        let wires = recording.wires.iter().map(|event| {
            let cycle = event.at.ps() / bench.cycle_ps;
            (cycle, event.wire, event.from.0, event.to.0)
        });
        let control = [
            (COMMAND + REQUEST, Wire::Request, 0, 1),
            (COMMAND + REQUEST, Wire::Ready, 1, 0),
        ];
        let moved = moved.map(|words| (START, words, 0, 1));
        let expected: Vec<_> = control.into_iter().chain(moved).collect();
        assert_eq!(wires.collect::<Vec<_>>(), expected, "{words} words");
        let commands = recording.commands.expect("the hardware has them");
        let give = |op| PortCommand {
            shown: 0,
            op,
            addr: 0,
            words,
        };
        let [send, recv] = [PortOp::Send { to: Rank(1) }, PortOp::Recv { from: Rank(0) }];
        assert_eq!(commands, [[give(send)], [give(recv)]]);
    }
}

/// The hardware gets one command for an ordered broadcast, from when on a core is there.
#[test]
fn an_ordered_broadcast_is_one_command_of_each_rank() {
    let bench = bench(&[]);
    let System::Bus { bus, mpe } = bench.machine.chip().system() else {
        panic!("a bus chip");
    };
    let options = bench.late([0, 9, 4]);
    let request = Request::new(Collective::Bcast, 3, 24).with_root(Rank(1));
    let request = bench.machine.request(request, &options);
    let apoc = algorithm::find(Collective::Bcast, "apoc").expect("registered");
    let schedule = apoc.schedule(&request);
    let job = Job {
        options,
        ..Job::new(&schedule)
    };
    let recording = record(bus, mpe, &job).expect("runs");
    let give = |shown| PortCommand {
        shown,
        op: PortOp::Bcast {
            root: Rank(1),
            members: 0b111,
        },
        addr: 0,
        words: 6,
    };
    let commands = recording.commands.expect("the hardware has them");
    assert_eq!(commands, [[give(0)], [give(9)], [give(4)]]);
}

/// APOC orders the ranks, and starts so early that words find each port free.
#[test]
fn an_ordered_launch_counts_the_hops_of_the_words() {
    let bench = bench(&[]);
    let run = broadcast(&bench, "apoc", 4, 6, RunOptions::default());
    assert_eq!(makespan(&bench, &run), COMMAND + ORDER + chain(4, 6));
    assert_eq!(
        spans(&bench, &run, 3)[..2],
        [(Handshake, COMMAND), (Ordering, ORDER)]
    );
    // Rank 1 is last, three hops from the root.
    let run = broadcast(&bench, "apoc", 4, 6, with(&[busy(1, 40)]));
    let held = 40 + COMPLETE - 3;
    assert_eq!(makespan(&bench, &run), held + ORDER + chain(4, 6));
    let waits = [
        (Handshake, COMMAND),
        (PortBusy(Rank(1)), held - COMMAND),
        (Ordering, ORDER),
    ];
    assert_eq!(spans(&bench, &run, 2)[..3], waits);
}

/// The tail sends its ready so many readies and words ahead of its own as there are leaves before it,
/// but not before the complete message, or the clock after its last word, lets the words in.
#[test]
fn a_ready_goes_ahead_by_the_way_to_the_root_and_back() {
    for complete in [1_u64, 2, 3, 6, 7, 8, 9, 11, 30] {
        let text = complete.to_string();
        let changes = [
            ("endpoint.launch", "ready-ahead"),
            ("endpoint.complete", &text),
        ];
        let bench = bench(&changes);
        for ranks in [2, 3, 4, 6] {
            let run = broadcast(&bench, "apoc", ranks, 6, with(&[busy(1, 100)]));
            let hops = u64::from(ranks) - 1;
            let through = match hops {
                // Nobody is between it and the root: it waits until it is free.
                1 => 100 + complete,
                _ => (100 + 1).max((100 + complete).saturating_sub(READY)),
            };
            let granted = (through - (READY + 1) * (hops - 1)).min(100 + complete);
            let start = granted + hops * READY;
            let expected = start + (hops - 1) + 6 + complete + NOTIFY;
            let case = format!("{ranks} ranks, complete {complete}");
            assert_eq!(makespan(&bench, &run), expected, "{case}");
        }
    }
}

/// Only the root orders, and then gives one command after the other.
#[test]
fn the_root_alone_reads_the_scoreboard() {
    let chip = chip("chung2011-bus", &NUMBERS);
    let bench = Bench::new(&chip);
    let plain = broadcast(&bench, "linear", 3, 20, RunOptions::default());
    let ordered = broadcast(&bench, "scoreboard", 3, 20, RunOptions::default());
    let expected = START + 20 + COMPLETE + 20 + END;
    assert_eq!(makespan(&bench, &plain), expected);
    assert_eq!(makespan(&bench, &ordered), ORDER + expected);
    assert_eq!(spans(&bench, &ordered, 0)[0], (Ordering, ORDER));
    assert_eq!(spans(&bench, &ordered, 1)[0], (Handshake, COMMAND));
}

/// Who has not come is named, the first of them, by all who have.
#[test]
fn ranks_at_the_launch_wait_for_the_first_that_is_missing() {
    let bench = bench(&[]);
    let mut options = bench.late([0, 1, 5000, 5000]);
    options.limits.time = Time::from_ps(1000 * bench.cycle_ps);
    let request = Request::new(Collective::Bcast, 4, 4);
    let request = bench.machine.request(request, &options);
    let algorithm = algorithm::find(Collective::Bcast, "ap").expect("registered");
    let schedule = algorithm.schedule(&request);
    let job = Job {
        options,
        ..Job::new(&schedule)
    };
    let Err(RunError::TimeLimit { blocked, .. }) = bench.machine.run(&job) else {
        panic!("two ranks come too late");
    };
    let waits = blocked.iter().map(|one| {
        let since = one.since.ps() / bench.cycle_ps;
        (one.rank.0, one.peer.0, one.awaits, since)
    });
    let expected = [
        (0, 1, Await::Launch, COMMAND),
        (1, 2, Await::Launch, 1 + COMMAND),
    ];
    assert_eq!(waits.collect::<Vec<_>>(), expected);
}
