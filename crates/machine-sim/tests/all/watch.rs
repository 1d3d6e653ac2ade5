// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who watches a run sees every message that it delivers, and changes nothing.

use crate::tasks;

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions, Watch};
use corecast_machine_sim::SimMachine;
use tasks::Call::{Receive, Send};

#[test]
fn every_message_is_counted() {
    let mut checked = 0;
    for chip in ["park2019-bus", "tilepro64", "scc", "nagam"] {
        let machine = SimMachine::new(&corecast_chip::find(chip).expect("built in"));
        for collective in [Collective::Bcast, Collective::Alltoall, Collective::Barrier] {
            for algorithm in algorithm::of(collective) {
                let request = Request::new(
                    collective,
                    5,
                    if collective == Collective::Barrier {
                        0
                    } else {
                        40
                    },
                );
                let request = machine.request(request, &RunOptions::default());
                let Ok(schedule) = algorithm::build(algorithm, &request) else {
                    continue;
                };
                let watch = Watch::new();
                let mut job = Job::new(&schedule);
                let quiet = machine.run(&job).expect("runs");
                job.options.watch = watch.clone();
                let watched = machine.run(&job).expect("runs");
                assert_eq!(watched.trace_hash, quiet.trace_hash);
                let case = format!("{chip}: {algorithm:?}");
                assert_eq!(watch.count(), watched.messages.len() as u64, "{case}");
                assert!(watch.count() > 0, "{case}");
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "only {checked} runs");
    assert_eq!(Watch::default().count(), 0);
}

#[test]
fn messages_between_tasks_are_counted() {
    let watch = Watch::new();
    let mut setup = tasks::on(&[0, 1]);
    setup.options.watch = watch.clone();
    let there = [Send(1, 4), Receive(1, 2), Send(1, 1)];
    let back = [Receive(0, 4), Send(0, 2), Receive(0, 1)];
    let run = tasks::run(&setup, &[&there, &back]).expect("runs");
    assert_eq!((watch.count(), run.run.messages.len()), (3, 3));
}
