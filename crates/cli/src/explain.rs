//! `explain`: where the time went, and what made the run as long as it was.

use std::collections::BTreeSet;

use corecast_core::Rank;
use corecast_machine::{Cause, LinkHold, PathSegment, Report, Time, critical_path};
use serde_json::{Value, json};

use crate::args::{Pictures, Scene};
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::remedy::{self, Fastest};
use crate::run::{self, Run};
use crate::scene::Stage;
use crate::settings::Settings;
use crate::{shares, style};

/// The verb.
pub fn answer(scene: &Scene, is_full: bool, pictures: &Pictures) -> Result<Answer, Failure> {
    let mut stage = Stage::new(scene, "auto")?;
    stage.simulated_only()?;
    let ranks = stage.one_rank_count()?;
    pictures.check(&stage)?;
    let settings = stage.settings()?;
    let progress = stage.progress();
    let (mut text, mut objects) = (String::new(), Vec::new());
    for &bytes in &stage.sizes {
        let runs = run::rank(&stage, ranks, bytes, &progress)?.0;
        let fastest = Fastest::search(&stage, &runs)?;
        for run in runs {
            let path = merged(critical_path(&run.report));
            let advice = remedy::sentence(&stage, &run, &path, &fastest)?;
            text += &format!("{advice}\n\n");
            text += &show(&stage, &run, &path, is_full, &settings);
            if let (Some(advice), Some(cell)) = (&stage.advice, &run.cell) {
                text += &advice.line(cell, (ranks, bytes));
            }
            text += &pictures.draw(&stage, &run, &settings)?;
            let mut object = object(&stage, &run, &path, &settings);
            object["advice"] = json!(advice);
            objects.push(object);
        }
    }
    Ok(Answer {
        text,
        json: Value::Array(objects),
        failed: Vec::new(),
    })
}

/// Adjacent segments of one rank and cause become one.
fn merged(path: Vec<PathSegment>) -> Vec<PathSegment> {
    let mut merged: Vec<PathSegment> = Vec::new();
    for segment in path {
        match merged.last_mut() {
            Some(last) if (last.rank, last.cause) == (segment.rank, segment.cause) => {
                last.end = segment.end;
            }
            _ => merged.push(segment),
        }
    }
    merged
}

fn split(stage: &Stage<'_>, run: &Run) -> Vec<Vec<f64>> {
    let cycles = |time| run::cycles(stage, time);
    let rows = run.report.activity.iter().map(|activity| {
        let kinds = Cause::KINDS.iter();
        let of = |kind: &&str| cycles(activity.total(|cause| cause.kind() == *kind));
        kinds
            .map(of)
            .chain([cycles(activity.total(|_| true))])
            .collect()
    });
    rows.collect()
}

fn show(
    stage: &Stage<'_>,
    run: &Run,
    path: &[PathSegment],
    is_full: bool,
    settings: &Settings,
) -> String {
    let request = &run.request;
    let (took, bound) = (
        run::cycles(stage, run.report.makespan),
        run::bound_cycles(stage, request),
    );
    let title = format!(
        "{} by {}: {} bytes over {} ranks on {}",
        stage.collective,
        run.algorithm,
        request.bytes,
        request.ranks,
        stage.chip_words(),
    );
    let gap = took - bound as f64;
    let gap = format!("{gap} above the bound of {bound}");
    let gap = if took > bound as f64 {
        style::near(&gap)
    } else {
        style::good(&gap)
    };
    let note = stage.placement_line(request.ranks);
    let shares = shares::line(stage, run);
    let heading = style::heading(&title);
    let mut text = format!("{heading}\n{took} cycles, {gap}\n{note}{shares}");
    text += &(run::with(settings) + "\n");
    let most = if is_full { usize::MAX } else { ROWS };
    let ranks = shown_ranks(path, run.report.activity.len(), most);
    let rows = split(stage, run)
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
    text += &left_out(hidden, "ranks with less of the critical path");
    text += &format!("\n{}\n", style::heading("critical path, in cycles"));
    let shown = longest(path, most);
    let rows = shown.iter().map(|segment| {
        vec![
            segment.rank.to_string(),
            run::cycles(stage, segment.start).to_string(),
            run::cycles(stage, segment.end).to_string(),
            cause(segment.cause, &run.report),
        ]
    });
    text += &table(&["rank", "from", "to", "cause"], 1..3, rows.collect());
    text += &left_out(path.len() - shown.len(), "shorter segments");
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
                run::cycles(stage, wait.time).to_string(),
                format!("{from}->{to}"),
                link(&wait.hold),
                holder(&wait.hold),
            ]
        });
        let header = ["rank", "cycles", "its message", "link", "held by"];
        text += &table(&header, 1..2, rows.collect());
    }
    text + "\n"
}

/// Rows of the tables of ranks and of the critical path, unless all are asked for.
const ROWS: usize = 16;

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

/// At most so many segments, the longest, in order of time.
fn longest(path: &[PathSegment], most: usize) -> Vec<&PathSegment> {
    let mut order: Vec<usize> = (0..path.len()).collect();
    order.sort_by_key(|&index| {
        let segment = &path[index];
        std::cmp::Reverse(segment.end.ps() - segment.start.ps())
    });
    let shown: BTreeSet<usize> = order.into_iter().take(most).collect();
    shown.into_iter().map(|index| &path[index]).collect()
}

/// A line about rows that are not shown, if there are any.
fn left_out(rows: usize, what: &str) -> String {
    match rows {
        0 => String::new(),
        rows => format!(
            "{}\n",
            style::dim(&format!("and {rows} {what}: --full shows all"))
        ),
    }
}

/// Waits of one rank for one link and holder.
struct LinkWait {
    rank: usize,
    hold: LinkHold,
    time: Time,
}

/// Lines of the table of waits.
const SHOWN: usize = 10;

/// Every wait for a link, those alike together, the longest first.
fn link_waits(report: &Report) -> Vec<LinkWait> {
    let mut waits: Vec<LinkWait> = Vec::new();
    for (rank, activity) in report.activity.iter().enumerate() {
        let of_rank = waits.len();
        for span in activity.spans() {
            let Cause::LinkBusy(index) = span.cause else {
                continue;
            };
            let hold = report.holds[index as usize];
            let time = span.end - span.start;
            match waits[of_rank..].iter_mut().find(|wait| wait.hold == hold) {
                Some(wait) => wait.time += time,
                None => waits.push(LinkWait { rank, hold, time }),
            }
        }
    }
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.time)); // stable: by rank among equals
    waits
}

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

/// A link and who waited there for whom; ranks, and coordinates of routers.
fn hold_object(hold: &LinkHold) -> Value {
    let pair = |(from, to): (Rank, Rank)| json!([from.0, to.0]);
    json!({
        "link_from": hold.from,
        "link_to": hold.to,
        "message": pair(hold.message),
        "held_by": hold.holder.map(pair),
    })
}

fn object(stage: &Stage<'_>, run: &Run, path: &[PathSegment], settings: &Settings) -> Value {
    let mut object = run::object(stage, run, settings);
    let path = path.iter().map(|segment| {
        json!({
            "rank": segment.rank.0,
            "from_cycles": run::number(run::cycles(stage, segment.start)),
            "to_cycles": run::number(run::cycles(stage, segment.end)),
            "cause": segment.cause.kind(),
            "peer": segment.cause.peer().map(|peer| peer.0),
            "link": match segment.cause {
                Cause::LinkBusy(index) => hold_object(&run.report.holds[index as usize]),
                _ => Value::Null,
            },
        })
    });
    object["critical_path"] = path.collect();
    let waits = link_waits(&run.report);
    let waits = waits.iter().map(|wait| {
        let mut object = hold_object(&wait.hold);
        object["rank"] = json!(wait.rank);
        object["wait_cycles"] = run::number(run::cycles(stage, wait.time));
        object
    });
    object["link_waits"] = waits.collect();
    let rows = split(stage, run).into_iter().map(|row| {
        let named = Cause::KINDS.iter().chain(&["sum"]).zip(row);
        let fields = named.map(|(kind, value)| (format!("{kind}_cycles"), run::number(value)));
        Value::Object(fields.collect())
    });
    object["rank_causes"] = rows.collect();
    object
}
