// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules with several streams, places, local steps and combining forwards, with real bytes: on
//! the oracle and over messages they give what the same schedule with one stream gives.

use crate::split;
use crate::swap::swap;

use corecast_core::random::SplitMix64;
use corecast_core::{
    Arrival, ChunkId, Collective, ElementType, FullCrossbar, Op, Rank, ReduceOp, Request, Schedule,
    ScheduleBuilder, Spec, Split, algorithm, verify,
};
use corecast_machine::{
    ByMessages, Held, Job, Machine, Oracle, Programs, RunError, SideBySide, interpreter,
};
use split::{Deal, split};

/// What every rank holds at the end, after a look at whether that is right; sums of floats, whose
/// bits tell in which order they were added.
fn outputs(machine: &dyn Machine, schedule: &Schedule) -> Vec<Held> {
    let job = Job {
        op: ReduceOp::Sum,
        element: ElementType::F32,
        seed: 7,
        ..Job::new(schedule)
    };
    let report = machine.run(&job).expect("runs");
    assert!(report.delivered(), "{:?}\n{schedule}", report.wrong);
    report.outputs
}

#[test]
fn streams_give_the_bytes_of_one_stream() {
    let mut random = SplitMix64::new(1);
    let algorithms: Vec<_> = algorithm::all().collect();
    let mut compared = 0;
    for (which, algorithm) in algorithms.iter().cycle().take(400).enumerate() {
        let ranks = 2 + random.below(5) as u32;
        let mut request = Request::new(algorithm.collective(), ranks, 8 + 8 * random.below(3));
        request.element_bytes = 4;
        request.tuning.part_bytes = Some(8);
        let Ok(schedule) = algorithm::build(*algorithm, &request) else {
            continue;
        };
        let deal = [Deal::ByPeer, Deal::ByChannel][which % 2];
        let streams = 2 + random.below(3) as u32;
        let several = split(&schedule, deal, streams, random.next());
        assert!(several.has_streams());
        let one = outputs(&Oracle, &schedule);
        assert_eq!(outputs(&Oracle, &several), one, "{several}");
        assert_eq!(outputs(&ByMessages(Oracle), &several), one, "{several}");
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}

/// What steps give and messages do not is left to the walk; but the program for streams carries out
/// every operation.
#[test]
fn every_schedule_can_be_carried_out_as_streams() {
    let mut compared = 0;
    for algorithm in algorithm::all() {
        for ranks in 1..=6 {
            let mut request = Request::new(algorithm.collective(), ranks, 24);
            request.element_bytes = 4;
            request.tuning.part_bytes = Some(8);
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let job = Job::new(&schedule);
            let program = SideBySide::new(&job);
            let run = Oracle.run_programs(ranks, &program, &job.options);
            let report = interpreter::report("oracle", &job, run.expect("runs")).expect("exact");
            assert!(report.delivered(), "{:?}\n{schedule}", report.wrong);
            assert!(SideBySide::if_worthwhile(&job).is_none());
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

fn builder(collective: Collective, ranks: u32, bytes: u64) -> ScheduleBuilder {
    let mut request = Request::new(collective, ranks, bytes);
    request.element_bytes = 4;
    ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)))
}

fn correct(schedule: &Schedule) {
    let certificate = verify(schedule, &FullCrossbar);
    assert_eq!(certificate.violations, [], "{schedule}");
}

/// A chain of ranks in which only the last keeps the sum, and the others still hold their own.
#[test]
fn what_is_combined_and_passed_on_is_not_kept() {
    for ranks in 3..6 {
        let mut builder = builder(Collective::Reduce, ranks, 8);
        let chunks = builder.list(&[ChunkId(0)]);
        let last = ranks - 1;
        builder.push(
            0,
            Rank(last),
            Op::Send {
                to: Rank(last - 1),
                chunks,
            },
        );
        for rank in (1..last).rev() {
            let forward = Op::Forward {
                from: Rank(rank + 1),
                to: Rank(rank - 1),
                chunks,
                arrival: Arrival::PassOn,
            };
            builder.push(last - rank - 1, Rank(rank), forward);
        }
        let recv = Op::Recv {
            from: Rank(1),
            chunks,
            arrival: Arrival::Reduce,
        };
        builder.push(last - 1, Rank(0), recv);
        let schedule = builder.finish();
        correct(&schedule);
        outputs(&Oracle, &schedule);
        outputs(&ByMessages(Oracle), &schedule);
        let job = Job::new(&schedule);
        let run = Oracle.run_programs(ranks, &SideBySide::new(&job), &job.options);
        let report = interpreter::report("oracle", &job, run.expect("runs")).expect("exact");
        assert!(report.delivered());
        // Its own contribution once more, which a rank that keeps the sum no longer has.
        let mut twice = schedule.edit();
        twice.reduce(last, Rank(1), Rank(0), &[ChunkId(0)]);
        let violations = verify(&twice.finish(), &FullCrossbar).violations;
        let text: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(
            text[0].contains("the contribution of rank 1 enters chunk 0 twice"),
            "{text:?}"
        );
    }
}

/// Two partial sums of one chunk beside each other, and the result in a place of its own.
#[test]
fn partial_sums_and_results_have_places() {
    let mut builder = builder(Collective::Reduce, 4, 8);
    let (chunk, partial, result) = (
        ChunkId(0),
        builder.add_place(8),
        builder.add_result(ChunkId(0)),
    );
    builder.reduce(0, Rank(1), Rank(0), &[chunk]);
    builder.transfer(1, (Rank(2), &[chunk]), (Rank(0), &[partial]));
    let target = builder.list(&[partial]);
    let send = builder.list(&[chunk]);
    builder.push(
        2,
        Rank(3),
        Op::Send {
            to: Rank(0),
            chunks: send,
        },
    );
    let recv = Op::Recv {
        from: Rank(3),
        chunks: target,
        arrival: Arrival::Reduce,
    };
    builder.push(2, Rank(0), recv);
    builder.copy(2, Rank(0), &[partial], &[result]);
    builder.combine(2, Rank(0), &[chunk], &[result]);
    let schedule = builder.finish();
    correct(&schedule);
    let held = outputs(&Oracle, &schedule);
    assert_eq!(
        held[0].iter().map(|(chunk, _)| chunk).collect::<Vec<_>>(),
        [chunk]
    );
    assert_eq!(outputs(&ByMessages(Oracle), &schedule), held);
}

/// An exchange in place leaves what any other leaves.
#[test]
fn results_lie_where_other_chunks_were() {
    for ranks in 1..=6 {
        let request = Request::new(Collective::Alltoall, ranks, 8);
        let pairwise = algorithm::find(Collective::Alltoall, "pairwise").expect("registered");
        let pairwise = algorithm::build(pairwise, &request).expect("any number of ranks");
        let (swap, expected) = (swap(ranks, 8, true), outputs(&Oracle, &pairwise));
        assert_eq!(outputs(&Oracle, &swap), expected);
        assert_eq!(outputs(&ByMessages(Oracle), &swap), expected);
    }
}

/// What lies in a place at the end is no result, not even where everybody wants every chunk.
#[test]
fn a_place_is_no_result() {
    let mut builder = builder(Collective::Bcast, 2, 8);
    let (chunk, place) = (ChunkId(0), builder.add_place(8));
    builder.transfer(0, (Rank(0), &[chunk]), (Rank(1), &[place]));
    builder.copy(1, Rank(1), &[place], &[chunk]);
    let schedule = builder.finish();
    correct(&schedule);
    for held in outputs(&Oracle, &schedule) {
        assert_eq!(
            held.iter().map(|(chunk, _)| chunk).collect::<Vec<_>>(),
            [chunk]
        );
    }
}

/// What no order completes is refused by the interpreter, with the circle.
#[test]
fn streams_that_wait_in_a_circle_are_refused() {
    let mut builder = builder(Collective::Bcast, 2, 8);
    let (rank, root) = (Rank(1), Rank(0));
    let stream = [root, rank].map(|rank| builder.add_stream(rank, 1));
    let (_, first) = builder.deliver_on(0, (root, 0), (rank, 0), &[ChunkId(0)]);
    let (_, second) = builder.deliver_on(0, (root, stream[0]), (rank, stream[1]), &[]);
    builder.wait(first, second);
    builder.wait(second, first);
    let schedule = builder.finish();
    let error = Oracle.run(&Job::new(&schedule)).expect_err("a circle");
    assert!(error.is_limit() && matches!(error, RunError::NotRunnable(_)));
    assert_eq!(
        error.to_string(),
        "the schedule cannot be run: deadlock, however many slots a connection has: \
         rank 1 waits for its stream 1, step 0 (stream 0, step 0, round 0); \
         rank 1 waits for its stream 0, step 0 (stream 1, step 0, round 0)"
    );
}
