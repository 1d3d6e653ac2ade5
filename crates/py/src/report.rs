// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run's report holds, as rows in JSON.

use corecast_machine::{LinkUse, Report};
use serde_json::{Value, json};

fn rows(rows: impl Iterator<Item = Value>) -> String {
    Value::Array(rows.collect()).to_string()
}

/// Every message, in order of completion.
pub fn messages(report: &Report) -> String {
    rows(report.messages.iter().map(|of| {
        json!({
            "from": of.from.0, "to": of.to.0, "bytes": of.bytes, "posted_ns": of.posted.ns(),
            "start_ns": of.start.ns(), "end_ns": of.end.ns(),
        })
    }))
}

/// What every rank spent its time on.
pub fn spans(report: &Report) -> String {
    let ranks = report.activity.iter().enumerate();
    rows(ranks.flat_map(|(rank, activity)| {
        activity.spans().map(move |span| {
            json!({
                "rank": rank, "cause": span.cause.kind(),
                "peer": span.cause.peer().map(|peer| peer.0),
                "start_ns": span.start.ns(), "end_ns": span.end.ns(),
            })
        })
    }))
}

/// What every link of a mesh has carried.
pub fn links(report: &Report) -> String {
    let link = |of: &LinkUse| {
        json!({
            "from_x": of.from.0, "from_y": of.from.1, "to_x": of.to.0, "to_y": of.to.1,
            "flits": of.flits,
        })
    };
    rows(report.links.iter().map(link))
}
