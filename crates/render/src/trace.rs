//! A run as a trace file for Perfetto and chrome://tracing.

use corecast_machine::{Report, Time};
use serde_json::{Value, json};

/// The run as Chrome trace JSON: one thread per rank, one complete event per span, a flow per
/// message. Times are microseconds.
#[must_use]
pub fn chrome_trace(report: &Report) -> String {
    let us = |time: Time| time.ps() as f64 / 1e6;
    let mut events: Vec<Value> = Vec::new();
    for (rank, activity) in report.activity.iter().enumerate() {
        let name = format!("rank {rank}");
        events.push(json!({
            "ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": name},
        }));
        for span in activity.spans() {
            let peer = span.cause.peer().map(|peer| peer.0);
            events.push(json!({
                "ph": "X", "name": span.cause.kind(), "cat": "cause", "pid": 0, "tid": rank,
                "ts": us(span.start), "dur": us(span.end - span.start), "args": {"peer": peer},
            }));
        }
    }
    for (id, message) in report.messages.iter().enumerate() {
        let event = |phase: &str, rank: u32, time: Time| {
            json!({
                "ph": phase, "name": "message", "cat": "message", "id": id, "pid": 0, "tid": rank,
                "ts": us(time), "bp": "e", "args": {"bytes": message.bytes},
            })
        };
        events.push(event("s", message.from.0, message.start));
        events.push(event("f", message.to.0, message.end));
    }
    let document = json!({"traceEvents": events, "displayTimeUnit": "ns"});
    format!("{document}\n")
}
