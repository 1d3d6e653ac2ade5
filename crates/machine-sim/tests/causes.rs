//! Where the time goes: the books of the engines against cases one can count by hand.

use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{Cause, Job, Machine, Ongoing, Report, RunOptions, Time, critical_path};
use corecast_machine_sim::SimMachine;

const CYCLE_PS: u64 = 10_000;

fn run(name: &str, ranks: u32, bytes: u64, options: RunOptions) -> Report {
    let machine = SimMachine::new(&corecast_chip::find("park2019-bus").expect("built in"));
    let request = machine.request(Request::new(Collective::Bcast, ranks, bytes), &options);
    let algorithm = algorithm::find(Collective::Bcast, name).expect("registered");
    let schedule = algorithm.schedule(&request);
    machine
        .run(&Job {
            options,
            ..Job::new(&schedule)
        })
        .expect("runs")
}

fn cycles(report: &Report, rank: usize, kind: &str) -> u64 {
    report.activity[rank]
        .total(|cause| cause.kind() == kind)
        .ps()
        / CYCLE_PS
}

#[test]
fn one_message_is_transfer_and_handshake() {
    let report = run("linear", 2, 40, RunOptions::default());
    for rank in 0..2 {
        assert_eq!(cycles(&report, rank, "transfer"), 10);
        assert_eq!(cycles(&report, rank, "handshake"), 8);
    }
}

#[test]
fn a_late_root_is_waited_for() {
    let late = vec![Time::from_ps(50 * CYCLE_PS)];
    let report = run(
        "linear",
        2,
        40,
        RunOptions {
            late,
            ..RunOptions::default()
        },
    );
    assert_eq!(cycles(&report, 0, "compute"), 50);
    // The leaf's own command takes a cycle; the root's takes one more after it has woken.
    assert_eq!(
        report.activity[1]
            .total(|c| c == Cause::WaitPeer(Rank(0)))
            .ps()
            / CYCLE_PS,
        50
    );
}

#[test]
fn a_busy_leaf_costs_port_time_and_ordering_buys_it_back() {
    let ongoing = vec![Ongoing {
        src: Rank(1),
        dst: None,
        bytes: 32,
    }];
    let options = RunOptions {
        ongoing,
        ..RunOptions::default()
    };
    let ap = run("ap", 8, 4, options.clone());
    assert_eq!(cycles(&ap, 0, "port_busy"), 8);
    assert_eq!(cycles(&ap, 0, "ordering"), 0);
    let apoc = run("apoc", 8, 4, options);
    assert_eq!(cycles(&apoc, 0, "port_busy"), 1);
    assert_eq!(cycles(&apoc, 0, "ordering"), 1);
}

#[test]
fn the_critical_path_has_no_gaps() {
    let mut paths = 0;
    for algorithm in algorithm::of(Collective::Bcast) {
        let report = run(algorithm.name(), 13, 100, RunOptions::default());
        let path = critical_path(&report);
        assert_eq!(path.first().expect("not empty").start, Time::ZERO);
        assert_eq!(path.last().expect("not empty").end, report.makespan);
        assert!(
            path.windows(2).all(|pair| pair[0].end == pair[1].start),
            "{path:?}"
        );
        paths += 1;
    }
    assert!(paths >= 13);
}
