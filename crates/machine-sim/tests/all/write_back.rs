// SPDX-License-Identifier: MIT OR Apache-2.0
//! What only happens beyond the second-level cache: lines that go back to memory.

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions};
use corecast_machine_sim::SimMachine;

const LINE: u64 = 32;
const L2: u64 = 256 << 10;

/// Lines that a message of `bytes` bytes from core 0 to core 1 has written back: what a thousand
/// cycles more per write-back add, in thousands. Both cores sit at a controller.
fn written_back(library: &str, bytes: u64) -> f64 {
    let cycles = |write_back: u64| {
        let changes = [
            ("endpoint.library".to_owned(), library.to_owned()),
            ("memory.write_back".to_owned(), write_back.to_string()),
        ];
        let chip = corecast_chip::find_changed("scc", &changes).expect("keys of the chip");
        let machine = SimMachine::new(&chip);
        let request = machine.request(
            Request::new(Collective::Bcast, 2, bytes),
            &RunOptions::default(),
        );
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let schedule = algorithm::build(linear, &request).expect("serves two ranks");
        let report = machine.run(&Job::new(&schedule)).expect("runs");
        assert!(report.delivered());
        chip.reference_clock().cycles_f64(report.makespan.ps())
    };
    (cycles(1122) - cycles(122)) / 1000.0
}

/// iRCCE's copy loop reads a line before it overwrites it, so that it is dirty in the cache. All of a
/// message but what the caches hold at its end has gone to memory then; what fits goes nowhere.
#[test]
fn received_lines_that_do_not_fit_are_written_back() {
    let bytes = 1_000_000;
    let found = written_back("ircce", bytes);
    let (least, most) = ((bytes - L2) / LINE - 1024, bytes / LINE);
    assert!((least as f64..=most as f64).contains(&found), "{found}");
    assert_eq!(written_back("ircce", 50_000), 0.0);
}

/// RCCE's copy loop does not read it: its words pass both caches.
#[test]
fn stores_past_the_caches_leave_nothing_to_write_back() {
    assert_eq!(written_back("rcce", 1_000_000), 0.0);
}
