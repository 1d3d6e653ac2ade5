// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules with several streams run on threads with the bytes of one stream.

use crate::split;
use crate::swap::swap;

use corecast_core::random::SplitMix64;
use corecast_core::{ElementType, ReduceOp, Request, Schedule, algorithm};
use corecast_machine::{Held, Job, Machine, Oracle};
use corecast_machine_host::HostMachine;
use split::{Deal, split};

/// Sums of floats, whose bits tell in which order they were added.
fn outputs(machine: &dyn Machine, schedule: &Schedule) -> Vec<Held> {
    let job = Job {
        op: ReduceOp::Sum,
        element: ElementType::F32,
        seed: 7,
        ..Job::new(schedule)
    };
    let report = machine.run(&job);
    let report = report.unwrap_or_else(|error| panic!("{error}\n{schedule}"));
    assert!(report.delivered(), "{:?}\n{schedule}", report.wrong);
    report.outputs
}

#[test]
fn streams_give_the_bytes_of_one_stream() {
    let mut random = SplitMix64::new(9);
    let mut compared = 0;
    for (which, algorithm) in algorithm::all().enumerate() {
        let ranks = 2 + random.below(5) as u32;
        let mut request = Request::new(algorithm.collective(), ranks, 8 + 8 * random.below(3));
        request.element_bytes = 4;
        request.tuning.part_bytes = Some(8);
        let Ok(schedule) = algorithm::build(algorithm, &request) else {
            continue;
        };
        let deal = [Deal::ByPeer, Deal::ByChannel][which % 2];
        let several = split(&schedule, deal, 3, random.next());
        assert_eq!(
            outputs(&HostMachine, &several),
            outputs(&Oracle, &schedule),
            "{several}"
        );
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn results_lie_where_other_chunks_were() {
    for ranks in [2, 3, 6] {
        let schedule = swap(ranks, 1000, true);
        assert_eq!(
            outputs(&HostMachine, &schedule),
            outputs(&Oracle, &schedule)
        );
    }
}
