// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps and messages through message passing buffers whose memory costs nothing, counted by hand:
//! when each ends, and where the time goes.

use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{Await, Cause, Job, Machine, Ongoing, RunOptions};

use crate::by_hand::{Bench, Call, Step};
use Call::{Compute, Irecv, Isend, Test, Wait};
use Cause::{Handshake, PortBusy, Software, Transfer, WaitPeer};
use Step::{Combine, Exchange, Forward, Recv, Send};

/// Lines of the own buffer and of another's: ranks 0 and 1 share a router.
pub const OWN_READ: u64 = 5;
pub const OWN_WRITE: u64 = 8;
pub const READ: u64 = 11;
pub const WRITE: u64 = 14;
/// Software of the libraries.
const RCCE: u64 = 17;
const IRCCE: u64 = 19;
pub const ONE_SIDED: u64 = 23;
pub const LINE: usize = 32;

pub fn bench(library: &str) -> Bench {
    bench_changed(library, &[])
}

/// With other numbers, as by `find_changed`.
pub fn bench_changed(library: &str, changes: &[(&str, &str)]) -> Bench {
    let number = |value, unit| {
        format!(
            "{{ value = {value}, unit = \"{unit}\", kind = \"assumed\", source = \"by hand\" }}"
        )
    };
    let (period, line) = (number(1, "ns"), |value| number(value, "cycles/line"));
    let (word, free) = (number(0, "cycles/word"), number(0, "cycles/line"));
    let text = format!(
        r#"
        base = "scc"
        name = "by-hand"
        [clocks.core]
        period = {period}
        [clocks.mesh]
        period = {period}
        [clocks.ddr]
        period = {period}
        [memory]
        l2_read = {free}
        read = {free}
        write_back = {free}
        port = {free}
        l2_store = {word}
        store = {word}
        [endpoint]
        library = "{library}"
        own_read = {}
        own_write = {}
        mpb_read = {}
        mpb_write = {}
        rcce = {}
        ircce = {}
        one_sided = {}
        "#,
        line(OWN_READ),
        line(OWN_WRITE),
        line(READ),
        line(WRITE),
        number(RCCE, "cycles"),
        number(IRCCE, "cycles"),
        number(ONE_SIDED, "cycles"),
    );
    let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    let changes: Vec<_> = owned.collect();
    let chip = corecast_chip::parse_changed(&text, "by-hand.toml", &changes);
    Bench::new(&chip.expect("valid"))
}

/// When a core that polls so many flags of its own, from `begin` on, sees that number `index` has been
/// set at `since`.
pub fn polled(begin: u64, (index, count): (u64, u64), since: u64) -> u64 {
    let first = begin + OWN_READ * (index + 1);
    first + OWN_READ * count * since.saturating_sub(first).div_ceil(OWN_READ * count)
}

pub const ALONE: (u64, u64) = (0, 1);
/// A flag of the own buffer; one of another's, and how long after its begin that is there.
const OWN_FLAG: u64 = OWN_WRITE + OWN_WRITE;
const FLAG: u64 = OWN_WRITE + WRITE;
const THERE: u64 = OWN_WRITE + WRITE / 2;

/// Sends and receives chunks of so many lines; software is spent before each of them, by the receiver
/// before it looks or after.
fn chunks(lines: &[u64], software: u64, is_before: bool) -> [u64; 2] {
    let (mut sender, mut receiver) = (0, 0);
    for lines in lines {
        sender += software + OWN_WRITE * lines;
        let sent = sender + THERE;
        sender += FLAG;
        receiver += if is_before { software } else { 0 };
        receiver = polled(receiver, ALONE, sent);
        receiver += if is_before { 0 } else { software };
        receiver += OWN_FLAG + READ * lines;
        let ready = receiver + THERE;
        receiver += FLAG;
        sender = polled(sender, ALONE, ready) + OWN_FLAG;
    }
    [sender, receiver]
}

/// Lines of the chunks of a message of so many bytes.
fn lines_of(bytes: usize, room: usize) -> Vec<u64> {
    let rest = (bytes == 0).then_some(0);
    let whole = (0..bytes)
        .step_by(room)
        .map(|at| (bytes - at).min(room).div_ceil(LINE));
    whole.chain(rest).map(|lines| lines as u64).collect()
}

/// What of a buffer messages may use.
pub fn room() -> usize {
    let chip = corecast_chip::find("scc").expect("built in");
    let corecast_chip::System::Mpb { mesh, memory, rcce } = chip.system() else {
        panic!("a chip with buffers");
    };
    rcce.payload_bytes(mesh.grid.ranks_max(), memory.line_bytes) as usize
}

fn message(bytes: usize) -> Vec<Vec<Step>> {
    vec![vec![Send(1, bytes)], vec![Recv(0, bytes)]]
}

#[test]
fn a_message_is_put_told_taken_and_told() {
    let room = room();
    for (library, software, is_before) in [("rcce", RCCE, true), ("ircce", IRCCE, false)] {
        let bench = bench(library);
        for bytes in [0, 1, 32, 33, room, room + 1, 2 * room + 64] {
            let run = bench.steps(&message(bytes), &RunOptions::default());
            let ends = chunks(&lines_of(bytes, room), software, is_before);
            assert_eq!(run.finish, ends, "{library}, {bytes} bytes");
            let [(from, to, len, [posted, start, end])] = run.messages[..] else {
                panic!("one message: {:?}", run.messages);
            };
            assert_eq!((from, to, len, posted), (0, 1, bytes as u64, 0));
            assert_eq!((start, end), (0, ends[1]), "{library}, {bytes} bytes");
        }
    }
}

#[test]
fn cores_account_for_software_waits_and_lines() {
    let run = bench("rcce").steps(&message(64), &RunOptions::default());
    let sent = RCCE + 2 * OWN_WRITE + THERE;
    let seen = polled(RCCE, ALONE, sent);
    let receiver = [
        (Software, RCCE),
        (WaitPeer(Rank(0)), sent - RCCE),
        (Handshake, seen - sent + OWN_FLAG),
        (Transfer, 2 * READ),
        (Handshake, FLAG),
    ];
    assert_eq!(run.spans[1], receiver);
    let ready = seen + OWN_FLAG + 2 * READ + THERE;
    let told = RCCE + 2 * OWN_WRITE + FLAG;
    let sender = [
        (Software, RCCE),
        (Transfer, 2 * OWN_WRITE),
        (Handshake, FLAG),
        (WaitPeer(Rank(1)), ready - told),
        (Handshake, run.finish[0] - ready),
    ];
    assert_eq!(run.spans[0], sender);
}

/// Both put first, see the other's chunk as the second of two flags, and then that theirs is taken.
#[test]
fn an_exchange_polls_both_flags() {
    let pair = |other| vec![Exchange((other, 64), (other, 64))];
    let run = bench("ircce").steps(&[pair(1), pair(0)], &RunOptions::default());
    let put = IRCCE + 2 * OWN_WRITE;
    let seen = polled(put + FLAG, (1, 2), put + THERE);
    let taken = seen + IRCCE + OWN_FLAG + 2 * READ;
    let end = polled(taken + FLAG, ALONE, taken + THERE) + OWN_FLAG;
    assert_eq!(run.finish, [end; 2]);
}

/// A chunk is received whole and sent on.
#[test]
fn a_forward_receives_and_sends() {
    let program = [vec![Send(1, 64)], vec![Forward(0, 0, 64, None)]];
    for (library, software, is_before) in [("rcce", RCCE, true), ("ircce", IRCCE, false)] {
        let mut program = program.to_vec();
        program[0].push(Recv(1, 64));
        let bench = bench(library);
        let run = bench.steps(&program, &RunOptions::default());
        let [sent, got] = chunks(&[2], software, is_before);
        let put = got + software + 2 * OWN_WRITE;
        let looks = sent + if is_before { software } else { 0 };
        let seen = polled(looks, ALONE, put + THERE) + if is_before { 0 } else { software };
        let taken = seen + OWN_FLAG + 2 * READ;
        let end = polled(put + FLAG, ALONE, taken + THERE) + OWN_FLAG;
        assert_eq!(run.finish, [taken + FLAG, end], "{library}");
    }
}

/// A piece is announced when it lies in the buffer, and nobody takes flags back.
#[test]
fn a_one_sided_message_is_put_and_announced() {
    let bench = bench("one-sided");
    let request = Request::new(Collective::Bcast, 2, 96);
    let request = bench.machine.request(request, &RunOptions::default());
    let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
    let schedule = algorithm::build(linear, &request).expect("fits");
    let report = bench.machine.run(&Job::new(&schedule)).expect("runs");
    assert!(report.delivered());
    let announced = ONE_SIDED + 3 * OWN_WRITE + ONE_SIDED;
    let taken = polled(ONE_SIDED, ALONE, announced + THERE) + 3 * READ;
    let end = polled(announced + FLAG, ALONE, taken + THERE);
    let finish: Vec<u64> = report
        .finish
        .iter()
        .map(|time| time.ps() / bench.cycle_ps)
        .collect();
    assert_eq!(finish, [end, taken + FLAG]);
}

#[test]
fn combining_takes_its_time_for_every_word() {
    let bench = bench("rcce");
    for (bytes, words) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
        let run = bench.steps(&[vec![Combine(bytes)]], &RunOptions::default());
        assert_eq!(run.finish, [4 * words], "{bytes} bytes");
        assert_eq!(run.spans[0].len(), usize::from(words > 0));
    }
}

/// Of messages, too; the call does nothing else.
#[test]
fn calls_that_compute_and_combine_take_their_time() {
    let program = [vec![Compute(100), Call::Combine(9), Call::Combine(0)]];
    let run = bench("rcce").calls(&program, &RunOptions::default());
    assert_eq!(run.after, [[100, 100 + 4 * 3, 100 + 4 * 3]]);
    assert_eq!(run.spans, [[(Cause::Compute, 112)]]);
}

#[test]
fn a_late_rank_computes_before_its_steps() {
    let bench = bench("rcce");
    let run = bench.steps(&message(64), &bench.late([100, 0]));
    assert_eq!(run.spans[0][0], (Cause::Compute, 100));
    let [(.., [posted, start, _])] = run.messages[..] else {
        panic!("one message: {:?}", run.messages);
    };
    assert_eq!((posted, start), (100, 100));
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let bench = bench("rcce");
    let told = RCCE + OWN_WRITE + FLAG;
    assert_eq!(
        bench.stuck_steps(&[vec![Send(1, 4)], vec![Recv(2, 4)], vec![]]),
        [
            (0, 1, Await::Send, 0, told),
            // It looks again whenever one of its flags is set.
            (1, 2, Await::Recv, 0, RCCE + OWN_WRITE + THERE)
        ]
    );
}

/// A header's line is put and told; its receiver takes it, and tells.
struct Line {
    /// When it is there, and when the sender goes on.
    there: u64,
    sent: u64,
}

fn line(begin: u64) -> Line {
    let put = begin + IRCCE + OWN_WRITE;
    Line {
        there: put + THERE,
        sent: put + FLAG,
    }
}

/// A line that is seen at this time has been taken, with so many lines of payload.
fn taken(seen: u64, lines: u64) -> u64 {
    seen + OWN_FLAG + IRCCE + READ + READ * lines
}

/// Who has sent a line polls two flags: for a line of the other core, and that its own is taken.
const SECOND: (u64, u64) = (1, 2);

#[test]
fn an_empty_message_is_a_line() {
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(Some(0))]];
    let run = bench("rcce").calls(&program, &RunOptions::default());
    let envelope = line(0);
    let took = taken(polled(0, ALONE, envelope.there), 0);
    let told = polled(envelope.sent, SECOND, took + THERE) + OWN_FLAG;
    assert_eq!(run.after[0], [envelope.sent, told]);
    assert_eq!(run.finish, [told, took + FLAG]);
    assert_eq!(run.messages, [(0, 1, 0, [0, took, took])]);
}

/// Bytes of a core's slot for another one, and of a header with its time.
const SLOT: usize = 8 * LINE;
const HEAD: usize = 24;

/// All of a short message lies in the slot, from behind its header on; its receiver reads the first line,
/// and then knows how many more there are.
#[test]
fn a_short_message_goes_with_its_envelope() {
    for bytes in [1, LINE - HEAD, LINE - HEAD + 1, SLOT - HEAD] {
        let program = [vec![Isend(1, bytes), Wait], vec![Call::Recv(Some(0))]];
        let run = bench("rcce").calls(&program, &RunOptions::default());
        let more = (HEAD + bytes).div_ceil(LINE) as u64 - 1;
        // As if the line were put later.
        let whole = line(OWN_WRITE * more);
        let took = taken(polled(0, ALONE, whole.there), more);
        let told = polled(whole.sent, SECOND, took + THERE) + OWN_FLAG;
        assert_eq!(run.after[0], [whole.sent, told], "{bytes} bytes");
        assert_eq!(run.finish, [told, took + FLAG], "{bytes} bytes");
        let start = took - READ * more;
        assert_eq!(run.messages, [(0, 1, bytes as u64, [0, start, took])]);
    }
}

#[test]
fn a_message_is_an_envelope_a_wish_and_its_parts() {
    // Of both cores there is a slot.
    let room = room() - 2 * SLOT;
    for bytes in [SLOT - HEAD + 1, 1000, room, room + 1] {
        let program = [vec![Isend(1, bytes), Wait], vec![Call::Recv(None)]];
        let run = bench("ircce").calls(&program, &RunOptions::default());
        let envelope = line(0);
        let took = taken(polled(0, ALONE, envelope.there), 0);
        let mut sender = polled(envelope.sent, SECOND, took + THERE) + OWN_FLAG;
        let wish = line(took + FLAG);
        let heard = taken(polled(sender, ALONE, wish.there), 0);
        let mut receiver = polled(wish.sent, SECOND, heard + THERE) + OWN_FLAG;
        sender = heard + FLAG;
        for lines in lines_of(bytes, room) {
            let part = line(sender + OWN_WRITE * lines);
            let took = taken(polled(receiver, ALONE, part.there), lines);
            receiver = took + FLAG;
            sender = polled(part.sent, SECOND, took + THERE) + OWN_FLAG;
        }
        assert_eq!(run.finish, [sender, receiver], "{bytes} bytes");
    }
}

/// Who has sent does not end before that has been taken.
#[test]
fn a_rank_ends_when_its_lines_have_been_taken() {
    let late = 500;
    let program = [vec![Isend(1, 0)], vec![Compute(late), Call::Recv(Some(0))]];
    let bench = bench("rcce");
    let run = bench.calls(&program, &RunOptions::default());
    let envelope = line(0);
    let took = taken(polled(late, ALONE, envelope.there), 0);
    let told = polled(envelope.sent, SECOND, took + THERE) + OWN_FLAG;
    assert_eq!((run.after[0][0], run.finish[0]), (envelope.sent, told));
    let nobody_takes = [vec![Isend(1, 0)], vec![]];
    let waits = [(0, 1, Await::Send, 2, envelope.sent)];
    assert_eq!(bench.stuck_calls(&nobody_takes), waits);
}

/// Looking reads the flags of all others once.
#[test]
fn a_look_reads_every_flag() {
    let program = [
        vec![Irecv(1), Test, Test, Wait],
        vec![Compute(200), Isend(0, 0), Wait],
        vec![],
    ];
    let run = bench("rcce").calls(&program, &RunOptions::default());
    assert_eq!(run.after[0][..3], [0, 2 * OWN_READ, 4 * OWN_READ]);
    assert_eq!(run.spans[0][0], (Handshake, 4 * OWN_READ));
}

/// What is left of a transfer from before the run is put into the own buffer.
#[test]
fn a_busy_port_is_waited_for() {
    let bench = bench("rcce");
    let options = RunOptions {
        ongoing: vec![Ongoing {
            src: Rank(0),
            dst: None,
            bytes: 100,
        }],
        ..RunOptions::default()
    };
    let program = [vec![Isend(1, 0), Wait], vec![Call::Recv(None)]];
    let run = bench.calls(&program, &options);
    let busy = 4 * OWN_WRITE;
    assert_eq!(run.after[0][0], line(busy).sent);
    assert_eq!(run.spans[0][0], (PortBusy(Rank(0)), busy));
    // It is over when a rank comes later than that.
    let late = RunOptions {
        ongoing: options.ongoing.clone(),
        ..bench.late([100, 0])
    };
    let run = bench.calls(&program, &late);
    assert_eq!(run.after[0][0], line(100).sent);
}
