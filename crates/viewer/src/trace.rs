// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chrome traces that corecast has written (`--trace`), read back as runs: they have spans and
//! messages, and nothing else.

use corecast_machine::Cause;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

use crate::document::{Messages, RankView, RunView};

/// A trace file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trace {
    #[serde(default)]
    other_data: Map<String, Value>,
    trace_events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    ph: String,
    name: String,
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    tid: u32,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    args: Map<String, Value>,
}

/// Most ranks that a trace may have: rows are made for all of them.
const RANKS_MAX: u32 = 1 << 16;

/// The run of a trace of this name, or where it is none and why.
pub(crate) fn run(trace: Trace, name: &str) -> Result<RunView, (String, String)> {
    let mut spans: BTreeMap<u32, Vec<(u64, u64, u8, i64)>> = BTreeMap::new();
    let mut messages = Messages::default();
    let mut begun: BTreeMap<u64, (u32, u64, u64)> = BTreeMap::new();
    let mut ranks = 0;
    let events = trace.trace_events.iter().enumerate();
    // A second process has what ranks of a program called; its causes and messages are in the first.
    for (index, event) in events.filter(|(_, event)| event.pid == 0) {
        let wrong = |reason: String| (format!("traceEvents[{index}]"), reason);
        let ps = |us: f64| match (0.0..9e9).contains(&us) {
            true => Ok((us * 1e6).round() as u64),
            false => Err(wrong(format!("{us} us is no time from 0 to 9e9 us"))),
        };
        if event.tid >= RANKS_MAX {
            return Err(wrong(format!(
                "tid {} is no rank below {RANKS_MAX}",
                event.tid
            )));
        }
        let number = |name: &str| event.args.get(name).and_then(Value::as_u64);
        match &*event.ph {
            "X" => {
                let kind = Cause::KINDS.iter().position(|kind| *kind == event.name);
                let kind = kind.ok_or_else(|| {
                    let name = corecast_text::quoted(&event.name);
                    wrong(format!("`{name}` is no cause that corecast names"))
                })?;
                // Which hold a wait for a link is about, a trace does not say.
                let peer = number("peer").filter(|&peer| peer < u64::from(RANKS_MAX));
                let peer = peer.filter(|_| event.name != "link_busy");
                let peer = peer.map_or(-1, |peer| peer as i64);
                let (start, end) = (ps(event.ts)?, ps(event.ts + event.dur)?);
                ranks = ranks.max(event.tid + 1).max((peer + 1) as u32);
                spans
                    .entry(event.tid)
                    .or_default()
                    .push((start, end, kind as u8, peer));
            }
            "M" => ranks = ranks.max(event.tid + 1),
            "s" => {
                let id = event
                    .id
                    .ok_or_else(|| wrong("a message has no `id`".to_owned()))?;
                begun.insert(id, (event.tid, ps(event.ts)?, number("bytes").unwrap_or(0)));
            }
            "f" => {
                let id = event
                    .id
                    .ok_or_else(|| wrong("a message has no `id`".to_owned()))?;
                let (from, start, bytes) = begun
                    .remove(&id)
                    .ok_or_else(|| wrong(format!("message {id} ends and has not begun")))?;
                messages.from.push(from);
                messages.to.push(event.tid);
                messages.bytes.push(bytes);
                messages.posted.push(start);
                messages.start.push(start);
                messages.end.push(ps(event.ts)?);
                ranks = ranks.max(event.tid + 1).max(from + 1);
            }
            _ => {}
        }
    }
    let idle = (Cause::KINDS.len() - 1) as u8;
    let rows = (0..ranks).map(|rank| {
        let mut row = RankView::default();
        let mut of_rank = spans.remove(&rank).unwrap_or_default();
        of_rank.sort_unstable();
        let mut until = 0;
        for (start, end, cause, of) in of_rank {
            if start > until {
                // A trace of another program may have gaps.
                row.ends.push(start);
                row.causes.push(idle);
                row.of.push(-1);
            }
            if end > until.max(start) {
                row.ends.push(end);
                row.causes.push(cause);
                row.of.push(of);
                until = end;
            } else {
                until = until.max(start);
            }
        }
        row
    });
    let rows: Vec<RankView> = rows.collect();
    let ends = rows.iter().filter_map(|row| row.ends.last());
    let makespan_ps = ends.chain(&messages.end).copied().max().unwrap_or(0);
    let field = |name: &str| trace.other_data.get(name).and_then(Value::as_str);
    let place = field("chip")
        .or_else(|| field("machine"))
        .unwrap_or("an unnamed machine");
    Ok(RunView {
        title: format!("{name}: {ranks} ranks on {place}"),
        name: name.to_owned(),
        advice: None,
        unit: "us".to_owned(),
        unit_ps: 1_000_000,
        makespan_ps,
        bound_ps: None,
        delivered: None,
        kinds: Cause::KINDS.map(str::to_owned).to_vec(),
        ranks: rows,
        messages,
        path: Vec::new(),
        holds: Vec::new(),
        link_waits: Vec::new(),
        mesh: None,
        schedule: None,
        certificate: None,
        notes: vec!["A trace has neither schedule nor mesh; `--view` keeps them.".to_owned()],
        facts: trace.other_data,
    })
}
