// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every algorithm gives the bytes of the oracle, floats included.

use corecast_core::{Collective, ElementType, Rank, Request, Time, algorithm};
use corecast_machine::conformance::uneven_exchanges_as_oracle;
use corecast_machine::{Job, Machine, Oracle, RunError};
use corecast_machine_shm::{ShmMachine, Way, round_trip};

#[test]
fn every_algorithm_gives_the_bytes_of_the_oracle() {
    for collective in Collective::ALL {
        for algorithm in algorithm::of(collective) {
            for (ranks, bytes) in [(1, 40), (2, 8), (3, 0), (4, 20_000), (5, 400), (8, 64)] {
                let mut request = Request::new(collective, ranks, bytes);
                request.element_bytes = 4;
                if collective.is_rooted() {
                    request.root = Rank(ranks - 1);
                }
                let Ok(schedule) = algorithm::build(algorithm, &request) else {
                    continue;
                };
                let mut job = Job::new(&schedule);
                job.element = ElementType::F32;
                job.seed = u64::from(ranks);
                let name = algorithm.name();
                let report = ShmMachine.run(&job).unwrap_or_else(|error| {
                    panic!("{collective} {name}, {ranks} ranks, {bytes} B: {error}")
                });
                assert!(report.delivered(), "{collective} {name} {ranks} {bytes}");
                let oracle = Oracle.run(&job).expect("the oracle runs it");
                assert_eq!(
                    report.outputs, oracle.outputs,
                    "{collective} {name} {ranks}"
                );
                let sent = schedule.sends().filter(|(_, _, half)| {
                    schedule.message_bytes(half.chunks) > 0 || collective == Collective::Barrier
                });
                assert_eq!(
                    report.messages.len(),
                    sent.count(),
                    "{collective} {name} {ranks}"
                );
            }
        }
    }
}

#[test]
fn blocks_of_any_sizes_come() {
    uneven_exchanges_as_oracle(&ShmMachine, 30);
}

#[test]
fn a_rank_that_is_late_makes_the_others_wait_and_a_limit_ends_them() {
    let request = Request::new(Collective::Barrier, 2, 0);
    let algorithm = algorithm::find(request.collective, "dissemination").expect("registered");
    let schedule = algorithm.schedule(&request);
    let mut job = Job::new(&schedule);
    job.options.late = vec![Time::ZERO, Time::from_ps(5_000_000_000)];
    let report = ShmMachine
        .run(&job)
        .expect("five milliseconds are soon over");
    assert!(report.makespan >= job.options.late[1]);
    job.options.limits.time = Time::from_ps(1_000_000);
    let error = ShmMachine
        .run(&job)
        .expect_err("one microsecond is not enough");
    assert!(matches!(error, RunError::TimeLimit { .. }), "{error}");
}

#[test]
fn a_round_trip_takes_time() {
    let trip = |limit| round_trip([Rank(0), Rank(1)], 64, 10, limit);
    let time = trip(Time::MAX).expect("two threads");
    assert!(time > Time::ZERO && time < Time::MAX);
    let (limit, blocked) = (Time::from_ps(1), Vec::new());
    assert_eq!(trip(limit), Err(RunError::TimeLimit { limit, blocked }));
}

#[test]
fn boards_deliver_what_the_collective_promises() {
    let mut tried = 0;
    for collective in Collective::ALL {
        for (ranks, bytes) in [(2, 8), (3, 400), (4, 20_000), (5, 100_000)] {
            let mut request = Request::new(collective, ranks, bytes);
            request.element_bytes = 4;
            if collective.is_rooted() {
                request.root = Rank(ranks - 1);
            }
            let mut algorithms = algorithm::of(collective);
            let built = algorithms.find_map(|any| algorithm::build(any, &request).ok());
            let schedule = built.expect("one serves it");
            if !ShmMachine::has_boards(collective, ranks) {
                continue;
            }
            let mut job = Job::new(&schedule);
            job.element = ElementType::I32;
            let trial = ShmMachine::trial(&job, Way::Boards, 3).expect("it runs");
            assert!(trial.report.delivered(), "{collective} {ranks} {bytes}");
            assert_eq!(trial.makespans.len(), 3);
            assert_eq!(trial.makespans[2], trial.report.makespan);
            tried += 1;
        }
    }
    assert_eq!(tried, 8 * 4, "all but reduce_scatter and alltoallv");
}
