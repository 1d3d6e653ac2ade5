// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run as a document.

use corecast_machine::{Cause, LinkHold, PathSegment, Report};
use corecast_study::{Run, Settings, Study, case_size, link_waits};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::document::{
    Document, HoldView, LinkWaitView, Messages, PathView, RankView, RunView, ScheduleView,
};
use crate::load;
use crate::schedule;

/// Links that are listed with who waited for them.
const LINK_WAITS_MAX: usize = 1000;

/// A run with its schedule, certificate, mesh and critical path; `advice` is what to do about its
/// time, in the words of the face.
#[must_use]
pub fn run_view(study: &Study, run: &Run, advice: Option<String>, settings: &Settings) -> Document {
    let (report, request) = (&run.report, &run.request);
    let mut notes: Vec<String> = study
        .machine
        .placement_note(request.ranks)
        .into_iter()
        .collect();
    let mesh = study.machine.mesh();
    let drawn = mesh.and_then(|mesh| load::mesh_view(mesh, request.ranks, report));
    if mesh.is_some() && drawn.is_none() {
        let most = load::ROUTERS_MAX;
        notes.push(format!(
            "The mesh is left out: it has more than {most} routers."
        ));
    }
    let schedule = study.schedule_of(run);
    let steps: Option<ScheduleView> = match schedule.as_ref().map(schedule::schedule_view) {
        Some(Ok(view)) => Some(view),
        Some(Err(note)) => {
            notes.push(note);
            None
        }
        None => None,
    };
    let clock = study.machine.clock();
    let (unit, unit_ps) = match clock {
        Some(clock) => ("cycles", clock.period_ps),
        None => ("us", 1_000_000),
    };
    let record = study.record(run);
    let certificate = study.certificate_record(&run.certified, request.bytes, run.cell.as_ref());
    let what = case_size(request.bytes, request.ranks);
    Document::Run(Box::new(RunView {
        title: format!(
            "{} by {}: {what} on {}",
            study.collective(),
            run.algorithm,
            study.machine.place()
        ),
        name: run.algorithm.clone().into_owned(),
        advice,
        unit: unit.to_owned(),
        unit_ps: unit_ps.max(1),
        makespan_ps: report.makespan.ps(),
        bound_ps: clock
            .zip(record.bound_cycles)
            .map(|(clock, bound)| clock.to_ps(bound)),
        delivered: Some(run.delivered),
        facts: fields(&settings.on(record)),
        kinds: Cause::KINDS.map(str::to_owned).to_vec(),
        ranks: report
            .activity
            .iter()
            .map(|activity| {
                let mut view = RankView::default();
                for span in activity.spans() {
                    view.ends.push(span.end.ps());
                    view.causes.push(span.cause.index() as u8);
                    view.of.push(of(span.cause));
                }
                view
            })
            .collect(),
        messages: messages(report),
        path: merged(run.critical_path()),
        holds: report.holds.iter().map(hold).collect(),
        link_waits: link_waits(report)
            .into_iter()
            .take(LINK_WAITS_MAX)
            .map(|wait| LinkWaitView {
                rank: wait.rank as u32,
                hold: hold(&wait.hold),
                wait_ps: wait.time.ps(),
            })
            .collect(),
        mesh: drawn,
        schedule: steps,
        certificate: Some(fields(&certificate)),
        notes,
    }))
}

/// A record's fields.
pub(crate) fn fields(record: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a record is plain data with fields: {other:?}"),
    }
}

/// See [`RankView::of`].
fn of(cause: Cause) -> i64 {
    match (cause, cause.peer()) {
        (Cause::LinkBusy(index), _) => i64::from(index),
        (_, Some(peer)) => i64::from(peer.0),
        _ => -1,
    }
}

fn hold(hold: &LinkHold) -> HoldView {
    HoldView {
        from: hold.from,
        to: hold.to,
        message: (hold.message.0.0, hold.message.1.0),
        holder: hold.holder.map(|(from, to)| (from.0, to.0)),
    }
}

fn messages(report: &Report) -> Messages {
    let mut all = Messages::default();
    for message in &report.messages {
        all.from.push(message.from.0);
        all.to.push(message.to.0);
        all.bytes.push(message.bytes);
        all.posted.push(message.posted.ps());
        all.start.push(message.start.ps());
        all.end.push(message.end.ps());
    }
    all
}

/// Adjacent segments of one rank and cause are one.
fn merged(path: &[PathSegment]) -> Vec<PathView> {
    let mut merged: Vec<PathView> = Vec::new();
    for segment in path {
        let next = PathView {
            rank: segment.rank.0,
            cause: segment.cause.index() as u8,
            of: of(segment.cause),
            start: segment.start.ps(),
            end: segment.end.ps(),
        };
        match merged.last_mut() {
            Some(last) if (last.rank, last.cause, last.of) == (next.rank, next.cause, next.of) => {
                last.end = next.end;
            }
            _ => merged.push(next),
        }
    }
    merged
}
