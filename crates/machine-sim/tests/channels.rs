//! Messages over meshes with several virtual channels: right, complete, and never stuck.

use corecast_chip::find_changed;
use corecast_core::{Algorithm, Collective, Request, algorithm, verify};
use corecast_machine::{Job, Machine, RunOptions};
use corecast_machine_sim::{Fidelity, SimMachine};

/// Runs a broadcast as `run bcast` does, by every algorithm that serves it or by one.
fn broadcast(
    (name, vcs): (&str, &str),
    (ranks, bytes): (u32, u64),
    part_bytes: Option<u64>,
    only: Option<&str>,
) {
    let changes = [("network.vcs".to_owned(), vcs.to_owned())];
    let chip = find_changed(name, &changes).expect("valid");
    let machine = SimMachine::new(&chip);
    let mut request = Request::new(Collective::Bcast, ranks, bytes);
    request.tuning.part_bytes = part_bytes;
    let request = machine.request(request, &RunOptions::default());
    let is_asked = |algorithm: &&dyn Algorithm| only.is_none_or(|name| algorithm.name() == name);
    let mut runs = 0;
    for algorithm in algorithm::of(Collective::Bcast).filter(is_asked) {
        let Ok(schedule) = algorithm::build(algorithm, &request) else {
            continue;
        };
        let certificate = verify(&schedule, &chip.routes(ranks));
        assert!(certificate.is_correct() && certificate.is_deadlock_free());
        for fidelity in Fidelity::ALL {
            let machine = machine.clone().with_fidelity(fidelity);
            let report = machine.run(&Job::new(&schedule));
            let report = report.unwrap_or_else(|error| panic!("{}: {error}", algorithm.name()));
            assert!(report.delivered(), "{}", algorithm.name());
            report.assert_accounted();
        }
        runs += 1;
    }
    assert!(runs > 0);
}

#[test]
fn no_packet_is_left_behind_by_those_after_it() {
    broadcast(("booksim-mesh", "2"), (8, 300), None, None);
}

#[test]
fn messages_are_read_in_the_order_in_which_they_were_sent() {
    broadcast(("booksim-mesh", "2"), (25, 8), None, None);
    broadcast(("booksim-mesh", "4"), (16, 100), Some(16), None);
}

#[test]
fn a_full_queue_wakes_whoever_waits_for_its_places() {
    broadcast(("tilepro64", "2"), (64, 1000), None, Some("linear"));
}
