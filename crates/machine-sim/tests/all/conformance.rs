// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contract of every machine, on every kind of chip.

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Limits, Machine, RunOptions, conformance};
use corecast_machine_sim::SimMachine;

fn machine(chip: &str) -> SimMachine {
    SimMachine::new(&corecast_chip::find(chip).expect("a built-in chip"))
}

/// The SCC with a message library.
fn scc(library: &str) -> SimMachine {
    let change = ("endpoint.library".to_owned(), library.to_owned());
    SimMachine::new(&corecast_chip::find_changed("scc", &[change]).expect("valid"))
}

#[test]
fn same_bytes_as_the_oracle_for_every_algorithm() {
    conformance::same_bytes_as_oracle(&machine("park2019-bus"), 17, &[0, 1, 13, 100]);
    conformance::same_bytes_as_oracle(&machine("chung2011-bus"), 9, &[0, 7, 64]);
    conformance::same_bytes_as_oracle(&machine("tilepro64"), 10, &[0, 7, 1000]);
    for library in ["rcce", "ircce", "one-sided"] {
        conformance::same_bytes_as_oracle(&scc(library), 10, &[0, 7, 1000, 9000, 20_000]);
    }
}

#[test]
fn same_bytes_as_the_oracle_over_managed_buffers() {
    // 1000 bytes are eight blocks of half an output buffer.
    conformance::same_bytes_as_oracle(&machine("nagam"), 9, &[0, 7, 1000]);
}

#[test]
fn blocks_of_any_sizes_come() {
    for chip in ["park2019-bus", "chung2011-bus", "tilepro64", "scc", "nagam"] {
        conformance::uneven_exchanges_as_oracle(&machine(chip), 30);
    }
    for library in ["rcce", "one-sided"] {
        conformance::uneven_exchanges_as_oracle(&scc(library), 30);
    }
}

#[test]
fn multicasts_reach_some_ranks() {
    for chip in ["park2019-bus", "tilepro64", "booksim-mesh", "nagam"] {
        conformance::multicasts_to_some(&machine(chip));
    }
    for library in ["rcce", "ircce", "one-sided"] {
        conformance::multicasts_to_some(&scc(library));
    }
}

/// A buffer has room for more tiny messages than a flag can count.
#[test]
fn many_tiny_parts_go_through_shared_buffers() {
    let machine = scc("one-sided");
    for name in ["oc-bcast", "rotating-tree", "pipelined", "linear"] {
        let options = RunOptions::default();
        let mut request = machine.request(Request::new(Collective::Bcast, 12, 600), &options);
        request.tuning.part_bytes = Some(1);
        let algorithm = algorithm::find(Collective::Bcast, name).expect("registered");
        let schedule = algorithm.schedule(&request);
        let report = machine.run(&Job::new(&schedule)).expect("runs");
        assert!(report.delivered(), "{name}");
    }
}

#[test]
fn a_lost_message_is_a_deadlock_that_names_the_ranks() {
    conformance::reports_a_lost_message(&machine("park2019-bus"), Limits::default());
    conformance::reports_a_lost_message(&machine("tilepro64"), Limits::default());
    conformance::reports_a_lost_message(&machine("nagam"), Limits::default());
    for library in ["rcce", "ircce", "one-sided"] {
        conformance::reports_a_lost_message(&scc(library), Limits::default());
    }
}

#[test]
fn options_that_name_unknown_ranks_are_refused() {
    conformance::refuses_unknown_ranks(&machine("chung2011-bus"));
    conformance::refuses_unknown_ranks(&machine("nagam"));
}

#[test]
fn reductions_give_the_bits_of_the_oracle() {
    conformance::same_reductions_as_oracle(&machine("park2019-bus"));
    conformance::same_reductions_as_oracle(&machine("tilepro64"));
    conformance::same_reductions_as_oracle(&machine("nagam"));
    conformance::same_reductions_as_oracle(&scc("one-sided"));
    conformance::same_reductions_as_oracle(&scc("ircce"));
}
