// SPDX-License-Identifier: MIT OR Apache-2.0
//! One schedule, several machines, the same bytes: simulated buses and meshes against real threads.
//!
//! Each machine is also held against the oracle by its own crate, with messages of all sizes; here they meet
//! each other.

use corecast_core::{Collective, ElementType, Rank, ReduceOp, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions, conformance};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;

fn simulated(chip: &str) -> SimMachine {
    SimMachine::new(&corecast_chip::find(chip).expect("built in"))
}

/// Runs one job on both machines and compares every byte of every rank.
fn compare(chip: &SimMachine, request: &Request, op: ReduceOp, element: ElementType) -> bool {
    let request = chip.request(request.clone(), &RunOptions::default());
    let mut compared = false;
    for algorithm in algorithm::of(request.collective) {
        if algorithm.supports(&request).is_err() {
            continue;
        }
        let schedule = algorithm.schedule(&request);
        let job = Job {
            op,
            element,
            seed: 11,
            ..Job::new(&schedule)
        };
        let case = format!(
            "{} {} on {}: {request:?}",
            request.collective,
            algorithm.name(),
            chip.chip().name
        );
        let run = |machine: &dyn Machine| {
            let report = machine.run(&job);
            report.unwrap_or_else(|error| panic!("{case}: {error}"))
        };
        let (ours, real) = (run(chip), run(&HostMachine));
        assert!(ours.delivered() && real.delivered(), "{case}");
        assert_eq!(ours.outputs, real.outputs, "{case}");
        compared = true;
    }
    compared
}

#[test]
fn moved_bytes_are_equal_on_every_machine() {
    let machines = [
        ("park2019-bus", 17),
        ("chung2011-bus", 16),
        ("tilepro64", 17),
    ];
    for (name, ranks_max) in machines {
        let chip = simulated(name);
        for collective in Collective::ALL {
            for request in conformance::requests(collective, ranks_max, &[100]) {
                let (op, element) = (ReduceOp::Sum, ElementType::U8);
                assert!(compare(&chip, &request, op, element), "{request:?}");
            }
        }
    }
}

#[test]
fn sums_of_floats_are_equal_to_the_last_bit() {
    for name in ["park2019-bus", "tilepro64"] {
        let chip = simulated(name);
        for collective in Collective::ALL.into_iter().filter(|c| c.is_reduction()) {
            for ranks in 1..=17 {
                let mut request = Request::new(collective, ranks, 8 * 13);
                request.element_bytes = 8;
                let request = request.with_root(Rank(ranks / 2));
                assert!(compare(&chip, &request, ReduceOp::Sum, ElementType::F64));
            }
        }
    }
}

#[test]
fn uneven_counts_are_equal_on_every_machine() {
    let chip = simulated("tilepro64");
    for ranks in 1..=17_u32 {
        let mut request = Request::new(Collective::Alltoallv, ranks, 0);
        let count = |index: u32| u64::from(index * 7 % 23);
        request.counts = Some((0..ranks * ranks).map(count).collect());
        let (op, element) = (ReduceOp::Sum, ElementType::U8);
        assert!(compare(&chip, &request, op, element));
    }
}
