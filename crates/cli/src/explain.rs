//! `explain`: where the time went, and what made the run as long as it was.

use corecast_core::Rank;
use corecast_machine::{Cause, LinkHold, PathSegment, Report, Time, critical_path};
use serde_json::{Value, json};

use crate::args::{Pictures, Scene};
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::run::{self, Run};
use crate::scene::Stage;
use crate::{shares, style};

/// The verb.
pub fn answer(scene: &Scene, pictures: &Pictures) -> Result<Answer, Failure> {
    let stage = Stage::new(scene, "auto")?;
    stage.simulated_only()?;
    let ranks = stage.one_rank_count()?;
    pictures.check(&stage)?;
    let progress = stage.progress();
    let (mut text, mut objects) = (String::new(), Vec::new());
    for &bytes in &stage.sizes {
        for run in run::rank(&stage, ranks, bytes, &progress)?.0 {
            let path = merged(critical_path(&run.report));
            text += &show(&stage, &run, &path);
            if let (Some(advice), Some(cell)) = (&stage.advice, &run.cell) {
                text += &advice.line(cell, (ranks, bytes));
            }
            text += &pictures.draw(&stage, &run)?;
            objects.push(object(&stage, &run, &path, scene));
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

fn show(stage: &Stage<'_>, run: &Run, path: &[PathSegment]) -> String {
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
    let mut text = format!("{heading}\n{took} cycles, {gap}\n{note}{shares}\n");
    let rows = split(stage, run)
        .into_iter()
        .enumerate()
        .map(|(rank, row)| {
            let cells = row.iter().map(ToString::to_string);
            std::iter::once(rank.to_string()).chain(cells).collect()
        });
    let mut header = vec!["rank"];
    header.extend(Cause::KINDS);
    header.push("sum");
    text += &table(&header, 1..header.len(), rows.collect());
    text += &format!("\n{}\n", style::heading("critical path, in cycles"));
    let rows = path.iter().map(|segment| {
        vec![
            segment.rank.to_string(),
            run::cycles(stage, segment.start).to_string(),
            run::cycles(stage, segment.end).to_string(),
            cause(segment.cause, &run.report),
        ]
    });
    text += &table(&["rank", "from", "to", "cause"], 1..3, rows.collect());
    let waits = link_waits(&run.report);
    if !waits.is_empty() {
        let title = match waits.len() {
            more if more > SHOWN => format!("waits for links, the longest {SHOWN} of {more}"),
            _ => "waits for links, the longest first".to_owned(),
        };
        text += &format!("\n{}\n", style::heading(&title));
        let rows = waits.iter().take(SHOWN).map(|wait| {
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

fn object(stage: &Stage<'_>, run: &Run, path: &[PathSegment], scene: &Scene) -> Value {
    let mut object = run::object(stage, run, scene);
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
