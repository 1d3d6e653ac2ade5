// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps and messages over a mesh of words, counted by hand: when each ends, when words move, and
//! where the time goes.

use corecast_core::Rank;
use corecast_machine::{Await, Cause, RunError, RunOptions};
use corecast_machine_sim::Fidelity;

use crate::by_hand::{Bench, Call, Lost, Step};
use crate::common::chip;
use Call::{Compute, Irecv, Isend, Test, Wait};
use Cause::{Software, Transfer, WaitPeer};
use Step::{Combine, Exchange, Forward, Recv, Send};

const NUMBERS: [(&str, &str); 15] = [
    ("network.width", "4"),
    ("network.height", "1"),
    ("endpoint.call", "0"),
    ("endpoint.call_per_rank", "0"),
    ("endpoint.send", "20"),
    ("endpoint.recv", "30"),
    ("endpoint.recv_per_rank", "7"),
    ("endpoint.payload", "5"),
    ("endpoint.route", "0"),
    ("endpoint.inject", "2"),
    ("endpoint.extract", "3"),
    ("endpoint.combine", "13"),
    ("endpoint.header", "2"),
    ("endpoint.packet", "8"),
    ("endpoint.queue", "40"),
];

const WRITE: u64 = 2;
const READ: u64 = 3;
const HEADER: u64 = 2;

/// From a word's writing to its place in the queue of a core so many hops away.
const fn way(hops: u64) -> u64 {
    hops + 2
}

/// The software of a send and a receive.
fn send(bytes: u64) -> u64 {
    20 + if bytes > 0 { 5 } else { 0 }
}

fn recv(ranks: u64, bytes: u64) -> u64 {
    30 + 7 * ranks + if bytes > 0 { 5 } else { 0 }
}

fn bench(changes: &[(&str, &str)]) -> Bench {
    let all: Vec<_> = NUMBERS.iter().chain(changes).copied().collect();
    Bench::new(&chip("tilepro64", &all))
}

fn play(bench: &Bench, steps: &[Vec<Step>]) -> crate::by_hand::Played {
    bench.steps(steps, &RunOptions::default())
}

/// The receiver's ready is there before the sender has done its software; then words are written
/// one after the other and read more slowly.
#[test]
fn a_message_is_a_ready_its_software_and_its_words() {
    let bench = bench(&[]);
    for (bytes, words) in [(0, 0), (1, 1), (4, 1), (5, 2), (32, 8)] {
        let run = play(&bench, &[vec![Send(1, bytes)], vec![Recv(0, bytes)]]);
        let bytes = bytes as u64;
        let start = send(bytes) + HEADER * READ;
        let flits = words + HEADER;
        let read = start + way(1) + flits * READ;
        let end = read + recv(2, bytes);
        assert_eq!(run.finish[1], end, "{bytes} bytes");
        assert_eq!(run.messages, [(0, 1, bytes, [0, start, read])]);
        let receiver = [
            (Transfer, HEADER * WRITE),
            (WaitPeer(Rank(0)), start + way(1) - HEADER * WRITE),
            (Transfer, flits * READ),
            (Software, recv(2, bytes)),
        ];
        assert_eq!(run.spans[1], receiver, "{bytes} bytes");
        let sender = [
            (Software, send(bytes)),
            (Transfer, HEADER * READ + flits * WRITE),
        ];
        assert_eq!(run.spans[0], sender, "{bytes} bytes");
    }
}

#[test]
fn combining_takes_its_time_for_every_word() {
    let bench = bench(&[]);
    for (bytes, words) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
        let run = play(&bench, &[vec![Combine(bytes)]]);
        assert_eq!(run.finish, [13 * words], "{bytes} bytes");
    }
}

/// Who waits for whom, for what, and since when.
#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let bench = bench(&[]);
    let of = |program: &[Vec<Step>]| bench.stuck_steps(program);
    assert_eq!(
        of(&[vec![Send(1, 4)], vec![]]),
        [(0, 1, Await::Send, 0, send(4))]
    );
    assert_eq!(
        of(&[vec![], vec![Recv(0, 4)]]),
        [(1, 0, Await::Recv, 0, HEADER * WRITE)]
    );
    assert_eq!(
        of(&[vec![], vec![Exchange((0, 4), (0, 4))]]),
        [(1, 0, Await::Recv, 0, send(4) + HEADER * WRITE)]
    );
    assert_eq!(
        of(&[vec![], vec![Forward(0, 2, 4, None)], vec![Recv(1, 4)]]),
        [
            // It has read the ready of rank 2.
            (1, 0, Await::Recv, 0, HEADER * (WRITE + READ)),
            (2, 1, Await::Recv, 0, HEADER * WRITE)
        ]
    );
}

/// Readies go first, then each packet, of which the other side's is read afterwards.
#[test]
fn an_exchange_writes_before_it_reads() {
    let bench = bench(&[]);
    for packets in [&[0_u64][..], &[4], &[8], &[8, 4]] {
        let bytes = 4 * packets.iter().sum::<u64>();
        let pair = |other| vec![Exchange((other, bytes as usize), (other, bytes as usize))];
        let run = play(&bench, &[pair(1), pair(0)]);
        let flits = packets.iter().map(|words| HEADER + words + HEADER);
        let moved: u64 = flits.map(|flits| flits * (WRITE + READ)).sum();
        let end = send(bytes) + moved + recv(2, bytes);
        assert_eq!(run.finish, [end; 2], "{packets:?}");
    }
}

/// A packet is read, the software of both directions runs, and the packet is written again.
#[test]
fn a_forward_reads_a_packet_before_it_writes_it() {
    let program = [
        vec![Send(1, 16)],
        vec![Forward(0, 2, 16, None)],
        vec![Recv(1, 16)],
    ];
    let run = play(&bench(&[]), &program);
    let flits = 4 + HEADER;
    let read = send(16) + HEADER * READ + way(1) + flits * READ;
    let start = read + send(16) + recv(3, 16);
    assert_eq!(run.finish[1], start + flits * WRITE);
    assert_eq!(run.finish[2], start + way(1) + flits * READ + recv(3, 16));
}

fn synchronous() -> Bench {
    Bench::new(&chip("tilepro64-operampi", &NUMBERS))
}

/// The ready comes first, then the software of both ends, one after the other, and a word that it is
/// done.
#[test]
fn a_synchronous_sender_waits_for_the_end() {
    let run = play(&synchronous(), &[vec![Send(1, 16)], vec![Recv(0, 16)]]);
    let control = way(1) + HEADER * READ;
    let start = control + send(16);
    let end = start + way(1) + (4 + HEADER) * READ + recv(2, 16);
    assert_eq!(run.finish, [end + control, end + HEADER * WRITE]);
    assert_eq!(run.spans[0][0], (WaitPeer(Rank(1)), way(1)));
    // Without payload nobody waits; the ready is read at the end.
    let run = play(&synchronous(), &[vec![Send(1, 0)], vec![Recv(0, 0)]]);
    let read = send(0) + way(1) + HEADER * READ;
    let sent = send(0) + HEADER * WRITE + HEADER * READ;
    assert_eq!(run.finish, [sent, read + recv(2, 0)]);
}

#[test]
fn a_synchronous_message_ends_with_a_header() {
    let program = [vec![Isend(1, 16), Wait], vec![Call::Recv(Some(0))]];
    let run = synchronous().calls(&program, &RunOptions::default());
    let letter = way(1) + (4 + HEADER) * READ;
    let start = 2 * letter + send(16);
    let end = start + way(1) + (4 + HEADER) * READ + recv(2, 16);
    assert_eq!(run.finish, [end + letter, end + (4 + HEADER) * WRITE]);
}

/// A sender that is not ready yet finds the readies of several packets one by one.
#[test]
fn packets_wait_for_their_readies() {
    let run = play(&bench(&[]), &[vec![Send(1, 48)], vec![Recv(0, 48)]]);
    let first = send(48) + HEADER * READ;
    let read = first + way(1) + (8 + HEADER) * READ;
    // The second ready goes when the first packet has been read.
    let second = read + way(1) + HEADER * READ;
    let end = second + way(1) + (4 + HEADER) * READ;
    assert_eq!(
        run.finish,
        [second + (4 + HEADER) * WRITE, end + recv(2, 48)]
    );
    assert_eq!(run.messages, [(0, 1, 48, [0, second, end])]);
}

/// A port that is busy from before the run is waited for before the first call.
#[test]
fn a_busy_port_is_waited_for_by_programs_of_messages() {
    let bench = bench(&[]);
    let options = RunOptions {
        ongoing: vec![corecast_machine::Ongoing {
            src: Rank(0),
            dst: None,
            bytes: 400,
        }],
        ..RunOptions::default()
    };
    let run = bench.calls(&[vec![Isend(1, 0), Wait], vec![Call::Recv(None)]], &options);
    let busy = 100 * WRITE;
    assert_eq!(run.after[0][0], busy + send(0) + (4 + HEADER) * WRITE);
    assert_eq!(run.spans[0][0], (Cause::PortBusy(Rank(0)), busy));
}

/// An envelope, a wish and the payload, each behind a header of four words; an empty message is its
/// envelope alone.
#[test]
fn an_empty_message_is_its_envelope() {
    let bench = bench(&[]);
    let run = bench.calls(
        &[vec![Isend(1, 0), Wait], vec![Call::Recv(Some(0))]],
        &RunOptions::default(),
    );
    let flits = 4 + HEADER;
    let start = send(0);
    let read = start + way(1) + flits * READ;
    assert_eq!(run.after[0], [start + flits * WRITE; 2]);
    assert_eq!(run.finish[1], read + recv(2, 0));
    assert_eq!(run.messages, [(0, 1, 0, [0, start, read])]);
}

#[test]
fn a_message_is_asked_for_packet_by_packet() {
    let bench = bench(&[]);
    for packets in [&[1_u64][..], &[8], &[8, 1], &[8, 8, 3]] {
        let words: u64 = packets.iter().sum();
        let bytes = 4 * words;
        let run = bench.calls(
            &[vec![Isend(1, bytes as usize), Wait], vec![Call::Recv(None)]],
            &RunOptions::default(),
        );
        let letter = way(1) + (4 + HEADER) * READ;
        let mut now = send(bytes) + letter;
        for words in packets {
            // The wish is written, read and served; the packet is written while it is read.
            now += letter + way(1) + (words + HEADER) * READ;
        }
        assert_eq!(run.finish[1], now + recv(2, bytes), "{packets:?}");
    }
}

/// Looking takes as long as writing a word.
#[test]
fn a_look_takes_the_time_of_a_word() {
    let program = [
        vec![Irecv(1), Test, Test, Wait],
        vec![Compute(100), Isend(0, 0), Wait],
    ];
    let run = bench(&[]).calls(&program, &RunOptions::default());
    assert_eq!(run.after[0][..3], [0, WRITE, 2 * WRITE]);
    assert_eq!(run.spans[0][0], (Software, 2 * WRITE));
}

/// A look reads whatever has come.
#[test]
fn a_look_reads_what_is_there() {
    let program = [
        vec![
            Irecv(2),
            Compute(100),
            Test,
            Test,
            Wait,
            Call::Recv(Some(1)),
        ],
        vec![Isend(0, 0), Wait],
        vec![Compute(500), Isend(0, 0), Wait],
    ];
    let run = bench(&[]).calls(&program, &RunOptions::default());
    let read = 100 + WRITE + (4 + HEADER) * READ;
    assert_eq!(run.after[0][2..4], [read, read + WRITE]);
}

/// Its software runs once, before the first packet; an empty one does not wait for a word.
#[test]
fn a_synchronous_message_of_several_packets_has_its_software_once() {
    let program = |bytes| [vec![Isend(1, bytes), Wait], vec![Call::Recv(Some(0))]];
    let run = synchronous().calls(&program(48), &RunOptions::default());
    let letter = way(1) + (4 + HEADER) * READ;
    let first = 2 * letter + send(48) + way(1) + (8 + HEADER) * READ;
    let last = first + letter + way(1) + (4 + HEADER) * READ + recv(2, 48);
    assert_eq!(run.finish[0], last + letter);
    let run = synchronous().calls(&program(0), &RunOptions::default());
    let sent = send(0) + (4 + HEADER) * WRITE;
    assert_eq!(run.finish, [sent, send(0) + letter + recv(2, 0)]);
    let run = synchronous().steps(
        &[vec![Send(1, 48)], vec![Recv(0, 48)]],
        &RunOptions::default(),
    );
    let control = way(1) + HEADER * READ;
    let first = control + send(48) + way(1) + (8 + HEADER) * READ;
    let last = first + control + way(1) + (4 + HEADER) * READ + recv(2, 48);
    assert_eq!(run.finish, [last + control, last + HEADER * WRITE]);
}

#[test]
fn a_late_core_begins_late() {
    let bench = bench(&[]);
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(None)]];
    let run = bench.calls(&program, &bench.late([30, 0]));
    assert_eq!(run.after[0][0], 30 + send(0) + (4 + HEADER) * WRITE);
    assert_eq!(run.spans[0][0], (Cause::Compute, 30));
}

#[test]
fn a_program_takes_its_time_to_combine_every_word() {
    for (bytes, words) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
        let program = [vec![Call::Combine(bytes), Compute(1)]];
        let run = bench(&[]).calls(&program, &RunOptions::default());
        let end = 13 * words;
        assert_eq!(run.after[0], [end, end + 1], "{bytes} bytes");
    }
}

/// What a core has begun to send it sends before it ends, and is then said to wait for its receiver.
#[test]
fn a_rank_ends_when_all_it_has_sent_is_gone() {
    let bench = bench(&[]);
    let run = bench.calls(
        &[vec![Isend(1, 16)], vec![Call::Recv(Some(0))]],
        &RunOptions::default(),
    );
    let letter = way(1) + (4 + HEADER) * READ;
    let wish = send(16) + 2 * letter;
    assert_eq!(run.after[0], [send(16) + (4 + HEADER) * WRITE]);
    assert_eq!(run.finish[0], wish + (4 + HEADER) * WRITE);
    let program = [
        vec![Isend(1, 16)],
        vec![Irecv(2), Wait],
        vec![Irecv(1), Wait],
    ];
    let stuck = bench.stuck_calls(&program);
    let waits: Vec<_> = stuck
        .iter()
        .map(|&(rank, peer, awaits, ..)| (rank, peer, awaits))
        .collect();
    let recv = Await::Tag(5);
    assert_eq!(waits, [(0, 1, Await::Send), (1, 2, recv), (2, 1, recv)]);
}

/// A message for a rank that has ended.
#[test]
fn a_message_that_nobody_receives_is_an_error() {
    let failed = bench(&[]).failed_calls(&[vec![], vec![Isend(0, 0), Wait]]);
    let RunError::Unreceived { to, envelope } = failed else {
        panic!("{failed}");
    };
    assert_eq!((to, envelope.from, envelope.bytes), (Rank(0), Rank(1), 0));
}

/// Words that come more slowly than they can be read are read one by one, as they come.
#[test]
fn a_reader_waits_for_each_word() {
    let write = 5;
    for fidelity in [Fidelity::Flit, Fidelity::Packet] {
        let mut slow = bench(&[("endpoint.inject", "5")]);
        slow.machine = slow.machine.with_fidelity(fidelity);
        let run = play(&slow, &[vec![Send(1, 16)], vec![Recv(0, 16)]]);
        let start = send(16) + HEADER * READ;
        let last = start + (3 + HEADER) * write + way(1);
        assert_eq!(run.messages, [(0, 1, 16, [0, start, last + READ])]);
    }
}

/// Time in which a core waits for words is the other core's, whichever that is.
#[test]
fn a_program_waits_for_whoever_sends() {
    let program = [vec![Call::Recv(None)], vec![Compute(90), Isend(0, 0), Wait]];
    let run = bench(&[]).calls(&program, &RunOptions::default());
    let waits = [
        (WaitPeer(Rank(1)), 90 + send(0) + way(1)),
        (Transfer, (4 + HEADER) * READ),
        (Software, recv(2, 0)),
    ];
    assert_eq!(run.spans[0], waits);
}

/// The one of three that is late holds up the others; each hears that its message has been received
/// while it still waits for one.
#[test]
fn synchronous_exchanges_remember_who_has_received() {
    let bench = synchronous();
    let ring = |me: u32| vec![Exchange(((me + 1) % 3, 16), ((me + 2) % 3, 16))];
    let program = [ring(0), ring(1), ring(2)];
    let run = bench.steps(&program, &bench.late([0, 0, 1000]));
    let control = way(1) + HEADER * READ;
    // Rank 1 waits for the ready of rank 2, rank 0 for the packet of rank 2.
    assert!(run.finish.iter().all(|&finish| finish > 1000 + control));
}

/// Each of two messages is heard of, and so is that of a forward, which is the longer for it.
#[test]
fn every_synchronous_message_is_waited_for() {
    let control = way(1) + HEADER * READ;
    let message = (4 + HEADER) * READ;
    let run = play(
        &synchronous(),
        &[vec![Send(1, 16); 2], vec![Recv(0, 16); 2]],
    );
    let once = control + send(16) + way(1) + message + recv(2, 16);
    // Behind the word that it is received comes a ready, on the way while that word is read.
    let ready = HEADER * WRITE.max(READ);
    assert_eq!(
        run.after[0],
        [once + control, once + ready + once + control]
    );
    let program = [
        vec![Send(1, 16)],
        vec![Forward(0, 2, 16, None)],
        vec![Recv(1, 16)],
    ];
    let run = play(&synchronous(), &program);
    assert_eq!(run.finish[1], run.finish[2] - HEADER * WRITE + control);
}

/// A ready that an empty message has used does not serve the next message.
#[test]
fn an_empty_message_uses_its_ready() {
    let program = [
        vec![Recv(2, 4), Send(1, 0), Send(1, 16)],
        vec![Recv(0, 0), Recv(0, 16)],
        vec![Send(0, 4)],
    ];
    let bench = synchronous();
    let run = bench.steps(&program, &bench.late([0, 0, 100]));
    let control = way(1) + HEADER * READ;
    let second = run.after[1][0] + control + send(16);
    let end = second + way(1) + (4 + HEADER) * READ + recv(3, 16);
    assert_eq!(run.after[1][1], end + HEADER * WRITE);
}

/// The head of 0 to 5 waits for 1 to 2, and then for 3 to 4, until their last words have gone; so
/// long waits the core that reads it. The one that writes it waits until all of it has a place.
#[test]
fn time_is_lost_to_links_that_are_others() {
    let bench = bench(&[("network.width", "6")]);
    let program = [
        vec![Send(5, 32)],
        vec![Send(2, 32)],
        vec![Recv(1, 32)],
        vec![Send(4, 32)],
        vec![Recv(3, 32)],
        vec![Recv(0, 32)],
    ];
    let run = bench.steps(&program, &bench.late([0, 0, 0, 20, 0, 0]));
    let start = send(32) + HEADER * READ;
    let busy = (8 + HEADER - 1) * WRITE;
    let lost = |rank, since, cycles, link, holder| Lost {
        rank,
        since,
        cycles,
        link,
        message: (0, 5),
        holder: Some(holder),
    };
    let [first, second] = [start + 2, start + 20 + 2];
    let writer_ends = run.finish[0];
    let of_writer = writer_ends - start - (8 + HEADER) * WRITE - 1;
    assert_eq!(
        run.lost,
        [
            lost(0, first, of_writer, (1, 2), (1, 2)),
            lost(5, first, busy, (1, 2), (1, 2)),
            lost(5, second, busy, (3, 4), (3, 4)),
        ]
    );
    assert!(of_writer > 0 && of_writer < busy);
    assert_eq!(run.holds, run.lost.len());
}

/// A longer packet is still being written when its first words are read, and both heads' waits have
/// held up its writer: as long as the path has no places for its words.
#[test]
fn a_writer_loses_time_at_two_links() {
    let bench = bench(&[("network.width", "6"), ("endpoint.packet", "32")]);
    let program = [
        vec![Send(5, 128)],
        vec![Send(2, 64)],
        vec![Recv(1, 64)],
        vec![Send(4, 128)],
        vec![Recv(3, 128)],
        vec![Recv(0, 128)],
    ];
    let run = bench.steps(&program, &bench.late([0, 0, 0, 4, 0, 0]));
    let start = send(128) + HEADER * READ;
    let first = (16 + HEADER - 1) * WRITE;
    let second_since = start + first + 4;
    let all = run.finish[0] - start - (32 + HEADER) * WRITE - 1;
    let expected = [
        (0, start + 2, first, (1, 2)),
        (0, second_since, all - first, (3, 4)),
        (5, start + 2, first, (1, 2)),
        // Rank 3 is two words behind when the head comes.
        (
            5,
            second_since,
            (32 + HEADER - 1) * WRITE - first + 2,
            (3, 4),
        ),
    ];
    let lost = run.lost.iter();
    let lost: Vec<_> = lost
        .map(|lost| (lost.rank, lost.since, lost.cycles, lost.link))
        .collect();
    assert_eq!(lost, expected);
    assert!(all > first);
}

/// Traffic of others is nobody's message.
#[test]
fn time_is_lost_to_background_traffic() {
    let bench = bench(&[("network.height", "4")]);
    let options = RunOptions {
        background: Some(corecast_machine::Background {
            rate: 0.15,
            packet_flits: 4,
            seed: 1,
        }),
        ..RunOptions::default()
    };
    let run = bench.steps(&[vec![Send(1, 4000)], vec![Recv(0, 4000)]], &options);
    assert!(!run.lost.is_empty());
    for lost in run.lost {
        assert_eq!(lost.holder, None);
        assert!([(0, 1), (1, 0)].contains(&lost.message));
    }
}

/// A core that is held up and reads its full queue meanwhile goes on when its own last word has been
/// taken, not when it has read: whenever it began, that is when its receiver has made room.
#[test]
fn a_core_that_reads_while_it_writes_waits_for_its_last_word() {
    let tiny = bench(&[("network.width", "3"), ("endpoint.queue", "8")]);
    let to_both = |me: u32| {
        let others = move || (0..3).filter(move |&other| other != me);
        let sends = others().map(|other| Isend(other, 4));
        let receives = others().map(Irecv);
        sends.chain(receives).chain([const { Wait }; 4]).collect()
    };
    let ends = (22..=26).map(|late| {
        let program = [0, 1, 2].map(to_both);
        tiny.calls(&program, &tiny.late([0, late, 0])).after[1][1]
    });
    let ends: Vec<u64> = ends.collect();
    // As if it had begun last, and had been held up by nobody.
    let alone = 26 + 2 * (send(4) + (4 + HEADER) * WRITE);
    assert_eq!(ends, [alone; 5]);
}
