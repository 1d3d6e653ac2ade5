//! `bench`: how fast corecast itself is.

use std::time::{Duration, Instant};

use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine as _, RunOptions};
use corecast_machine_sim::SimMachine;
use serde_json::json;

use crate::doctor;
use crate::failure::Failure;
use crate::output::Answer;
use crate::scene;

const RANKS: u32 = 32;
const LENGTH: Duration = Duration::from_secs(1);

/// The verb.
pub fn answer(what: &str) -> Result<Answer, Failure> {
    if what != "simulator" {
        return Err(Failure::unknown(
            "benchmark",
            "benchmarks",
            what,
            &["simulator"],
        ));
    }
    let machine = SimMachine::new(&scene::chip("park2019-bus")?);
    let request = Request::new(Collective::Bcast, RANKS, 64);
    let request = machine.request(request, &RunOptions::default());
    let Some(binomial) = algorithm::find(Collective::Bcast, "binomial") else {
        return Err(Failure::input("there is no binomial broadcast to measure"));
    };
    let schedule = binomial.schedule(&request);
    let (mut runs, mut events) = (0_u64, 0_u64);
    let begin = Instant::now();
    while begin.elapsed() < LENGTH {
        let report = machine.run(&Job::new(&schedule));
        events += report
            .map_err(|error| Failure::run("binomial", &error))?
            .events;
        runs += 1;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let (runs_per_s, events_per_s) = (runs as f64 / seconds, events as f64 / seconds);
    let (cores, model) = (doctor::cores(), doctor::cpu_model());
    let text = format!(
        "binomial broadcast of 64 bytes over {RANKS} ranks on park2019-bus, {runs} runs\n\
         {runs_per_s:.0} runs/s, {events_per_s:.0} events/s, {:.1} us per run\n\
         on {model}, {cores} cores usable, one used\n",
        1e6 / runs_per_s
    );
    let json = json!({
        "ranks": RANKS,
        "runs": runs,
        "runs_per_s": runs_per_s,
        "events_per_s": events_per_s,
        "us_per_run": 1e6 / runs_per_s,
        "cpu_model": model,
        "cores": cores,
    });
    Ok(Answer {
        text,
        json,
        failed: Vec::new(),
    })
}
