// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of JSON fields are a contract.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::fields;

fn document(arguments: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn first(arguments: &str) -> Value {
    document(arguments)[0].clone()
}

const SETTINGS: &str = "Settings of results";
const COLLECTIVE: &str = "Settings of collectives";

#[test]
fn every_field_is_documented_and_every_documented_field_exists() {
    let verbs: [(&[&str], &[&str]); 21] = [
        (
            &["rtl-vectors --json"],
            &["rtl-vectors /dev/null --nodes 2 --random 0"],
        ),
        (
            &["traffic --json", SETTINGS],
            &[
                "traffic --rate 0.05 --measure 100 --warmup 0",
                "traffic --trace-file ../../fuzz/seeds/trace/waits",
            ],
        ),
        (
            &["run --json", SETTINGS, COLLECTIVE],
            &["run bcast", "run bcast --machine host"],
        ),
        (
            &["run --json", SETTINGS, COLLECTIVE],
            &[
                "compare bcast --ranks 2,4",
                "compare barrier --ranks 2 --machine host",
            ],
        ),
        (
            &["run --json", "explain --json", SETTINGS, COLLECTIVE],
            &[
                "explain bcast",
                "explain barrier --machine host --ranks 2",
                "explain alltoall --chip tilepro64 --ranks 16 --algorithm linear --bytes 400",
            ],
        ),
        (
            &["flow --json", SETTINGS],
            &[
                "flow ../../examples/fir.toml",
                "flow ../../examples/fir.toml --machine host",
            ],
        ),
        (
            &["tune --json", SETTINGS],
            &["tune bcast --ranks 2 --bytes 4"],
        ),
        (
            &["pingpong --json", SETTINGS],
            &["pingpong --to 1 --bytes 4,64"],
        ),
        (&["verify --json", SETTINGS, COLLECTIVE], &["verify bcast"]),
        (
            &["verify FILES --json"],
            &["verify ../exchange/tests/samples ../exchange/tests/samples"],
        ),
        (
            &["convert --json"],
            &["convert ../exchange/tests/samples/alltoall_3.xml --to goal"],
        ),
        (
            &["view --json"],
            &["view ../exchange/tests/samples/allreduce_pairs_3.sched -o /dev/null"],
        ),
        (
            &["rules --json"],
            &[
                "rules tests/tables/bcast.toml --to openmpi",
                "rules tests/tables/allreduce.toml --to msccl",
            ],
        ),
        (&["reproduce --json"], &["reproduce park2019"]),
        (
            &["list --json"],
            &[
                "list chips",
                "list algorithms",
                "list machines",
                "list papers",
                "list formats",
                "list keys",
            ],
        ),
        (
            &["show chip --json"],
            &["show chip park2019-bus", "show chip scc-800"],
        ),
        (&["show algorithm --json"], &["show algorithm linear"]),
        (
            &["show schedule --json", SETTINGS, COLLECTIVE],
            &["show schedule bcast --algorithm ap"],
        ),
        (&["doctor --json"], &["doctor"]),
        (&["merge --json"], &["merge tests/tables/other.jsonl"]),
        (&["generate --json"], &["generate man run"]),
    ];
    for (headings, commands) in verbs {
        let mut printed = BTreeSet::new();
        for command in commands {
            printed.extend(fields::of(&document(&format!("{command} --json"))));
        }
        let described: BTreeSet<_> = headings
            .iter()
            .flat_map(|h| fields::documented(h))
            .collect();
        assert!(!printed.is_empty(), "{commands:?}");
        assert_eq!(printed, described, "{commands:?}");
    }
}

/// Whoever finds a row in a file must be able to find it again.
#[test]
fn every_row_says_with_which_settings_it_was_found() {
    let scene = "--chip tilepro64 --ranks 4 --set network.link=2 --background 0.01 --skew 1=9 \
                 --ongoing 2=32 --seed 5";
    for (verb, fingerprinted) in [
        (format!("run bcast {scene}"), true),
        (format!("verify bcast {scene}"), true),
        (format!("explain bcast {scene}"), true),
        (format!("compare bcast {scene} --bytes 4,8"), true),
        (format!("run reduce {scene} --dtype i32 --op max"), true),
        (
            format!("run bcast {scene} --machine host")
                .replace("--background 0.01", "")
                .replace("--ongoing 2=32", ""),
            false,
        ),
    ] {
        let rows = document(&format!("{verb} --json"));
        for row in rows.as_array().expect("rows") {
            assert_eq!(row["set"], serde_json::json!(["network.link=2"]), "{verb}");
            assert_eq!(row["version"], env!("CARGO_PKG_VERSION"), "{verb}");
            assert_eq!(row["seed"], 5, "{verb}");
            assert_eq!(row["skew"], serde_json::json!(["1=9"]), "{verb}");
            if fingerprinted {
                let chip = document("show chip tilepro64 --set network.link=2 --json");
                assert_eq!(row["fingerprint"], chip["fingerprint"], "{verb}");
                assert_eq!(row["background"], "0.01", "{verb}");
                assert_eq!(row["ongoing"], serde_json::json!(["2=32"]), "{verb}");
            } else {
                assert_eq!(
                    (&row["chip"], &row["fingerprint"]),
                    (&Value::Null, &Value::Null)
                );
            }
            if verb.contains("reduce") {
                assert_eq!((&row["dtype"], &row["op"]), (&"i32".into(), &"max".into()));
            } else {
                assert_eq!((&row["dtype"], &row["op"]), (&Value::Null, &Value::Null));
            }
        }
    }
    for verb in [
        "traffic --chip tilepro64 --rate 0.05 --measure 100 --warmup 0",
        "pingpong --chip tilepro64 --to 1 --bytes 4",
        "tune bcast --chip tilepro64 --ranks 2 --bytes 4",
    ] {
        let whole = document(&format!("{verb} --set network.link=2 --json"));
        let row = whole.get(0).unwrap_or(&whole);
        assert_eq!(row["set"], serde_json::json!(["network.link=2"]), "{verb}");
        assert_eq!(
            (&row["chip"], &row["fidelity"]),
            (&"tilepro64".into(), &"flit".into())
        );
    }
}

/// `--set` on a key without effect, and places that a base leaves behind, are legal and said.
#[test]
fn what_does_nothing_and_what_stays_behind_is_said() {
    let run = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(arguments.split_whitespace())
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        let errors = String::from_utf8(output.stderr).expect("text");
        let rows: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (errors, rows[0]["notes"].clone())
    };
    let scene = "run bcast --ranks 2 --algorithm linear --json";
    let (errors, notes) = run(&format!("{scene} --set network.vcs=4"));
    assert!(
        errors.starts_with("note: `network.vcs` does nothing on scc: "),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1, "said once: {errors}");
    let noted = notes[0].as_str().expect("a sentence");
    assert_eq!(errors, format!("note: {noted}\n"));
    let (errors, _) = run(&format!("{scene} --set network.width=8"));
    assert!(
        errors.contains("the memory controllers stay where"),
        "{errors}"
    );
    let (errors, notes) = run(scene);
    assert_eq!((errors.as_str(), notes), ("", Value::Array(Vec::new())));
}

/// Two names of one thing are no two results.
#[test]
fn aliases_are_shown_once() {
    let names = |arguments: &str| -> Vec<String> {
        let rows = document(&format!("{arguments} --json"));
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| row["algorithm"].as_str().expect("a name").to_owned())
            .collect()
    };
    for verb in ["run", "verify", "compare"] {
        let scene = format!("{verb} alltoall --ranks 4 --chip");
        let has_shared =
            |chip: &str| names(&format!("{scene} {chip}")).contains(&"shared-pairwise".to_owned());
        assert!(has_shared("scc"), "{verb}");
        assert!(!has_shared("tilepro64"), "{verb}");
        assert!(
            !has_shared("scc --set endpoint.library=one-sided"),
            "{verb}"
        );
        assert!(names(&format!("{scene} tilepro64")).contains(&"pairwise".to_owned()));
    }
    // Who asks for it by name gets it.
    let named =
        "run alltoall --ranks 4 --chip tilepro64 --algorithm shared-pairwise,pairwise --json";
    let rows = document(named);
    assert_eq!(rows[0]["makespan_ns"], rows[1]["makespan_ns"]);
    let algorithms = document("list algorithms --json");
    let of = |name: &str| {
        let mut rows = algorithms.as_array().expect("rows").iter();
        let row = rows.find(|row| row["name"] == name);
        row.expect("registered")["without_shared_buffers"].clone()
    };
    assert_eq!(
        (of("shared-pairwise"), of("pairwise")),
        ("pairwise".into(), Value::Null)
    );
}

/// The sentence is computed: what it promises can be run.
#[test]
fn explain_begins_with_what_to_do() {
    let advice = |arguments: &str| {
        let row = first(&format!("explain {arguments} --json"));
        (
            row["advice"].as_str().expect("a sentence").to_owned(),
            row["makespan_cycles"].as_f64().expect("a number"),
        )
    };
    let scene = "bcast --chip park2019-bus --ranks 8 --bytes 256";
    let (told, took) = advice(&format!("{scene} --algorithm linear"));
    let options = told
        .strip_prefix("Use ")
        .and_then(|rest| rest.split(": ").next());
    let options = options.unwrap_or_else(|| panic!("{told}"));
    assert!(options.starts_with("--algorithm "), "{told}");
    let better = first(&format!("run {scene} {options} --json"))["makespan_cycles"].clone();
    assert!(
        told.contains(&format!(": {better} cycles instead of {took}, ")),
        "{told}"
    );
    assert!(better.as_f64().expect("a number") < took, "{told}");
    // Whoever follows it is told that nothing else is faster.
    let (told, _) = advice(&format!("{scene} {options}"));
    assert!(!told.starts_with("Use"), "{told}");
    let key = told.split('`').nth(1).unwrap_or_else(|| panic!("{told}"));
    let value = told
        .split("matters most: ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let value = value.unwrap_or_else(|| panic!("{told}"));
    let changed = first(&format!("run {scene} {options} --set {key}={value} --json"));
    assert!(
        changed["makespan_cycles"].as_f64() < better.as_f64(),
        "{told}"
    );
    // Widths count, too, and the one clock is not worth a word: times are told in its cycles.
    let (told, _) = advice("bcast --chip booksim-mesh --ranks 2 --bytes 4K --algorithm linear");
    let flit = "`network.flit` matters most: 32 instead of 16 would save 50 %";
    assert!(told.contains(flit), "{told}");
    // One rank has nothing to do.
    let (told, _) = advice("bcast --chip park2019-bus --ranks 1 --algorithm linear");
    assert!(told.starts_with("Leave it as it is: "), "{told}");
}

#[test]
fn long_tables_are_cut_unless_all_is_asked_for() {
    let lines = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(arguments.split_whitespace())
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        let text = String::from_utf8(output.stdout).expect("text");
        (text.lines().count(), text)
    };
    let scene = "explain bcast --chip tilepro64 --ranks 64 --algorithm linear";
    let ((few, short), (many, full)) = (lines(scene), lines(&format!("{scene} --full")));
    assert!(
        short.contains("and 48 ranks with less of the critical path: --full shows all"),
        "{short}"
    );
    assert!(!full.contains("--full"), "{full}");
    assert!(few < 60 && many > 64, "{few} and {many} lines");
    let (_, small) = lines("explain bcast --chip tilepro64 --ranks 4 --algorithm linear");
    assert!(!small.contains("--full"), "{small}");
}

fn has(object: &Value, fields: &str) {
    for field in fields.split_whitespace() {
        assert!(object.get(field).is_some(), "{field} in {object}");
    }
}

#[test]
fn run_has_its_fields() {
    let run = first("run bcast --chip park2019-bus --ranks 4 --bytes 4 --algorithm ap --json");
    has(
        &run,
        "collective algorithm chip machine ranks root bytes makespan_cycles makespan_ns delivered \
         bound_ns finish_ns causes fitted_parameters assumed_parameters",
    );
    assert_eq!(run["makespan_cycles"], 13);
    assert_eq!(run["makespan_ns"], 130.0);
    assert_eq!(run["delivered"], true);
    assert_eq!(run["finish_ns"].as_array().map(Vec::len), Some(4));
}

#[test]
fn reports_name_the_fidelity_where_there_is_one() {
    let fidelity = |arguments: &str| {
        let text = format!("run bcast --algorithm chain --json {arguments}");
        first(&text)["fidelity"].clone()
    };
    assert_eq!(fidelity("--chip tilepro64"), "flit");
    assert_eq!(fidelity("--chip tilepro64 --fidelity packet"), "packet");
    assert_eq!(fidelity("--chip park2019-bus"), Value::Null);
    assert_eq!(fidelity("--chip tilepro64 --machine host"), Value::Null);
}

#[test]
fn verify_has_its_fields() {
    let certificate = first("verify allgather --json");
    has(
        &certificate,
        "collective algorithm chip ranks correct deadlock_free slots_needed contention_free \
         max_buffer_bytes rounds bound_rounds violations",
    );
    assert_eq!(certificate["correct"], true);
    assert_eq!(certificate["slots_needed"], 0);
}

#[test]
fn explain_accounts_for_every_cycle() {
    let run = first("explain bcast --ranks 4 --skew 2=9 --json");
    let makespan = &run["makespan_cycles"];
    for rank in run["rank_causes"].as_array().expect("a row per rank") {
        assert_eq!(&rank["sum_cycles"], makespan);
    }
    let path = run["critical_path"].as_array().expect("segments");
    assert_eq!(path.first().map(|s| &s["from_cycles"]), Some(&0.into()));
    assert_eq!(path.last().map(|s| &s["to_cycles"]), Some(makespan));
}

#[test]
fn a_file_holds_what_would_be_printed_and_nothing_is_left_over() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("output");
    std::fs::create_dir_all(&folder).expect("writable");
    let file = folder.join("run.json");
    let run = |file: &std::path::Path| {
        Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(["verify", "bcast", "--json", "-o"])
            .arg(file)
            .output()
            .expect("the binary runs")
    };
    assert_eq!(run(&file).status.code(), Some(0));
    assert!(run(&file).stdout.is_empty());
    assert_eq!(run(&folder).status.code(), Some(2), "a folder is no file");
    let text = std::fs::read(&file).expect("written");
    assert!(serde_json::from_slice::<Value>(&text).is_ok());
    assert_eq!(std::fs::read_dir(&folder).expect("readable").count(), 1);
}
