// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the time goes: the books of the engines against cases one can count by hand.

use crate::common;

use common::FREE;
use corecast_core::{Collective, Rank, Request, ScheduleBuilder, Spec, Split, algorithm};
use corecast_machine::{
    Cause, Job, Machine, Ongoing, Report, RunOptions, Shares, Time, critical_path,
};
use corecast_machine_sim::{Fidelity, SimMachine};

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

/// Cut off from everything else, two messages that need one link: what the second one loses is
/// attributed to the link and to the first, and every rank's causes still sum to the makespan.
#[test]
fn waits_are_attributed_to_links_and_their_holders() {
    let mut changes = FREE.to_vec();
    changes.extend([("network.width", "4"), ("network.height", "1")]);
    let chip = common::chip("tilepro64", &changes);
    let machine = SimMachine::new(&chip);
    // Row 0 of a 4 x 1 mesh: 0 -> 2 and 1 -> 3 share the link from (1,0) to (2,0).
    let mut builder = ScheduleBuilder::new(
        "crossing",
        Spec::new(&Request::new(Collective::Alltoall, 4, 400), Split::Even(1)),
    );
    for (from, to) in [(0, 2), (1, 3)] {
        let chunk = builder.spec().chunk(from * 4 + to, 0);
        builder.message(0, Rank(from), Rank(to), &[chunk]);
    }
    let schedule = builder.finish().without_flow_control();
    let report = machine.run(&Job::new(&schedule)).expect("runs");
    report.assert_accounted();
    let cycle = chip.reference_clock().period_ps;
    let lost: Vec<(u32, u64, corecast_machine::LinkHold)> = (0..)
        .zip(&report.activity)
        .flat_map(|(rank, activity)| {
            let spans = activity.spans();
            let holds = &report.holds;
            spans.filter_map(move |span| match span.cause {
                Cause::LinkBusy(index) => {
                    let cycles = (span.end.ps() - span.start.ps()) / cycle;
                    Some((rank, cycles, holds[index as usize]))
                }
                _ => None,
            })
        })
        .collect();
    // The packets have 102 words; the later head waits until the tail of the other is through.
    assert!(!lost.is_empty());
    for (_, cycles, hold) in &lost {
        assert!((90..=110).contains(cycles), "{lost:?}");
        assert_eq!((hold.from, hold.to), ((1, 0), (2, 0)));
        assert_ne!(Some(hold.message), hold.holder);
    }
}

/// A broadcast to all `ranks` of a chip, one message after the other.
fn linear_on(chip: &corecast_chip::Chip, ranks: u32) -> Report {
    let machine = SimMachine::new(chip);
    let request = Request::new(Collective::Bcast, ranks, 64);
    let request = machine.request(request, &RunOptions::default());
    let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
    let schedule = algorithm::build(linear, &request).expect("serves every rank count");
    machine.run(&Job::new(&schedule)).expect("runs")
}

/// What a call of the library takes is software, at each end; flags and polls are not.
#[test]
fn software_is_a_cause_of_its_own() {
    let chip = corecast_chip::find("scc").expect("built in");
    let call = chip.parameters().find(|p| p.key == "endpoint.ircce");
    let call = chip
        .reference_clock()
        .to_ps(call.expect("a key of the chip").value as u64);
    let report = linear_on(&chip, 2);
    for rank in &report.activity {
        assert_eq!(rank.total(|cause| cause == Cause::Software).ps(), call);
        assert!(rank.total(|cause| cause == Cause::Handshake) > Time::ZERO);
    }
}

/// The fitted software of the mesh's message layers leaves the network next to nothing, and a chip
/// whose cores take no time leaves it everything.
#[test]
fn shares_tell_software_from_network() {
    let shares = |chip: &corecast_chip::Chip| {
        let report = linear_on(chip, 16);
        Shares::of(&critical_path(&report)).expect("takes time")
    };
    for name in ["tilepro64", "tilepro64-operampi"] {
        let shares = shares(&corecast_chip::find(name).expect("built in"));
        assert!(shares.software_percent > 80.0, "{name}: {shares:?}");
        assert!(shares.network_percent < 20.0, "{name}: {shares:?}");
    }
    let free = shares(&common::chip("tilepro64", &FREE));
    assert_eq!(free.software_percent, 0.0, "{free:?}");
    assert!(free.network_percent > 80.0, "{free:?}");
}

/// Where nothing takes time but the network, nothing else makes a run long: a rank that waits has sent,
/// and what it sent is on its way.
#[test]
fn where_only_the_network_takes_time_it_takes_all() {
    let chip = corecast_chip::find("booksim-mesh").expect("built in");
    let request = Request::new(Collective::Bcast, 64, 1024);
    let binomial = algorithm::find(Collective::Bcast, "binomial").expect("registered");
    for fidelity in [Fidelity::Flit, Fidelity::Packet] {
        let machine = SimMachine::new(&chip).with_fidelity(fidelity);
        let request = machine.request(request.clone(), &RunOptions::default());
        let schedule = binomial.schedule(&request);
        let report = machine.run(&Job::new(&schedule)).expect("runs");
        let shares = Shares::of(&critical_path(&report)).expect("takes time");
        assert!(shares.network_percent > 98.0, "{fidelity:?}: {shares:?}");
    }
}
