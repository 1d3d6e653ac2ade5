// SPDX-License-Identifier: MIT OR Apache-2.0
//! No run takes longer than the certificate's worst case, whoever comes late and by how much.

use crate::common;

use common::FREE;
use corecast_core::{Collective, Rank, Request, algorithm, verify};
use corecast_machine::{Job, Machine, RunOptions, Skew, Time};
use corecast_machine_sim::SimMachine;
use std::collections::BTreeSet;

fn machine(chip: &str, changes: &[(&str, &str)]) -> SimMachine {
    SimMachine::new(&common::chip(chip, changes))
}

fn machines() -> Vec<(&'static str, SimMachine)> {
    let with = |more: &[(&'static str, &'static str)]| {
        let mut changes = FREE.to_vec();
        changes.extend(more);
        machine("tilepro64", &changes)
    };
    vec![
        ("tilepro64", machine("tilepro64", &[])),
        ("without software costs", with(&[])),
        ("small buffers", with(&[("network.buffer", "1")])),
        ("slow credits", with(&[("network.credit", "7")])),
        ("slow cores", with(&[("endpoint.extract", "5")])),
        ("large queues", with(&[("endpoint.queue", "4000")])),
        ("booksim-mesh", machine("booksim-mesh", &[])),
    ]
}

fn skews(cycle: Time, ranks: u32) -> Vec<Vec<Time>> {
    let mut skews = vec![Skew::Each(Vec::new())];
    for cycles in [50, 3000] {
        skews.push(Skew::Even(cycle * cycles));
        skews.push(Skew::One(Rank(ranks / 2), cycle * cycles));
        skews.push(Skew::Random(cycle * cycles));
    }
    let late = (0..).zip(&skews).map(|(seed, skew)| skew.late(ranks, seed));
    late.map(|late| late.expect("names no other rank"))
        .collect()
}

#[test]
fn no_run_exceeds_the_worst_case() {
    let mut bounded = BTreeSet::new();
    for (what, machine) in machines() {
        let cycle = Time::from_ps(machine.chip().reference_clock().period_ps);
        for collective in Collective::ALL {
            for algorithm in algorithm::of(collective) {
                for (ranks, bytes) in [(1, 4), (2, 600), (7, 40), (9, 4), (16, 4), (20, 0), (25, 8)]
                {
                    let request = Request::new(collective, ranks, bytes);
                    let request = machine.request(request, &RunOptions::default());
                    let Ok(schedule) = algorithm::build(algorithm, &request) else {
                        continue;
                    };
                    let certificate = verify(&schedule, &machine.chip().routes(ranks));
                    let Some(worst) = machine.worst_case(&schedule, &certificate) else {
                        continue;
                    };
                    bounded.insert((collective.name(), algorithm.name()));
                    for late in skews(cycle, ranks) {
                        let last = late.iter().copied().max().unwrap_or(Time::ZERO);
                        let options = RunOptions {
                            late,
                            ..RunOptions::default()
                        };
                        let job = Job {
                            options,
                            ..Job::new(&schedule)
                        };
                        let report = machine.run(&job).expect("runs");
                        assert!(
                            report.makespan <= last + worst,
                            "{what}: {collective} by {}, {ranks} ranks, {bytes} bytes: {:?} after \
                             {last:?}, bound {worst:?}",
                            algorithm.name(),
                            report.makespan,
                        );
                    }
                }
            }
        }
    }
    for case in [
        ("alltoall", "contention-free"),
        ("alltoallv", "contention-free"),
        ("bcast", "static-route"),
        ("bcast", "binomial"),
        ("barrier", "dissemination"),
    ] {
        assert!(bounded.contains(&case), "{case:?} has a bound: {bounded:?}");
    }
}

#[test]
fn the_worst_case_is_near_where_software_is_slow() {
    let machine = machine("tilepro64", &[]);
    let ratio = |collective, name, ranks| {
        let request = Request::new(collective, ranks, 4);
        let request = machine.request(request, &RunOptions::default());
        let algorithm = algorithm::find(collective, name).expect("registered");
        let schedule = algorithm::build(algorithm, &request).expect("fits");
        let certificate = verify(&schedule, &machine.chip().routes(ranks));
        let worst = machine
            .worst_case(&schedule, &certificate)
            .expect("bounded");
        let report = machine.run(&Job::new(&schedule)).expect("runs");
        worst.ns() / report.makespan.ns()
    };
    for (collective, name, ranks, most) in [
        (Collective::Bcast, "static-route", 64, 1.01),
        (Collective::Reduce, "binomial", 16, 1.3),
        (Collective::Bcast, "mst", 16, 1.3),
        (Collective::Alltoall, "contention-free", 16, 1.3),
        (Collective::Alltoall, "contention-free", 64, 2.0),
    ] {
        let ratio = ratio(collective, name, ranks);
        assert!(
            (1.0..=most).contains(&ratio),
            "{collective} by {name}: {ratio}"
        );
    }
}

#[test]
fn what_may_wait_for_links_queues_or_ports_has_no_bound() {
    let none = |machine: &SimMachine, collective, name, bytes| {
        let request = Request::new(collective, 16, bytes);
        let request = machine.request(request, &RunOptions::default());
        let algorithm = algorithm::find(collective, name).expect("registered");
        let schedule = algorithm::build(algorithm, &request).expect("fits");
        let certificate = verify(&schedule, &machine.chip().routes(16));
        machine.worst_case(&schedule, &certificate).is_none()
    };
    let tile = machine("tilepro64", &[]);
    assert!(
        none(&tile, Collective::Alltoall, "pairwise", 4),
        "shares links"
    );
    assert!(
        none(&tile, Collective::Gather, "linear", 400),
        "overflows a queue"
    );
    assert!(!none(&tile, Collective::Gather, "linear", 4));
    let opera = machine("tilepro64-operampi", &[]);
    assert!(
        none(&opera, Collective::Gather, "linear", 4),
        "waits for readies"
    );
    let bus = machine("park2019-bus", &[]);
    assert!(none(&bus, Collective::Bcast, "linear", 4), "no mesh");
}
