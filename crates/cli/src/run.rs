//! `run`: every algorithm on one request, the fastest first.

use corecast_chip::Provenance;
use corecast_core::{Algorithm, Request, Schedule};
use corecast_machine::{Report, Spread, Time};
use corecast_tune::Cell;
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::args::{Pictures, Scene};
use crate::claim::{self, Claim};
use crate::doctor;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::scene::{Certified, Runs, Stage};
use crate::settings::Settings;
use crate::{shares, style, table};

/// One algorithm's run.
pub struct Run {
    /// Its name.
    pub algorithm: &'static str,
    /// What was asked.
    pub request: Request,
    /// What happened, with the first seed.
    pub report: Report,
    /// Makespans with all seeds.
    pub spread: Spread,
    /// Whether every run delivered.
    pub delivered: bool,
    /// What is proven about its schedule.
    pub certified: Certified,
    /// The cell of the table that chose it, if one did.
    pub cell: Option<Cell>,
}

/// Runs in order of time, and the algorithms that cannot take part with the reason.
pub type Ranking = (Vec<Run>, Vec<(&'static str, String)>);

/// Runs every algorithm of the stage; with `auto` only the fastest is kept, and with a table only
/// the one that it names is run.
pub fn rank(
    stage: &Stage<'_>,
    ranks: u32,
    bytes: u64,
    progress: &ProgressBar,
) -> Result<Ranking, Failure> {
    if let Some(decision) = stage.decide(ranks, bytes)? {
        let (cell, passed) = (decision.cell, table::passed(&decision));
        let run = of_schedule(stage, cell.algorithm, &decision.request, &decision.schedule)?;
        progress.inc(1);
        let cell = Some(cell.clone());
        return Ok((vec![Run { cell, ..run }], passed));
    }
    let request = stage.request(ranks, bytes)?;
    let (mut runs, mut refused) = (Vec::new(), Vec::new());
    let run = |algorithm: &&'static dyn Algorithm| {
        let outcome = one(stage, *algorithm, &request);
        progress.inc(1);
        outcome
    };
    // Side by side runs on the host would disturb each other.
    let outcomes: Vec<_> = if stage.is_simulated() {
        stage.algorithms.par_iter().map(run).collect()
    } else {
        stage.algorithms.iter().map(run).collect()
    };
    for (algorithm, outcome) in stage.algorithms.iter().zip(outcomes) {
        match outcome? {
            Ok(run) => runs.push(run),
            Err(reason) => refused.push((algorithm.name(), reason)),
        }
    }
    if runs.is_empty() {
        let failure = Failure::input(format!("no algorithm can serve this {}", stage.collective));
        return Err(refused
            .into_iter()
            .fold(failure, |failure, (_, reason)| failure.help(reason)));
    }
    runs.sort_by(|a, b| a.spread.mean_ns.total_cmp(&b.spread.mean_ns));
    if stage.is_auto {
        runs.truncate(1);
    }
    Ok((runs, refused))
}

/// One algorithm's runs, or why it has no schedule.
fn one(
    stage: &Stage<'_>,
    algorithm: &'static dyn Algorithm,
    request: &Request,
) -> Result<Result<Run, String>, Failure> {
    let schedule = match stage.schedule(algorithm, request) {
        Ok(schedule) => schedule,
        Err(error) => return Ok(Err(error.to_string())),
    };
    of_schedule(stage, algorithm.name(), request, &schedule).map(Ok)
}

/// The runs of one schedule.
pub fn of_schedule(
    stage: &Stage<'_>,
    algorithm: &'static str,
    request: &Request,
    schedule: &Schedule,
) -> Result<Run, Failure> {
    let (run, certify) = (|| stage.run(schedule), || stage.certify(schedule));
    // Side by side runs on the host would be disturbed.
    let (runs, certified) = match stage.is_simulated() {
        true => rayon::join(run, certify),
        false => (run(), certify()),
    };
    let Runs {
        first,
        spread,
        delivered,
    } = runs?;
    Ok(Run {
        algorithm,
        request: request.clone(),
        report: first,
        spread,
        delivered,
        certified,
        cell: None,
    })
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
    let certificate = &run.certified.certificate;
    let mut failed: Vec<_> = claim::failures(&[Claim::Correct], certificate, bytes).collect();
    if !run.delivered {
        let collective = run.request.collective;
        failed.push(Failure::check(format!(
            "{collective} by {name}, {bytes} bytes: the run did not deliver the right data"
        )));
    }
    failed
}

/// The verb.
pub fn answer(scene: &Scene, repeat: u32, pictures: &Pictures) -> Result<Answer, Failure> {
    let mut stage = Stage::new(scene, "all")?.repeated(repeat);
    let ranks = stage.one_rank_count()?;
    pictures.check(&stage)?;
    let settings = stage.settings()?;
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
            match stage.repeat() {
                1 => format!("{cores} cores of this computer (host), one run each"),
                runs => format!("{cores} cores of this computer (host), {runs} runs each"),
            }
        };
        text += &format!("{} on {place}\n", style::heading(&what));
        text += &with(&settings);
        text += &stage.placement_line(ranks);
        match (&stage.advice, &runs[0].cell) {
            (Some(advice), Some(cell)) => text += &advice.line(cell, (ranks, bytes)),
            _ if stage.is_auto => {
                text += &format!("auto: {} is the fastest\n", runs[0].algorithm);
            }
            _ => {}
        }
        let best = runs[0].spread.mean_ns;
        let rows = runs.iter().map(|run| row(&stage, run, bound, best));
        let header = header(&stage);
        text += &format!(
            "\n{}\n",
            output::table(&header, 1..header.len() - 2, rows.collect())
        );
        text += &same_here(&stage);
        text += &shares::line(&stage, &runs[0]);
        for (_, reason) in refused {
            text += &format!("{}\n", style::dim(&format!("not run: {reason}")));
        }
        if let Some(other) = disagreement(&stage, ranks, bytes, &runs)? {
            text += &format!("{}\n", style::near(&other));
        }
        text += &pictures.draw(&stage, &runs[0], &settings)?;
        failed.extend(runs.iter().flat_map(failures));
        objects.extend(runs.iter().map(|run| object(&stage, run, &settings)));
        // The books of a million ranks take a second to give back; nobody waits for it.
        rayon::spawn(move || drop(runs));
    }
    Ok(Answer {
        text,
        json: Value::Array(objects),
        failed,
    })
}

/// Most ranks of meshes that are simulated in flit fidelity as well, to compare.
const COMPARED_RANKS_MAX: u32 = 64;

/// In packet fidelity on a mesh that is small enough: whether another algorithm is the fastest in
/// flit fidelity.
fn disagreement(
    stage: &Stage<'_>,
    ranks: u32,
    bytes: u64,
    runs: &[Run],
) -> Result<Option<String>, Failure> {
    if runs.len() < 2 || ranks > COMPARED_RANKS_MAX {
        return Ok(None);
    }
    let Some(exact) = stage.in_flit_fidelity() else {
        return Ok(None);
    };
    let (best, _) = rank(&exact, ranks, bytes, &ProgressBar::hidden())?;
    let (winner, theirs) = (runs[0].algorithm, &best[0]);
    let of_winner = best.iter().find(|run| run.algorithm == winner);
    let is_slower = of_winner.is_some_and(|run| run.spread.mean_ns > theirs.spread.mean_ns);
    Ok(is_slower.then(|| {
        format!(
            "flit fidelity disagrees: there {} is the fastest, with {} cycles",
            theirs.algorithm,
            mean_cycles(stage, theirs)
        )
    }))
}

/// With repetitions the time is the mean, and its spread is shown.
fn header(stage: &Stage<'_>) -> Vec<&'static str> {
    let time = if stage.repeat() > 1 {
        vec!["mean ns", "std ns", "p99 ns", "max ns"]
    } else {
        vec!["ns"]
    };
    let cycles = if stage.repeat() > 1 {
        "mean cycles"
    } else {
        "cycles"
    };
    let mut header = vec!["algorithm", cycles];
    header.extend(time);
    header.extend(["x bound", "delivered", "certificate"]);
    header
}

fn row(stage: &Stage<'_>, run: &Run, bound: u64, best_ns: f64) -> Vec<String> {
    let spread = &run.spread;
    let cycles = mean_cycles(stage, run);
    let ratio = if bound == 0 || !stage.is_simulated() {
        "-".to_owned()
    } else {
        format!("{:.2}", cycles / bound as f64)
    };
    let mut row = vec![run.algorithm.to_owned()];
    row.push(if stage.is_simulated() {
        cycles.to_string()
    } else {
        "-".to_owned()
    });
    if stage.repeat() > 1 {
        row.extend([
            format!("{:.3}", spread.mean_ns),
            format!("{:.3}", spread.variance_ns2.sqrt()),
            spread.p99.ns().to_string(),
            spread.max.ns().to_string(),
        ]);
    } else {
        row.push(run.report.makespan.ns().to_string());
    }
    row.push(ratio);
    if spread.mean_ns <= best_ns {
        row = row.iter().map(|cell| style::good(cell)).collect();
    }
    row.push(if run.delivered {
        "yes".to_owned()
    } else {
        style::bad("NO")
    });
    row.push(certificate(stage, &run.certified));
    row
}

/// A certificate in one line.
pub fn certificate(stage: &Stage<'_>, certified: &Certified) -> String {
    let worst = certified.worst_case.map(|time| cycles(stage, time).ceil());
    claim::line(&certified.certificate, worst)
}

/// The mean makespan in cycles of the chip's reference clock, to a thousandth.
pub fn mean_cycles(stage: &Stage<'_>, run: &Run) -> f64 {
    let period_ns = stage.chip.reference_clock().period_ps as f64 / 1e3;
    (run.spread.mean_ns / period_ns * 1e3).round() / 1e3
}

/// A number of cycles as an integer where it is one.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

/// A line about algorithms that are others on this machine, if any were left out.
pub fn same_here(stage: &Stage<'_>) -> String {
    let aliases = stage.aliases.iter();
    let words = aliases.map(|(name, plain)| format!("{name} is {plain}"));
    let words: Vec<String> = words.collect();
    match words[..] {
        [] => String::new(),
        _ => format!(
            "{}\n",
            style::dim(&format!("the same here: {}", words.join(", ")))
        ),
    }
}

/// A line that says in which surroundings and with which changes, if there are any.
pub fn with(settings: &Settings) -> String {
    match settings.changes()[..] {
        [] => String::new(),
        ref changes => format!("{}\n", style::dim(&format!("with {}", changes.join(" ")))),
    }
}

/// The fields every answer about one run has.
pub fn object(stage: &Stage<'_>, run: &Run, settings: &Settings) -> Value {
    let (report, simulated) = (&run.report, stage.is_simulated());
    let clock = stage.chip.reference_clock();
    let bound = bound_cycles(stage, &run.request);
    let causes: Map<_, _> = report
        .causes()
        .into_iter()
        .map(|(kind, time)| (format!("{kind}_ns"), json!(time.ns())))
        .collect();
    let mut object = settings.on(json!({
        "collective": stage.collective.name(),
        "algorithm": run.algorithm,
        "machine": report.machine,
        "ranks": run.request.ranks,
        "placement_note": stage.placement_note(run.request.ranks),
        "root": run.request.root.0,
        "bytes": run.request.bytes,
        "part_bytes": run.request.tuning.part_bytes,
        "piece_bytes": run.request.tuning.piece_bytes,
        "table_ranks": run.cell.as_ref().map(|cell| cell.ranks),
        "table_bytes": run.cell.as_ref().map(|cell| cell.bytes),
        "makespan_cycles": simulated.then(|| number(cycles(stage, report.makespan))),
        "makespan_ns": report.makespan.ns(),
        "runs": run.spread.runs,
        "makespan_mean_ns": run.spread.mean_ns,
        "makespan_variance_ns2": run.spread.variance_ns2,
        "makespan_p99_ns": run.spread.p99.ns(),
        "makespan_max_ns": run.spread.max.ns(),
        "delivered": run.delivered,
        "bound_cycles": simulated.then_some(bound),
        "bound_ns": simulated.then(|| Time::from_ps(clock.to_ps(bound)).ns()),
        "finish_ns": report.finish.iter().map(|time| time.ns()).collect::<Vec<_>>(),
        "causes": causes,
        "events": report.events,
        "fitted_parameters": stage.chip.count(Provenance::Fitted),
        "assumed_parameters": stage.chip.count(Provenance::Assumed),
    }));
    shares::add(stage, run, &mut object);
    object
}
