// SPDX-License-Identifier: MIT OR Apache-2.0
//! `run`: every algorithm on one request, the fastest first.

use corecast_study::{Certified, Fault, Run, Settings, Study};
use corecast_viewer::run_view;
use serde_json::Value;

use crate::args::{Pictures, Scene};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::progress::Bar;
use crate::{certificate, remedy, scene, shares, style, table, view};

/// The verb.
pub fn answer(scene: &Scene, repeat: Option<u32>, pictures: &Pictures) -> Result<Answer, Failure> {
    let mut study = scene.study("all")?;
    scene::note_slots(&study);
    study.plan.repeat = repeat.unwrap_or_else(|| study.usual_repeat());
    let ranks = scene::one_rank_count(&study)?;
    pictures.check(&study)?;
    let settings = study.settings();
    let progress = Bar::of(&mut study);
    let (mut text, mut objects, mut failed) = (String::new(), Vec::new(), Vec::new());
    let mut documents = Vec::new();
    for &bytes in &study.plan.sizes {
        let ranking = study.rank(ranks, bytes, &progress)?;
        let runs = &ranking.runs;
        let what = scene::what(study.collective(), ranks, bytes);
        let place = place(&study, &runs[0]);
        text += &format!("{} on {place}\n", style::heading(&what));
        text += &with(&settings);
        text += &scene::placement_line(&study, ranks);
        match (&study.advice, &runs[0].cell) {
            (Some(advice), Some(cell)) => text += &table::line(advice, cell, (ranks, bytes)),
            _ if study.is_auto() => {
                text += &format!("auto: {} is the fastest\n", runs[0].algorithm);
            }
            _ => {}
        }
        let best = study.typical_ns(&runs[0]);
        let rows = runs.iter().map(|run| row(&study, run, best));
        let header = header(&study);
        text += &format!(
            "\n{}\n",
            output::table(&header, 1..header.len() - 2, rows.collect())
        );
        text += &same_here(&study);
        text += &shares::background_line(&runs[0].report);
        text += &shares::line(&study, &runs[0]);
        let (unended, refused) = ranking
            .refused
            .iter()
            .partition::<Vec<_>, _>(|of| of.is_unended());
        scene::note_unended(unended);
        for refused in refused {
            text += &format!("{}\n", style::dim(&format!("not run: {refused}")));
        }
        if let Some(theirs) = study.disagreement(ranks, runs)? {
            text += &format!("{}\n", style::near(&disagreement(&study, &theirs)));
        }
        text += &pictures.draw(&study, &runs[0], &settings)?;
        if pictures.view.is_some() {
            let each = runs.iter();
            documents.extend(each.map(|run| run_view(&study, run, None, &settings)));
        }
        failed.extend(runs.iter().flat_map(failures));
        objects.extend(runs.iter().map(|run| settings.on(study.record(run))));
        // The books of a million ranks take a second to give back; nobody waits for it.
        rayon::spawn(move || drop(ranking));
    }
    if let Some(path) = &pictures.view {
        documents.extend(view::ranking(&objects));
        text += &view::write(path, documents)?;
    }
    scene::note_others(&*study.machine);
    Ok(Answer {
        failed,
        ..Answer::new(text, Value::Array(objects))
    })
}

/// Where runs take place, and what is known of the least that they take.
fn place(study: &Study, run: &Run) -> String {
    let place = scene::place_words(study);
    if let Some(bound) = study.machine.bound_cycles(&run.request) {
        return format!("{place}; no schedule beats {bound} cycles");
    }
    let cores = study.machine.cores();
    let cores = cores.map_or(String::new(), |cores| format!("{cores} cores of "));
    match study.plan.repeat {
        1 => format!("{cores}{place}, one run each"),
        runs => format!("{cores}{place}, {runs} runs each, in turns"),
    }
}

fn disagreement(study: &Study, theirs: &Run) -> String {
    format!(
        "flit fidelity disagrees: there {} is the fastest, with {} cycles",
        theirs.algorithm,
        or_dash(study.mean_cycles(theirs))
    )
}

/// What a run should have shown and did not.
pub fn failures(run: &Run) -> Vec<Failure> {
    run.faults().iter().map(failure).collect()
}

/// A check that failed.
pub fn failure(fault: &Fault) -> Failure {
    Failure::check(fault.to_string())
}

/// With repetitions the time is the mean, and its spread is shown; times of a wall clock have a median
/// and neither cycles nor a bound.
fn header(study: &Study) -> Vec<&'static str> {
    let mut header = vec!["algorithm"];
    header.extend(match (study.is_timed(), study.plan.repeat) {
        (true, 1) => vec!["ns"],
        (true, _) => vec!["median ns", "std ns", "p99 ns", "max ns"],
        (false, 1) => vec!["cycles", "ns", "x bound"],
        (false, _) => vec![
            "mean cycles",
            "mean ns",
            "std ns",
            "p99 ns",
            "max ns",
            "x bound",
        ],
    });
    header.extend(["delivered", "certificate"]);
    header
}

fn row(study: &Study, run: &Run, best_ns: f64) -> Vec<String> {
    let spread = &run.spread;
    let cycles = study.mean_cycles(run);
    let mut row = vec![run.algorithm.clone().into_owned()];
    row.extend(cycles.map(|cycles| cycles.to_string()));
    if study.plan.repeat > 1 {
        row.extend([
            match study.is_timed() {
                true => spread.median.ns().to_string(),
                false => format!("{:.3}", spread.mean_ns),
            },
            format!("{:.3}", spread.variance_ns2.sqrt()),
            spread.p99.ns().to_string(),
            spread.max.ns().to_string(),
        ]);
    } else {
        row.push(run.report.makespan.ns().to_string());
    }
    row.extend(cycles.map(|cycles| {
        let bound = study.machine.bound_cycles(&run.request);
        let bound = bound.filter(|&bound| bound > 0);
        let ratio = bound.map(|bound| cycles / bound as f64);
        ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
    }));
    if study.typical_ns(run) <= best_ns {
        row = row.iter().map(|cell| style::good(cell)).collect();
    }
    row.push(if run.delivered {
        "yes".to_owned()
    } else {
        style::bad("NO")
    });
    row.push(certified_line(study, &run.certified));
    row
}

/// A number, or a dash where there is none.
pub fn or_dash(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

/// A certificate in one line.
pub fn certified_line(study: &Study, certified: &Certified) -> String {
    let worst = certified.worst_case.and_then(|time| study.cycles(time));
    certificate::line(&certified.certificate, worst.map(f64::ceil))
}

/// A line about algorithms that are others on this machine, if any were left out.
pub fn same_here(study: &Study) -> String {
    let aliases = study.aliases.iter();
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
    let choices: Vec<String> = settings.choices().iter().map(remedy::option).collect();
    match choices[..] {
        [] => String::new(),
        _ => format!("{}\n", style::dim(&format!("with {}", choices.join(" ")))),
    }
}
