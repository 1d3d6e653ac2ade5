// SPDX-License-Identifier: MIT OR Apache-2.0
//! Injectors beside messages, tasks that move, random programs, and the same run twice.

use crate::tasks;

use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_flow::TaskRun;
use corecast_machine::{Job, Machine as _, RunError, RunOptions, Time};
use corecast_machine_sim::pronto::{Aim, Direction, Injectors, Move, TaskSetup};
use proptest::prelude::*;
use tasks::Call::{self, Compute, Read, Receive, Send, Write};
use tasks::{CYCLE_PS, nagam, on, run};

fn same(a: &TaskRun<Vec<u64>>, b: &TaskRun<Vec<u64>>) {
    assert_eq!(a.run.outputs, b.run.outputs);
    assert_eq!(a.run.finish, b.run.finish);
    assert_eq!(a.run.activity, b.run.activity);
    assert_eq!(a.run.messages, b.run.messages);
    assert_eq!(a.run.links, b.run.links);
    assert_eq!(a.run.trace_hash, b.run.trace_hash);
    assert_eq!(a.arrivals, b.arrivals);
    assert_eq!(a.buffers, b.buffers);
    assert_eq!(a.memory, b.memory);
}

/// A column of tasks from the memory's side of the chip southwards, which reads, passes on and
/// writes.
fn column() -> Vec<Vec<Call>> {
    let blocks = 20;
    let mut first = Vec::new();
    let mut second = Vec::new();
    let mut third = Vec::new();
    for block in 0..blocks {
        first.extend([Read(block * 256, 64), Compute(100), Send(1, 64)]);
        second.extend([Receive(0, 64), Compute(300), Send(2, 64)]);
        third.extend([Receive(1, 64), Write(65_536 + block * 256, 64)]);
    }
    vec![first, second, third]
}

fn disturbed(injectors: Option<Injectors>) -> TaskRun<Vec<u64>> {
    let calls = column();
    let calls: Vec<&[Call]> = calls.iter().map(Vec::as_slice).collect();
    let mut setup = on(&[14, 10, 6]);
    setup.injectors = injectors;
    run(&setup, &calls).expect("runs")
}

fn at_rate(rate: f64, direction: Direction) -> Injectors {
    Injectors {
        rate,
        direction,
        ..Injectors::default()
    }
}

fn makespan(run: &TaskRun<Vec<u64>>) -> Time {
    run.run.finish.iter().copied().max().expect("tasks")
}

#[test]
fn injectors_at_rate_zero_are_none() {
    same(
        &disturbed(None),
        &disturbed(Some(at_rate(0.0, Direction::NorthToSouth))),
    );
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let injectors = Injectors {
        aim: Aim::Any,
        ..at_rate(0.4, Direction::NorthToSouth)
    };
    let (a, b) = (disturbed(Some(injectors)), disturbed(Some(injectors)));
    same(&a, &b);
    let other = disturbed(Some(Injectors {
        seed: 1,
        ..injectors
    }));
    assert_ne!(a.run.trace_hash, other.run.trace_hash);
}

#[test]
fn injected_traffic_delays_what_goes_its_way() {
    let calm = makespan(&disturbed(None));
    let inline = makespan(&disturbed(Some(at_rate(0.8, Direction::NorthToSouth))));
    assert!(inline > calm, "{inline} against {calm}");
    // Data come down the column and requests go up; across there is nothing to be met.
    let across = makespan(&disturbed(Some(at_rate(0.8, Direction::WestToEast))));
    assert!(across < inline, "{across} against {inline}");
}

#[test]
fn injectors_use_the_links_straight_ahead_and_no_others() {
    let idle: &[&[Call]] = &[&[Compute(2000)]];
    for (direction, dx, dy) in [
        (Direction::NorthToSouth, 0, -1),
        (Direction::WestToEast, 1, 0),
    ] {
        let mut setup = on(&[0]);
        setup.injectors = Some(at_rate(1.0, direction));
        let run = run(&setup, idle).expect("runs");
        for link in &run.run.links {
            let step = |from: u32, to: u32| i64::from(to) - i64::from(from);
            assert_eq!(step(link.from.0, link.to.0), dx);
            assert_eq!(step(link.from.1, link.to.1), dy);
            // A flit every other cycle, but for the first hops.
            assert!((980..=1020).contains(&link.flits), "{link:?}");
        }
        let lines = if dx == 0 { 4 * 4 } else { 5 * 3 };
        assert_eq!(run.run.links.len(), lines);
    }
}

#[test]
fn the_lowest_rates_send_nothing_in_time() {
    let calm = disturbed(None);
    for rate in [f64::MIN_POSITIVE, 1e-200, 1e-14] {
        let run = disturbed(Some(at_rate(rate, Direction::WestToEast)));
        assert_eq!(run.arrivals, calm.arrivals, "{rate}");
        assert_eq!(run.run.links, calm.run.links, "{rate}");
    }
}

/// Whatever the seed is, no two injectors draw the same numbers: what they send differs.
#[test]
fn each_injector_has_random_numbers_of_its_own() {
    for seed in [0, u64::MAX] {
        let mut setup = on(&[0]);
        setup.injectors = Some(Injectors {
            seed,
            ..at_rate(0.5, Direction::NorthToSouth)
        });
        let run = run(&setup, &[&[Compute(2000)]]).expect("runs");
        let first = run.run.links.iter().filter(|link| link.from.1 == 4);
        let sent: Vec<u64> = first.map(|link| link.flits).collect();
        assert_eq!(sent.len(), 4);
        assert!(sent.iter().any(|&flits| flits != sent[0]), "{sent:?}");
    }
}

/// An array of one row has its injectors' sources and sinks at the same routers.
#[test]
fn injectors_of_a_single_row_disturb_nobody() {
    let machine = nagam(&[("network.height", "1")]);
    let script = tasks::Script(vec![vec![Send(1, 64)], vec![Receive(0, 64)]]);
    let mut setup = on(&[0, 1]);
    setup.injectors = Some(at_rate(1.0, Direction::NorthToSouth));
    let run = machine.run_tasks(&script, &setup).expect("runs");
    assert_eq!(run.run.outputs[1], [415]);
}

/// Task 1 begins on core 1, one hop from task 0, and goes to core 7, four hops away.
#[test]
fn a_moved_task_gets_its_messages_where_it_is() {
    let mut setup = on(&[0, 1]);
    setup.moves = vec![Move {
        at: Time::from_ps(900 * CYCLE_PS),
        task: Rank(1),
        core: 7,
    }];
    let calls: &[&[Call]] = &[
        &[Send(1, 64), Compute(2000 - 133), Send(1, 64), Receive(1, 3)],
        &[Receive(0, 64), Receive(0, 64), Send(0, 3)],
    ];
    let run = run(&setup, calls).expect("runs");
    // It waits in its second call meanwhile, whose set-up is over.
    assert_eq!(run.run.outputs[1][..2], [415, 2000 + 415 + 3 * 9]);
    let links = &run.run.links;
    let carried = |from, to| {
        let of = |link: &&corecast_machine::LinkUse| (link.from, link.to) == (from, to);
        links.iter().find(of).map_or(0, |link| link.flits)
    };
    // East along the first row, then north: 70 flits of each message begin on the same link.
    assert_eq!(carried((0, 0), (1, 0)), 140 + 1);
    assert_eq!(carried((3, 0), (3, 1)), 70 + 1);
    // Acknowledgement and answer come back from where it is: west, then south.
    assert_eq!(carried((1, 1), (0, 1)), 1 + 2 + 4);
    assert_eq!(run.buffers[7].input.max_words, 64);
}

/// The sender goes elsewhere and another task takes its core: the receiver still tells them apart.
#[test]
fn messages_keep_their_task_when_cores_change_hands() {
    let mut setup = on(&[5, 4, 6]);
    let at = |cycle| Time::from_ps(cycle * CYCLE_PS);
    let moved = |cycle, task, core| Move {
        at: at(cycle),
        task: Rank(task),
        core,
    };
    setup.moves = vec![moved(1000, 1, 9), moved(1001, 2, 4), moved(3000, 0, 17)];
    let calls: &[&[Call]] = &[
        &[
            Receive(2, 5),
            Receive(1, 64),
            Compute(3000),
            Receive(2, 6),
            Receive(1, 7),
        ],
        &[Compute(100), Send(0, 64), Compute(4000), Send(0, 7)],
        &[Send(0, 5), Compute(4500), Send(0, 6)],
    ];
    let run = run(&setup, calls).expect("the script compares the bytes");
    assert_eq!(run.arrivals.len(), 4);
    assert_eq!(run.buffers[17].input.max_words, 13);
}

/// Messages in one order for all tasks: sender, receiver, words.
fn in_order(tasks: u32, messages: &[(u32, u32, usize)]) -> Vec<Vec<Call>> {
    let mut calls = vec![Vec::new(); tasks as usize];
    for &(from, to, words) in messages {
        calls[from as usize].push(Send(to, words));
        calls[to as usize].push(Receive(from, words));
    }
    calls
}

/// Tasks on random cores, and messages between them.
fn programs(
    words_max: usize,
    messages_max: usize,
) -> impl Strategy<Value = (Vec<u32>, Vec<(u32, u32, usize)>)> {
    let cores = Just((0..18_u32).collect::<Vec<_>>()).prop_shuffle();
    (2..=8_u32, cores).prop_flat_map(move |(tasks, cores)| {
        let placement = cores[..tasks as usize].to_vec();
        let message = (0..tasks, 1..tasks, 1..=words_max)
            .prop_map(move |(from, ahead, words)| (from, (from + ahead) % tasks, words));
        let messages = proptest::collection::vec(message, 1..messages_max);
        (Just(placement), messages)
    })
}

fn play(
    placement: &[u32],
    messages: &[(u32, u32, usize)],
    injectors: Option<Injectors>,
) -> Result<TaskRun<Vec<u64>>, RunError> {
    let calls = in_order(placement.len() as u32, messages);
    let calls: Vec<&[Call]> = calls.iter().map(Vec::as_slice).collect();
    let setup = TaskSetup {
        injectors,
        ..on(placement)
    };
    run(&setup, &calls)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// 30 messages of 4 words never fill a buffer of 128 words or a table of 32: every program whose
    /// messages have one order for all tasks then ends, and the script finds its bytes.
    #[test]
    fn programs_that_fit_into_the_buffers_end((placement, messages) in programs(4, 30), rate in 0.0..1.0_f64) {
        let injectors = Injectors { rate, aim: Aim::Any, ..Injectors::default() };
        let run = play(&placement, &messages, Some(injectors));
        let run = run.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(run.run.messages.len(), messages.len());
        prop_assert_eq!(run.arrivals.len(), messages.len());
        for (activity, finish) in run.run.activity.iter().zip(&run.run.finish) {
            prop_assert_eq!(activity.end(), makespan(&run));
            prop_assert!(*finish <= makespan(&run));
        }
    }

    /// Longer messages may fill buffers with what is wanted later. Then it is a deadlock, said so, and
    /// the same each time; otherwise the bytes are right.
    #[test]
    fn other_programs_end_or_say_who_waits((placement, messages) in programs(64, 40)) {
        let (a, b) = (play(&placement, &messages, None), play(&placement, &messages, None));
        match (a, b) {
            (Ok(a), Ok(b)) => same(&a, &b),
            (Err(a), Err(b)) => {
                prop_assert!(matches!(a, RunError::Deadlock { .. }), "{}", a);
                prop_assert_eq!(a, b);
            }
            _ => prop_assert!(false, "two runs of one program differ"),
        }
    }
}

/// Schedules never wait for ever where rendezvous would not: every rank sends much more to one than
/// its buffer holds, which wants it in an order that is not theirs.
#[test]
fn schedules_do_not_deadlock_over_full_buffers() {
    let machine = nagam(&[]);
    for collective in [
        Collective::Gather,
        Collective::Alltoall,
        Collective::Allgather,
    ] {
        for algorithm in algorithm::all().filter(|a| a.collective() == collective) {
            let options = RunOptions::default();
            let request = machine.request(Request::new(collective, 18, 4000), &options);
            if algorithm.supports(&request).is_err() {
                continue;
            }
            let schedule = algorithm.schedule(&request);
            let mut job = Job::new(&schedule);
            // The last rank is the first to be ready.
            job.options.late = (0..18)
                .map(|rank| Time::from_ps(CYCLE_PS * 1000 * (18 - rank)))
                .collect();
            let (a, b) = (
                machine.run(&job).expect("runs"),
                machine.run(&job).expect("runs"),
            );
            assert!(a.delivered(), "{}", algorithm.name());
            assert_eq!(a.first_difference(&b), None, "{}", algorithm.name());
        }
    }
}

#[test]
fn no_schedule_is_faster_than_the_bound() {
    let machine = nagam(&[]);
    let mut runs = 0;
    for algorithm in algorithm::all() {
        for ranks in [2, 3, 7, 16, 18] {
            for bytes in [0, 4, 64, 256, 1000] {
                let options = RunOptions::default();
                let request = Request::new(algorithm.collective(), ranks, bytes);
                let request = machine.request(request, &options);
                if algorithm.supports(&request).is_err() {
                    continue;
                }
                let report = machine
                    .run(&Job::new(&algorithm.schedule(&request)))
                    .expect("runs");
                let bound = machine.chip().bound_cycles(&request);
                let ours = report.makespan.ps() / CYCLE_PS;
                let name = algorithm.name();
                assert!(
                    bound <= ours,
                    "{name}: {request:?} in {ours}, bound {bound}"
                );
                runs += 1;
            }
        }
    }
    assert!(runs > 300, "{runs}");
}
