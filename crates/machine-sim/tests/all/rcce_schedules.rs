// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules through shared buffers, and where payloads lie in private memory, counted by hand.

use corecast_core::{
    Arrival, ChunkId, Collective, Op, Rank, Request, RouteTree, Schedule, ScheduleBuilder, Spec,
    Split,
};
use corecast_machine::{
    Await, Cause, Job, Machine, Payload, Report, RunError, RunOptions, Schedules, StepProgram,
    Steps,
};

use crate::by_hand::{Bench, Call};
use crate::rcce_steps::{
    ALONE, LINE, ONE_SIDED, OWN_WRITE, READ, WRITE, bench, bench_changed, polled, room,
};
use Call::{Isend, Wait};

/// Over a hop and back: rank 2 is one hop from ranks 0 and 1.
const HOP: u64 = 8;

/// A flag of a rank so many hops away, and how long after its begin that is there.
const fn flag(hops: u64) -> u64 {
    OWN_WRITE + WRITE + HOP * hops
}

const fn there(hops: u64) -> u64 {
    OWN_WRITE + (WRITE + HOP * hops) / 2
}

/// A broadcast to three ranks of so many bytes, in equal parts.
fn builder(bytes: u64, parts: u32) -> ScheduleBuilder {
    let request = Request::new(Collective::Bcast, 3, bytes);
    ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(parts)))
}

/// From rank 0 through rank 1 to rank 2.
fn forwarded(bytes: u64, piece: Option<u64>) -> Schedule {
    let mut builder = builder(bytes, 1);
    builder.set_piece_bytes(piece);
    let chunks = builder.list(&[ChunkId(0)]);
    let [first, through, last] = [0, 1, 2].map(Rank);
    let arrival = Arrival::Store;
    let forward = Op::Forward {
        from: first,
        to: last,
        chunks,
        arrival,
    };
    builder.push(
        0,
        first,
        Op::Send {
            to: through,
            chunks,
        },
    );
    builder.push(0, through, forward);
    let from = through;
    let recv = Op::Recv {
        from,
        chunks,
        arrival,
    };
    builder.push(1, last, recv);
    builder.finish()
}

fn run(bench: &Bench, schedule: &Schedule, options: RunOptions) -> Report {
    let job = Job {
        options,
        ..Job::new(schedule)
    };
    let report = bench.machine.run(&job).expect("it runs");
    assert!(report.delivered(), "{:?}", report.wrong);
    report
}

fn finish(bench: &Bench, report: &Report) -> Vec<u64> {
    let finish = report.finish.iter();
    finish.map(|time| time.ps() / bench.cycle_ps).collect()
}

/// What comes is kept in the own buffer and announced from there.
#[test]
fn a_forward_takes_keeps_and_announces() {
    let bench = bench("one-sided");
    let lines = 3;
    let report = run(&bench, &forwarded(96, None), RunOptions::default());
    let announced = ONE_SIDED + OWN_WRITE * lines + ONE_SIDED;
    let seen = polled(ONE_SIDED, ALONE, announced + there(0));
    let taken = seen + READ * lines;
    let end = polled(announced + flag(0), ALONE, taken + there(0));
    let kept = taken + flag(0) + OWN_WRITE * lines;
    let passed_on = kept + ONE_SIDED;
    let seen = polled(ONE_SIDED, ALONE, passed_on + there(1));
    let last = seen + (READ + HOP) * lines;
    let end_through = polled(passed_on + flag(1), ALONE, last + there(1));
    assert_eq!(finish(&bench, &report), [end, end_through, last + flag(1)]);
    let messages = report
        .messages
        .iter()
        .map(|one| (one.from.0, one.to.0, one.bytes));
    assert_eq!(messages.collect::<Vec<_>>(), [(0, 1, 96), (1, 2, 96)]);
}

/// It is put once; then one receiver after the other is told.
#[test]
fn a_multicast_puts_once_and_tells_all() {
    let bench = bench("one-sided");
    let mut builder = builder(96, 1);
    let edges = [1, 2].map(|to| (Rank(0), Rank(to)));
    let tree = RouteTree::to_some(Rank(0), 3, &edges);
    builder.multicast(0, tree.into(), &[ChunkId(0)]);
    let report = run(&bench, &builder.finish(), RunOptions::default());
    let lines = 3;
    let first = ONE_SIDED + OWN_WRITE * lines + ONE_SIDED;
    let second = first + flag(0) + ONE_SIDED;
    let taken = |told: u64, hops: u64| {
        let seen = polled(ONE_SIDED, ALONE, told + there(hops));
        seen + (READ + HOP * hops) * lines
    };
    let [near, far] = [taken(first, 0), taken(second, 1)];
    let near_known = polled(second + flag(1), ALONE, near + there(0));
    let end = polled(near_known, ALONE, far + there(1));
    assert_eq!(
        finish(&bench, &report),
        [end, near + flag(0), far + flag(1)]
    );
}

/// Two pieces fit into a buffer: those of the second message wait until those of the first have been
/// read. At the end nobody is asked again who was asked then.
#[test]
fn a_message_waits_for_the_readers_of_what_it_replaces() {
    let bench = bench("one-sided");
    let room = room() / (2 * LINE) * (2 * LINE);
    let mut builder = builder(2 * room as u64, 2);
    builder.message(0, Rank(0), Rank(2), &[ChunkId(0)]);
    builder.message(1, Rank(0), Rank(1), &[ChunkId(1)]);
    let schedule = builder.finish();
    let job = Job::new(&schedule);
    let report = bench.machine.run(&job).expect("it runs");
    let lines = (room / LINE / 2) as u64;
    let put = |begin: u64| begin + OWN_WRITE * lines + ONE_SIDED;
    // A receiver of two pieces that are announced at these times: when each is taken.
    let take = |told: [u64; 2], hops: u64| {
        let mut now = 0;
        told.map(|told| {
            let taken = polled(now + ONE_SIDED, ALONE, told + there(hops));
            let taken = taken + (READ + HOP * hops) * lines;
            now = taken + flag(hops);
            taken
        })
    };
    let first = put(ONE_SIDED);
    let second = put(first + flag(1) + ONE_SIDED);
    let far = take([first, second], 1);
    let third = put(polled(
        second + flag(1) + ONE_SIDED,
        ALONE,
        far[0] + there(1),
    ));
    let fourth = put(polled(
        third + flag(0) + ONE_SIDED,
        ALONE,
        far[1] + there(1),
    ));
    let near = take([third, fourth], 0);
    let end = polled(fourth + flag(0), ALONE, near[1] + there(0));
    assert_eq!(
        finish(&bench, &report),
        [end, near[1] + flag(0), far[1] + flag(1)]
    );
}

/// A receiver through shared buffers whose message nobody sends waits for it.
#[test]
fn nobody_sends_through_shared_buffers() {
    let bench = bench("one-sided");
    for is_forward in [false, true] {
        let mut builder = match is_forward {
            true => forwarded(96, None).edit(),
            false => {
                let mut builder = builder(96, 1);
                builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
                builder
            }
        };
        builder.steps_mut(Rank(0)).clear();
        let schedule = builder.finish();
        let error = bench
            .machine
            .run(&Job::new(&schedule))
            .expect_err("it waits");
        let RunError::Deadlock { blocked, .. } = error else {
            panic!("no deadlock: {error}");
        };
        let one = blocked.iter().find(|one| one.rank == Rank(1));
        let one = one.expect("rank 1 waits");
        assert_eq!((one.peer, one.awaits, one.step), (Rank(0), Await::Recv, 0));
    }
}

/// Time for private memory, in lines read at this price, beside which its other levels cost nothing.
const FROM_MEMORY: u64 = 1000;

fn with_memory(library: &str, private: &str) -> Bench {
    let read = FROM_MEMORY.to_string();
    bench_changed(
        library,
        &[("memory.read", &read), ("memory.private", private)],
    )
}

fn lines_read(bench: &Bench, activity: &corecast_machine::Activity) -> u64 {
    let time = activity.total(|cause| cause == Cause::Memory);
    time.ps() / bench.cycle_ps / FROM_MEMORY
}

const PRIVATE: &str = "335544320";

/// A rank has just read what it will touch, unless caches are cold: then it reads every line of every
/// piece from memory, the receivers before they overwrite them.
#[test]
fn pieces_lie_behind_each_other_in_memory() {
    let bench = with_memory("ircce", PRIVATE);
    let schedule = forwarded(160, Some(64));
    for (is_cold, expected) in [(false, 0), (true, 160 / 32)] {
        let options = RunOptions {
            is_cold,
            ..RunOptions::default()
        };
        let report = run(&bench, &schedule, options);
        let lines = report.activity.iter().map(|one| lines_read(&bench, one));
        assert_eq!(lines.collect::<Vec<_>>(), [expected; 3], "{is_cold}");
    }
}

/// Sends two payloads as one message.
struct TwoParts;

impl StepProgram for TwoParts {
    type Output = ();

    async fn run<S: Steps>(&self, steps: &mut S) -> Result<(), RunError> {
        let parts: [Payload; 2] = [[1; 64].as_slice().into(), [2; 32].as_slice().into()];
        if steps.rank() == Rank(0) {
            return steps.send(Rank(1), parts.to_vec()).await;
        }
        steps.expect(&[64, 32]);
        assert_eq!(steps.recv(Rank(0)).await?, parts);
        Ok(())
    }
}

/// Parts whose places nobody knows lie behind each other.
#[test]
fn parts_lie_behind_each_other_in_memory() {
    let bench = with_memory("ircce", PRIVATE);
    let run = bench
        .machine
        .run_steps(2, &TwoParts, &RunOptions::default());
    let run = run.expect("it runs");
    let lines = run.activity.iter().map(|one| lines_read(&bench, one));
    assert_eq!(lines.collect::<Vec<_>>(), [2 + 1; 2]);
}

/// Payloads of a program of messages lie behind each other until memory ends, and then where the first
/// one was. All headers lie in one line before them.
#[test]
fn payloads_go_round_in_memory() {
    let private = 4096 + 3 * 256;
    let bench = with_memory("ircce", &private.to_string());
    for (messages, lines) in [(1, 8), (2, 16), (3, 24), (4, 24), (6, 24)] {
        let send = [Isend(1, 256), Wait];
        let sender = (0..messages).flat_map(|_| send.clone());
        let receiver = vec![Call::Recv(Some(0)); messages];
        let program = [sender.collect(), receiver];
        let run = bench.calls(&program, &RunOptions::default());
        for spans in &run.spans {
            let of_memory = spans.iter().filter(|(cause, _)| *cause == Cause::Memory);
            let time: u64 = of_memory.map(|(_, time)| time).sum();
            assert_eq!(time, (lines + 1) * FROM_MEMORY, "{messages} messages");
        }
    }
}

/// Short ones, too. Their sender reads its header with them; their receiver reads the first line to where
/// all headers lie.
#[test]
fn short_payloads_lie_behind_each_other_in_memory() {
    let bench = with_memory("ircce", PRIVATE);
    let (messages, lines) = (5, 3);
    let send = [Isend(1, 2 * 32 + 8), Wait];
    let sender = (0..messages).flat_map(|_| send.clone());
    let receiver = vec![Call::Recv(Some(0)); messages];
    let run = bench.calls(&[sender.collect(), receiver], &RunOptions::default());
    let of_memory = run.spans.iter().map(|spans| {
        let of_memory = spans.iter().filter(|(cause, _)| *cause == Cause::Memory);
        of_memory.map(|(_, time)| time / FROM_MEMORY).sum()
    });
    let expected = [messages * lines, 1 + messages * (lines - 1)];
    assert_eq!(of_memory.collect::<Vec<u64>>(), expected.map(|n| n as u64));
}

#[test]
fn a_schedule_fits_into_private_memory_or_does_not() {
    let bench = with_memory("ircce", "4096");
    let run = |bytes| {
        let mut builder = builder(bytes, 1);
        for to in [1, 2] {
            builder.message(to - 1, Rank(0), Rank(to), &[ChunkId(0)]);
        }
        let schedule = builder.finish();
        bench.machine.run(&Job::new(&schedule))
    };
    assert!(run(4096).expect("it fits").delivered());
    let error = RunError::OutOfMemory {
        machine: "by-hand".to_owned(),
        max: 4096,
        bytes: 4097,
    };
    assert_eq!(run(4097).expect_err("a byte too many"), error);
}

/// A core without room for a line of each rank and one more refuses messages.
#[test]
fn messages_need_a_line_per_rank_and_one_more() {
    let flags = 8192 - room();
    let of = |lines: usize| {
        let mpb = (flags + lines * LINE).to_string();
        bench_changed("ircce", &[("endpoint.mpb", &mpb)])
    };
    let program = [vec![Isend(1, 64), Wait], vec![Call::Recv(Some(0))]];
    let run = of(2 + 1).calls(&program, &RunOptions::default());
    assert_eq!(run.messages.len(), 1);
    let error = of(2).failed_calls(&program);
    assert!(matches!(error, RunError::Unsupported { .. }), "{error}");
}
