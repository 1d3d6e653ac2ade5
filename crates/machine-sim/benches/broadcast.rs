// SPDX-License-Identifier: MIT OR Apache-2.0
//! Speed of the simulator: whole broadcasts on the 32-core bus chip, with real data.
//!
//! `cargo bench -p corecast-machine-sim`

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions};
use corecast_machine_sim::SimMachine;

fn main() {
    divan::main();
}

#[divan::bench(args = ["linear", "binomial", "pipelined", "van-de-geijn", "apoc"])]
fn broadcast_32_ranks_2_kib(bencher: divan::Bencher, name: &str) {
    let machine = SimMachine::new(&corecast_chip::find("park2019-bus").expect("built in"));
    let options = RunOptions::default();
    let request = machine.request(Request::new(Collective::Bcast, 32, 2048), &options);
    let algorithm = algorithm::find(Collective::Bcast, name).expect("registered");
    let schedule = algorithm.schedule(&request);
    let job = Job::new(&schedule);
    let events = machine.run(&job).expect("runs").events;
    bencher
        .counter(divan::counter::ItemsCount::new(events))
        .bench(|| machine.run(&job).expect("runs"));
}
