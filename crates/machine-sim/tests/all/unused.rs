// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a chip calls unused does nothing: the same runs take the same time whatever its value.

use corecast_chip::find_changed;
use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions};
use corecast_machine_sim::{Fidelity, SimMachine};

/// Every algorithm's time, over all cores of small chips.
fn times(chip: corecast_chip::Chip) -> Vec<(&'static str, u64, u64)> {
    times_on(&SimMachine::new(&chip), &chip)
}

fn times_on(machine: &SimMachine, chip: &corecast_chip::Chip) -> Vec<(&'static str, u64, u64)> {
    let ranks = chip.cores_max().min(8);
    let mut times = Vec::new();
    for collective in [
        Collective::Bcast,
        Collective::Alltoall,
        Collective::Allreduce,
    ] {
        for algorithm in algorithm::of(collective) {
            let request = Request::new(collective, ranks, 96);
            let request = machine.request(request, &RunOptions::default());
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let report = machine.run(&Job::new(&schedule)).expect("runs");
            times.push((algorithm.name(), report.makespan.ps(), report.trace_hash));
        }
    }
    times
}

#[test]
fn unused_keys_do_nothing() {
    let mut checked = 0;
    let library = |library: &str| vec![("endpoint.library".to_owned(), library.to_owned())];
    for (name, choices) in [
        ("scc", vec![]),
        ("scc", library("rcce")),
        ("scc", library("one-sided")),
        ("booksim-mesh", vec![]),
        ("tilepro64", vec![]),
        ("park2019-bus", vec![]),
    ] {
        let chip = find_changed(name, &choices).expect("built in");
        let before = times(chip.clone());
        assert!(before.len() > 10, "{name}: {before:?}");
        for unused in chip.unused() {
            let of_key = |p: &corecast_chip::Parameter<'_>| p.key == unused.key;
            let old = chip.parameters().find(of_key).expect("a number").value;
            let new = if old > 1.0 {
                (old / 2.0).floor()
            } else {
                old + 1.0
            };
            let change = (unused.key.to_owned(), new.to_string());
            let changes = [choices.clone(), vec![change]].concat();
            let changed = find_changed(name, &changes).expect("valid");
            assert_eq!(changed.notes().len(), 1, "{unused:?}");
            assert_eq!(times(changed), before, "{name}: {unused:?}");
            checked += 1;
        }
    }
    assert!(checked >= 30, "{checked} keys");
    // The same keys matter where flits are simulated.
    let mesh =
        |changes: &[(String, String)]| times(find_changed("tilepro64", changes).expect("valid"));
    let slower = ("network.ejection".to_owned(), "9".to_owned());
    assert_ne!(mesh(&[]), mesh(&[slower]));
}

/// Nor what a fidelity does without; with flits it matters.
#[test]
fn what_a_fidelity_does_without_does_nothing() {
    let times = |fidelity, changes: &[(String, String)]| {
        let chip = find_changed("tilepro64", changes).expect("valid");
        times_on(&SimMachine::new(&chip).with_fidelity(fidelity), &chip)
    };
    for key in Fidelity::Packet.unused() {
        let more = [((*key).to_owned(), "9".to_owned())];
        for (fidelity, is_same) in [(Fidelity::Packet, true), (Fidelity::Flit, false)] {
            let is_equal = times(fidelity, &[]) == times(fidelity, &more);
            assert_eq!(is_equal, is_same, "{key} with {}", fidelity.name());
        }
    }
}
