// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is read, and what is refused and how.

use corecast_core::{Collective, Help as _};
use corecast_machine::Time;
use corecast_render::Stretch;
use corecast_study::{ChipChoice, Plan, Study};
use corecast_viewer::{Document, Documents, ViewError, read, run_view};
use proptest::prelude::*;
use serde_json::{Value, json};

fn study() -> Study {
    let chip = ChipChoice::find("tilepro64", &[]).expect("built in");
    Study::new(Plan::new(chip, Collective::Bcast)).expect("makes sense")
}

fn run() -> Value {
    let study = study();
    let ranking = study.rank(8, 64, &()).expect("runs");
    let view = run_view(&study, &ranking.runs[0], None, &study.settings());
    serde_json::to_value(Documents::from(vec![view])).expect("plain data")
}

fn refusal(value: &Value) -> String {
    let error = read("a.json", &value.to_string()).expect_err("refused");
    assert!(!error.help().is_empty());
    error.to_string()
}

#[test]
fn every_number_that_names_nothing_is_refused_with_its_place() {
    let whole = run();
    read("a.json", &whole.to_string()).expect("as it was written");
    let cases: [(&str, Value, &str); 16] = [
        ("/unit_ps", json!(0), "unit_ps: a unit"),
        ("/makespan_ps", json!(u64::MAX), "makespan_ps: it is more"),
        ("/makespan_ps", json!(-1), "invalid value"),
        (
            "/ranks/0/causes/0",
            json!(99),
            "ranks[0].causes[0]: 99 is none of the 11 kinds",
        ),
        (
            "/ranks/1/ends/0",
            json!(0xff_ffff_ffff_u64),
            "ranks[1].ends: ",
        ),
        (
            "/ranks/2/of",
            json!([]),
            "ranks[2].ends: `ends`, `causes` and `of`",
        ),
        ("/ranks/2/of/0", json!(8), "ranks[2].of[0]: 8 is no rank"),
        ("/path/0/of", json!(-2), "path[0]: it is no stretch"),
        (
            "/messages/to/3",
            json!(64),
            "messages.to[3]: 64 is none of the 8 ranks",
        ),
        ("/messages/bytes", json!([]), "messages: its columns"),
        ("/messages/end/0", json!(0), "messages.end[0]: posted"),
        ("/path/0/rank", json!(8), "path[0]: it is no stretch"),
        (
            "/mesh/size",
            json!([100_000, 100_000]),
            "mesh.size: it is not",
        ),
        ("/mesh/places/7", json!([9, 9]), "mesh.places[7]: it is off"),
        (
            "/mesh/links/0/load/5",
            json!(1001),
            "mesh.links[0].load: it is not 200",
        ),
        (
            "/schedule/transfers/0/chunks/0",
            json!(77),
            "schedule.transfers[0].chunks[0]: 77",
        ),
    ];
    for (place, value, expected) in cases {
        let mut damaged = whole.clone();
        let at = format!("/documents/0{place}");
        *damaged
            .pointer_mut(&at)
            .unwrap_or_else(|| panic!("{at} is there")) = value;
        let found = refusal(&damaged);
        assert!(found.contains(expected), "{place}: {found}");
        assert!(
            found.starts_with("`a.json`: documents[0]"),
            "{place}: {found}"
        );
    }
}

#[test]
fn what_is_something_else_is_called_so() {
    let found = |text: &str| read("a.json", text).expect_err("refused").to_string();
    assert_eq!(
        found("{"),
        "`a.json` is nothing that can be shown: it is no JSON: EOF while parsing an object at line 1 column 1"
    );
    assert_eq!(
        found("7"),
        "`a.json` is nothing that can be shown: it is JSON, but neither an object nor an array"
    );
    assert!(found("[]").ends_with("it is an empty array"));
    assert!(found("{}").ends_with("it is JSON of another program, or of a verb that has no view"));
    assert_eq!(
        found("{\"corecast_view\": 2}"),
        "`a.json` is a document of version 2, this program reads version 1"
    );
    assert!(
        found("[{\"collective\": \"bcast\", \"correct\": true}]")
            .ends_with("or of a verb that has no view")
    );
    assert_eq!(found("[{}]"), "`a.json`: [0]: missing field `collective`");
    assert!(found("{\"corecast_view\":1,\"documents\":[]}").contains("documents: there is none"));
    let far = found("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"idle\",\"tid\":4294967295}]}");
    assert_eq!(
        far,
        "`a.json`: traceEvents[0]: tid 4294967295 is no rank below 65536"
    );
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(found(&deep).contains("recursion limit"));
}

#[test]
fn traces_are_runs() {
    let study = study();
    let run = &study.rank(8, 64, &()).expect("runs").runs[0];
    // What programs call is beside the run.
    let call = Stretch {
        rank: 3,
        name: "MPI_Bcast",
        start: Time::ZERO,
        end: run.report.makespan,
    };
    let settings = study.settings().json();
    let trace = corecast_render::chrome_trace(&run.report, &[call], &settings);
    let documents = read("a.json", &trace).expect("a trace");
    let Document::Run(view) = &documents.documents[0] else {
        panic!("it is a run");
    };
    assert_eq!(view.makespan_ps, run.report.makespan.ps());
    assert_eq!(view.ranks.len(), 8);
    for (row, activity) in view.ranks.iter().zip(&run.report.activity) {
        let ends: Vec<u64> = activity.spans().map(|span| span.end.ps()).collect();
        assert_eq!(row.ends, ends);
    }
    assert_eq!(view.messages.from.len(), run.report.messages.len());
}

#[test]
fn traces_that_mean_harm_are_refused_with_their_place_or_shown_as_text() {
    let found = |event: Value| {
        let trace = json!({"traceEvents": [event]}).to_string();
        read("a.json", &trace).map_err(|error| error.to_string())
    };
    let span = |ts: f64, dur: f64, name: &str| json!({"ph": "X", "pid": 0, "tid": 0, "ts": ts, "dur": dur, "name": name});
    for (event, refusal) in [
        (span(-1.0, 2.0, "idle"), "-1 us is no time from 0 to 9e9 us"),
        (span(0.0, 1e300, "idle"), " us is no time from 0 to 9e9 us"),
        (
            span(0.0, 1.0, "\u{1b}[2J"),
            "is no cause that corecast names",
        ),
        (
            json!({"ph": "f", "tid": 0, "ts": 1, "id": 7, "name": ""}),
            "message 7 ends and has not begun",
        ),
        (
            json!({"ph": "s", "tid": 0, "ts": 1, "name": ""}),
            "a message has no `id`",
        ),
        (
            json!({"ph": "M", "tid": 65536, "name": ""}),
            "tid 65536 is no rank below 65536",
        ),
        (
            json!({"ph": "X", "tid": -1, "name": "idle"}),
            "invalid value",
        ),
    ] {
        let refused = found(event.clone()).expect_err(&event.to_string());
        assert!(refused.contains(refusal), "{event}: {refused}");
        assert!(!refused.contains('\u{1b}'), "{refused:?}");
    }
    let hostile = "</script><script>alert(1)</script>";
    let trace = json!({
        "otherData": {"chip": hostile, "version": hostile},
        "traceEvents": [span(0.0, 1.0, "idle")],
    });
    let documents = read(hostile, &trace.to_string()).expect("texts are free");
    assert!(
        !documents
            .page()
            .expect("small")
            .contains("alert(1)</script>")
    );
}

#[test]
fn who_wins_has_right_data_and_somebody_to_win_against() {
    let record = |algorithm: &str, cycles: f64, delivered: bool| {
        json!({
            "collective": "bcast", "algorithm": algorithm, "machine": "sim", "chip": "scc",
            "ranks": 4, "bytes": 8, "makespan_cycles": cycles, "makespan_mean_ns": cycles,
            "makespan_median_ns": cycles, "makespan_ns": cycles, "bound_cycles": 1.0,
            "delivered": delivered, "causes": {},
        })
    };
    let title = |records: &[Value]| {
        let text = Value::from(records.to_vec()).to_string();
        read("a.json", &text).expect("records").documents[0]
            .title()
            .to_owned()
    };
    let [wrong, slow] = [record("mst", 5.0, false), record("cube", 9.0, true)];
    assert_eq!(
        title(&[wrong, slow.clone()]),
        "bcast on scc: cube is the fastest"
    );
    assert_eq!(title(&[slow]), "bcast on scc: cube alone");
}

#[test]
fn tables_have_winners() {
    let table = json!({"chip": "scc", "collective": "bcast", "cells": [
        {"ranks": 4, "bytes": 8, "algorithm": "mst", "makespan_cycles": 10, "makespan_ns": 20.0},
    ]});
    let documents = read("a.json", &table.to_string()).expect("a table");
    assert_eq!(
        documents.documents[0].title(),
        "bcast on scc: mst is the fastest"
    );
}

#[test]
fn no_text_leaves_its_element() {
    let mut view = run();
    let hostile = "</script><script>alert(1)</script><!--\u{2028}";
    view["documents"][0]["title"] = json!(hostile);
    let documents = read("a.json", &view.to_string()).expect("texts are free");
    let page = documents.page().expect("small");
    assert!(!page.contains("alert(1)</script>"));
    let plain = Documents::from(vec![]).page().expect("small");
    let scripts = |page: &str| page.matches("<script").count();
    assert_eq!(scripts(&page), scripts(&plain));
}

#[test]
fn pages_have_a_size() {
    let mut value = run();
    value["documents"][0]["notes"] = json!(["x".repeat(129 << 20)]);
    let documents: Documents = serde_json::from_value(value).expect("documents");
    let error = documents.page().expect_err("too large");
    assert_eq!(
        error,
        ViewError::TooLarge {
            mib: 129,
            mib_max: 128
        }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A file that was damaged anywhere is read or refused, and never more than that.
    #[test]
    fn damaged_documents_end_in_an_answer(at in 0.0..1.0f64, byte: u8) {
        let mut text = run().to_string().into_bytes();
        let index = (text.len() as f64 * at) as usize;
        text[index] = byte;
        if let Ok(text) = String::from_utf8(text) {
            let _ = read("a.json", &text);
        }
    }
}
