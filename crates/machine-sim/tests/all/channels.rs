// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages over meshes with several virtual channels: right, complete, and never stuck.

use corecast_chip::find_changed;
use corecast_core::{Algorithm, Collective, Rank, Request, algorithm, verify};
use corecast_machine::{Background, Job, Limits, Machine, Ongoing, RunOptions};
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

/// Every core is sent readies by several others, more than its queue for flow control takes, while
/// it is held up writing behind background packets for other such cores.
#[test]
fn a_core_that_is_held_up_reads_its_full_queue() {
    let changes = [
        ("network.width", "8"),
        ("network.height", "1"),
        ("network.flit", "4"),
        ("network.buffer", "3"),
        ("network.routing", "0"),
        ("network.link", "2"),
        ("network.credit", "6"),
        ("network.ejection", "4"),
        ("endpoint.call", "6"),
        ("endpoint.call_per_rank", "2"),
        ("endpoint.send", "9"),
        ("endpoint.recv", "12"),
        ("endpoint.payload", "35"),
        ("endpoint.inject", "3"),
        ("endpoint.extract", "0"),
        ("endpoint.header", "2"),
        ("endpoint.packet", "30"),
        ("endpoint.queues", "4"),
        ("endpoint.queue", "3"),
    ];
    let changes = changes.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let chip = find_changed("booksim-mesh", &changes).expect("valid");
    let machine = SimMachine::new(&chip);
    let late_ports = [(5, Some(1), 764), (1, None, 1684)];
    let ongoing = late_ports.map(|(src, dst, bytes)| Ongoing {
        src: Rank(src),
        dst: dst.map(Rank),
        bytes,
    });
    let options = RunOptions {
        ongoing: ongoing.to_vec(),
        ..RunOptions::default()
    };
    let mut request = Request::new(Collective::Alltoallv, 8, 0);
    request.counts = Some(vec![0; 64].into());
    let request = machine.request(request, &options);
    let pairwise = algorithm::find(Collective::Alltoallv, "pairwise").expect("registered");
    let schedule = algorithm::build(pairwise, &request).expect("fits");
    assert!(schedule.has_flow_control());
    for seed in 0..200 {
        let options = RunOptions {
            background: Some(Background {
                rate: 0.017045,
                packet_flits: 5,
                seed,
            }),
            limits: Limits {
                events: 100_000,
                ..Limits::default()
            },
            ..options.clone()
        };
        let job = Job {
            options,
            ..Job::new(&schedule)
        };
        let report = machine
            .run(&job)
            .unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert!(report.delivered());
        report.assert_accounted();
    }
}
