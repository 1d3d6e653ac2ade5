// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules with several streams run on every chip with the bytes of one stream, and as often as
//! they are run in the same time.

use crate::split;
use crate::swap::swap;

use corecast_chip::System;
use corecast_core::random::SplitMix64;
use corecast_core::{
    Arrival, ChunkId, Collective, ElementType, FullCrossbar, Op, Rank, ReduceOp, Request, Schedule,
    ScheduleBuilder, Spec, Split, Time, algorithm, verify,
};
use corecast_machine::{Cause, Job, Machine, Oracle, Report, RunOptions, Schedules, interpreter};
use corecast_machine_sim::SimMachine;
use split::{Deal, split};

/// Sums of floats, whose bits tell in which order they were added.
fn run(machine: &dyn Machine, schedule: &Schedule) -> Report {
    let job = Job {
        op: ReduceOp::Sum,
        element: ElementType::F32,
        seed: 7,
        ..Job::new(schedule)
    };
    let report = machine.run(&job);
    let report = report.unwrap_or_else(|error| panic!("{error}\n{schedule}"));
    assert!(report.delivered(), "{:?}\n{schedule}", report.wrong);
    report
}

#[test]
fn streams_give_the_bytes_of_one_stream_on_every_chip_and_are_not_below_the_bound() {
    let chips = [
        "park2019-bus",
        "tilepro64",
        "tilepro64-operampi",
        "booksim-mesh",
        "scc",
        "nagam",
    ];
    let mut random = SplitMix64::new(5);
    let mut compared = [0; 6];
    let algorithms: Vec<_> = algorithm::all().collect();
    for (which, &algorithm) in algorithms.iter().cycle().take(288).enumerate() {
        let of_chip = which % chips.len();
        let chip = corecast_chip::find(chips[of_chip]).expect("built in");
        let machine = SimMachine::new(&chip);
        let ranks = 2 + random.below(5) as u32;
        let mut request = Request::new(algorithm.collective(), ranks, 8 + 8 * random.below(3));
        request.element_bytes = 4;
        request.tuning.part_bytes = Some(8);
        let request = machine.request(request, &RunOptions::default());
        let Ok(schedule) = algorithm::build(algorithm, &request) else {
            continue;
        };
        let deal = [Deal::ByPeer, Deal::ByChannel][which % 2];
        let streams = 2 + random.below(3) as u32;
        let several = split(&schedule, deal, streams, random.next());
        let found = run(&machine, &several);
        assert_eq!(found.outputs, run(&Oracle, &schedule).outputs, "{several}");
        let again = run(&machine, &several);
        assert_eq!(found.trace_hash, again.trace_hash, "{several}");
        let least = chip.reference_clock().to_ps(chip.bound_cycles(&request));
        assert!(found.makespan.ps() >= least, "{least} ps: {several}");
        compared[of_chip] += 1;
    }
    assert!(compared.iter().all(|&times| times > 30), "{compared:?}");
}

/// An exchange in place: what arrives takes the place of what has left.
#[test]
fn results_lie_where_other_chunks_were_on_every_chip() {
    for name in corecast_chip::builtin_names() {
        let chip = corecast_chip::find(name).expect("built in");
        let machine = SimMachine::new(&chip);
        for (ranks, bytes) in [(2, 8), (5, 1000), (8, 40)] {
            let schedule = swap(ranks, bytes, true);
            let report = run(&machine, &schedule);
            assert_eq!(report.outputs, run(&Oracle, &schedule).outputs, "{name}");
        }
    }
}

/// Chips on which streams wait side by side.
const SIDE_BY_SIDE: [&str; 3] = ["tilepro64", "tilepro64-operampi", "booksim-mesh"];

fn builder(collective: Collective, ranks: u32, bytes: u64) -> ScheduleBuilder {
    let mut request = Request::new(collective, ranks, bytes);
    request.element_bytes = 4;
    ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(1)))
}

/// Ranks 1 and 2 send their blocks to rank 0, each to a stream of its own, and the stream of rank 2
/// copies what it has got so often; `late` is the stream of rank 1. Without copies rank 2 sends nothing.
fn gather(late: usize, copies: u32) -> Schedule {
    let mut builder = builder(Collective::Gather, 3, 4000);
    let scratch = builder.add_place(4000);
    let streams = [0, builder.add_stream(Rank(0), 0)];
    let (of_late, other) = (streams[late], streams[1 - late]);
    builder.deliver_on(0, (Rank(1), 0), (Rank(0), of_late), &[ChunkId(1)]);
    if copies > 0 {
        builder.deliver_on(0, (Rank(2), 0), (Rank(0), other), &[ChunkId(2)]);
    }
    let copied = [&[ChunkId(2)], &[scratch]].map(|places| match copies {
        0 => builder.list(&[]),
        _ => builder.list(places),
    });
    let [source, target] = copied;
    for _ in 0..copies.max(1) {
        let op = Op::Local {
            source,
            target,
            arrival: Arrival::Store,
        };
        builder.push_on(0, (Rank(0), other), op);
    }
    builder.finish()
}

/// While one stream of rank 0 waits for a message that is late, the other receives and copies; and
/// when the message is there, the rank goes on as if it had done nothing else.
#[test]
fn a_stream_works_while_another_waits() {
    for chip in SIDE_BY_SIDE {
        let machine = SimMachine::new(&corecast_chip::find(chip).expect("built in"));
        let options = |lateness| RunOptions {
            late: vec![Time::ZERO, lateness],
            ..RunOptions::default()
        };
        let run = |schedule: &Schedule, options: &RunOptions| {
            let job = Job {
                options: options.clone(),
                ..Job::new(schedule)
            };
            machine.run(&job).expect("runs")
        };
        // What is done meanwhile is over in time.
        let copies = 20;
        let work = run(&gather(0, copies), &options(Time::ZERO)).finish[0];
        let options = options(work * 2);
        let alone = run(&gather(0, 0), &options).finish[0];
        let mut of_order = Vec::new();
        for late in 0..2 {
            let schedule = gather(late, copies);
            assert_eq!(verify(&schedule, &FullCrossbar).violations, []);
            let report = run(&schedule, &options);
            assert!(report.delivered());
            assert_eq!(report.finish[0], alone, "{chip}");
            let computes = report.activity[0].total(|cause| cause == Cause::Compute);
            let once =
                run(&gather(late, 1), &options).activity[0].total(|cause| cause == Cause::Compute);
            assert_eq!(computes, once * u64::from(copies), "{chip}");
            let job = Job {
                options: options.clone(),
                ..Job::new(&schedule)
            };
            let walk = interpreter::Walk::new(&job);
            let walked = machine.run_steps(3, &walk, &job.options).expect("runs");
            of_order.push(walked.finish[0]);
        }
        // In one order it is behind the late message, or before it.
        of_order.sort();
        assert!(of_order[0] < of_order[1], "{chip}: {of_order:?}");
    }
}

/// Packets for which nobody waits, and those of a size, are what steps give and messages do not.
#[test]
fn packets_that_a_schedule_asks_for_are_sent_from_several_streams_too() {
    let in_pieces = || {
        let mut builder = builder(Collective::Gather, 3, 4000);
        let other = builder.add_stream(Rank(0), 0);
        builder.set_piece_bytes(Some(16));
        builder.deliver_on(0, (Rank(1), 0), (Rank(0), 0), &[ChunkId(1)]);
        builder.deliver_on(0, (Rank(2), 0), (Rank(0), other), &[ChunkId(2)]);
        builder.finish()
    };
    let machine = SimMachine::new(&corecast_chip::find("tilepro64").expect("built in"));
    let mut makespans = Vec::new();
    for schedule in [
        gather(0, 1),
        gather(0, 1).without_flow_control(),
        in_pieces(),
    ] {
        let report = run(&machine, &schedule);
        makespans.push(report.makespan);
        if !schedule.has_flow_control() || schedule.piece_bytes().is_some() {
            let job = Job::new(&schedule);
            let walk = interpreter::Walk::new(&job);
            let walked = machine.run_steps(3, &walk, &job.options).expect("runs");
            assert_eq!(report.finish, walked.finish);
        }
    }
    makespans.sort();
    makespans.dedup();
    assert_eq!(makespans.len(), 3, "{makespans:?}");
}

/// Both ranks send before they receive, in each of two streams: under rendezvous they would wait for
/// ever.
#[test]
fn streams_have_the_slots_that_they_need() {
    let mut builder = builder(Collective::Alltoall, 2, 4000);
    builder.set_slots(1);
    for rank in [Rank(0), Rank(1)] {
        let peer = Rank(1 - rank.0);
        // The second stream has nothing to say.
        let blocks = [1, 2].map(|block| builder.list(&[ChunkId(block)]));
        let nothing = builder.list(&[]);
        let lists = [[blocks[rank.index()], blocks[peer.index()]], [nothing; 2]];
        for (channel, [chunks, received]) in (0..).zip(lists) {
            let stream = match channel {
                0 => 0,
                _ => builder.add_stream(rank, channel),
            };
            builder.push_on(0, (rank, stream), Op::Send { to: peer, chunks });
            let recv = Op::Recv {
                from: peer,
                chunks: received,
                arrival: Arrival::Store,
            };
            builder.push_on(0, (rank, stream), recv);
        }
    }
    let schedule = builder.finish();
    let certificate = verify(&schedule, &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!(certificate.slots_needed, Some(1));
    for chip in SIDE_BY_SIDE {
        let machine = SimMachine::new(&corecast_chip::find(chip).expect("built in"));
        run(&machine, &schedule);
    }
}

/// A copy is a load, a store and a branch per word where a chip says what these take; combining two
/// loads, an addition, a store and a branch.
#[test]
fn copies_have_a_price_of_their_own() {
    let machine = SimMachine::new(&corecast_chip::find("nagam").expect("built in"));
    let System::Pronto { pronto, .. } = machine.chip().system() else {
        panic!("NagaM has managed buffers");
    };
    let core = &pronto.core;
    let of_copy = core.load_cycles + core.store_cycles + core.branch_cycles;
    let of_both = of_copy + core.load_cycles + core.add_cycles;
    let computes = |arrival| {
        let mut builder = builder(Collective::Allreduce, 2, 4000);
        let place = builder.add_place(4000);
        builder.copy(0, Rank(0), &[ChunkId(0)], &[place]);
        if arrival == Arrival::Reduce {
            builder.combine(0, Rank(0), &[ChunkId(0)], &[place]);
        }
        let report = machine.run(&Job::new(&builder.finish())).expect("runs");
        report.activity[0].total(|cause| cause == Cause::Compute)
    };
    let cycles = |per_word: u64| {
        let cycles = (per_word * 1000).div_ceil(core.parallel);
        Time::from_ps(core.clock.to_ps(cycles))
    };
    assert_eq!(computes(Arrival::Store), cycles(of_copy));
    let both = computes(Arrival::Reduce);
    assert_eq!(both, cycles(of_copy) + cycles(of_both));
}
