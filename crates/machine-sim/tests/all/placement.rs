// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks on other cores: the same runs where a list says what holds anyway, other times by what a hop
//! takes where it does not, and certificates and bounds of the places where ranks are.

use crate::common;

use std::collections::BTreeSet;

use corecast_chip::{Chip, NetworkSpec};
use corecast_core::{Collective, LinkId, Rank, Request, Routes, algorithm, verify};
use corecast_machine::pingpong::there_and_back;
use corecast_machine::{Job, Limits, Machine, Report, RunOptions, Time};
use corecast_machine_sim::SimMachine;

fn placed(name: &str, placement: &str) -> Chip {
    common::chip(name, &[("network.placement", placement)])
}

fn run(chip: &Chip, collective: Collective, name: &str, ranks: u32, bytes: u64) -> Report {
    let machine = SimMachine::new(chip);
    let request = Request::new(collective, ranks, bytes);
    let request = machine.request(request, &RunOptions::default());
    let algorithm = algorithm::find(collective, name).expect("registered");
    let schedule = algorithm.schedule(&request);
    machine.run(&Job::new(&schedule)).expect("runs")
}

#[test]
fn a_list_of_what_holds_anyway_changes_nothing() {
    let in_order = |ranks: u32| {
        let cores: Vec<String> = (0..ranks).map(|core| core.to_string()).collect();
        cores.join(" ")
    };
    for name in ["scc", "nagam", "tilepro64"] {
        let usual = common::chip(name, &[]);
        let all = placed(name, &in_order(usual.cores_max()));
        let rows = placed(name, "rows");
        for ranks in [2, 7, usual.cores_max()] {
            for (collective, algorithm) in
                [(Collective::Bcast, "mst"), (Collective::Alltoall, "linear")]
            {
                let of = |chip: &Chip| run(chip, collective, algorithm, ranks, 100);
                let expected = of(&rows);
                assert_eq!(expected.first_difference(&of(&all)), None, "{name}");
                assert_eq!(expected.links, of(&all).links);
                if ranks == usual.cores_max() {
                    assert_eq!(expected.first_difference(&of(&usual)), None, "{name}");
                }
            }
        }
    }
    // A square in a list is that square.
    let (usual, list) = (common::chip("tilepro64", &[]), "0 1 8 9");
    let square = placed("tilepro64", list);
    assert_eq!(usual.seats(4), square.seats(4));
    assert_eq!(square.ranks_max(), 4);
    let of = |chip: &Chip| run(chip, Collective::Bcast, "mst", 4, 100);
    assert_eq!(of(&usual).first_difference(&of(&square)), None);
}

/// Half a round trip between the only two ranks.
fn one_way(chip: &Chip, bytes: u64) -> Time {
    let pair = [Rank(0), Rank(1)];
    let limits = Limits::default();
    let time = there_and_back(&SimMachine::new(chip), 2, pair, bytes, 3, limits).expect("runs");
    Time::from_ps(time.ps() / 2)
}

/// What a hop and a turn take.
struct Mesh {
    hop: u64,
    turn: u64,
}

fn mesh(name: &str) -> Mesh {
    let chip = common::chip(name, &[]);
    let NetworkSpec::Mesh(mesh) = chip.network() else {
        panic!("a mesh");
    };
    Mesh {
        hop: mesh.clock.to_ps(mesh.hop_cycles()),
        turn: mesh.clock.to_ps(u64::from(mesh.turn_cycles)),
    }
}

/// On the TilePro64 a message takes as much longer as its way is longer, by the same for every hop,
/// and for the turn as far as it is there.
#[test]
fn every_hop_counts_on_tilepro64() {
    let of = |to: u32| one_way(&placed("tilepro64", &format!("0 {to}")), 64);
    let Mesh { hop, turn } = mesh("tilepro64");
    let [near, middle, far] = [1, 7, 63].map(of);
    // 1 and 7 hops along a row, and 14 with a turn; so many packets wait for one another.
    let packets = (middle.ps() - near.ps()) / (6 * hop);
    assert!((1..=3).contains(&packets), "{packets}");
    assert_eq!(middle.ps(), near.ps() + packets * 6 * hop);
    assert_eq!(far.ps(), middle.ps() + packets * (7 * hop + turn));
}

/// On the SCC every line that is read from another core's buffer goes there and back: eight hops more
/// are 8 x 2 x 4 cycles of the mesh for each. Flags and polls add a few lines.
#[test]
fn every_line_goes_there_and_back_on_scc() {
    let bytes = 3200;
    let of = |to: u32| one_way(&placed("scc", &format!("0 {to}")), bytes);
    let (near, far) = (of(1), of(47));
    let line = 8 * 2 * mesh("scc").hop;
    let lines = (far.ps() - near.ps()) as f64 / line as f64;
    let data = bytes as f64 / 32.0;
    assert!((data..data + 10.0).contains(&lines), "{lines} lines");
}

/// Links that a run has used, and those that the certificate counts with.
#[test]
fn links_are_those_between_the_places() {
    for (name, placement) in [
        ("scc", "random:3"),
        ("tilepro64", "random:5"),
        ("tilepro64", "snake"),
        ("nagam", "columns"),
    ] {
        let chip = placed(name, placement);
        let ranks = 11;
        let report = run(&chip, Collective::Alltoall, "linear", ranks, 40);
        assert!(report.delivered());
        let used: BTreeSet<String> = report
            .links
            .iter()
            .filter(|link| link.flits > 0)
            .map(|link| {
                let ((x, y), (to_x, to_y)) = (link.from, link.to);
                format!("({x},{y})->({to_x},{to_y})")
            })
            .collect();
        let routes = chip.routes(ranks);
        let mut counted = BTreeSet::new();
        for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
            let mut count = |link: LinkId| {
                counted.insert(routes.describe(link));
            };
            if from != to {
                routes.visit_links(Rank(from), Rank(to), &mut count);
            }
        }
        counted.retain(|link| link.starts_with('('));
        assert_eq!(used, counted, "{name} {placement}");
    }
}

/// Whatever the places: right data, correct certificates, no run below the bound.
#[test]
fn bounds_hold_wherever_ranks_are() {
    let collectives = [
        (Collective::Bcast, 200),
        (Collective::Allreduce, 64),
        (Collective::Alltoall, 48),
        (Collective::Gather, 48),
    ];
    for name in ["scc", "nagam", "tilepro64"] {
        for seed in 0..4 {
            let chip = placed(name, &format!("random:{seed}"));
            let ranks = [2, 5, 12, chip.cores_max().min(24)][seed];
            for (collective, bytes) in collectives {
                let machine = SimMachine::new(&chip);
                let request = Request::new(collective, ranks, bytes);
                let request = machine.request(request, &RunOptions::default());
                let bound = chip.bound_cycles(&request) * chip.reference_clock().period_ps;
                let mut tried = 0;
                for algorithm in algorithm::of(collective) {
                    let Ok(schedule) = algorithm::build(algorithm, &request) else {
                        continue;
                    };
                    let certificate = verify(&schedule, &chip.routes(ranks));
                    assert!(certificate.is_correct(), "{name} {}", algorithm.name());
                    let Ok(report) = machine.run(&Job::new(&schedule)) else {
                        assert!(
                            !certificate.is_deadlock_free(),
                            "{name} {}",
                            algorithm.name()
                        );
                        continue;
                    };
                    assert!(report.delivered());
                    assert!(report.makespan.ps() >= bound, "{name} {}", algorithm.name());
                    tried += 1;
                }
                assert!(tried > 0, "{name} {collective}");
            }
        }
    }
}
