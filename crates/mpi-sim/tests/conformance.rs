// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules by the plans of the MPI library, over the messages of the reference machine.

use corecast_core::{Collective, Rank, Request, Time, algorithm};
use corecast_machine::conformance::{same_bytes_as_oracle, uneven_exchanges_as_oracle};
use corecast_machine::{Job, Limits, Machine, Oracle};
use corecast_mpi_sim::MpiMachine;

#[test]
fn every_algorithm_gives_the_bytes_of_the_oracle() {
    // With messages that are sent at once, and with such as are asked for.
    same_bytes_as_oracle(&MpiMachine::new(&Oracle, 64), 6, &[0, 5, 400]);
}

#[test]
fn blocks_of_any_sizes_come() {
    uneven_exchanges_as_oracle(&MpiMachine::new(&Oracle, 64), 300);
}

#[test]
fn messages_of_several_packets_come() {
    let request = Request::new(Collective::Bcast, 3, 200_000);
    let algorithm = algorithm::find(request.collective, "binomial").expect("registered");
    let schedule = algorithm.schedule(&request);
    let report = MpiMachine::new(&Oracle, 64).run(&Job::new(&schedule));
    let report = report.expect("it runs");
    assert!(report.delivered());
}

#[test]
fn a_round_trip_is_between_two_ranks_of_several() {
    let machine = MpiMachine::new(&Oracle, 64);
    for bytes in [0, 64, 1000] {
        let time = machine.round_trip(5, [Rank(3), Rank(1)], bytes, 2, Limits::default());
        assert!(time.expect("both are there") < Time::MAX);
    }
}
