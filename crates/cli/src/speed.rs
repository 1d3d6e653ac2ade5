//! `corecast bench`: how fast the tool itself is. Measures; passes no judgement.

use std::time::Instant;

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, RunOptions};
use corecast_machine_sim::SimMachine;
use serde::Serialize;

use crate::args::OutputArgs;
use crate::error::CliError;
use crate::output;

/// One measurement.
#[derive(Serialize)]
struct Speed {
    algorithm: &'static str,
    ranks: u32,
    bytes: u64,
    runs: u32,
    microseconds_per_run: f64,
    events_per_second: f64,
    simulated_cycles_per_second: f64,
}

/// Every broadcast algorithm on the 32-core bus chip, with real data.
pub fn simulator(output: &OutputArgs) -> Result<(), CliError> {
    const RUNS: u32 = 200;
    let machine = SimMachine::new(&corecast_chip::find("park2019-bus")?);
    let (ranks, bytes) = (32, 2048);
    let request = machine.request(
        Request::new(Collective::Bcast, ranks, bytes),
        &RunOptions::default(),
    );
    let mut rows = Vec::new();
    for algorithm in algorithm::of(Collective::Bcast) {
        let schedule = algorithm.schedule(&request);
        let job = Job::new(&schedule);
        let (mut events, mut cycles) = (0, 0.0);
        let start = Instant::now();
        for _ in 0..RUNS {
            let report = machine.run(&job)?;
            events += report.events;
            cycles += machine
                .chip()
                .reference_clock()
                .cycles_f64(report.makespan.ps());
        }
        let seconds = start.elapsed().as_secs_f64();
        rows.push(Speed {
            algorithm: algorithm.name(),
            ranks,
            bytes,
            runs: RUNS,
            microseconds_per_run: seconds * 1e6 / f64::from(RUNS),
            events_per_second: events as f64 / seconds,
            simulated_cycles_per_second: cycles / seconds,
        });
    }
    let text = || {
        let cells = rows.iter().map(|row| {
            vec![
                row.algorithm.to_owned(),
                format!("{:.1}", row.microseconds_per_run),
                format!("{:.2}", row.events_per_second / 1e6),
                format!("{:.2}", row.simulated_cycles_per_second / 1e6),
            ]
        });
        let header = ["algorithm", "us/run", "M events/s", "M cycles/s"];
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        format!(
            "bcast of {bytes} B over {ranks} ranks on park2019-bus, {RUNS} runs each, one of \
             {cores} host cores\n{}",
            output::table(&header, 1..4, cells)
        )
    };
    output::emit_either(&rows, text, output)
}
