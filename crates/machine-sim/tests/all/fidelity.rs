// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet fidelity against the flit fidelity, over every algorithm.

use corecast_chip::find_changed;
use corecast_core::{Algorithm, Collective, FlowControl, Request, Schedule, algorithm};
use corecast_machine::{Job, Machine, Report, RunOptions};
use corecast_machine_sim::{Fidelity, SimMachine};

const CHIPS: [&str; 2] = ["tilepro64", "booksim-mesh"];

/// Both fidelities of a chip.
fn machines(chip: &str) -> [SimMachine; 2] {
    let chip = find_changed(chip, &[]).expect("built in");
    Fidelity::ALL.map(|fidelity| SimMachine::new(&chip).with_fidelity(fidelity))
}

fn build(
    machine: &SimMachine,
    algorithm: &dyn Algorithm,
    (ranks, bytes): (u32, u64),
    flow_control: FlowControl,
) -> Option<Schedule> {
    let mut request = Request::new(algorithm.collective(), ranks, bytes);
    if algorithm.collective() == Collective::Alltoallv {
        request.counts = Some(vec![bytes; (ranks * ranks) as usize].into());
    }
    request.tuning.flow_control = flow_control;
    let request = machine.request(request, &RunOptions::default());
    algorithm::build(algorithm, &request).ok()
}

/// The same schedule in both fidelities, with the same data.
fn reports(machines: &[SimMachine; 2], schedule: &Schedule) -> [Report; 2] {
    let [flit, packet] = [0, 1].map(|index: usize| {
        let report = machines[index].run(&Job::new(schedule)).expect("runs");
        assert!(report.delivered(), "{}", schedule.algorithm());
        report
    });
    assert_eq!(flit.outputs, packet.outputs);
    let words = |report: &Report| -> u64 { report.links.iter().map(|link| link.flits).sum() };
    assert_eq!(
        words(&flit),
        words(&packet),
        "the same flits over the same links"
    );
    [flit, packet]
}

/// How much longer the packet fidelity takes, in percent of the flit fidelity.
fn percent([flit, packet]: &[Report; 2]) -> f64 {
    if flit.makespan == packet.makespan {
        return 0.0;
    }
    100.0 * (packet.makespan.ns() / flit.makespan.ns() - 1.0)
}

#[test]
fn the_difference_is_bounded_for_every_algorithm() {
    let ranks = vec![1, 2, 3, 5, 8, 12, 17, 24, 36];
    bounded(&[(ranks, &[0, 64]), (vec![4, 25], &[400, 3000])], 300);
}

/// What is measured is stated at [`Fidelity::Packet`].
#[test]
#[ignore = "20 s: `cargo xtask night exhaustive`"]
fn the_difference_is_bounded_for_every_number_of_ranks() {
    // (rank counts, sizes): everything small, and squares for messages of several packets.
    let squares = vec![2, 4, 9, 16, 25, 36];
    let all = (1..=36).collect();
    bounded(&[(all, &[0, 64]), (squares, &[400, 3000])], 1000);
}

/// Of rank counts with sizes, more than so many runs on either chip.
fn bounded(cases: &[(Vec<u32>, &[u64])], least: u32) {
    for chip in CHIPS {
        let machines = machines(chip);
        let (mut runs, mut equal, mut sum) = (0_u32, 0_u32, 0.0);
        let (mut low, mut high) = ((0.0, String::new()), (0.0, String::new()));
        for algorithm in algorithm::all() {
            if algorithm.collective() == Collective::Alltoallv {
                continue; // with equal counts an alltoall
            }
            if algorithm.name().starts_with("shared-") {
                continue; // without shared buffers the same messages again
            }
            for (ranks, sizes) in cases {
                for size in ranks
                    .iter()
                    .flat_map(|&r| sizes.iter().map(move |&b| (r, b)))
                {
                    let schedule = build(&machines[0], algorithm, size, FlowControl::Auto);
                    let Some(schedule) = schedule else { continue };
                    let difference = percent(&reports(&machines, &schedule));
                    let case =
                        || format!("{} {} {size:?}", algorithm.collective(), algorithm.name());
                    if difference < low.0 {
                        low = (difference, case());
                    }
                    if difference > high.0 {
                        high = (difference, case());
                    }
                    runs += 1;
                    equal += u32::from(difference == 0.0);
                    sum += difference.abs();
                }
            }
        }
        let mean = sum / f64::from(runs);
        assert!(
            runs > least && equal > runs / 5 * 4,
            "{chip}: {equal} of {runs}"
        );
        assert!(low.0 > -17.0, "{chip}: {low:?}");
        assert!(high.0 < 9.0, "{chip}: {high:?}");
        assert!(mean < 0.3, "{chip}: {mean}");
    }
}

#[test]
fn where_nothing_contends_they_are_equal_to_the_cycle() {
    // One rank sends to one after the other, or every rank passes on what it has wholly received;
    // packets then wait for nobody else's.
    let quiet = [
        (Collective::Bcast, "linear"),
        (Collective::Bcast, "chain"),
        (Collective::Bcast, "scoreboard"),
        (Collective::Bcast, "static-route"),
        (Collective::Scatter, "linear"),
    ];
    for chip in CHIPS {
        let machines = machines(chip);
        for (collective, name) in quiet {
            let algorithm = algorithm::find(collective, name).expect("registered");
            for ranks in 1..=36 {
                for bytes in [0, 4, 64, 400, 3000] {
                    let size = (ranks, bytes);
                    let schedule = build(&machines[0], algorithm, size, FlowControl::Auto);
                    let schedule = schedule.expect("serves every request");
                    let [flit, packet] = reports(&machines, &schedule);
                    let case = format!("{collective} {name} {size:?} on {chip}");
                    assert_eq!(flit.makespan, packet.makespan, "{case}");
                    // A rank that sends several packets fills the first buffer, and finishes later
                    // where that is finite; in a chain packets are read as fast as they come.
                    if name == "chain" && bytes <= 64 {
                        assert_eq!(flit.finish, packet.finish, "{case}");
                        assert_eq!(flit.causes(), packet.causes(), "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn packet_runs_repeat() {
    let machines = machines(CHIPS[0]);
    let pairwise = algorithm::find(Collective::Alltoall, "pairwise").expect("registered");
    for flow_control in [FlowControl::On, FlowControl::Off] {
        let schedule = build(&machines[1], pairwise, (16, 1000), flow_control).expect("fits");
        let run = || machines[1].run(&Job::new(&schedule)).expect("runs");
        let (a, b) = (run(), run());
        assert_eq!(a.first_difference(&b), None);
        assert_eq!(a.trace_hash, b.trace_hash);
    }
}

#[test]
fn a_crossbar_has_no_fidelity() {
    let bus = SimMachine::new(&find_changed("park2019-bus", &[]).expect("built in"));
    assert_eq!(bus.with_fidelity(Fidelity::Packet).fidelity(), None);
    assert_eq!(
        machines(CHIPS[0]).map(|machine| machine.fidelity()),
        Fidelity::ALL.map(Some)
    );
}
