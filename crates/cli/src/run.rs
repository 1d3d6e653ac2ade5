//! `run`: every algorithm on one request, the fastest first.

use corecast_chip::Provenance;
use corecast_core::{Certificate, Request, verify};
use corecast_machine::{Report, Time};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use crate::args::{Pictures, Scene};
use crate::claim::{self, Claim};
use crate::doctor;
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::scene::Stage;
use crate::style;

/// One algorithm's run.
pub struct Run {
    /// Its name.
    pub algorithm: &'static str,
    /// What was asked.
    pub request: Request,
    /// What happened.
    pub report: Report,
    /// What is proven about its schedule.
    pub certificate: Certificate,
}

/// Runs in order of time, and the algorithms that cannot take part with the reason.
pub type Ranking = (Vec<Run>, Vec<(&'static str, String)>);

/// Runs every algorithm of the stage; with `auto` only the fastest is kept.
pub fn rank(
    stage: &Stage<'_>,
    ranks: u32,
    bytes: u64,
    progress: &ProgressBar,
) -> Result<Ranking, Failure> {
    let request = stage.request(ranks, bytes)?;
    let (mut runs, mut refused) = (Vec::new(), Vec::new());
    for algorithm in &stage.algorithms {
        let name = algorithm.name();
        progress.inc(1);
        let schedule = match stage.schedule(*algorithm, &request) {
            Ok(schedule) => schedule,
            Err(error) => {
                refused.push((name, error.to_string()));
                continue;
            }
        };
        runs.push(Run {
            algorithm: name,
            request: request.clone(),
            report: stage.run(&schedule)?,
            certificate: verify(&schedule, &stage.chip.routes(ranks)),
        });
    }
    if runs.is_empty() {
        let failure = Failure::input(format!("no algorithm can serve this {}", stage.collective));
        return Err(refused
            .into_iter()
            .fold(failure, |failure, (_, reason)| failure.help(reason)));
    }
    runs.sort_by_key(|run| run.report.makespan);
    if stage.is_auto {
        runs.truncate(1);
    }
    Ok((runs, refused))
}

/// A time in cycles of the chip's reference clock, to a thousandth.
pub fn cycles(stage: &Stage<'_>, time: Time) -> f64 {
    let cycles = stage.chip.reference_clock().cycles_f64(time.ps());
    (cycles * 1e3).round() / 1e3
}

/// The lower bound in cycles.
pub fn bound_cycles(stage: &Stage<'_>, request: &Request) -> u64 {
    stage.chip.bound_cycles(request)
}

/// What a run should have shown and did not.
pub fn failures(run: &Run) -> Vec<Failure> {
    let (bytes, name) = (run.request.bytes, run.algorithm);
    let certificate = &run.certificate;
    let mut failed: Vec<_> = claim::failures(&[Claim::Correct], certificate, bytes).collect();
    if !run.report.delivered() {
        let collective = run.request.collective;
        failed.push(Failure::check(format!(
            "{collective} by {name}, {bytes} bytes: the run did not deliver the right data"
        )));
    }
    failed
}

/// The verb.
pub fn answer(scene: &Scene, pictures: &Pictures) -> Result<Answer, Failure> {
    let stage = Stage::new(scene, "all")?;
    let ranks = stage.one_rank_count()?;
    pictures.check(&stage)?;
    let progress = stage.progress();
    let (mut text, mut objects, mut failed) = (String::new(), Vec::new(), Vec::new());
    for &bytes in &stage.sizes {
        let (runs, refused) = rank(&stage, ranks, bytes, &progress)?;
        let bound = bound_cycles(&stage, &runs[0].request);
        let what = stage.what(ranks, bytes);
        let place = if stage.is_simulated() {
            let chip = stage.chip_words();
            format!("{chip}; no schedule beats {bound} cycles")
        } else {
            let cores = doctor::cores();
            format!("{cores} cores of this computer (host), one run each")
        };
        text += &format!("{} on {place}\n", style::heading(&what));
        if stage.is_auto {
            text += &format!("auto: {} is the fastest\n", runs[0].algorithm);
        }
        let best = runs[0].report.makespan;
        let rows = runs.iter().map(|run| row(&stage, run, bound, best));
        let header = [
            "algorithm",
            "cycles",
            "ns",
            "x bound",
            "delivered",
            "certificate",
        ];
        text += &format!("\n{}\n", table(&header, 1..4, rows.collect()));
        for (_, reason) in refused {
            text += &format!("{}\n", style::dim(&format!("not run: {reason}")));
        }
        text += &pictures.draw(&stage, &runs[0])?;
        failed.extend(runs.iter().flat_map(failures));
        objects.extend(runs.iter().map(|run| object(&stage, run, scene)));
    }
    Ok(Answer {
        text,
        json: Value::Array(objects),
        failed,
    })
}

fn row(stage: &Stage<'_>, run: &Run, bound: u64, best: Time) -> Vec<String> {
    let cycles = cycles(stage, run.report.makespan);
    let ratio = if bound == 0 || !stage.is_simulated() {
        "-".to_owned()
    } else {
        format!("{:.2}", cycles / bound as f64)
    };
    let time = [
        run.algorithm.to_owned(),
        if stage.is_simulated() {
            cycles.to_string()
        } else {
            "-".to_owned()
        },
        run.report.makespan.ns().to_string(),
        ratio,
    ];
    let is_best = run.report.makespan == best;
    let mut row = if is_best {
        time.map(|cell| style::good(&cell)).to_vec()
    } else {
        time.to_vec()
    };
    row.push(if run.report.delivered() {
        "yes".to_owned()
    } else {
        style::bad("NO")
    });
    row.push(claim::line(&run.certificate));
    row
}

/// A number of cycles as an integer where it is one.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

/// The fields every answer about one run has.
pub fn object(stage: &Stage<'_>, run: &Run, scene: &Scene) -> Value {
    let (report, simulated) = (&run.report, stage.is_simulated());
    let clock = stage.chip.reference_clock();
    let bound = bound_cycles(stage, &run.request);
    let causes: Map<_, _> = report
        .causes()
        .into_iter()
        .map(|(kind, time)| (format!("{kind}_ns"), json!(time.ns())))
        .collect();
    json!({
        "collective": stage.collective.name(),
        "algorithm": run.algorithm,
        "chip": simulated.then_some(&stage.chip.name),
        "machine": report.machine,
        "fidelity": stage.fidelity(),
        "ranks": run.request.ranks,
        "root": run.request.root.0,
        "bytes": run.request.bytes,
        "seed": scene.seed,
        "makespan_cycles": simulated.then(|| number(cycles(stage, report.makespan))),
        "makespan_ns": report.makespan.ns(),
        "delivered": report.delivered(),
        "bound_cycles": simulated.then_some(bound),
        "bound_ns": simulated.then(|| Time::from_ps(clock.to_ps(bound)).ns()),
        "finish_ns": report.finish.iter().map(|time| time.ns()).collect::<Vec<_>>(),
        "causes": causes,
        "events": report.events,
        "fitted_parameters": stage.chip.count(Provenance::Fitted),
        "assumed_parameters": stage.chip.count(Provenance::Assumed),
    })
}
