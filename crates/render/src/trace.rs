//! A run as a trace file for Perfetto and chrome://tracing.

use corecast_machine::{Report, Time};
use serde_json::{Value, json};

/// The run as Chrome trace JSON: one thread per rank, one complete event per span, a flow per
/// message. Times are microseconds. `settings` says how the run came about; viewers show it as the
/// trace's metadata.
#[must_use]
pub fn chrome_trace(report: &Report, settings: &Value) -> String {
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
    let document = json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": settings,
    });
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Rank;
    use corecast_machine::{Activity, Cause, MessageRecord};

    #[test]
    fn traces_hold_every_span_and_both_ends_of_every_message() {
        let at = Time::from_ps;
        let mut busy = Activity::default();
        busy.fill(at(2_000_000), Cause::WaitPeer(Rank(1)));
        busy.fill(at(5_000_000), Cause::Transfer);
        let message = MessageRecord {
            from: Rank(0),
            to: Rank(1),
            bytes: 12,
            posted: at(0),
            start: at(2_000_000),
            end: at(5_000_000),
        };
        let report = Report {
            machine: "test",
            makespan: at(5_000_000),
            finish: vec![at(5_000_000); 2],
            activity: vec![busy, Activity::default()],
            messages: vec![message],
            links: Vec::new(),
            holds: Vec::new(),
            wrong: vec![],
            outputs: vec![],
            events: 0,
            trace_hash: 0,
        };
        let document: Value =
            serde_json::from_str(&chrome_trace(&report, &json!({"seed": 7}))).expect("JSON");
        assert_eq!(document["otherData"]["seed"], json!(7));
        let events = document["traceEvents"].as_array().expect("an array");
        let of = |phase: &str| -> Vec<&Value> {
            let events = events.iter().filter(|event| event["ph"] == phase);
            events.collect()
        };
        let (spans, starts, ends) = (of("X"), of("s"), of("f"));
        assert_eq!((of("M").len(), spans.len()), (2, 2));
        assert_eq!(spans[0]["dur"], json!(2.0));
        assert_eq!(spans[1]["ts"], json!(2.0));
        assert_eq!(starts[0]["tid"], json!(0));
        assert_eq!(starts[0]["ts"], json!(2.0));
        assert_eq!(ends[0]["tid"], json!(1));
        assert_eq!(ends[0]["ts"], json!(5.0));
    }
}
