// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run as a trace file for Perfetto and chrome://tracing.

use corecast_machine::{Report, Time};
use serde::Serialize;
use serde_json::Value;

/// A trace file. Here and below keys are in the order of the alphabet.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    display_time_unit: &'static str,
    other_data: &'a Value,
    trace_events: Vec<Event>,
}

/// An entry of a trace file; viewers tell its kind by `ph`.
#[derive(Serialize)]
struct Event {
    args: Args,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    name: &'static str,
    ph: &'static str,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
}

/// What a viewer shows of an entry beside its name.
#[derive(Serialize)]
#[serde(untagged)]
enum Args {
    Name { name: String },
    Peer { peer: Option<u32> },
    Bytes { bytes: u64 },
}

impl Event {
    /// Of a kind, with what every entry has.
    fn new(ph: &'static str, name: &'static str, tid: u32, args: Args) -> Self {
        Self {
            args,
            bp: None,
            cat: None,
            dur: None,
            id: None,
            name,
            ph,
            pid: 0,
            tid,
            ts: None,
        }
    }
}

/// A stretch of time to which a rank's program gives a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Whose.
    pub rank: u32,
    /// Its name.
    pub name: &'static str,
    /// Begin.
    pub start: Time,
    /// End.
    pub end: Time,
}

/// Of the process whose threads show stretches.
const STRETCHES: u32 = 1;

/// The run as Chrome trace JSON: one thread per rank, one complete event per span, a flow per
/// message; in a second process one thread per rank with its stretches. Times are microseconds.
/// `settings` says how the run came about; viewers show it as the trace's metadata.
///
/// # Panics
/// Never: a trace is plain data.
#[must_use]
pub fn chrome_trace(report: &Report, stretches: &[Stretch], settings: &Value) -> String {
    let us = |time: Time| time.ps() as f64 / 1e6;
    let mut events = Vec::new();
    for (rank, activity) in (0..).zip(&report.activity) {
        let name = format!("rank {rank}");
        events.push(Event::new("M", "thread_name", rank, Args::Name { name }));
        for span in activity.spans() {
            let peer = span.cause.peer().map(|peer| peer.0);
            events.push(Event {
                cat: Some("cause"),
                ts: Some(us(span.start)),
                dur: Some(us(span.end - span.start)),
                ..Event::new("X", span.cause.kind(), rank, Args::Peer { peer })
            });
        }
    }
    for (id, message) in report.messages.iter().enumerate() {
        let bytes = message.bytes;
        let event = |phase, rank, time| Event {
            cat: Some("message"),
            id: Some(id),
            ts: Some(us(time)),
            bp: Some("e"),
            ..Event::new(phase, "message", rank, Args::Bytes { bytes })
        };
        events.push(event("s", message.from.0, message.start));
        events.push(event("f", message.to.0, message.end));
    }
    for stretch in stretches {
        events.push(Event {
            cat: Some("call"),
            ts: Some(us(stretch.start)),
            dur: Some(us(stretch.end - stretch.start)),
            pid: STRETCHES,
            ..Event::new("X", stretch.name, stretch.rank, Args::Peer { peer: None })
        });
    }
    let document = Document {
        display_time_unit: "ns",
        other_data: settings,
        trace_events: events,
    };
    let text = serde_json::to_string(&document).expect("a trace is plain data");
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Rank;
    use corecast_machine::{Activity, BackgroundUse, Cause, MessageRecord};
    use serde_json::json;

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
            background: BackgroundUse::default(),
            wrong: vec![],
            outputs: vec![],
            events: 0,
            trace_hash: 0,
        };
        let stretch = Stretch {
            rank: 1,
            name: "MPI_Recv",
            start: at(1_000_000),
            end: at(2_000_000),
        };
        let document: Value =
            serde_json::from_str(&chrome_trace(&report, &[stretch], &json!({"seed": 7})))
                .expect("JSON");
        assert_eq!(document["otherData"]["seed"], json!(7));
        let events = document["traceEvents"].as_array().expect("an array");
        let of = |phase: &str| -> Vec<&Value> {
            let events = events.iter().filter(|event| event["ph"] == phase);
            events.collect()
        };
        let (spans, starts, ends) = (of("X"), of("s"), of("f"));
        assert_eq!((of("M").len(), spans.len()), (2, 3));
        assert_eq!(
            (&spans[2]["name"], &spans[2]["pid"]),
            (&json!("MPI_Recv"), &json!(1))
        );
        assert_eq!(spans[0]["dur"], json!(2.0));
        assert_eq!(spans[1]["ts"], json!(2.0));
        assert_eq!(starts[0]["tid"], json!(0));
        assert_eq!(starts[0]["ts"], json!(2.0));
        assert_eq!(ends[0]["tid"], json!(1));
        assert_eq!(ends[0]["ts"], json!(5.0));
    }
}
