// SPDX-License-Identifier: MIT OR Apache-2.0
//! `explain`: where the time went, and what made the run as long as it was.

use std::collections::BTreeSet;

use corecast_machine::{Cause, LinkHold, PathSegment, Report, Time};
use corecast_study::{Explanation, Settings, Study, link_waits};
use corecast_viewer::run_view;
use serde_json::Value;

use crate::args::{Pictures, Scene};
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::progress::Bar;
use crate::scene::counted;
use crate::{remedy, run, scene, shares, style, table as tables, view};

/// The verb.
pub fn answer(scene: &Scene, is_full: bool, pictures: &Pictures) -> Result<Answer, Failure> {
    let mut study = scene.study("auto")?;
    scene::note_slots(&study);
    study.plan.repeat = study.usual_repeat();
    let ranks = scene::one_rank_count(&study)?;
    pictures.check(&study)?;
    let settings = study.settings();
    let progress = Bar::of(&mut study);
    let (mut text, mut objects) = (String::new(), Vec::new());
    let mut documents = Vec::new();
    for &bytes in &study.plan.sizes {
        let ranking = study.rank(ranks, bytes, &progress)?;
        scene::note_unended(
            ranking
                .refused
                .iter()
                .filter(|refused| refused.is_unended()),
        );
        for explanation in study.explain_runs(ranking.runs) {
            let run = &explanation.run;
            let advice = remedy::sentence(&explanation.remedy);
            text += &format!("{advice}\n\n");
            text += &show(&study, &explanation, is_full, &settings);
            if let (Some(advice), Some(cell)) = (&study.advice, &run.cell) {
                text += &tables::line(advice, cell, (ranks, bytes));
            }
            text += &pictures.draw(&study, run, &settings)?;
            if pictures.view.is_some() {
                let advice = Some(advice.clone());
                documents.push(run_view(&study, run, advice, &settings));
            }
            objects.push(settings.on(study.explanation_record(&explanation, advice)));
        }
    }
    if let Some(path) = &pictures.view {
        documents.extend(view::ranking(&objects));
        text += &view::write(path, documents)?;
    }
    scene::note_others(&*study.machine);
    Ok(Answer::new(text, Value::Array(objects)))
}

fn show(study: &Study, explanation: &Explanation, is_full: bool, settings: &Settings) -> String {
    let Explanation { run, path, .. } = explanation;
    let request = &run.request;
    let (took, unit) = (study.told(run.report.makespan), study.unit());
    let size = match request.bytes {
        0 => String::new(),
        bytes => format!("{} over ", counted(bytes, "byte")),
    };
    let title = format!(
        "{} by {}: {size}{} on {}",
        study.collective(),
        run.algorithm,
        counted(request.ranks, "rank"),
        scene::place_words(study),
    );
    let gap = match study
        .machine
        .bound_cycles(request)
        .map(|bound| bound as f64)
    {
        Some(bound) if took > bound => {
            style::near(&format!("{} above the bound of {bound}", took - bound))
        }
        Some(bound) => style::good(&format!("{} above the bound of {bound}", took - bound)),
        None if study.is_timed() => format!("the median of {} runs", run.spread.runs),
        None => "no bound is known".to_owned(),
    };
    let note = scene::placement_line(study, request.ranks);
    let shares = shares::background_line(&run.report) + &shares::line(study, run);
    let heading = style::heading(&title);
    let mut text = format!("{heading}\n{took} {unit}, {gap}\n{note}{shares}");
    text += &(run::with(settings) + "\n");
    let most = if is_full { usize::MAX } else { ROWS };
    let ranks = shown_ranks(path, run.report.activity.len(), most);
    let rows = study
        .rank_causes(&run.report)
        .into_iter()
        .enumerate()
        .filter(|(rank, _)| ranks.contains(rank))
        .map(|(rank, row)| {
            let cells = row.iter().map(ToString::to_string);
            std::iter::once(rank.to_string()).chain(cells).collect()
        });
    let mut header = vec!["rank"];
    header.extend(Cause::KINDS);
    header.push("sum");
    text += &table(&header, 1..header.len(), rows.collect());
    let hidden = run.report.activity.len() - ranks.len();
    text += &left_out(
        hidden,
        "rank with less of the critical path",
        "ranks with less of the critical path",
    );
    text += &format!(
        "\n{}\n",
        style::heading(&format!("critical path, in {unit}"))
    );
    let shown = longest(path.iter().map(|part| part.end - part.start), most);
    let rows = shown.iter().map(|&index| {
        let segment = &path[index];
        vec![
            segment.rank.to_string(),
            study.told(segment.start).to_string(),
            study.told(segment.end).to_string(),
            cause(segment.cause, &run.report),
        ]
    });
    text += &table(&["rank", "from", "to", "cause"], 1..3, rows.collect());
    text += &left_out(
        path.len() - shown.len(),
        "shorter segment",
        "shorter segments",
    );
    let waits = link_waits(&run.report);
    if !waits.is_empty() {
        let title = match waits.len() {
            more if more > SHOWN && !is_full => {
                format!("waits for links, the longest {SHOWN} of {more}")
            }
            _ => "waits for links, the longest first".to_owned(),
        };
        text += &format!("\n{}\n", style::heading(&title));
        let rows = waits.iter().take(if is_full { usize::MAX } else { SHOWN });
        let rows = rows.map(|wait| {
            let (from, to) = wait.hold.message;
            vec![
                wait.rank.to_string(),
                study.told(wait.time).to_string(),
                format!("{from}->{to}"),
                link(&wait.hold),
                holder(&wait.hold),
            ]
        });
        let header = ["rank", unit, "its message", "link", "held by"];
        text += &table(&header, 1..2, rows.collect());
    }
    text + "\n"
}

/// Rows of the tables of ranks and of the critical path, unless all are asked for.
pub const ROWS: usize = 16;

/// At most so many ranks: those with most of the critical path.
fn shown_ranks(path: &[PathSegment], ranks: usize, most: usize) -> BTreeSet<usize> {
    let mut times = vec![0; ranks];
    for segment in path {
        times[segment.rank.index()] += segment.end.ps() - segment.start.ps();
    }
    let mut order: Vec<usize> = (0..ranks).collect();
    order.sort_by_key(|&rank| std::cmp::Reverse(times[rank])); // stable: by rank among equals
    order.into_iter().take(most).collect()
}

/// Indices of at most so many parts of a path, the longest, in order of time.
pub fn longest(times: impl Iterator<Item = Time>, most: usize) -> BTreeSet<usize> {
    let mut order: Vec<(Time, usize)> = times.zip(0..).collect();
    order.sort_by_key(|&(time, _)| std::cmp::Reverse(time)); // stable: the earlier among equals
    order
        .into_iter()
        .take(most)
        .map(|(_, index)| index)
        .collect()
}

/// A line about rows that are not shown, if there are any.
pub fn left_out(rows: usize, one: &str, many: &str) -> String {
    let what = match rows {
        0 => return String::new(),
        1 => one,
        _ => many,
    };
    let told = format!("and {rows} {what}: --full shows all");
    format!("{}\n", style::dim(&told))
}

/// Lines of the table of waits.
const SHOWN: usize = 10;

fn link(hold: &LinkHold) -> String {
    let ((x, y), (to_x, to_y)) = (hold.from, hold.to);
    if hold.from == hold.to {
        format!("port of the core at ({x},{y})")
    } else {
        format!("({x},{y})->({to_x},{to_y})")
    }
}

fn holder(hold: &LinkHold) -> String {
    match hold.holder {
        Some(pair) if pair == hold.message => {
            format!("what {} sent to {} before", pair.0, pair.1)
        }
        Some((from, to)) => format!("the message {from}->{to}"),
        None => "background traffic".to_owned(),
    }
}

fn cause(cause: Cause, report: &Report) -> String {
    match cause {
        Cause::LinkBusy(index) => {
            let hold = &report.holds[index as usize];
            format!("link_busy {}, held by {}", link(hold), holder(hold))
        }
        cause => match cause.peer() {
            Some(peer) => format!("{} {peer}", cause.kind()),
            None => cause.kind().to_owned(),
        },
    }
}
