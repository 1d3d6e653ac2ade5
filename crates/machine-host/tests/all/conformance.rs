// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contract of every machine, on threads.

use corecast_core::{Collective, Help as _, Rank, Request, algorithm};
use corecast_machine::{
    ByMessages, Job, Limits, Machine, Ongoing, RunError, RunOptions, Schedules, StepProgram, Steps,
    conformance,
};
use corecast_machine_host::HostMachine;

#[test]
fn same_bytes_as_the_oracle_for_every_algorithm() {
    conformance::same_bytes_as_oracle(&HostMachine, 17, &[0, 13, 100]);
}

#[test]
fn reductions_give_the_bits_of_the_oracle() {
    conformance::same_reductions_as_oracle(&HostMachine);
}

#[test]
fn blocks_of_any_sizes_come() {
    conformance::uneven_exchanges_as_oracle(&HostMachine, 100);
    conformance::uneven_exchanges_as_oracle(&ByMessages(HostMachine), 30);
}

#[test]
fn a_lost_message_is_a_deadlock_that_names_the_ranks() {
    conformance::reports_a_lost_message(&HostMachine, Limits::default());
}

#[test]
fn threads_exchange_messages() {
    conformance::exchanges_messages(&HostMachine, &RunOptions::default());
}

#[test]
fn messages_are_enough_for_every_schedule() {
    conformance::same_bytes_as_oracle(&ByMessages(HostMachine), 5, &[0, 100]);
    conformance::reports_a_lost_message(&ByMessages(HostMachine), Limits::default());
}

#[test]
fn options_that_name_unknown_ranks_are_refused() {
    conformance::refuses_unknown_ranks(&HostMachine);
}

#[test]
fn multicasts_reach_some_ranks() {
    conformance::multicasts_to_some(&HostMachine);
}

#[test]
fn ongoing_transfers_are_refused() {
    let request = Request::new(Collective::Bcast, 2, 4);
    let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
    let schedule = linear.schedule(&request);
    let mut job = Job::new(&schedule);
    job.options.ongoing = vec![Ongoing {
        src: Rank(1),
        dst: None,
        bytes: 4,
    }];
    let error = HostMachine
        .run(&job)
        .expect_err("threads have no busy ports");
    assert_eq!(
        error.with_help().to_string(),
        "machine threads does not have ongoing transfers\n  use a simulated chip"
    );
}

/// Every rank first receives from its left neighbour.
struct Ring;

impl StepProgram for Ring {
    type Output = ();

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<(), RunError> {
        let left = (endpoint.rank().0 + endpoint.ranks() - 1) % endpoint.ranks();
        endpoint.recv(Rank(left)).await.map(drop)
    }
}

#[test]
fn a_cycle_is_reported_at_once() {
    let error = HostMachine.run_steps(3, &Ring, &RunOptions::default());
    let Err(RunError::Deadlock { blocked, .. }) = error else {
        panic!("{:?}", error.err())
    };
    assert_eq!(blocked.len(), 3);
}

/// Rank 1 panics while the others wait for it.
struct Panic;

impl StepProgram for Panic {
    type Output = ();

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<(), RunError> {
        assert_ne!(endpoint.rank(), Rank(1), "rank 1 gives up");
        endpoint.recv(Rank(1)).await.map(drop)
    }
}

#[test]
fn a_dead_peer_ends_everybody() {
    let error = HostMachine.run_steps(4, &Panic, &RunOptions::default());
    let error = error.expect_err("a rank has died").to_string();
    assert!(
        error.contains("rank 1 failed") && error.contains("gives up"),
        "{error}"
    );
}
