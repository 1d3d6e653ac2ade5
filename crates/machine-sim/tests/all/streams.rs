// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules with several streams run on every chip with the bytes of one stream, and as often as
//! they are run in the same time.

use crate::split;

use corecast_core::random::SplitMix64;
use corecast_core::{ElementType, ReduceOp, Request, Schedule, algorithm};
use corecast_machine::{Job, Machine, Oracle, Report, RunOptions};
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
fn streams_give_the_bytes_of_one_stream_on_every_chip() {
    let chips = ["park2019-bus", "tilepro64", "booksim-mesh", "scc", "nagam"];
    let mut random = SplitMix64::new(5);
    let mut compared = [0; 5];
    let algorithms: Vec<_> = algorithm::all().collect();
    for (which, &algorithm) in algorithms.iter().cycle().take(240).enumerate() {
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
        compared[of_chip] += 1;
    }
    assert!(compared.iter().all(|&times| times > 30), "{compared:?}");
}
