// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of messages on every kind of chip, and schedules by messages there.

use corecast_chip::{find, find_changed};
use corecast_machine::{ByMessages, Limits, RunOptions, conformance};
use corecast_machine_sim::{Fidelity, SimMachine};

fn machine(chip: &str) -> SimMachine {
    SimMachine::new(&find(chip).expect("a built-in chip"))
}

fn changed(chip: &str, key: &str, value: &str) -> SimMachine {
    let change = (key.to_owned(), value.to_owned());
    SimMachine::new(&find_changed(chip, &[change]).expect("valid"))
}

fn check(machine: &SimMachine) {
    let options = RunOptions::default();
    conformance::exchanges_messages(machine, &options);
    conformance::messages_are_repeatable(machine, &options);
    let by_messages = ByMessages(machine.clone());
    conformance::reports_a_lost_message(&by_messages, Limits::default());
}

#[test]
fn a_mesh_exchanges_messages() {
    check(&machine("tilepro64"));
    check(&machine("tilepro64").with_fidelity(Fidelity::Packet));
}

#[test]
fn synchronous_senders_exchange_messages() {
    check(&machine("tilepro64-operampi"));
}

/// A queue for a header and a word: everything is held up all the time.
#[test]
fn tiny_queues_exchange_messages() {
    check(&changed("tilepro64", "endpoint.queue", "8"));
}

#[test]
fn engines_exchange_messages() {
    check(&machine("park2019-bus"));
    check(&machine("chung2011-bus"));
}

#[test]
fn message_passing_buffers_exchange_messages() {
    check(&machine("scc"));
}

#[test]
fn managed_buffers_exchange_messages() {
    check(&machine("nagam"));
}

/// A chip that had nothing but messages would run every schedule.
#[test]
fn messages_are_enough_for_every_schedule() {
    for chip in ["tilepro64", "park2019-bus", "scc", "nagam"] {
        let machine = ByMessages(machine(chip));
        conformance::same_bytes_as_oracle(&machine, 5, &[0, 700]);
    }
}
