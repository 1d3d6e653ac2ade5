//! `explain`: where the time went, and what made the run as long as it was.

use corecast_machine::{Cause, PathSegment, critical_path};
use serde_json::{Value, json};

use crate::args::{Pictures, Scene};
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::run::{self, Run};
use crate::scene::Stage;
use crate::style;

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
    let mut text = format!("{}\n{took} cycles, {gap}\n\n", style::heading(&title));
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
            cause(segment.cause),
        ]
    });
    text + &table(&["rank", "from", "to", "cause"], 1..3, rows.collect()) + "\n"
}

fn cause(cause: Cause) -> String {
    match cause.peer() {
        Some(peer) => format!("{} {peer}", cause.kind()),
        None => cause.kind().to_owned(),
    }
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
        })
    });
    object["critical_path"] = path.collect();
    let rows = split(stage, run).into_iter().map(|row| {
        let named = Cause::KINDS.iter().chain(&["sum"]).zip(row);
        let fields = named.map(|(kind, value)| (format!("{kind}_cycles"), run::number(value)));
        Value::Object(fields.collect())
    });
    object["rank_causes"] = rows.collect();
    object
}
